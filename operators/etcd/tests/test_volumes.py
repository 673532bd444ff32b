"""Volumes that are to grow, and a storage class that does not let them."""

from typing import Any, cast

from etcd_operator.api import EtcdCluster
from etcd_operator.volumes import NOT_GROWN, SIZED, grow
from windvane import APIStatus, Condition, Context, Forbidden
from worlds import cluster, voter, world

REFUSED = "only dynamically provisioned pvc can be resized and the storageclass must support resize"


class Pass:
    """What a pass is given, as far as this needs it."""

    def __init__(self, *, refused: bool) -> None:
        self.client = self
        self.refused = refused
        self.patched: list[str] = []
        self.told: list[str] = []

    async def patch(self, what: type, name: str, patch: dict[str, Any]) -> None:
        self.patched.append(name)
        if self.refused:
            raise Forbidden(APIStatus(code=403, message=REFUSED))

    def event(self, reason: str, message: str, *, type: str = "Normal") -> None:  # noqa: A002
        self.told.append(reason)


async def pass_over(there: EtcdCluster, *, refused: bool) -> tuple[str, Pass]:
    given = Pass(refused=refused)
    return await grow(there, world(voter(0), voter(1)), cast(Context, given)), given


async def test_volumes_grow_with_the_spec() -> None:
    why, given = await pass_over(cluster(storageSize="2Gi"), refused=False)
    assert (why, given.patched, given.told) == ("", ["data-prod-0", "data-prod-1"], ["VolumeGrown"] * 2)


async def test_those_that_are_large_enough_are_left_alone() -> None:
    assert (await pass_over(cluster(storageSize="1Gi"), refused=True))[1].patched == []


async def test_that_growth_is_refused_is_told_once_and_returned_each_time() -> None:
    there = cluster(storageSize="2Gi")
    why, given = await pass_over(there, refused=True)
    assert (given.patched, given.told) == (["data-prod-0"], ["VolumeNotGrown"])
    assert "can't grow to 2Gi" in why
    assert REFUSED in why
    there.status.conditions = [Condition(type=SIZED, status="False", reason=NOT_GROWN, message=why)]
    again, given = await pass_over(there, refused=True)
    assert (again, given.told) == (why, [])
    there.spec.storage_size += there.spec.storage_size  # another size is news
    assert (await pass_over(there, refused=True))[1].told == ["VolumeNotGrown"]
