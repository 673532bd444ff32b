"""The embedded API server beside the real one: start, memory, and how fast objects are written, listed and watched.

Both run in processes of their own and are asked by the same client over TLS, one after the other. What counts is how
they compare within one run; the client takes its share of both cores.

    make bench-apiserver
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp
from parcels import Parcel, parcel

from reference.controlplane import ReferenceControlPlane
from windvane import Client, NotFound, crd, kind_of, object_to_wire
from windvane.client.config import load_config
from windvane.client.tls import tls_context

CONNECTIONS = 16
VERSION = re.compile(rb'"resourceVersion":"([0-9]+)"')
WATCHES = 100
CHANGES = 1_000
COMMAND = [sys.executable, "-m", "windvane.cli", "cluster"]


def resident_mb(pids: list[int]) -> float:
    """The memory of some processes together."""
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


@contextmanager
def embedded() -> Iterator[tuple[float, list[int], Path]]:
    """Start-up seconds, process ids and kubeconfig of the embedded server, with its data on disk."""
    with tempfile.TemporaryDirectory() as elsewhere:  # the first start after a change compiles what has changed
        subprocess.run([*COMMAND, "start", "--detach", "--data", elsewhere], check=True, capture_output=True)
        subprocess.run([*COMMAND, "stop", "--data", elsewhere], check=True, capture_output=True)
    with tempfile.TemporaryDirectory() as directory:
        data = ["--data", directory]
        started = time.perf_counter()
        subprocess.run([*COMMAND, "start", "--detach", *data], check=True, capture_output=True)
        seconds = time.perf_counter() - started
        said = subprocess.run([*COMMAND, "status", *data], check=True, capture_output=True, text=True).stdout
        try:
            pid = int(said.partition("pid ")[2].partition(".")[0])
            yield seconds, [pid], Path(directory) / "kubeconfig"
        finally:
            subprocess.run([*COMMAND, "stop", *data], check=True, capture_output=True)


@contextmanager
def real() -> Iterator[tuple[float, list[int], Path]]:
    """The same of the reference control plane, whose etcd does not wait for the disk either."""
    plane = ReferenceControlPlane()
    started = time.perf_counter()
    plane.start()
    seconds = time.perf_counter() - started
    try:
        yield seconds, plane.pids(), plane.kubeconfig
    finally:
        plane.stop()


async def load(kubeconfig: Path, count: int) -> dict[str, float]:
    """Create `count` objects at 16 connections, list them, and let a hundred watches see a thousand changes."""
    async with Client.connect(kubeconfig=kubeconfig) as client:
        await client.create(crd(Parcel))
        while True:
            try:
                await client.list(Parcel)
                break
            except NotFound:
                continue
        latencies: list[float] = []

        async def create(numbers: Iterator[int]) -> None:
            for number in numbers:
                began = time.perf_counter()
                await client.create(parcel(number))
                latencies.append(time.perf_counter() - began)

        numbers = iter(range(count))
        began = time.perf_counter()
        await asyncio.gather(*(create(numbers) for _ in range(CONNECTIONS)))
        writing = time.perf_counter() - began
        p99 = statistics.quantiles(latencies, n=100)[98]
        began = time.perf_counter()
        listed = await client.list(Parcel, page_size=0)
        listing = time.perf_counter() - began
        if len(listed) != count:
            sys.exit(f"listed {len(listed)} objects instead of {count}")
        numbers = iter(range(count, count + CHANGES))
        async with watches(kubeconfig, listed.resource_version) as all_told:
            began = time.perf_counter()
            await asyncio.gather(*(create(numbers) for _ in range(CONNECTIONS)))
            await all_told()
            telling = time.perf_counter() - began
    return {"creates/s": count / writing, "p99 ms": 1000 * p99, "list s": listing, "fan-out s": telling}


@asynccontextmanager
async def watches(kubeconfig: Path, since: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """A hundred watches that only count lines, so that what is measured is the server; `all_told` waits for all."""
    config = load_config(kubeconfig=kubeconfig)
    connector = aiohttp.TCPConnector(ssl=tls_context(config), limit=0)
    url = f"{config.server}{kind_of(Parcel).collection_path()}?watch=1&resourceVersion="
    session = aiohttp.ClientSession(connector=connector, read_bufsize=2**20)
    opened = asyncio.Semaphore(0)

    async def count() -> None:
        lines, version, rest = 0, since, b""
        while lines < CHANGES:
            async with session.get(url + version) as response:
                opened.release()
                # Both servers cut watches whose reader is slow, and whoever watches comes back.
                while lines < CHANGES and (part := await response.content.readany()):
                    *whole, rest = (rest + part).split(b"\n")
                    lines += len(whole)
                    if whole:
                        version = VERSION.findall(whole[-1])[0].decode()
            rest = b""

    async with session:
        counting = [asyncio.ensure_future(count()) for _ in range(WATCHES)]
        for _ in counting:
            await opened.acquire()

        async def all_told() -> None:
            await asyncio.gather(*counting)

        yield all_told


def main() -> None:
    """Run both and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000, help="how many objects (default: 20000)")
    count: int = parser.parse_args().count
    size = len(json.dumps(object_to_wire(parcel(1))))
    results: dict[str, dict[str, float]] = {}
    for name, server in (("embedded", embedded), ("reference", real)):
        with server() as (seconds, pids, kubeconfig):
            idle = resident_mb(pids)
            results[name] = {"start s": seconds, "idle MB": idle, **asyncio.run(load(kubeconfig, count))}
    print(f"{count} objects of {size} bytes at {CONNECTIONS} connections; {CHANGES} changes, {WATCHES} watches")
    print()
    print(f"{'':12}{'embedded':>12}{'reference':>12}{'embedded is':>14}")
    for what, ours in results["embedded"].items():
        theirs = results["reference"][what]
        print(f"{what:12}{ours:12.2f}{theirs:12.2f}{ours / theirs:13.2f}x")


if __name__ == "__main__":
    main()
