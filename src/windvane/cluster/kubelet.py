"""What the API server asks of a node about its pods: what they said, to run commands in them, and where they are.

The API server knows a node by this alone, and a node knows nothing of the API server. The control plane introduces
them: `server.kubelets["node-1"] = ...`.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from windvane.k8s.core import Pod

Output = Literal["stdout", "stderr"]


class Unavailable(Exception):
    """The node can't do that for this pod now; the message says why, in the kubelet's words where it has some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Which part of what a container said is wanted, and how."""

    follow: bool = False
    previous: bool = False
    since: datetime | None = None
    timestamps: bool = False
    tail: int | None = None
    limit: int | None = None
    """In bytes."""
    streams: frozenset[Output] = frozenset({"stdout", "stderr"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """Which ends of a command its caller holds. With a terminal there is no stderr of its own."""

    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False


class Process(Protocol):
    """A command that runs in a container, or the container's own program."""

    async def write(self, data: bytes) -> None:
        """Write to its stdin; waits while it is slow to read. What it does not want any more is dropped."""
        ...

    async def end_input(self) -> None:
        """Let it see the end of its input."""
        ...

    async def resize(self, width: int, height: int) -> None:
        """Tell its terminal how many columns and lines it has."""
        ...

    def output(self) -> AsyncGenerator[tuple[Output, bytes]]:
        """What it writes, until it has ended."""
        ...

    async def wait(self) -> int:
        """Its exit code, once it has ended and all of its output was read."""
        ...

    async def close(self) -> None:
        """The client is gone: a command ends now with all that it has started, a container goes on."""
        ...


@dataclass(frozen=True, slots=True)
class Use:
    """How much a container used of the machine."""

    cpu: float
    """In cores, on average over the window."""
    memory: int
    """In bytes: the working set."""


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of the machine everything on a node used, measured over some seconds before a moment."""

    at: datetime
    window: float
    node: Use
    pods: Mapping[str, Mapping[str, Use]]
    """By a pod's uid and a container's name. Of what only seems to run there is nothing."""


class Kubelet(Protocol):
    """A node, as the API server sees it. Everything raises `Unavailable` where it can't be done."""

    async def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncGenerator[bytes]:
        """What a container said."""
        ...

    async def exec(self, pod: Pod, container: str, command: Sequence[str], wiring: Wiring) -> Process:
        """Run a command in a container."""
        ...

    async def attach(self, pod: Pod, container: str, wiring: Wiring) -> Process:
        """The container's own program, from now on."""
        ...

    def address(self, pod: Pod) -> str:
        """Where the ports of a pod are."""
        ...

    def usage(self) -> Usage | None:
        """What was measured last; None if nothing was yet."""
        ...
