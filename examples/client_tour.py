"""The client's verbs on whatever cluster your kubeconfig points at, in a namespace of their own.

python examples/client_tour.py
"""

import asyncio

from windvane import Client, ClientError, ConfigError, Conflict, ObjectMeta
from windvane.k8s import core


async def main() -> None:
    async with Client.connect(field_manager="tour") as client:
        print("server  ", (await client.version()).git_version)
        home = await client.create(core.Namespace(metadata=ObjectMeta(generate_name="windvane-tour-")))
        namespace = home.metadata.name
        try:
            await tour(client, namespace)
        finally:
            await client.delete(core.Namespace, namespace, uid=home.metadata.uid)


async def tour(client: Client, namespace: str) -> None:
    def greeting(text: str) -> core.ConfigMap:
        return core.ConfigMap(metadata=ObjectMeta(name="greeting", namespace=namespace), data={"text": text})

    applied = await client.apply(greeting("hello"))
    print("applied ", applied.metadata.name, "at version", applied.metadata.resource_version)

    again = await client.apply(greeting("hello"))
    print("again   ", "nothing changed" if again.metadata == applied.metadata else "changed")

    try:
        await client.apply(greeting("goodbye"), field_manager="somebody-else")
    except Conflict as conflict:
        print("conflict", conflict)

    async for event in client.watch(core.ConfigMap, namespace=namespace, initial=True):
        if event.initial_end:
            await client.delete(core.ConfigMap, "greeting", namespace=namespace, uid=applied.metadata.uid)
        else:
            print("watched ", event.type, event.item.meta.name)
        if event.type == "DELETED":
            break


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (ClientError, ConfigError) as error:
        raise SystemExit(f"{error}") from None
