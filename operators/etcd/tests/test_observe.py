"""Looking at a cluster, of which a part may not be there to be looked at."""

import asyncio
import errno
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, cast

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from etcd_operator import observe
from etcd_operator.etcd import Endpoint, Etcd, EtcdError
from etcd_operator.world import Place
from windvane import Context, ambient
from worlds import NOW, down, pod


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


def test_a_pod_that_is_stopping_is_not_said_to_be_starting() -> None:
    assert observe._why_no_door(Place(1), NOW) == "it has no pod"
    assert observe._why_no_door(Place(1, pod=pod(1, deleting=True)), NOW) == "its pod is being stopped"
    later = NOW + timedelta(minutes=2)
    assert "node.kubernetes.io/out-of-service" in observe._why_no_door(Place(1, pod=pod(1, deleting=True)), later)


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
