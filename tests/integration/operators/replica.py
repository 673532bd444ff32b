"""One replica of the operator as a process of its own: `python -m integration.operators.replica`, and see `main`."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from integration.operators.world import config_of
from integration.runtime.websites import Websites
from windvane import Client
from windvane.client.http import HTTPTransport


async def main(kubeconfig: str, namespace: str, who: str) -> None:
    """Run until killed. SIGUSR1 stops it between two steps of its loop.

    SIGSTOP itself may come after the last look at the clock and before the system call that sends: what is sent when
    the process goes on is then late, and no client could help it.
    """
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, os.kill, os.getpid(), signal.SIGSTOP)
    async with Client(HTTPTransport(config_of(Path(kubeconfig), who)), namespace=namespace) as client:
        await Websites().operator.run(client, namespaces=[namespace], identity=who)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
