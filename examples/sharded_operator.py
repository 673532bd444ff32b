"""Shards: three replicas of one operator, each of which works on its own part of the objects.

python examples/sharded_operator.py      # on whatever cluster your kubeconfig points at

The first time, nothing happens for 15 seconds: nobody knows yet that nobody holds the shards. Make some namespaces, and
see who looks after which. Ctrl-C stops one replica after the other, and its part goes to those that are left. In a
cluster they would be three pods, each with `windvane run --shards 16`.
"""

import asyncio
import signal

from windvane import Client, Context, Operator
from windvane.k8s import core


def caretakers(who: str) -> Operator:
    operator = Operator("caretakers")  # they share a name, and so their shards

    @operator.controller(core.Namespace)
    async def reconcile(namespace: core.Namespace, _ctx: Context) -> None:
        print(f"{who} looks after {namespace.metadata.name}.")

    return operator


async def replica(client: Client, who: str, stop: asyncio.Event) -> None:
    await caretakers(who).run(client, identity=who, shards=16, stop=stop)
    print(f"{who} has stopped.")


async def main() -> None:
    stops = {"ann": asyncio.Event(), "bob": asyncio.Event(), "eve": asyncio.Event()}
    waiting = iter(stops.values())
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: next(waiting, asyncio.Event()).set())
    async with Client.connect() as client, asyncio.TaskGroup() as group:
        for who, stop in stops.items():
            group.create_task(replica(client, who, stop))


if __name__ == "__main__":
    asyncio.run(main())
