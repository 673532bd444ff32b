"""The fixture `process_cluster`: an embedded cluster in a process of its own, whose pods are processes."""

import asyncio
import os
import shutil
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path

from windvane import ambient
from windvane.client.config import load_config
from windvane.cluster.child import READY
from windvane.cluster.instance import images_file
from windvane.cluster.node.process.images import Images
from windvane.cluster.node.volumes.removal import open_up
from windvane.k8s.core import Node
from windvane.testing.cluster import BREATH
from windvane.testing.pods import RunningPods
from windvane.testing.remote_cluster import RemoteCluster
from windvane.testing.virtual_cluster import is_ready

START_WITHIN, STOP_WITHIN = 60.0, 15.0
LINES = 20


class ProcessCluster(RemoteCluster):
    """See the module. It is this test's own, and `https://127.0.0.1`: programs can talk to its pods and Services."""

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="windvane-test-"))
        self._environ = {**os.environ, "WINDVANE_HOME": str(self._directory / "home")}
        super().__init__(RunningPods(Images(images_file(self._environ))))

    @property
    def kubeconfig(self) -> Path:
        """How kubectl, and other programs, reach it."""
        return self._directory / "cluster" / "kubeconfig"

    async def _begin(self) -> None:
        self._stack.callback(self._remove)
        await self._start_child()
        await self._connect(load_config(kubeconfig=self.kubeconfig), namespace="default", everywhere=True)
        while not any(is_ready(each) for each in await self.client.list(Node)):
            await ambient.sleep(BREATH)

    async def _start_child(self) -> None:
        program = (sys.executable, "-m", "windvane.cluster.child", str(self._directory / "cluster"), "auto")
        log = self._directory / "log"
        with log.open("wb") as file:
            child = await asyncio.create_subprocess_exec(
                *program, stdin=PIPE, stdout=PIPE, stderr=file, env=self._environ, start_new_session=True
            )
        self._stack.push_async_callback(_stop, child)
        assert child.stdout is not None  # noqa: S101 - it is a pipe
        said = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_WITHIN):
                said = await child.stdout.readline()
        words = said.decode(errors="replace").strip()
        if words != READY:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-LINES:])
            raise RuntimeError(f"the cluster did not start: {words or tail or f'not ready within {START_WITHIN:g} s'}")

    def _remove(self) -> None:
        open_up(self._directory)
        shutil.rmtree(self._directory, ignore_errors=True)


async def _stop(child: Process) -> None:
    """Have the cluster end, and its pods with it."""
    if child.stdin is not None:
        child.stdin.close()
    try:
        async with asyncio.timeout(STOP_WITHIN):
            await child.wait()
    except TimeoutError:
        child.kill()
        await child.wait()
