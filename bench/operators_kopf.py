"""The contender of operators.py that is written with kopf: each Parcel gets a ConfigMap that it owns, and a status.

With `--idle` it only looks at them, and says on standard output when it has been called for so many objects: kopf
has no caches, so that is both "synced" and "visited".
"""

import argparse
import asyncio
from datetime import UTC, datetime
from typing import Any

import kopf
import uvloop
from kubernetes_asyncio import client, config

PARCELS = ("bench.windvane.dev", "v1", "parcels")
maps: client.CoreV1Api


def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    """What kopf's manual advises to busy operators: no Events for each step, no look at what the server serves."""
    settings.posting.enabled = False
    settings.scanning.disabled = True


async def connect(**_: Any) -> None:
    """kopf has no client for authors; the children are written with the usual one."""
    global maps  # noqa: PLW0603 - as in kopf's own examples; there is one operator in a process
    await config.load_kube_config()
    settings = client.Configuration.get_default_copy()
    settings.connection_pool_maxsize = 100
    maps = client.CoreV1Api(client.ApiClient(settings))


def child_of(body: kopf.Body) -> dict[str, Any]:
    """The ConfigMap that says what the Parcel says."""
    spec = body.spec
    data = {"sender": spec["sender"], "note": spec["note"], "weight": str(spec.get("weight", 1))}
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": body.metadata.name}, "data": data}
    kopf.adopt(child, owner=body)
    return child


def report(body: kopf.Body, patch: kopf.Patch) -> None:
    """The same status as the others write."""
    generation = body.metadata["generation"]
    patch.status["observedGeneration"] = generation
    patch.status["conditions"] = [
        {
            "type": "Ready",
            "status": "True",
            "reason": "Reconciled",
            "message": "",
            "observedGeneration": generation,
            "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
    ]


async def create(body: kopf.Body, patch: kopf.Patch, **_: Any) -> None:
    """A Parcel is new."""
    await maps.create_namespaced_config_map(body.metadata.namespace, child_of(body))
    report(body, patch)


async def update(body: kopf.Body, patch: kopf.Patch, **_: Any) -> None:
    """A Parcel says something else."""
    await maps.patch_namespaced_config_map(body.metadata.name, body.metadata.namespace, child_of(body))
    report(body, patch)


def main() -> None:
    """Run until killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--idle", type=int, default=0, help="only look at so many objects")
    idle: int = parser.parse_args().idle
    called = 0

    async def look(**_: Any) -> None:
        nonlocal called
        called += 1
        if called == idle:
            print("synced\nvisited", flush=True)

    kopf.on.startup()(configure)
    if idle:
        kopf.on.event(*PARCELS)(look)
    else:
        kopf.on.startup()(connect)
        kopf.on.create(*PARCELS)(create)
        kopf.on.update(*PARCELS)(update)
    loop = uvloop.new_event_loop()
    asyncio.set_event_loop(loop)
    kopf.run(loop=loop, standalone=True, clusterwide=True)


if __name__ == "__main__":
    main()
