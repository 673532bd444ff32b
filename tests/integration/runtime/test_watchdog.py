"""An operator whose author blocks the loop says so, in real time; in virtual time nobody looks."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from integration.runtime.test_controller import start
from integration.runtime.websites import Website, Websites, website
from integration.runtime.world import World
from windvane.runtime import manager
from windvane.runtime.context import Context
from windvane.runtime.observability import watchdog
from windvane.runtime.observability.watchdog import Watchdog


class Reports(logging.Handler):
    """Lets go of what blocks the loop in these tests, once it was reported."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = threading.Event()
        self.report: logging.LogRecord | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if "in hold_the_loop" in (record.stack_info or ""):
            self.report = record
            self.seen.set()


@pytest.fixture(autouse=True)
def virtual_time() -> None:
    """None here."""


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reports]:
    monkeypatch.setattr(manager, "Watchdog", partial(Watchdog, limit=0.2, pause=0.001))
    handler = Reports()
    watchdog.log.addHandler(handler)
    yield handler
    watchdog.log.removeHandler(handler)


def test_a_pass_that_blocks_the_loop_is_named_with_its_line(reports: Reports) -> None:
    async def hold_the_loop(site: Website, ctx: Context) -> None:
        assert reports.seen.wait(60)

    async def blocked() -> None:
        world = World()
        await world.server.start()
        websites = Websites()
        websites.hook = hold_the_loop
        await start(world, websites)
        await world.admin.create(website())
        await world.until(reports.seen.is_set)
        await world.close()

    asyncio.run(blocked())
    assert reports.report is not None
    assert "in a pass over default/blog (websites.demo.windvane.dev)" in reports.report.getMessage()
    shown = (reports.report.stack_info or "").splitlines()
    assert "assert reports.seen.wait(60)" in shown[-1]
    assert not any("/src/windvane/" in line for line in shown)
