"""What an operator costs while nothing happens: the etcd operator with no cluster to keep, with one, and with ten.

    python bench/etcd.py                          three members each, all of them real etcds
    python bench/etcd.py --clusters 1 --seconds 20

Everything is as users have it: `windvane cluster start` and `windvane run`, each in a process of its own. The API
server's audit log has who wrote what; nobody but the operator writes with the administrator's token meanwhile.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from etcd_operator.api import EtcdCluster
from windvane import Client, object_from_wire

SOURCE = Path(__file__).parent.parent / "operators" / "etcd" / "src"
WINDVANE = (sys.executable, "-m", "windvane.cli")
READS = ("get", "list", "watch")
QUIET = 30.0
"""So many seconds after the last cluster has settled the measurement begins: what is told late has been told."""


@dataclass(frozen=True)
class Cost:
    """What the operator did in a while."""

    writes: Counter[str]
    """By resource, but for Leases."""
    leases: int
    reads: int
    cpu: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=int, nargs="+", default=[1, 10], metavar="N")
    parser.add_argument("--seconds", type=float, default=60, metavar="S")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="windvane-bench-") as directory:
        asyncio.run(measure([0, *options.clusters], options.seconds, Path(directory)))


async def measure(counts: list[int], seconds: float, directory: Path) -> None:
    print(f"{'clusters':>8} {'writes':>7} {'of its Lease':>13} {'reads':>6} {'CPU s a minute':>15} {'':>6} {'MB':>5}")
    audit = directory / "audit.log"
    idle = 0.0
    async with (
        cluster(directory, audit) as kubeconfig,
        operator(directory, kubeconfig) as pid,
        Client.connect(kubeconfig=kubeconfig) as client,
    ):
        for count in counts:
            await have(client, count)
            await asyncio.sleep(QUIET)
            before, used = size(audit), cpu_seconds(pid)
            await asyncio.sleep(seconds)
            cost = told(audit, before, cpu_seconds(pid) - used, megabytes(pid))
            a_minute = cost.cpu * 60 / seconds
            idle = idle or a_minute
            print(
                f"{count:8} {cost.writes.total():7} {cost.leases:13} {cost.reads:6} {a_minute:15.2f} "
                f"{a_minute / idle:5.1f}x {cost.megabytes:5.0f}",
                flush=True,
            )
            for resource, times in cost.writes.items():
                print(f"         wrote {resource} {times} times")


@asynccontextmanager
async def cluster(directory: Path, audit: Path) -> AsyncIterator[Path]:
    """A cluster, by its kubeconfig."""
    command = (*WINDVANE, "cluster", "start", "--pods", "process", "--audit-log", str(audit))
    with (directory / "cluster.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(*command, "--data", str(directory / "cluster")),
            env={**os.environ, "WINDVANE_HOME": str(directory)},
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    assert process.stdout is not None
    await process.stdout.readline()
    try:
        yield directory / "cluster" / "kubeconfig"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def operator(directory: Path, kubeconfig: Path) -> AsyncIterator[int]:
    """The operator, by its process id."""
    with (directory / "operator.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(*WINDVANE, "run", "etcd_operator:operator", "--install-crds", "--metrics-port", "none"),
            *("--kubeconfig", str(kubeconfig)),
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdout=log,
            stderr=log,
        )
    try:
        await until_it_leads(directory / "operator.log")
        yield process.pid
    finally:
        process.terminate()
        await process.wait()


async def until_it_leads(log: Path) -> None:
    while True:
        if b" leads " in contents(log):
            return
        await asyncio.sleep(0.2)


def contents(file: Path) -> bytes:
    return file.read_bytes()


async def have(client: Client, count: int) -> None:
    """Have so many EtcdClusters, settled."""
    there = {each.metadata.name async for each in client.list(EtcdCluster, namespace="default")}
    for number in range(len(there), count):
        await client.create(etcd(f"bench-{number}"))
    while count:
        settled = [each async for each in client.list(EtcdCluster, namespace="default") if is_ready(each)]
        if len(settled) == count:
            return
        await asyncio.sleep(1)


def etcd(name: str) -> EtcdCluster:
    """An EtcdCluster of three members."""
    content = {
        "apiVersion": "etcd.windvane.dev/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"version": "3.5.1", "replicas": 3, "storageSize": "1Gi"},
    }
    return object_from_wire(content, EtcdCluster)


def is_ready(there: EtcdCluster) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in there.status.conditions)


def told(audit: Path, position: int, cpu: float, memory: float) -> Cost:
    """What the audit log says of the time since it was so long."""
    writes: Counter[str] = Counter()
    reads = 0
    with audit.open("rb") as log:
        log.seek(position)
        for line in log:
            event = json.loads(line)
            if event["stage"] != "ResponseComplete" or not by_operator(event):
                continue
            if event["verb"] in READS:
                reads += 1
            else:
                writes[event["objectRef"]["resource"]] += 1
    leases = writes.pop("leases", 0)
    return Cost(writes, leases, reads, cpu, memory)


def size(file: Path) -> int:
    return file.stat().st_size


def by_operator(event: dict[str, dict[str, list[str]]]) -> bool:
    return "system:masters" in event["user"].get("groups", [])


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    main()
