"""Custom kinds: a CustomResourceDefinition that is stored is served at once; one that goes takes its objects along."""

from collections.abc import Callable, Mapping
from typing import Any

from windvane import ambient
from windvane.api.kind import Kind
from windvane.api.time import format_time
from windvane.cluster.apiserver.catalog import Catalog, ResourceType
from windvane.cluster.apiserver.store.record import Entry, Key
from windvane.cluster.apiserver.store.store import Stale, Store
from windvane.cluster.apiserver.wire.stored import pack, unpack

Wire = dict[str, Any]
CRDS = "apiextensions.k8s.io/customresourcedefinitions"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


class Definitions:
    """Keeps the catalog in step with the CRDs in the store."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog

    def load(self) -> None:
        """Serve all that is defined in the store."""
        for entry in self._store.entries(CRDS):
            self._serve(self._unpack(entry))

    async def stored(self, name: str) -> None:
        """A CRD was written: accept its names, serve it, and say so in its status."""
        key = Key(CRDS, "", name)
        entry = self._store.get(key)
        if entry is None:
            return
        wire = self._unpack(entry)
        if "deletionTimestamp" in wire["metadata"]:
            await self._finish(wire)
            return
        status = self._status(wire)
        if wire.get("status") != status or CLEANUP not in wire["metadata"].get("finalizers", ()):
            wire["status"] = status
            # Until its objects are gone, a definition must stay: without it nobody could delete them.
            finalizers = wire["metadata"].setdefault("finalizers", [])
            if CLEANUP not in finalizers:
                finalizers.append(CLEANUP)
            try:
                await self._store.commit(key, entry.revision, self._packer(wire))
            except Stale:
                await self.stored(name)
                return
        self._serve(wire)

    async def _finish(self, wire: Wire) -> None:
        """Delete the objects of a definition that is being deleted, and then the definition itself."""
        group, plural = wire["spec"]["group"], wire["spec"]["names"]["plural"]
        self._catalog.remove(group, plural)
        for entry in self._store.entries(f"{group}/{plural}"):
            try:
                await self._store.commit(entry.key, entry.revision, _unchanged(entry), delete=True)
            except Stale:
                continue  # it is gone, or will be found by the next look
        key = Key(CRDS, "", wire["metadata"]["name"])
        current = self._store.get(key)
        if current is None:
            return
        leaving = self._unpack(current)
        finalizers = [each for each in leaving["metadata"].get("finalizers", ()) if each != CLEANUP]
        leaving["metadata"]["finalizers"] = finalizers
        await self._store.commit(key, current.revision, self._packer(leaving), delete=not finalizers)

    def _serve(self, wire: Wire) -> None:
        spec = wire["spec"]
        self._catalog.remove(spec["group"], spec["names"]["plural"])
        if _is_true(wire, "Established"):
            self._catalog.add(types_of(wire))

    def _status(self, wire: Wire) -> Wire:
        spec, status = wire["spec"], wire.get("status") or {}
        stored = next(version["name"] for version in spec["versions"] if version.get("storage"))
        kept: list[str] = status.get("storedVersions") or []
        problem = self._names_conflict(wire)
        names = status.get("acceptedNames") or {"plural": "", "kind": ""}
        conditions = [
            _condition(
                status,
                "NamesAccepted",
                "False" if problem else "True",
                "NotAccepted" if problem else "NoConflicts",
                problem or "no conflicts found",
            ),
            _condition(
                status,
                "Established",
                "False" if problem else "True",
                "NotAccepted" if problem else "InitialNamesAccepted",
                "not all names are accepted" if problem else "the initial names have been accepted",
            ),
        ]
        return {
            "conditions": conditions,
            "acceptedNames": names if problem else spec["names"],
            "storedVersions": kept if stored in kept else [*kept, stored],
        }

    def _names_conflict(self, wire: Wire) -> str:
        """What another kind of the same group is already called, in words; empty if nothing is."""
        spec = wire["spec"]
        mine = spec["names"]
        for other in self._catalog.types.values():
            if other.kind.group != spec["group"] or other.definition_name == wire["metadata"]["name"]:
                continue
            taken = {other.kind.plural, other.kind.singular, *other.kind.short_names}
            for word in (mine["plural"], mine.get("singular", ""), *mine.get("shortNames", ())):
                if word and word in taken:
                    return f'"{word}" is already in use'
            if other.kind.name == mine["kind"]:
                return f'"{mine["kind"]}" is already in use'
        return ""

    def _unpack(self, entry: Entry) -> Wire:
        return unpack(self._type, entry.value)

    def _packer(self, wire: Wire) -> Callable[[int], bytes]:
        return lambda revision: pack(self._type, wire, revision)

    @property
    def _type(self) -> ResourceType:
        type_ = self._catalog.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        if type_ is None:
            raise LookupError("the catalog has no CustomResourceDefinition; add the built-in types first")
        return type_


def types_of(wire: Wire) -> list[ResourceType]:
    """The types that a definition makes served, one for each served version."""
    spec = wire["spec"]
    names = spec["names"]
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    return [
        ResourceType(
            kind=Kind(
                group=spec["group"],
                version=version["name"],
                name=names["kind"],
                plural=names["plural"],
                namespaced=spec["scope"] == "Namespaced",
                singular=names.get("singular", ""),
                short_names=tuple(names.get("shortNames", ())),
                categories=tuple(names.get("categories", ())),
                subresources=tuple(sorted(version.get("subresources") or {})),
            ),
            schema=version.get("schema", {}).get("openAPIV3Schema", {"type": "object"}),
            definition=version,
            definition_name=wire["metadata"]["name"],
            storage_version=storage,
            selectable=tuple(each["jsonPath"].lstrip(".") for each in version.get("selectableFields", ())),
            deprecation=_deprecation(spec["group"], version, names["kind"]),
        )
        for version in spec["versions"]
        if version.get("served")
    ]


def _deprecation(group: str, version: Mapping[str, Any], kind: str) -> str:
    if not version.get("deprecated"):
        return ""
    return version.get("deprecationWarning") or f"{group}/{version['name']} {kind} is deprecated"


def _condition(status: Wire, type_: str, value: str, reason: str, message: str) -> Wire:
    """A condition that keeps the time of its last transition."""
    for each in status.get("conditions") or ():
        if each["type"] == type_ and each["status"] == value:
            return {**each, "reason": reason, "message": message}
    now = format_time(ambient.now())
    return {"type": type_, "status": value, "lastTransitionTime": now, "reason": reason, "message": message}


def _is_true(wire: Wire, type_: str) -> bool:
    conditions = (wire.get("status") or {}).get("conditions") or ()
    return any(each["type"] == type_ and each["status"] == "True" for each in conditions)


def _unchanged(entry: Entry) -> Any:
    old = f'"resourceVersion":"{entry.revision}"'.encode()
    return lambda revision: entry.value.replace(old, f'"resourceVersion":"{revision}"'.encode(), 1)
