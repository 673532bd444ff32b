"""`make run`: it shows what it promises, stops cleanly however it is stopped, and goes on where it was."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from etcd_demo.demo import check_image
from etcd_demo.machine import Trouble, process_at
from integration.processes.clusters import below, gone
from windvane import ambient

SOURCES = Path(__file__).parents[1] / "src"
PATIENCE = 240.0
TOLD = "What happens is told here"
VOTES = re.compile("prod-etcd-2 (is a follower now|leads|is healthy: (follower|leader))")
"""What is told of the third member when it has a vote: on a busy machine it may seem ill meanwhile, or be elected."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="etcd comes with a Python package for Linux only")


@dataclass
class Demo:
    """A run, and what it has written."""

    process: Process
    lines: list[str] = field(default_factory=list)

    async def until(self, text: str) -> str:
        """The next line with this text, as soon as it is written."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while line := (await self.process.stdout.readline()).decode():
                self.lines.append(line)
                if text in line:
                    return line
        raise AssertionError(f"it ended, and did not say {text!r}:\n{self.text}")

    async def has_three_members(self) -> None:
        """Wait until the third has a vote. That is told beside what else happens: it may be among the lines by now."""
        while not VOTES.search(self.text):
            await self.until("prod-etcd-2 ")

    async def stopped_with(self, number: signal.Signals) -> int:
        """Its exit code when it is stopped with a signal. Nothing of it is left then."""
        processes = below(self.process.pid)
        assert processes
        self.process.send_signal(number)
        assert self.process.stdout is not None
        self.lines.append((await self.process.stdout.read()).decode())
        code = await self.process.wait()
        await gone(processes)
        return code

    @property
    def text(self) -> str:
        """All that it has written."""
        return "".join(self.lines)


@asynccontextmanager
async def demo(home: Path, *before: str) -> AsyncIterator[Demo]:
    """`python -m etcd_demo`, which is what `make run` runs; as words of another command if there are some."""
    path = os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "WINDVANE_HOME": str(home), "PYTHONPATH": path}
    process = await asyncio.create_subprocess_exec(
        *before, sys.executable, "-m", "etcd_demo", env=environment, stdout=PIPE, stderr=STDOUT
    )
    try:
        yield Demo(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.long
async def test_the_whole_demo_runs_stops_and_goes_on_where_it_was(tmp_path: Path) -> None:
    async with demo(tmp_path) as first:
        key = await first.until("Wrote and read a key through prod-etcd-client")
        await first.until(TOLD)
        await first.has_three_members()
        assert "\x1b" not in first.text, "there are no colours where there is no terminal"
        assert await first.stopped_with(signal.SIGINT) == 0
        assert "The data stays" in first.text

    async with demo(tmp_path) as second:
        await second.until("prod-etcd is there from last time, 3 members of etcd 3.5.1")
        assert key.rpartition("make-run/last")[2] in await second.until("The key of last time is still there")
        await second.until(TOLD)
        async with demo(tmp_path) as third:
            await third.until(f"it runs already, with pid {second.process.pid}")
            assert await third.process.wait() == 1
        found = re.search(r"kill (prod-etcd-\d), which leads.*\n +kill -9 (\d+)", second.text)
        assert found
        address = re.search(rf"{found[1]} +Leader .* (127\.\S+) +{found[2]}\n", second.text)
        assert address
        os.kill(int(found[2]), signal.SIGKILL)
        async with asyncio.timeout(PATIENCE):
            while process_at(address[1]) in (None, int(found[2])):
                await ambient.sleep(0.1)
        assert await second.stopped_with(signal.SIGTERM) == 0


@pytest.mark.long
async def test_nothing_is_left_of_a_demo_that_is_killed_and_the_next_one_goes_on(tmp_path: Path) -> None:
    async with demo(tmp_path) as killed:
        await killed.until("prod-etcd-0 is healthy")
        assert await killed.stopped_with(signal.SIGKILL) == -signal.SIGKILL
    async with demo(tmp_path) as next_one:
        await next_one.until("Wrote and read a key")
        assert await next_one.stopped_with(signal.SIGINT) == 0


@pytest.mark.long
async def test_an_operator_that_is_killed_is_started_again(tmp_path: Path) -> None:
    async with demo(tmp_path) as running:
        pid = re.search(r"with pid (\d+)", await running.until("The operator is starting"))
        assert pid
        await running.until("prod-etcd-0 is healthy")
        os.kill(int(pid[1]), signal.SIGKILL)
        await running.until("The operator has ended (killed by SIGKILL)")
        await running.until("The operator is starting")
        await running.has_three_members()
        assert await running.stopped_with(signal.SIGINT) == 0


async def test_a_demo_that_is_stopped_while_it_starts_stops(tmp_path: Path) -> None:
    async with demo(tmp_path) as early:
        await early.until("A Kubernetes is starting")
        assert await early.stopped_with(signal.SIGINT) == 0


async def test_a_cluster_of_that_name_that_runs_already_is_told_of_with_what_to_do(tmp_path: Path) -> None:
    environment = {**os.environ, "WINDVANE_HOME": str(tmp_path)}
    command = (sys.executable, "-m", "windvane.cli", "cluster", "start", "--no-controllers", "--name", "etcd-demo")
    other = await asyncio.create_subprocess_exec(*command, env=environment, stdout=PIPE)
    assert other.stdout is not None
    assert b"ready" in await other.stdout.readline()
    async with demo(tmp_path) as second:
        await second.until("the cluster 'etcd-demo' is running already")
        await second.until("windvane cluster stop --name etcd-demo")
        assert await second.process.wait() == 1
    other.terminate()
    await other.wait()


NO_NAMESPACES = (
    *("unshare", "--user", "--map-root-user", "sh", "-c"),
    'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"',
    "sh",
)
"""Runs a command for which this machine allows no namespaces."""


async def test_a_machine_without_user_namespaces_is_told_of_with_what_to_do(tmp_path: Path) -> None:
    trial = await asyncio.create_subprocess_exec(*NO_NAMESPACES, "true", stderr=PIPE)
    if await trial.wait() != 0:
        pytest.skip("a machine without user namespaces can't be made here")
    async with demo(tmp_path, *NO_NAMESPACES) as refused:
        await refused.until("this machine allows no user namespaces")
        await refused.until("Run it as root, or allow them")
        assert await refused.process.wait() == 1


async def test_an_image_without_a_program_is_told_of_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINDVANE_HOME", str(tmp_path))
    monkeypatch.setattr("etcd_demo.demo.IMAGE", "quay.io/coreos/etcd:v9.9.9")
    with pytest.raises(Trouble, match=r"windvane image add quay.io/coreos/etcd:v9.9.9 --programs DIRECTORY"):
        await check_image()
