"""The watchdog: a loop that is blocked is reported once, by the line that blocks it; a loop that turns is not.

These tests live in real time, on small limits. None of them waits for time to pass: what blocks a loop is let go by the
report.
"""

import asyncio
import logging
import selectors
import threading
from collections.abc import Callable, Iterator
from traceback import FrameSummary

import pytest
import uvloop

from windvane import ambient
from windvane.runtime.observability import watchdog
from windvane.runtime.observability.current_pass import CurrentPass, during
from windvane.runtime.observability.watchdog import Watchdog, is_idle, relevant
from windvane.sim.time import VirtualTime

LOOPS = [asyncio.SelectorEventLoop, uvloop.new_event_loop]
LONG = 60.0


class Reports(logging.Handler):
    """What the watchdog says. `hold` blocks until it says something."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self._came = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self._came.set()

    def hold(self) -> None:
        assert self._came.wait(LONG)
        self._came.clear()


@pytest.fixture(autouse=True)
def virtual_time() -> None:
    """None here."""


@pytest.fixture
def reports() -> Iterator[Reports]:
    handler = Reports()
    watchdog.log.addHandler(handler)
    yield handler
    watchdog.log.removeHandler(handler)


async def watched(work: Callable[[], None], watchdog: Watchdog) -> None:
    watchdog.start()
    try:
        work()
    finally:
        watchdog.stop()


def quick() -> Watchdog:
    """The pause is what a busy machine has to get to the line that blocks."""
    return Watchdog(limit=0.01, pause=0.1)


async def caught(reports: Reports) -> logging.LogRecord:
    """What is said about a loop that `hold` blocks. Who has to wait for a CPU is caught before it is there."""
    dog = quick()
    dog.start()
    try:
        for _ in range(100):
            reports.hold()
            if "in hold\n    assert" in str((report := reports.records[-1]).stack_info):
                return report
            await ambient.sleep(0)  # the loop turns: what blocks it next is reported again
    finally:
        dog.stop()
    pytest.fail(f"of hold there is nothing in {reports.records[-1].stack_info}")


@pytest.mark.parametrize("new_loop", LOOPS)
def test_a_loop_that_is_blocked_is_reported_with_the_line_that_blocks_it(
    reports: Reports, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        report = runner.run(caught(reports))
    assert report.levelname == "WARNING"
    assert report.getMessage() == (
        "the event loop has been blocked for more than 0.01 s, by the code below. Write `await asyncio.sleep(...)` "
        "instead of time.sleep, `await asyncio.to_thread(f, ...)` for calls that block, such as those of requests or "
        "psycopg2, or use a library that is asynchronous"
    )
    assert report.stack_info is not None
    last = report.stack_info.splitlines()[-2:]
    assert last[0].endswith("in hold")
    assert last[1] == "    assert self._came.wait(LONG)"


def test_the_pass_that_blocks_it_is_named(reports: Reports) -> None:
    async def a_pass() -> None:
        with during(CurrentPass("websites.demo.dev", "default/blog", "abcd", "Website blog came")):
            await watched(reports.hold, quick())

    asyncio.run(a_pass())
    (report,) = reports.records
    assert " in a pass over default/blog (websites.demo.dev), by the code below. " in report.getMessage()
    assert vars(report)["reconcile"] == "abcd"


def test_one_blockage_is_reported_once(reports: Reports) -> None:
    async def long_blocked() -> None:
        quick_one, slow_one = Watchdog(limit=0.01, pause=0.001), Watchdog(limit=0.1, pause=0.001)
        quick_one.start()
        slow_one.start()
        while len(reports.records) < 2:
            reports.hold()
        quick_one.stop()
        slow_one.stop()

    asyncio.run(long_blocked())
    assert sorted(each.getMessage()[:57] for each in reports.records) == [
        "the event loop has been blocked for more than 0.01 s, by ",
        "the event loop has been blocked for more than 0.1 s, by t",
    ]


def test_the_next_blockage_is_reported_again(reports: Reports) -> None:
    async def twice() -> None:
        dog = quick()
        dog.start()
        reports.hold()
        await ambient.sleep(0)  # the loop turns
        reports.hold()
        dog.stop()

    asyncio.run(twice())
    assert len(reports.records) == 2


def test_a_loop_that_only_waited_for_a_cpu_is_looked_at_again(
    reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([True])
    monkeypatch.setattr(watchdog, "is_idle", lambda _: next(looks, False))
    asyncio.run(watched(reports.hold, quick()))
    assert len(reports.records) == 1


def test_virtual_time_is_not_watched() -> None:
    async def work() -> None:
        before = set(threading.enumerate())
        with ambient.use(VirtualTime()):
            Watchdog().start()
        assert set(threading.enumerate()) <= before

    asyncio.run(work())


def test_it_ends_with_its_loop(reports: Reports) -> None:
    before = set(threading.enumerate())

    async def work() -> set[threading.Thread]:
        Watchdog(limit=LONG / 4, pause=0.001).start()
        return set(threading.enumerate()) - before

    (thread,) = asyncio.run(work())
    thread.join(LONG)
    assert not thread.is_alive()
    assert not reports.records


def frames(*files: str) -> list[FrameSummary]:
    return [FrameSummary(file, 1, "f", lookup_line=False, line="...") for file in files]


ASYNCIO = asyncio.base_events.__file__
OURS = ambient.__file__


def test_a_loop_that_waits_for_something_to_happen_is_idle() -> None:
    assert is_idle(frames("main.py", ASYNCIO, selectors.__file__))
    assert is_idle(frames("main.py", ASYNCIO)), "uvloop waits where Python sees nothing"


def test_code_that_waits_for_a_file_is_not_idle() -> None:
    assert not is_idle(frames("main.py", ASYNCIO, "operator.py", selectors.__file__))


def test_only_what_the_machinery_called_is_shown() -> None:
    stack = frames("main.py", ASYNCIO, OURS, "operator.py", "lib.py", threading.__file__)
    assert [each.filename for each in relevant(stack)] == ["operator.py", "lib.py"]


def test_the_outer_part_of_a_deep_stack_is_shown() -> None:
    stack = frames(ASYNCIO, *(f"{n}.py" for n in range(20)))
    assert [each.filename for each in relevant(stack)] == [f"{n}.py" for n in range(8)]


def test_where_no_author_is_to_be_seen_the_innermost_calls_are_shown() -> None:
    stack = frames("main.py", ASYNCIO, OURS)
    assert relevant(stack) == stack
