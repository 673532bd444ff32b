import asyncio
import json

import pytest

from unit.cluster.apiserver.servers import ask, running
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.request.deadline import Deadlines, time_limit


@pytest.mark.parametrize(
    ("timeout", "seconds"), [("", 60), ("5s", 5), ("1m", 60), ("1h", 60), ("0s", 60), ("-5s", 60), ("250ms", 0.25)]
)
def test_how_long_a_request_may_take(timeout: str, seconds: float) -> None:
    assert time_limit({"timeout": timeout}) == seconds


async def test_what_takes_too_long_is_told_and_goes_on() -> None:
    deadlines, go_on, finished = Deadlines(), asyncio.Event(), asyncio.Event()

    async def slow() -> Answer:
        await go_on.wait()
        finished.set()
        return Answer()

    with pytest.raises(Failure, match="request did not complete within the allotted timeout") as refused:
        await deadlines.within(0.01, slow())
    assert refused.value.status.code == 504
    go_on.set()
    async with asyncio.timeout(30):
        await finished.wait()


async def test_what_fails_after_its_time_is_nobody_s_concern(caplog: pytest.LogCaptureFixture) -> None:
    deadlines, go_on = Deadlines(), asyncio.Event()

    async def broken() -> Answer:
        await go_on.wait()
        raise ValueError("too late")

    with pytest.raises(Failure):
        await deadlines.within(0.01, broken())
    go_on.set()
    while deadlines._under_way:
        await asyncio.wait(deadlines._under_way)
    assert caplog.records == []


async def test_a_write_that_takes_too_long_is_done_all_the_same() -> None:
    config_maps = "/api/v1/namespaces/default/configmaps"
    async with running() as server:
        answer = await ask(server, f"POST {config_maps}?timeout=1ns", {"metadata": {"name": "a"}})
        assert answer.code == 504
        assert json.loads(answer.body)["reason"] == "Timeout"
        while server._deadlines._under_way:
            await asyncio.wait(server._deadlines._under_way)
        assert (await ask(server, f"GET {config_maps}/a")).code == 200
