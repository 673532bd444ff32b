"""`windvane cluster start` in a process of its own, and what can happen to the etcds in it and to their disks."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from scenarios import processes
from scenarios.waiting import until
from windvane import Client, NotFound, ambient
from windvane.k8s import core

WINDVANE = (sys.executable, "-m", "windvane.cli")
VERSIONS = Path(__file__).parents[2] / "versions.py"
NAMESPACE = "default"


class Machine:
    """A cluster whose pods are processes, and what can happen to those."""

    def __init__(self, process: asyncio.subprocess.Process, client: Client, home: Path) -> None:
        self.client = client
        self.home = home
        self._process = process

    @classmethod
    @asynccontextmanager
    async def open(cls, home: Path) -> AsyncIterator["Machine"]:
        """A cluster that lives in that directory. No process of it is left after the block."""
        environment = {**os.environ, "WINDVANE_HOME": str(home)}
        with (home / "cluster.log").open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *(*WINDVANE, "cluster", "start", "--data", str(home / "cluster"), "--pods", "process"),
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        try:
            assert process.stdout is not None
            assert b"ready" in await process.stdout.readline(), (home / "cluster.log").read_text()
            async with Client.connect(kubeconfig=home / "cluster" / "kubeconfig") as client:
                yield cls(process, client, home)
        finally:
            await _stop(process)

    @property
    def kubeconfig(self) -> Path:
        """How others reach the cluster."""
        return self.home / "cluster" / "kubeconfig"

    async def provide(self, version: str) -> None:
        """Let there be an image of another version of etcd."""
        programs = (await _run(sys.executable, str(VERSIONS), version)).strip()
        image = f"quay.io/coreos/etcd:v{version}"
        await _run(*WINDVANE, "image", "add", image, "--programs", programs, WINDVANE_HOME=str(self.home))

    # Processes

    async def running(self, pod: str) -> int:
        """The process of a member; 0 if it has none now."""
        try:
            there = await self.client.get(core.Pod, pod, namespace=NAMESPACE)
        except NotFound:
            return 0
        address = there.status.pod_ip
        for pid in processes.descendants(self._process.pid):
            if processes.program(pid) == "etcd" and processes.environment(pid).get("WINDVANE_POD_IP") == address:
                return pid
        return 0

    async def etcd(self, pod: str) -> int:
        """The process of a member, once it runs."""
        return await until(f"{pod} is a process", lambda: self.running(pod), within=30)

    async def crash(self, pod: str) -> None:
        """kill -9. Its pod has begun again afterwards."""
        pid = await self.etcd(pod)
        os.kill(pid, signal.SIGKILL)

        async def again() -> bool:
            return await self.running(pod) not in (0, pid)

        await until(f"{pod} begins again", again, within=60)

    @asynccontextmanager
    async def frozen(self, *pods: str) -> AsyncIterator[None]:
        """Let members hang for as long as the block lasts, as on a machine that swaps, even if they are restarted."""
        stopped = {await self._freeze(pod) for pod in pods}

        async def keep() -> None:
            while True:
                for pod in pods:
                    if (pid := await self.running(pod)) and pid not in stopped:
                        os.kill(pid, signal.SIGSTOP)
                        stopped.add(pid)
                await ambient.sleep(0.05)

        task = asyncio.create_task(keep())
        try:
            yield
            if task.done():
                task.result()
        finally:
            task.cancel()
            await asyncio.wait([task])
            _resume(stopped)

    async def _freeze(self, pod: str) -> int:
        pid = await self.etcd(pod)
        os.kill(pid, signal.SIGSTOP)
        return pid

    # Disks

    async def disk(self, claim: str) -> Path:
        """The directory of a volume."""
        there = await self.client.get(core.PersistentVolumeClaim, claim, namespace=NAMESPACE)
        volume = await self.client.get(core.PersistentVolume, there.spec.volume_name or "")
        assert volume.spec is not None
        assert volume.spec.host_path is not None
        return Path(volume.spec.host_path.path)

    async def wipe(self, *members: str) -> None:
        """Take away all files of members at once, and kill them: their pods begin again with nothing."""
        # Frozen first, so that none of them is started again between the loss of its process and that of its disk.
        frozen = [await self._freeze(member) for member in members]
        for member in members:
            await asyncio.to_thread(empty, await self.disk(f"data-{member}"))
        for pid in frozen:
            os.kill(pid, signal.SIGKILL)

    async def corrupt(self, member: str) -> None:
        """Overwrite the middle of a member's write-ahead log, and kill it."""
        pid = await self._freeze(member)
        disk = await self.disk(f"data-{member}")
        await asyncio.to_thread(spoil, max(disk.rglob("*.wal")))
        os.kill(pid, signal.SIGKILL)


def spoil(file: Path) -> None:
    """Overwrite the middle of what is in a file. (etcd makes its logs longer than what is in them.)"""
    middle = len(file.read_bytes().rstrip(b"\0")) // 2
    with file.open("r+b") as there:
        there.seek(middle)
        there.write(b"\xff" * 512)


def empty(directory: Path) -> None:
    """Remove all that is in a directory."""
    for each in directory.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop the cluster as anybody would, and see that nothing of it is left."""
    below = {pid: processes.started(pid) for pid in processes.descendants(process.pid)}
    _resume(below)
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 30)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise AssertionError("the cluster did not stop within 30 seconds") from None

    async def none() -> bool:
        return not [pid for pid, since in below.items() if processes.started(pid) == since and _lives(pid)]

    await until("no process of the cluster is left", none, within=30)


def _resume(pids: Iterable[int]) -> None:
    for pid in pids:
        if processes.program(pid) == "etcd":
            os.kill(pid, signal.SIGCONT)


def _lives(pid: int) -> bool:
    return pid in processes.parents()


async def _run(*command: str, **environment: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, f"{' '.join(command)} failed"
    return said.decode()
