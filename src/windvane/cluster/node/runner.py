"""What the agent asks of whatever runs containers: processes of this machine, or imagination."""

from collections.abc import Callable
from typing import Protocol

from windvane.cluster.node.record import Probe, Report
from windvane.k8s.core import Container, Pod


class Sandbox(Protocol):
    """Where the containers of one pod run. All but `close` return at once; what comes of it is reported."""

    def start(self, pod: Pod, container: Container, attempt: int) -> None:
        """Begin an instance of a container: reports `Started` or `Refused`, and later `Exited`."""

    def resume(self, pod: Pod, container: Container, age: float) -> bool:
        """Go on with a container that ran when the agent last stopped, `age` seconds old; whether it is still there."""

    def stop(self, pod: Pod, container: Container, grace: float) -> None:
        """End an instance within that many seconds: reports `Exited`. Asked again, the shorter time counts."""

    def probe(self, pod: Pod, container: Container, probe: Probe, age: float) -> None:
        """Ask a container that has been running for `age` seconds how it is: reports `Probed`."""

    async def close(self) -> None:
        """End and remove everything, at once."""


class Runner(Protocol):
    """Something that runs containers."""

    def sandbox(self, pod: Pod, address: str, report: Callable[[Report], None]) -> Sandbox:
        """A place for the containers of a pod, which tells `report` what happens to them."""
