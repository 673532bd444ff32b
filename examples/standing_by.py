"""Replicas: two of one operator, of which one works and the other stands by.

python examples/standing_by.py      # on whatever cluster your kubeconfig points at

Ctrl-C stops the first, which gives its lease back; the second takes over. In a cluster they would be two pods, and
`windvane run` would do all of this.
"""

import asyncio
import signal

from windvane import Client, Context, Operator, Watch
from windvane.k8s import core

operator = Operator("greeters")


@operator.controller(
    core.Namespace, watches=[Watch(core.ServiceAccount, to=lambda account: account.metadata.namespace)]
)
async def reconcile(namespace: core.Namespace, ctx: Context) -> None:
    ctx.log.info("hello, %s: %d accounts", namespace.metadata.name, len(ctx.list(core.ServiceAccount)))


async def replica(client: Client, identity: str, stop: asyncio.Event) -> None:
    await operator.run(client, identity=identity, stop=stop)
    print(f"{identity} has stopped.")


async def main() -> None:
    stops = {"first": asyncio.Event(), "second": asyncio.Event()}
    waiting = iter(stops.values())
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: next(waiting, asyncio.Event()).set())
    async with Client.connect() as client, asyncio.TaskGroup() as group:
        for identity, stop in stops.items():
            group.create_task(replica(client, identity, stop))


if __name__ == "__main__":
    asyncio.run(main())
