"""Looking at a cluster, of which a part may not be there to be looked at."""

import asyncio
import errno
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from etcd_operator import names, observe
from etcd_operator.api import EtcdClusterStatus
from etcd_operator.decide import decide
from etcd_operator.etcd import Alarm, Endpoint, Etcd, EtcdError, Member
from etcd_operator.report import available
from etcd_operator.steps import Vacate
from etcd_operator.world import Place, World
from windvane import Context, ambient
from worlds import NOW, answer, cluster, down, identity, pod, shown, url, voter


class LostNode:
    """A client whose API server waits for the kubelet of a node that is gone."""

    def __init__(self) -> None:
        self.client = self

    def pod(self, name: str, *, namespace: str) -> "LostNode":
        return self

    async def logs(self, **_: Any) -> AsyncIterator[bytes]:
        await asyncio.sleep(33)
        yield b""


async def test_the_log_of_a_pod_on_a_lost_node_does_not_hold_up_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observe, "LOG_TIMEOUT", 0.05)
    silent = down(1, pod=pod(1, restarts=1, waiting="CrashLoopBackOff"))
    begin = ambient.monotonic()
    assert (await observe._hear(silent, cast(Context, LostNode()))).last_words == ""
    assert ambient.monotonic() - begin < 10


@pytest.mark.parametrize(("role", "seconds"), [(names.VOTER, 3.0), ("", 1.0)])
async def test_who_has_no_vote_yet_does_not_hold_up_the_pass_for_long(role: str, seconds: float) -> None:
    asked: list[float] = []

    class Hangs:
        async def status(self, *, timeout: float) -> None:
            asked.append(timeout)
            raise EtcdError("no answer")

    place = voter(1)
    assert place.pod is not None
    place.pod.metadata.labels |= {names.LABEL_ROLE: role} if role else {}
    await observe._ask(cast(Etcd, Hangs()), place, NOW)
    assert asked == [seconds]


async def test_one_that_may_not_use_its_volume_says_so_with_the_remedy() -> None:
    class Talks(LostNode):
        async def logs(self, **_: Any) -> AsyncIterator[bytes]:
            yield b'{"level":"fatal","error":"cannot access data directory: open .touch: permission denied"}'

    heard = await observe._hear(down(1, pod=pod(1, restarts=1, waiting="CrashLoopBackOff")), cast(Context, Talks()))
    assert "permission denied" in heard.silence
    assert "spec.securityContext" in heard.silence


def test_a_pod_that_is_stopping_is_not_said_to_be_starting() -> None:
    assert observe._why_no_door(Place(1), NOW) == "it has no pod"
    assert observe._why_no_door(Place(1, pod=pod(1, deleting=True)), NOW) == "its pod is being stopped"
    later = NOW + timedelta(minutes=2)
    assert "node.kubernetes.io/out-of-service" in observe._why_no_door(Place(1, pod=pod(1, deleting=True)), later)


class Listing:
    """A member that knows who the members are."""

    def __init__(self, *members: Member) -> None:
        self._members = list(members)

    async def members(self) -> list[Member]:
        return self._members

    async def alarms(self) -> list[Alarm]:
        return []


@pytest.mark.parametrize("others", [(voter(1), voter(2)), (down(1), down(2))], ids=["that lead", "that are away"])
async def test_by_the_word_of_another_cluster_no_volume_is_anybodys_to_delete(others: tuple[Place, Place]) -> None:
    """A member was restored by hand, alone, into a cluster of its own: the other volumes are intact."""
    alone = Member("ffff", "prod-0", url(0), learner=False)
    own = replace(answer(0), id=alone.id, cluster_id="c2", leader=alone.id, term=9)
    said = [replace(each, answer=each.answer and replace(each.answer, leader=identity(1))) for each in others]
    places = [replace(each, member=None) for each in (voter(0, answer=own), *said)]
    ours = Listing(*(Member(identity(each), f"prod-{each}", url(each), learner=False) for each in range(3)))
    there = cluster(status=EtcdClusterStatus(cluster_id="c1", members=[shown(each) for each in range(3)]))
    doors = cast(dict[int, Etcd], {0: Listing(alone), 1: ours, 2: ours})
    seen = await observe._with_members(there, World({each.ordinal: each for each in places}, NOW), doors)
    assert seen.leader is None or seen.leader.id == identity(1)
    assert not isinstance(decide(there, seen), Vacate)
    if seen.leader is None:
        assert "prod-0 (its data is that of another cluster, c2)" in available(there, seen).message


async def test_a_leader_whom_most_have_left_is_not_believed() -> None:
    """It has not noticed yet, and its list of members may be of yesterday."""
    ours = Listing(*(Member(identity(each), f"prod-{each}", url(each), learner=False) for each in range(3)))
    left = voter(1, member=None, answer=replace(answer(1), leader=""))
    places = {0: voter(0, member=None), 1: left, 2: down(2, member=None)}
    seen = await observe._with_members(cluster(), World(places, NOW), cast(dict[int, Etcd], {0: ours, 1: ours}))
    assert seen.leader is None


class Refusing:
    """A session whose connections fail, each with other words."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def post(self, *_: Any, **__: Any) -> "Refusing":
        return self

    async def __aenter__(self) -> None:
        raise self._error

    async def __aexit__(self, *_: object) -> None:
        pass


def refused(port: int) -> aiohttp.ClientConnectorError:
    """What aiohttp says of a port that nobody listens on."""
    key = ConnectionKey("10.0.0.1", port, False, True, None, None, None)
    return aiohttp.ClientConnectorError(key, OSError(errno.ECONNREFUSED, f"Connect call failed ('10.0.0.1', {port})"))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (refused(2379), "connection refused"),
        (refused(40001), "connection refused"),
        (
            aiohttp.ClientOSError(errno.ECONNRESET, "Connection reset by peer, 10.0.0.7:53120"),
            "connection reset by peer",
        ),
        (aiohttp.ServerDisconnectedError(), "it closed the connection"),
    ],
)
async def test_why_a_member_is_not_reached_is_said_in_the_same_words_each_time(error: Exception, words: str) -> None:
    """They are in the status: others would be another write, and news for whoever watches."""
    member = Etcd(cast(aiohttp.ClientSession, Refusing(error)), Endpoint("10.0.0.1", 2379))
    with pytest.raises(EtcdError, match=f"^{words}$"):
        await member.status()
