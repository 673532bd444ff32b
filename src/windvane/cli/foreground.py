"""A cluster in the foreground: it runs in this process until somebody asks it to stop."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

from windvane.cluster.apiserver.server import open_server
from windvane.cluster.apiserver.store.durable import Unusable
from windvane.cluster.instance import Instance, InstanceError, Process, run


def run_until_signal(
    instance: Instance,
    *,
    port: int | None,
    memory: bool,
    audit_log: Path | None,
    started: Callable[[Process], None],
) -> None:
    """Run the cluster until Ctrl-C or SIGTERM. `started` is called when it can be used."""

    async def serve() -> None:
        try:
            await run(
                instance,
                open_server,
                port=port,
                memory=memory,
                audit_log=audit_log,
                started=started,
                until=_asked_to_stop(),
            )
        except Unusable as error:
            raise InstanceError(str(error)) from error

    with asyncio.Runner(loop_factory=_fast_loop()) as runner:
        runner.run(serve())


def _asked_to_stop() -> asyncio.Future[int]:
    """Done with the number of the first signal to stop."""
    loop = asyncio.get_running_loop()
    asked: asyncio.Future[int] = loop.create_future()

    def ask(number: int) -> None:
        loop.remove_signal_handler(number)  # a second Ctrl-C means it: the process ends at once
        if not asked.done():
            asked.set_result(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ask, number)
    return asked


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, if it is installed: it is an extra of windvane's, and there is none for Windows."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return new_event_loop
