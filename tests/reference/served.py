"""Makes a running control plane serve a kind."""

import asyncio

from reference.controlplane import ReferenceControlPlane
from windvane import Client, NotFound, Object, crd


def serve(reference: ReferenceControlPlane, *versions: type[Object]) -> None:
    """Apply the CRD of a kind and return when its objects can be listed in every version."""

    async def wait() -> None:
        async with Client.connect(kubeconfig=reference.kubeconfig) as client:
            definition = await client.apply(crd(*versions), force=True)
            name = definition.metadata.name
            async for event in client.watch(type(definition), fields={"metadata.name": name}, initial=True):
                conditions = [] if event.type == "BOOKMARK" else event.object["status"].get("conditions") or []
                if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
                    break
            # Established says that the server will serve it, not that it already does.
            for version in versions:
                await _listed(client, version)

    asyncio.run(wait())


async def _listed(client: Client, version: type[Object]) -> None:
    while True:
        try:
            await client.list(version)
        except NotFound:
            continue
        return
