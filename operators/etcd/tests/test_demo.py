"""`make run`: `windvane dev` in this project, with real etcds, which stops cleanly and goes on where it was."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from etcd_operator.api import EtcdCluster
from integration.processes.clusters import below, gone
from windvane import Client

ROOT = Path(__file__).parents[3]
PATIENCE = 240.0
READY = "condition  EtcdCluster default/prod-etcd  Ready is True"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("make") is None,
    reason="etcd comes with a Python package for Linux only, and it takes make",
)


@dataclass
class Demo:
    """A run, and what it has written."""

    process: Process
    home: Path
    lines: list[str] = field(default_factory=list)

    async def until(self, text: str) -> str:
        """The next line with this text, as soon as it is written."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while line := (await self.process.stdout.readline()).decode():
                self.lines.append(line)
                if text in line:
                    return line
        raise AssertionError(f"it ended, and did not say {text!r}:\n{''.join(self.lines)}")

    def client(self) -> Client:
        """As kubectl would, in another terminal."""
        return Client.connect(kubeconfig=self.home / "clusters" / "dev-etcd-operator" / "kubeconfig")

    async def stopped_with(self, number: signal.Signals) -> tuple[int, str]:
        """Its exit code and its last line when it is stopped with a signal. Nothing of it is left then."""
        processes = below(self.process.pid)
        assert processes
        self.process.send_signal(number)
        assert self.process.stdout is not None
        rest = (await self.process.stdout.read()).decode().splitlines()
        code = await self.process.wait()
        await gone(processes)
        return code, (rest or [""])[-1]


def command() -> str:
    """What `make run` runs, after it has seen to the virtual environment."""
    said = subprocess.run(["make", "--dry-run", "run"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    [command] = [line for line in said.splitlines() if "windvane" in line and "dev" in line.split()]
    return command


@asynccontextmanager
async def demo(home: Path) -> AsyncIterator[Demo]:
    """A run."""
    environment = {**os.environ, "WINDVANE_HOME": str(home)}
    process = await asyncio.create_subprocess_shell(command(), cwd=ROOT, env=environment, stdout=PIPE, stderr=STDOUT)
    try:
        yield Demo(process, home)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.long
async def test_the_demo_runs_stops_and_goes_on_where_it_was(tmp_path: Path) -> None:
    async with demo(tmp_path) as first:
        await first.until("the operator works as ServiceAccount etcd-operator/etcd-operator, with the rights in deploy")
        await first.until("samples/prod-etcd.yaml: EtcdCluster prod-etcd is created")
        await first.until(READY)
        assert [line for line in first.lines if "  problem  " in line or "\x1b" in line] == []
        async with first.client() as client:
            cluster = await client.get(EtcdCluster, "prod-etcd", namespace="default")
            assert (cluster.status.ready, cluster.status.quorum) == ("3/3", "Healthy")
            await client.scale(EtcdCluster, "prod-etcd", 1, namespace="default")
        await first.until("MemberRemoved")
        code, last = await first.stopped_with(signal.SIGINT)
        assert code == 0
        assert "The objects stay in" in last

    async with demo(tmp_path) as second:
        # What was scaled stays as it is, though the sample says otherwise.
        await second.until("samples/prod-etcd.yaml: EtcdCluster prod-etcd is there from last time")
        async with second.client() as client:
            assert (await client.get(EtcdCluster, "prod-etcd", namespace="default")).spec.replicas == 1
        assert (await second.stopped_with(signal.SIGTERM))[0] == 0
