"""The params of a policy: the objects that a binding's `paramRef` selects."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from windvane.api.json_value import Wire
from windvane.api.meta import LabelSelector
from windvane.api.selector import Selector
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.storage_codec import key_of, labels_of, unpack
from windvane.cluster.apiserver.storage.record import Entry
from windvane.cluster.apiserver.storage.store import Store

ConvertStored = Callable[[ResourceType, Sequence[bytes]], Awaitable[list[bytes]]]
"""Converts stored objects to a version; see `conversion.conversions`."""
NONE_FOUND = "no params found for policy binding with `Deny` parameterNotFoundAction"


class ParamsError(Exception):
    """The params of a binding can't be found; the message is the real server's."""


class UnknownKind(Exception):
    """The `paramKind` is not served; the message is the real server's."""


def type_of(kind: Wire | None, catalog: Catalog) -> ResourceType | None:
    """The type of a policy's `paramKind`; None if it has none. Raises `UnknownKind`."""
    if kind is None:
        return None
    group, _, version = kind.get("apiVersion", "").rpartition("/")
    for each in catalog.types.values():
        if (each.kind.group, each.kind.version, each.kind.name) == (group, version, kind.get("kind")):
            return each
    convert = f"{group}/{version}, Kind={kind.get('kind', '')}"
    raise UnknownKind(f"failed to find resource referenced by paramKind: '{convert}'")


class Params:
    """Finds params."""

    def __init__(self, store: Store, convert: ConvertStored) -> None:
        self._store = store
        self._shown = convert

    async def find(self, type_: ResourceType | None, reference: Wire | None, namespace: str) -> list[Wire | None]:
        """The params for a request in `namespace`; the policy is evaluated once for each.

        It is `[None]` for a policy without params. Raises `ParamsError`.
        """
        if type_ is None or reference is None:
            return [None]
        where = _namespace(type_, reference, namespace)
        if name := reference.get("name"):
            entry = self._store.get(key_of(type_, where, name))
            found = await self._read(type_, [entry] if entry is not None else [])
        else:
            wanted = Selector.from_label_selector(msgspec.convert(reference.get("selector") or {}, LabelSelector))
            everything = await self._read(type_, self._store.entries(type_.collection, where))
            found = [value for value in everything if wanted.matches(labels_of(value))]
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise ParamsError(NONE_FOUND)
        return [unpack(type_, value) for value in found]

    async def _read(self, type_: ResourceType, entries: Sequence[Entry]) -> list[bytes]:
        """Objects in the version that the policy names."""
        try:
            return await self._shown(type_, [entry.value for entry in entries])
        except Failure as failed:
            # A real server caches params, and waits a second for those that are not in its cache.
            kind = f"&ParamKind{{APIVersion:{type_.kind.api_version},Kind:{type_.kind.name},}}"
            raise ParamsError(f"paramKind kind `{kind}` not yet synced to use for admission") from failed


def _namespace(type_: ResourceType, reference: Wire, namespace: str) -> str:
    stated: str = reference.get("namespace") or ""
    if not type_.kind.namespaced:
        if stated:
            raise ParamsError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        return ""
    if not stated and not namespace:
        raise ParamsError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    return stated or namespace
