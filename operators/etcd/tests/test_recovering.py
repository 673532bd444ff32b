"""A recovery from what a member has left: what is touched when, and the ways out if that data can't be used."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest

from etcd_operator import names, restore, restoring
from etcd_operator.api import EtcdCluster, EtcdClusterStatus, Snapshot
from etcd_operator.world import Place, World
from jobs_and_pods import ended, pod
from windvane import Context, Object, ObjectMeta
from windvane.k8s import batch, core
from worlds import NOW, claim, cluster, identity, stateful_set
from worlds import pod as on_node

TAKEN = Snapshot(name="nightly", taken=NOW - timedelta(hours=1), volume_claim="prod-backups", revision=42)
LEFT = Snapshot(name="prod-2", taken=NOW, volume_claim="data-prod-2", revision=99)
REPORT = '{"name": "prod-2", "taken": "2026-01-01T00:00:00Z", "size": 1, "sha256": "ab", "version": "3.5.1"}'


class Ended(Exception):
    """`ctx.wait`."""


class Pass:
    """What a pass is given, as far as this needs it."""

    def __init__(self, verdict: str = "", **container: Any) -> None:
        self.client = SimpleNamespace(apply=self.apply, delete=self.delete, patch=self.patch, list=self.events_about)
        self.refused = ""
        self.verdict, self.container = verdict, container
        self.job: batch.Job | None = None
        self.jobs: list[batch.Job] = []
        """Those that an earlier pass has made."""
        self.deleted: list[str] = []
        self.patched: dict[str, Any] = {}
        self.events: list[str] = []

    def get(self, what: type[Object], name: str) -> None:
        return None

    async def apply(self, thing: Any, *, force: bool = False) -> Any:
        if isinstance(thing, batch.Job):
            thing.metadata.uid = "job"
            if self.verdict:
                condition = batch.JobCondition(type=self.verdict, status="True", last_transition_time=NOW)
                thing.status.conditions = [condition]
            self.job = thing
        return thing

    def list(self, what: type[Object], *, labels: Any = None) -> Any:
        if what is batch.Job:
            return self.jobs
        if self.job is None or not self.verdict:
            return []
        return [pod(self.job, "Succeeded" if self.verdict == "Complete" else "Failed", **self.container)]

    async def events_about(self, what: type[Object], **_: Any) -> Any:
        about = core.ObjectReference(uid="job")
        told = core.Event(metadata=ObjectMeta(name="e"), involved_object=about, message=self.refused)
        return [told] if self.refused else []

    async def delete(self, what: type[Object], name: str, **_: Any) -> None:
        self.deleted.append(name)

    async def patch(self, what: type[Object], name: str, patch: Any) -> None:
        self.patched[name] = patch["metadata"]["annotations"]

    def condition(self, *_: Any, **__: Any) -> None: ...

    def event(self, reason: str, message: str, *, type: str = "Normal") -> None:  # noqa: A002
        self.events.append(reason)

    def wait(self, message: str, *, after: float) -> NoReturn:
        raise Ended(message)


def recovering(source: str = "") -> EtcdCluster:
    """A cluster that is being made anew from the data of prod-2."""
    status = EtcdClusterStatus(cluster_id="c1", recovering="c1", recovering_from=LEFT, last_backup=TAKEN)
    return cluster(status=status, recovery={"giveUp": "c1"} | ({"source": source} if source else {}))


def volumes(*ordinals: int, restored: bool = False) -> World:
    """No pods, and the claims of these places; that of prod-2 is the new cluster's if it was `restored`."""
    claims = {each: claim(each, data_of=identity(each)) for each in ordinals}
    if restored:
        claims[2].metadata.annotations = {restoring.RESTORE: "c1-2"}
    return World({each: Place(each, claim=there) for each, there in claims.items()}, NOW)


async def go_on(there: EtcdCluster, seen: World, given: Pass) -> str:
    with pytest.raises(Ended) as waited:
        await restoring.go_on(there, restoring.under_way(there), seen, cast(Context, given))
    return str(waited.value)


async def test_nothing_is_deleted_while_the_data_is_being_restored() -> None:
    given = Pass()
    assert "the data of prod-2 is being restored" in await go_on(recovering(), volumes(0, 1, 2), given)
    assert given.job is not None
    assert (given.deleted, given.patched) == ([], {})


async def test_a_pod_that_is_refused_is_told_with_the_reason() -> None:
    given = Pass()
    given.refused = 'pods "prod-restore-1" is forbidden: exceeded quota'
    assert "waiting for a pod: pods" in (said := await go_on(recovering(), volumes(0, 1, 2), given))
    assert said.endswith("exceeded quota")


async def test_when_that_is_done_the_volume_is_nobodys_and_then_the_others_go() -> None:
    given = Pass("Complete", replace=ended(0), keep=ended(0, REPORT))
    await go_on(recovering(), volumes(0, 1, 2), given)
    assert given.patched == {"data-prod-2": {restoring.RESTORE: "c1-2", names.ANNOTATION_MEMBER: None}}
    assert given.deleted == []
    await go_on(recovering(), volumes(0, 1, 2, restored=True), given)
    assert given.deleted == ["data-prod-0", "data-prod-1"]


