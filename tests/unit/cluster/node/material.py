"""A pod, and a cluster with nothing in it but a service: for tests of what containers are given."""

from collections.abc import Mapping, Sequence

from windvane import ObjectMeta
from windvane.api import codec
from windvane.api.quantity import Quantity
from windvane.k8s.authentication import TokenRequestStatus
from windvane.k8s.core import (
    ConfigMap,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    Secret,
    Service,
    ServiceSpec,
)
from windvane.k8s.discovery import EndpointSlice


def pod(**container: object) -> Pod:
    spec = {"containers": [{"name": "main", "image": "x", **container}], "nodeName": "node-1"}
    meta = ObjectMeta(name="web", namespace="default", uid="u", labels={"b": 'say "hi"', "a": "1"})
    return Pod(metadata=meta, spec=codec.from_wire(spec, PodSpec))


class Nothing:
    """A cluster with nothing in it but a service."""

    def config_map(self, namespace: str, name: str) -> ConfigMap | None:
        return None

    def secret(self, namespace: str, name: str) -> Secret | None:
        return None

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        return None

    def volume(self, name: str) -> PersistentVolume | None:
        return None

    def services(self) -> Sequence[Service]:
        return [
            Service(
                metadata=ObjectMeta(name=each, namespace="default"),
                spec=codec.from_wire({"clusterIP": "10.0.0.9", "ports": [{"port": 80}]}, ServiceSpec),
            )
            for each in ("shop", "kubernetes")
        ]

    def api(self) -> tuple[str, int] | None:
        return "127.0.0.1", 6443

    def slices(self) -> Sequence[EndpointSlice]:
        return []

    def resources(self) -> Mapping[str, Quantity]:
        return {"cpu": Quantity(4)}

    async def token(
        self, namespace: str, account: str, audience: str, seconds: int | None, pod: tuple[str, str]
    ) -> TokenRequestStatus:
        raise NotImplementedError
