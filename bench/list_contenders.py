"""One list by one client library, in this process: prints its CPU seconds and the memory it took as JSON.

Run by list_decode.py in the environment of bench/requirements.lock. What is imported and connected before the list
does not count.
"""

import asyncio
import json
import resource
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

GROUP, VERSION, PLURAL = "bench.windvane.dev", "v1", "parcels"


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _memory_mb(what: str) -> float:
    """`VmRSS`, what is resident now, or `VmHWM`, the most that ever was. (ru_maxrss counts the parent's, too.)"""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) / 1024


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


async def _measured(count: int, make_list: Callable[[], Awaitable[Any]]) -> dict[str, float]:
    _forget_peak()
    cpu, memory = _cpu(), _memory_mb("VmRSS")
    objects = await make_list()
    result = {"cpu": _cpu() - cpu, "held": _memory_mb("VmRSS") - memory, "peak": _memory_mb("VmHWM") - memory}
    if len(objects) != count:
        sys.exit(f"got {len(objects)} objects instead of {count}")
    return result


async def windvane(count: int, *, typed: bool = False) -> dict[str, float]:
    """Ours: envelope and bytes, and in a second run every object decoded too."""
    from windvane import Client, Resource, Spec, Status

    class ParcelSpec(Spec):
        sender: str
        note: str
        steps: list[str] = []
        weight: int = 1

    class Parcel(Resource[ParcelSpec, Status], group=GROUP, version=VERSION, plural=PLURAL):
        pass

    async def make_list() -> Any:
        page = await client.list(Parcel, page_size=0)
        return list(page) if typed else page

    async with Client.connect() as client:
        await client.version()
        return await _measured(count, make_list)


async def windvane_typed(count: int) -> dict[str, float]:
    """Ours, with every object decoded."""
    return await windvane(count, typed=True)


async def kubernetes_asyncio(count: int) -> dict[str, float]:
    """The generated client."""
    from kubernetes_asyncio import client, config

    await config.load_kube_config()
    async with client.ApiClient() as api:
        await client.VersionApi(api).get_code()

        async def make_list() -> Any:
            answer = await client.CustomObjectsApi(api).list_cluster_custom_object(GROUP, VERSION, PLURAL)
            return answer["items"]

        return await _measured(count, make_list)


async def lightkube(count: int) -> dict[str, float]:
    """The light one."""
    from lightkube import AsyncClient
    from lightkube.generic_resource import create_namespaced_resource
    from lightkube.resources.core_v1 import Namespace

    parcel = create_namespaced_resource(GROUP, VERSION, "Parcel", PLURAL)
    client = AsyncClient()
    await client.get(Namespace, "default")

    async def make_list() -> Any:
        return [thing async for thing in client.list(parcel, namespace="*")]

    result = await _measured(count, make_list)
    await client.close()
    return result


if __name__ == "__main__":
    contenders = {f.__name__: f for f in (windvane, windvane_typed, kubernetes_asyncio, lightkube)}
    print(json.dumps(asyncio.run(contenders[sys.argv[1]](int(sys.argv[2])))))
