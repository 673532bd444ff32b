"""A cluster with a node that runs real processes."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from integration.node.machine import Machine
from windvane import ambient
from windvane.api import codec
from windvane.cluster.node.agent import NodeAgent
from windvane.cluster.node.logs.writer import log_file, pod_directory
from windvane.cluster.node.network.addresses import claim_loopback
from windvane.cluster.node.process.images import Images
from windvane.cluster.node.process.runtime import ProcessRuntime


class RealMachine(Machine):
    """An API server, and a node agent that runs processes."""

    patience = 60.0

    def __init__(self, directory: Path) -> None:
        super().__init__(service_network="127.200.0.0/16")
        self.directory = directory
        self.images = Images(directory / "images.json")
        # For all agents: between two of them, somebody else on this machine could take the network, or give back the
        # one that we would rather have had.
        self.addresses = claim_loopback(str(directory))

    async def begin(self) -> None:
        """Start everything."""
        await self.server.start()
        self.start_real_agent()
        await self.until(lambda: self.agent.running.synced)

    def start_real_agent(self, **options: Any) -> None:
        """Start the agent, or another one after the first was stopped."""
        runner = ProcessRuntime(self.directory, self.images, **options)
        self.agent = NodeAgent(self.client(), "node-1", runner, addresses=self.addresses)
        self._agent = self.start(self.agent.run())

    async def stop_agent(self) -> None:
        """Stop the agent, as `windvane cluster stop` does."""
        self._agent.cancel()
        await asyncio.gather(self._agent, return_exceptions=True)

    async def close(self) -> None:
        """End everything."""
        await super().close()
        self.addresses.close()

    async def log(self, name: str = "web", container: str = "main", attempt: int = 0) -> list[str]:
        """What a container has said, line by line."""
        meta = (await self.get(name)).metadata
        directory = pod_directory(self.directory / "logs", meta.namespace, meta.name, meta.uid)
        file = log_file(directory, container, attempt)
        return [line.split(" ", 3)[3] for line in file.read_text().splitlines()] if file.exists() else []

    async def said(self, line: str, name: str = "web", container: str = "main", attempt: int = 0) -> None:
        """Wait until a container has said something."""
        await self._until_log(lambda said: line in said, name, container, attempt)

    async def mentioned(self, word: str, name: str = "web") -> None:
        """Wait until a container has said something with this in it."""
        await self._until_log(lambda said: any(word in line for line in said), name, "main", 0)

    async def _until_log(self, so: Callable[[list[str]], bool], name: str, container: str, attempt: int) -> None:
        deadline = ambient.monotonic() + self.patience
        while not so(said := await self.log(name, container, attempt)):
            assert ambient.monotonic() < deadline, f"it said {said}: {codec.to_wire((await self.get(name)).status)}"
            await ambient.sleep(0.02)

    def leftovers(self) -> list[str]:
        """The commands of processes that belong to this machine and still run."""
        found = []
        for process in Path("/proc").iterdir():
            if process.name.isdecimal() and int(process.name) != os.getpid():
                try:
                    root, words = str((process / "root").readlink()), read(process / "cmdline")
                    mounts = read(process / "mountinfo")
                except OSError:
                    continue
                # A container's root is a mount in our directory; a launcher is below us.
                if root == "/" and str(self.directory) in mounts:
                    found.append(words)
        return found


def read(file: Path) -> str:
    """What is in a file of another process, which may be anything."""
    return file.read_text(errors="replace")


def python(code: str, **more: Any) -> dict[str, Any]:
    """A container that runs a piece of Python."""
    return {"name": "main", "image": "python:3", "command": ["python", "-u", "-c", code], **more}


def shell(code: str, **more: Any) -> dict[str, Any]:
    """A container that runs a shell script."""
    return {"name": "main", "image": "python:3", "command": ["/bin/sh", "-c", code], **more}