async def test_the_new_cluster_begins_in_its_place_when_all_is_done() -> None:
    there = recovering()
    given = Pass("Complete", replace=ended(0), keep=ended(0, REPORT))
    assert await go_on(there, volumes(2, restored=True), given) == "the restored cluster begins"
    began = there.status.restored_from
    assert began is not None
    assert (began.name, began.volume_claim, began.revision) == ("prod-2", "data-prod-2", 99)
    assert (there.status.recovering, there.status.recovering_from, there.status.cluster_id) == ("", None, "")
    assert given.deleted == []


async def test_data_that_can_not_be_used_is_told_and_nothing_else_is_touched() -> None:
    given = Pass("Failed", salvage=ended(1, "there is no database of a member"))
    said = await go_on(recovering(), volumes(0, 1, 2), given)
    assert "there is no database of a member" in said
    assert "set spec.recovery.source to Snapshot" in said
    assert (given.deleted, given.patched, given.events) == ([], {}, ["RestoreFailed"])


async def test_a_volume_that_is_gone_is_told_too() -> None:
    given = Pass()
    assert "the volume of prod-2" in await go_on(recovering(), volumes(0, 1), given)
    assert (given.job, given.deleted) == (None, [])


async def test_whoever_asks_for_the_snapshot_instead_gets_that_in_another_job() -> None:
    there = recovering("Snapshot")
    before = restoring.under_way(there)
    await go_on(there, volumes(0, 1, 2), Pass())
    assert there.status.recovering_from == TAKEN
    assert restoring.under_way(there) != before


def with_snapshot(**recovery: str) -> EtcdCluster:
    """A cluster that is being made anew from a snapshot."""
    status = EtcdClusterStatus(cluster_id="c1", recovering="c1", recovering_from=TAKEN, last_backup=TAKEN)
    return cluster(status=status, **({"recovery": recovery} if recovery else {}))


async def test_for_a_snapshot_volumes_go_only_when_it_has_been_read() -> None:
    given = Pass()
    assert "snapshot nightly is being read" in await go_on(with_snapshot(giveUp="c1"), volumes(0, 1, 2), given)
    assert given.deleted == []
    given = Pass("Complete", find=ended(0, REPORT))
    await go_on(with_snapshot(giveUp="c1"), volumes(0, 1, 2), given)
    assert given.deleted == ["data-prod-0", "data-prod-1", "data-prod-2"]


async def test_a_snapshot_that_can_not_be_read_costs_no_volume() -> None:
    given = Pass("Failed", find=ended(1, "nightly.db is damaged"))
    said = await go_on(with_snapshot(giveUp="c1"), volumes(0, 1, 2), given)
    assert "nightly.db is damaged" in said
    assert "No volume was touched: without spec.recovery, the members are started again as they were" in said
    assert given.deleted == []


def stopping() -> World:
    """Members that are still there, one of them on a node that is gone."""
    gone = on_node(2, deleting=True)
    gone.spec.node_name = "n3"
    places = {0: Place(0, pod=on_node(0), claim=claim(0, data_of=identity(0))), 2: Place(2, pod=gone, claim=claim(2))}
    return World(places, NOW + timedelta(minutes=2), stateful_set=stateful_set(3))


async def test_what_keeps_a_member_from_stopping_is_said_with_the_remedy() -> None:
    given = Pass()
    said = await go_on(recovering(), stopping(), given)
    assert "prod-2: its pod should have stopped" in said
    assert "kubectl taint node n3 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute" in said
    assert (given.deleted, given.job) == (["prod"], None)  # the StatefulSet


async def test_nothing_is_restored_as_long_as_there_is_somebody_to_make_pods() -> None:
    given = Pass()
    await go_on(recovering(), replace(volumes(0, 1, 2), stateful_set=stateful_set(3)), given)
    assert (given.deleted, given.job) == (["prod"], None)


@pytest.mark.parametrize("recovery", [{}, {"giveUp": "c2"}], ids=["none", "for another"])
@pytest.mark.parametrize("seen", [stopping(), volumes(0, 1, 2)], ids=["while members stop", "while it is read"])
async def test_consent_can_be_taken_back_until_a_volume_is_touched(recovery: dict[str, str], seen: World) -> None:
    there, given = with_snapshot(**recovery), Pass()
    assert await go_on(there, seen, given) == "the members are started again as they were"
    assert (there.status.recovering, there.status.recovering_from, there.status.cluster_id) == ("", None, "c1")
    assert (given.deleted, given.job, given.events) == ([], None, ["RecoveryEnded"])


async def test_and_when_what_was_touched_is_gone() -> None:
    there, given = recovering(), Pass()
    there.spec.recovery, there.status.last_backup = None, None
    given.jobs = [restore.salvage_job_for(there, restore="c1-2", ordinal=2)]
    await go_on(there, volumes(0, 1), given)
    assert (there.status.recovering, given.deleted, given.events) == ("", [], ["RecoveryEnded"])


async def test_and_not_any_more_afterwards() -> None:
    there, given = with_snapshot(), Pass("Complete", find=ended(0, REPORT))
    given.jobs = [restore.salvage_job_for(there, restore="c1-2", ordinal=2)]  # before the snapshot was asked for
    assert (
        await go_on(there, volumes(0, 1, 2), given) == "the volumes of the cluster that is given up are being deleted"
    )
    assert there.status.recovering == "c1"
