"""Applies manifests of any kind, and says what came of it."""

from typing import Literal, NamedTuple

from windvane.api.kind import Kind
from windvane.api.resource import Dynamic, dynamic, object_from_wire
from windvane.cli.manifests import Manifest
from windvane.client.client import Client
from windvane.client.errors import ClientError, NotFound

MANAGER = "windvane-dev"

Outcome = Literal["created", "changed", "as it was"]


class ApplyRefused(Exception):
    """The object was not applied; the message says which and why, in a line."""


class Applied(NamedTuple):
    """What came of it."""

    outcome: Outcome
    there: Dynamic


class Applier:
    """Server-side apply, for kinds that only the server knows."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._kinds: dict[tuple[str, str], Kind] = {}

    async def apply(self, manifest: Manifest) -> Applied:
        """Have an object be as it is written; what others say of the same fields counts no more."""
        before = await self.find(manifest)
        try:
            what = dynamic(await self._kind(manifest))
            wanted = object_from_wire(manifest.wire, what)
            wanted.metadata.namespace = self._namespace(manifest, what.__kind__)
            there = await self._client.apply(wanted, force=True, field_manager=MANAGER)
        except (ClientError, ValueError) as error:
            raise _refused(manifest, error) from error
        if before is None:
            return Applied("created", there)
        same = before.metadata.resource_version == there.metadata.resource_version
        return Applied("as it was" if same else "changed", there)

    async def find(self, manifest: Manifest) -> Dynamic | None:
        """The object of that name, if there is one."""
        try:
            kind = await self._kind(manifest)
            return await self._client.get(dynamic(kind), manifest.name, namespace=self._namespace(manifest, kind))
        except NotFound:
            return None
        except (ClientError, ValueError) as error:
            raise _refused(manifest, error) from error

    def _namespace(self, manifest: Manifest, kind: Kind) -> str:
        return manifest.namespace or self._client.namespace if kind.namespaced else ""

    async def _kind(self, manifest: Manifest) -> Kind:
        key = (manifest.api_version, manifest.kind)
        if key not in self._kinds:
            self._kinds = {(each.api_version, each.name): each for each in await self._client.discover()}
        if key not in self._kinds:
            others = sorted(version for version, name in self._kinds if name == manifest.kind)
            hint = f"; there is one in {' and in '.join(others)}" if others else ""
            raise ValueError(f"the cluster has no kind {manifest.kind} in {manifest.api_version}{hint}")
        return self._kinds[key]


def _refused(manifest: Manifest, error: Exception) -> ApplyRefused:
    return ApplyRefused(f"{manifest.place}: {manifest} is refused: {error}")
