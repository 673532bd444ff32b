"""The event loop of a command that runs until somebody asks it to stop, with Ctrl-C or SIGTERM."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


def run(main: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run `main` to its end, on uvloop if that is installed: it is an extra of windvane's, and not for Windows."""
    with asyncio.Runner(loop_factory=_fast_loop()) as runner:
        return runner.run(main)


def asked_to_stop() -> asyncio.Future[signal.Signals]:
    """Done with the first signal to stop. Whoever sends a second one means it: the process ends at once."""
    loop = asyncio.get_running_loop()
    asked: asyncio.Future[signal.Signals] = loop.create_future()
    stopping = (signal.SIGINT, signal.SIGTERM)

    def ask(number: signal.Signals) -> None:
        for each in stopping:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)  # Python's own for SIGINT would wait for all that is under way
        if not asked.done():
            asked.set_result(number)

    for number in stopping:
        loop.add_signal_handler(number, ask, number)
    return asked


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return new_event_loop
