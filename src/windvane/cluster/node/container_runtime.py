"""What the agent asks of whatever runs containers: processes of this machine, or imagination."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol

from windvane import Object, Watch
from windvane.cluster.node.pod.record import Exited, Report, RunProbe, Started
from windvane.cluster.node.sources import Sources
from windvane.k8s.core import Container, Pod

Subscribe = Callable[[type[Object], Callable[[], None]], None]
"""Have a function called whenever an object of a kind changes."""


class Sandbox(Protocol):
    """Where the containers of one pod run. All but `close` return at once; what comes of it is reported."""

    def start(self, pod: Pod, container: Container, attempt: int) -> None:
        """Begin an instance of a container: reports `Started` or `Refused`, and later `Exited`."""

    def resume(self, pod: Pod, container: Container, age: float) -> bool:
        """Go on with a container that ran when the agent last stopped, `age` seconds old; whether it is still there."""

    def recall(self, container: Container, attempts: int) -> Iterable[Started | Exited]:
        """What became of the last instance of a container, if only `attempts` of them were told of."""

    def stop(self, pod: Pod, container: Container, grace: float) -> None:
        """End an instance within that many seconds: reports `Exited`. Asked again, the shorter time counts."""

    def resize(self, pod: Pod, container: Container) -> None:
        """Let a container that runs have the resources that it says now: reports `Resized` or `NotResized`."""

    def probe(self, pod: Pod, container: Container, probe: RunProbe, age: float) -> None:
        """Ask a container that has been running for `age` seconds how it is: reports `Probed`."""

    def refresh(self, pod: Pod) -> None:
        """Bring up to date what running containers see of the cluster."""

    async def close(self) -> None:
        """End everything, at once."""

    async def remove(self) -> None:
        """Remove what is left of a pod that is closed and gone for good."""


class ContainerRuntime(Protocol):
    """Something that runs containers."""

    @property
    def watches(self) -> Sequence[Watch[Any]]:
        """The kinds of which a change concerns pods, and which pods."""

    @property
    def reads(self) -> Sequence[type[Object]]:
        """The kinds that it looks up when a container starts."""

    async def begin(self, sources: Sources, subscribe: Subscribe) -> None:
        """Get ready: nothing that an agent before this one has left behind may be there afterwards."""

    async def keep_only(self, uids: Collection[str]) -> None:
        """Remove what was left of all pods but these."""

    def sandbox(self, pod: Pod, address: str, report: Callable[[Report], None]) -> Sandbox:
        """A place for the containers of a pod, which tells `report` what happens to them."""
