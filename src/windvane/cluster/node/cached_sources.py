"""What pods are made of, read from the caches of the agent's operator; only tokens are asked for."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from windvane import Client, Object, OperatorManager, Quantity
from windvane.k8s.authentication import BoundObjectReference, TokenRequestStatus
from windvane.k8s.core import ConfigMap, PersistentVolume, PersistentVolumeClaim, Secret, Service
from windvane.k8s.discovery import EndpointSlice

ObjectT = TypeVar("ObjectT", bound=Object)


class CachedSources:
    """See `Sources`."""

    def __init__(
        self,
        manager: OperatorManager,
        client: Client,
        resources: Mapping[str, Quantity],
        api: tuple[str, int] | None = None,
    ) -> None:
        self._api = api
        self._manager = manager
        self._client = client
        self._resources = resources

    def config_map(self, namespace: str, name: str) -> ConfigMap | None:
        return self._get(ConfigMap, namespace, name)

    def secret(self, namespace: str, name: str) -> Secret | None:
        return self._get(Secret, namespace, name)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        return self._get(PersistentVolumeClaim, namespace, name)

    def volume(self, name: str) -> PersistentVolume | None:
        return self._get(PersistentVolume, "", name)

    def services(self) -> Sequence[Service]:
        return self._manager.informer(Service).list()

    def api(self) -> tuple[str, int] | None:
        return self._api

    def slices(self) -> Sequence[EndpointSlice]:
        return self._manager.informer(EndpointSlice).list()

    def resources(self) -> Mapping[str, Quantity]:
        return self._resources

    async def token(
        self, namespace: str, account: str, audience: str, seconds: int | None, pod: tuple[str, str]
    ) -> TokenRequestStatus:
        bound = BoundObjectReference(api_version="v1", kind="Pod", name=pod[0], uid=pod[1])
        audiences = [audience] if audience else []
        return await self._client.token(
            account, namespace=namespace, audiences=audiences, seconds=seconds, bound_to=bound
        )

    def _get(self, what: type[ObjectT], namespace: str, name: str) -> ObjectT | None:
        return self._manager.informer(what).get(name, namespace=namespace)
