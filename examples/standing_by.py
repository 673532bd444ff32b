"""Replicas: two of one operator, of which one works and the other stands by.

python examples/standing_by.py      # on whatever cluster your kubeconfig points at

Ctrl-C stops the first, which gives its lease back; the second takes over. In a cluster they would be two pods, and
`windvane run` would do all of this.
"""

import asyncio
import signal

from windvane import Client, Context, Operator, ambient
from windvane.k8s import core


def greeters(who: str) -> Operator:
    operator = Operator("greeters")  # they share a name, and so their lease

    @operator.controller(core.Namespace)
    async def reconcile(namespace: core.Namespace, _ctx: Context) -> None:
        print(f"{who} says hello to {namespace.metadata.name}.")

    return operator


async def replica(client: Client, who: str, stop: asyncio.Event) -> None:
    await greeters(who).run(client, identity=who, stop=stop)
    print(f"{who} has stopped.")


async def main() -> None:
    stops = {"first": asyncio.Event(), "second": asyncio.Event()}
    waiting = iter(stops.values())
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: next(waiting, asyncio.Event()).set())
    async with Client.connect() as client, asyncio.TaskGroup() as group:
        for who, stop in stops.items():
            group.create_task(replica(client, who, stop))
            await ambient.sleep(2)  # time to take the lease, which is given to whoever asks first


if __name__ == "__main__":
    asyncio.run(main())
