"""A client attached to a container's own program: it gets its output, and may write to its stdin, if it has one."""

from collections.abc import AsyncGenerator

from windvane.cluster.kubelet import Output, Wiring
from windvane.cluster.node.process.container import ContainerInstance
from windvane.cluster.node.process.launch import Launched
from windvane.cluster.node.streams.output import OutputSubscriber


class AttachSession:
    """One attached client. The container goes on when it leaves."""

    def __init__(self, instance: ContainerInstance, launched: Launched, wiring: Wiring) -> None:
        container = instance.container
        self._instance = instance
        self._launched = launched
        self._types = wiring.stdin and bool(container.stdin)
        self._once = bool(container.stdin_once) and not container.tty
        """Whether its stdin ends with the input of the first client."""
        self._listener = OutputSubscriber()
        instance.listeners.add(self._listener)

    async def write(self, data: bytes) -> None:
        """Type."""
        if self._types and (terminal := self._launched.terminal) is not None:
            await terminal.write(data)
        elif self._types:
            await self._launched.process.write(data)

    async def end_input(self) -> None:
        """Type no more: that ends the container's input, or else the visit, as with containerd."""
        if self._types and self._once:
            self._launched.process.end_input()
        else:
            self._listener.over()

    async def resize(self, width: int, height: int) -> None:
        """Change the size of its terminal, if it has one."""
        if self._launched.terminal is not None:
            self._launched.terminal.resize(width, height)

    def output(self) -> AsyncGenerator[tuple[Output, bytes]]:
        """What it says."""
        return self._listener.output()

    async def wait(self) -> int:
        """That it has ended is all that an attached client is told; how, the pod's status says."""
        return 0

    async def close(self) -> None:
        """Leave."""
        self._instance.listeners.discard(self._listener)
        if self._types and self._once:
            self._launched.process.end_input()
