"""How long a Deployment takes until its pods are ready, and what they cost: simulated ones, and real processes.

    python bench/pods.py             1,000 simulated pods, and 50 that run `sleep`

Everything is as users have it: `windvane cluster start` in a process of its own, and a client over HTTPS.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from windvane import Client, ObjectMeta
from windvane.api import codec
from windvane.client.errors import ClientError
from windvane.k8s.apps import Deployment, DeploymentSpec

IMAGES = {"simulated": "nginx", "process": "python:3"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulated", type=int, default=1000, metavar="N")
    parser.add_argument("--processes", type=int, default=50, metavar="N")
    options = parser.parse_args()
    print(f"{'pods':16} {'all ready':>10} {'a second':>9} {'cluster MB':>11} {'pods MB':>8} {'all gone':>9}")
    for mode, count in (("simulated", options.simulated), ("process", options.processes)):
        with tempfile.TemporaryDirectory(prefix="windvane-bench-") as directory:
            asyncio.run(measure(mode, count, Path(directory)))


async def measure(mode: str, count: int, directory: Path) -> None:
    command = (sys.executable, "-m", "windvane.cli", "cluster", "start", "--memory", "--pods", mode)
    environment = {**os.environ, "WINDVANE_HOME": str(directory)}
    cluster = await asyncio.create_subprocess_exec(
        *command, "--data", str(directory / "cluster"), env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert cluster.stdout is not None
    await cluster.stdout.readline()
    try:
        async with Client.connect(kubeconfig=directory / "cluster" / "kubeconfig") as client:
            took = await until_ready(client, mode, count)
            own, others = memory(cluster.pid)
            began = time.perf_counter()
            await client.delete(Deployment, "web", namespace="default", propagation="Foreground")
            await until_gone(client)
            gone = time.perf_counter() - began
        words = f"{count} {mode}"
        print(f"{words:16} {took:8.1f} s {count / took:9.0f} {own:11.0f} {others:8.0f} {gone:7.1f} s")
    finally:
        cluster.terminate()
        await cluster.wait()


async def until_ready(client: Client, mode: str, count: int) -> float:
    """How long it takes until all are ready."""
    container = {"name": "web", "image": IMAGES[mode], "command": ["sleep", "100000"]}
    spec = {
        "replicas": count,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}},
    }
    deployment = Deployment(
        metadata=ObjectMeta(name="web", namespace="default"), spec=codec.from_wire(spec, DeploymentSpec)
    )
    began = time.perf_counter()
    await client.create(deployment)
    async for event in client.watch(Deployment, namespace="default", initial=True):
        if event.type != "BOOKMARK" and (event.object.status.ready_replicas or 0) >= count:
            break
    return time.perf_counter() - began


async def until_gone(client: Client) -> None:
    while True:
        try:
            await client.get(Deployment, "web", namespace="default")
        except ClientError:
            return
        await asyncio.sleep(0.1)


def memory(pid: int) -> tuple[float, float]:
    """Megabytes of a process, and of all below it, each with its share of what is shared."""
    parents = {}
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    below = [pid]
    for each in below:
        below += [child for child, parent in parents.items() if parent == each]
    return megabytes(pid), sum(map(megabytes, below[1:]))


def megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    main()
