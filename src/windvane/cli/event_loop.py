"""The event loop of a command that runs until it is asked to stop, with Ctrl-C or SIGTERM."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from windvane import ambient

ResultT = TypeVar("ResultT")

MOMENT = 0.25
"""Seconds in which several signals are one."""


def run(main: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run `main` to its end, on uvloop if that is installed: it is an extra of windvane's, and not for Windows."""
    with asyncio.Runner(loop_factory=_fast_loop()) as runner:
        return runner.run(main)


def asked_to_stop() -> asyncio.Future[signal.Signals]:
    """Done with the first signal to stop. A second one is meant: the process ends at once.

    But not one that comes in the same moment: `timeout` and process managers signal the process and its group, or pass
    on the Ctrl-C that the terminal has sent to it already.
    """
    loop = asyncio.get_running_loop()
    asked: asyncio.Future[signal.Signals] = loop.create_future()
    stopping = (signal.SIGINT, signal.SIGTERM)

    first = 0.0

    def ask(number: signal.Signals) -> None:
        nonlocal first
        if not asked.done():
            asked.set_result(number)
            first = ambient.monotonic()
            loop.call_later(MOMENT, let_end)
        elif ambient.monotonic() >= first + MOMENT:  # the loop was blocked
            let_end()
            signal.raise_signal(number)

    def let_end() -> None:
        for each in stopping:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)  # Python's own for SIGINT would wait for all that is under way

    for number in stopping:
        loop.add_signal_handler(number, ask, number)
    return asked


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return new_event_loop
