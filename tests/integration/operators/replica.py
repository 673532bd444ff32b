"""One replica of the operator as a process of its own: `python -m integration.operators.replica`, and see `main`."""

import asyncio
import sys
from pathlib import Path

from integration.operators.world import config_of
from integration.runtime.websites import Websites
from windvane import Client
from windvane.client.http import HTTPTransport


async def main(kubeconfig: str, namespace: str, who: str) -> None:
    """Run until killed."""
    async with Client(HTTPTransport(config_of(Path(kubeconfig), who)), namespace=namespace) as client:
        await Websites().operator.run(client, namespaces=[namespace], identity=who)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
