"""Makes a running control plane serve a kind."""

import asyncio

from reference.controlplane import ReferenceControlPlane
from windvane import Client, NotFound, Object, crd, kind_of


def serve(reference: ReferenceControlPlane, *versions: type[Object]) -> None:
    """Apply the CRD of a kind and return when its objects can be listed, and are discovered, in every version."""

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
            await _discovered(client, {kind_of(version).api_version for version in versions}, kind_of(versions[0]).name)

    asyncio.run(wait())


async def _listed(client: Client, version: type[Object]) -> None:
    while True:
        try:
            await client.list(version)
        except NotFound:
            continue
        return


async def _discovered(client: Client, versions: set[str], name: str) -> None:
    """kubectl finds kinds in the discovery documents, which the server writes a moment after it serves them."""
    while not versions <= {kind.api_version for kind in await client.discover() if kind.name == name}:
        pass
