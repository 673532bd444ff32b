"""Custom kinds: a CustomResourceDefinition that is stored is served at once; one that goes takes its objects along."""

import re
from collections.abc import Mapping
from typing import Any

from windvane.api.kind import Kind
from windvane.cluster.apiserver.catalog import Catalog, ResourceType
from windvane.cluster.apiserver.crd.status import CLEANUP, accept_names, end_termination, is_true
from windvane.cluster.apiserver.deletion import Deletion
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.ownership.owners import ITSELF, Owners
from windvane.cluster.apiserver.schema.structural import copied
from windvane.cluster.apiserver.store.record import Entry
from windvane.cluster.apiserver.store.store import Store
from windvane.cluster.apiserver.target import Target
from windvane.cluster.apiserver.wire.stored import key_of, unpack
from windvane.cluster.apiserver.writing import Writer

Wire = dict[str, Any]
CRDS = "apiextensions.k8s.io/customresourcedefinitions"


class Definitions:
    """Keeps the catalog in step with the CRDs in the store."""

    def __init__(self, store: Store, catalog: Catalog, writer: Writer, owners: Owners) -> None:
        self._store = store
        self._catalog = catalog
        self._writer = writer
        self._owners = owners
        self._type = catalog.types["apiextensions.k8s.io", "v1", "customresourcedefinitions"]

    def load(self) -> None:
        """Serve all that is defined in the store."""
        for wire in self._all():
            self._serve(wire)

    async def resume(self) -> None:
        """Go on with what the last process may have left half done: a CRD stored but not accepted, or half deleted."""
        for wire in self._all():
            await self.stored(wire["metadata"]["name"])

    async def stored(self, name: str) -> None:
        """A CRD was written, or objects of one that is going: accept its names, serve it, or let it go."""
        entry = self._store.get(key_of(self._type, "", name))
        if entry is None:
            await self._forget(name)
            return
        wire = self._unpack(entry)
        if "deletionTimestamp" in wire["metadata"]:
            await self._finish(wire)
            return
        await self._accept(name)

    async def _accept(self, name: str) -> None:
        def accepting(wire: Wire) -> Wire:
            before = copied(wire)
            accepted = accept_names(wire, self._all())
            self._owners.updated(self._type, "status", accepted, before, ITSELF)
            return accepted

        written = await self._writer.amend(Target(self._type, "", name), accepting)
        self._serve(unpack(self._type, written.value))

    async def _forget(self, name: str) -> None:
        """A CRD is gone: serve it no more, and let others have its names."""
        plural, _, group = name.partition(".")
        self._catalog.remove(group, plural)
        for other in self._all():
            waits = not is_true(other, "NamesAccepted") and "deletionTimestamp" not in other["metadata"]
            if other["spec"]["group"] == group and waits:
                await self._accept(other["metadata"]["name"])

    async def _finish(self, wire: Wire) -> None:
        """Delete the objects of a definition that is being deleted, and when there are none, let go of it."""
        name = wire["metadata"]["name"]
        if CLEANUP not in wire["metadata"].get("finalizers", ()):
            return  # somebody else holds it
        self._serve(wire)  # from here on, nothing new is taken
        types = types_of(wire)
        for entry in self._store.entries(types[0].collection) if types else ():
            try:
                await self._writer.delete(Target(types[0], entry.key.namespace, entry.key.name), Deletion())
            except Failure as refusal:
                if refusal.status.code != 404:  # somebody else was faster
                    raise
        if types and self._store.count(types[0].collection):
            return  # finalizers hold some of them; `stored` is called again when they are gone
        written = await self._writer.amend(Target(self._type, "", name), end_termination)
        if written.gone:
            await self._forget(name)

    def _serve(self, wire: Wire) -> None:
        spec = wire["spec"]
        self._catalog.remove(spec["group"], spec["names"]["plural"])
        if is_true(wire, "Established"):
            self._catalog.add(each for each in types_of(wire) if each.definition and each.definition.get("served"))

    def _all(self) -> list[Wire]:
        return [self._unpack(entry) for entry in self._store.entries(CRDS)]

    def _unpack(self, entry: Entry) -> Wire:
        return unpack(self._type, entry.value)


def types_of(wire: Wire) -> list[ResourceType]:
    """The types that a definition makes, one for each version, whether it is served or not."""
    spec = wire["spec"]
    names = wire["status"]["acceptedNames"]
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
            deprecation=_deprecation(spec, version),
            leaving="deletionTimestamp" in wire["metadata"],
        )
        for version in spec["versions"]
    ]


def _deprecation(spec: Wire, version: Mapping[str, Any]) -> str:
    """The warning of a deprecated version, which names the best one to use instead."""
    if not version.get("deprecated"):
        return ""
    if warning := version.get("deprecationWarning"):
        return str(warning)
    group, kind = spec["group"], spec["names"]["kind"]
    better = [
        each["name"]
        for each in spec["versions"]
        if each.get("served") and not each.get("deprecated") and maturity(each["name"]) > maturity(version["name"])
    ]
    instead = f"; use {group}/{max(better, key=maturity)} {kind}" if better else ""
    return f"{group}/{version['name']} {kind} is deprecated{instead}"


def maturity(version: str) -> tuple[int, int, int]:
    """How versions are ordered: v1beta1 < v1beta2 < v1 < v2, and what is called otherwise before all of them."""
    parts = re.fullmatch(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?", version)
    if parts is None:
        return (-1, 0, 0)
    stage = ("alpha", "beta", None).index(parts[2])
    return stage, int(parts[1]), int(parts[3] or 0)
