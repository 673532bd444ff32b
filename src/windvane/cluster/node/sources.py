"""What pods are made of besides themselves: ConfigMaps, Secrets, claims, services, tokens; wherever they come from."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from windvane import Quantity
from windvane.k8s.authentication import TokenRequestStatus
from windvane.k8s.core import ConfigMap, PersistentVolume, PersistentVolumeClaim, Secret, Service
from windvane.k8s.discovery import EndpointSlice


class MissingSource(Exception):
    """Something that a container needs is not there: it can't start before it is."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        """What its status gives as the reason to wait."""


class Sources(Protocol):
    """What is in the cluster, as the agent sees it now."""

    def config_map(self, namespace: str, name: str) -> ConfigMap | None: ...
    def secret(self, namespace: str, name: str) -> Secret | None: ...
    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None: ...
    def volume(self, name: str) -> PersistentVolume | None: ...
    def services(self) -> Sequence[Service]: ...
    def api(self) -> tuple[str, int] | None:
        """Where clients in pods find the API server, if not at the Service `kubernetes`."""

    def slices(self) -> Sequence[EndpointSlice]: ...
    def resources(self) -> Mapping[str, Quantity]:
        """What the node has."""

    async def token(
        self, namespace: str, account: str, audience: str, seconds: int | None, pod: tuple[str, str]
    ) -> TokenRequestStatus:
        """A token for a service account, bound to the pod of that name and uid."""
