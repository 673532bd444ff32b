"""Says so when the event loop is blocked for more than a second: by which line, in which pass, and what to write then.

All passes, watches and the renewal of the lease share one loop. A call that blocks, such as `time.sleep` or one of
`requests`, stops them all, and nothing else would tell why. So a thread asks the loop for a sign of life twice a
second; when none comes, it looks what the loop's thread is at.
"""

import asyncio
import logging
import selectors
import sys
import sysconfig
import threading
from collections.abc import Sequence
from pathlib import Path
from traceback import FrameSummary, StackSummary, format_list, walk_stack

from windvane import ambient
from windvane.runtime.observability.current_pass import of_task

log = logging.getLogger(__name__)

LIMIT = 1.0
"""How long, in seconds, the loop may take for a sign of life."""
PAUSE = 0.5
"""How long, in seconds, between a sign of life and the next question. What blocks for LIMIT and this is always seen."""
FRAMES = 8
"""How many lines of the author's code are shown at most."""

_ASYNCIO = str(Path(asyncio.__file__).parent)
_WINDVANE = str(Path(ambient.__file__).parent)
_STANDARD_LIBRARY = sysconfig.get_path("stdlib")
_SITE_PACKAGES = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))

REMEDY = (
    "Write `await asyncio.sleep(...)` instead of time.sleep, `await asyncio.to_thread(f, ...)` for calls that block, "
    "such as those of requests or psycopg2, or use a library that is asynchronous"
)


class Watchdog:
    """A thread beside an event loop."""

    def __init__(self, *, limit: float = LIMIT, pause: float = PAUSE) -> None:
        self._limit = limit
        self._pause = pause
        self._stopped = threading.Event()
        self._answered = threading.Event()

    def start(self) -> None:
        """Watch the loop that runs here. Virtual time is not watched: it stands still whenever code runs."""
        if not ambient.is_real():
            return
        loop, its_thread = asyncio.get_running_loop(), threading.get_ident()
        threading.Thread(target=self._watch, args=(loop, its_thread), name="windvane watchdog", daemon=True).start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()
        self._answered.set()

    def _watch(self, loop: asyncio.AbstractEventLoop, its_thread: int) -> None:
        while not self._stopped.wait(self._pause):
            self._answered.clear()
            try:
                loop.call_soon_threadsafe(self._answered.set)
            except RuntimeError:
                return  # the loop was closed
            reported = False
            while not self._answered.wait(self._limit) and loop.is_running() and not self._stopped.is_set():
                reported = reported or self._look(loop, its_thread)  # one blockage, one report

    def _look(self, loop: asyncio.AbstractEventLoop, its_thread: int) -> bool:
        """Say what the loop is at; False if there is nothing to say."""
        if (frame := sys._current_frames().get(its_thread)) is None:
            return False
        stack = StackSummary.extract(walk_stack(frame), lookup_lines=False)
        stack.reverse()
        if is_idle(stack):
            return False  # the whole process was stopped, or starved, and not by the loop's code
        this = of_task(asyncio.current_task(loop))
        where = f" in a pass over {this.object} ({this.controller})" if this is not None else ""
        message = f"the event loop has been blocked for more than {self._limit:g} s{where}, by the code below. {REMEDY}"
        record = log.makeRecord(
            log.name, logging.WARNING, __file__, 0, message, (), None,
            extra=this.facts() if this is not None else None,
            sinfo="Stack (most recent call last):\n" + "".join(format_list(relevant(stack))).rstrip(),
        )  # fmt: skip
        log.handle(record)
        return True


def is_idle(stack: Sequence[FrameSummary]) -> bool:
    """Whether a loop whose thread is at `stack` does nothing but wait for something to happen."""
    *_, outer, inner = stack
    return _is_in(inner, _ASYNCIO) or (inner.filename == selectors.__file__ and _is_in(outer, _ASYNCIO))


def relevant(stack: Sequence[FrameSummary]) -> Sequence[FrameSummary]:
    """The part of a stack that an author can do something about: what was called last by the machinery, and its calls.

    How the standard library goes about it in the end is left out. An author's own code may be anywhere, site-packages
    too, so nothing is left out for that.
    """
    machinery = [at for at, each in enumerate(stack) if _is_in(each, _ASYNCIO) or _is_in(each, _WINDVANE)]
    called = stack[machinery[-1] + 1 :] if machinery else stack
    end = len(called)
    while end and _is_standard(called[end - 1]):
        end -= 1
    return called[:end][:FRAMES] or stack[-FRAMES:]


def _is_in(frame: FrameSummary, directory: str) -> bool:
    return frame.filename.startswith(directory)


def _is_standard(frame: FrameSummary) -> bool:
    return _is_in(frame, _STANDARD_LIBRARY) and not frame.filename.startswith(_SITE_PACKAGES)
