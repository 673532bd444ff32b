"""Keeps the catalog in step with CustomResourceDefinitions, and deletes the objects of those that are deleted."""

import asyncio
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from windvane import ambient
from windvane.api.json_value import Wire, json_copy
from windvane.api.kind import Kind
from windvane.cluster.apiserver.conversion.conversions import Conversions
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.managedfields.field_manager import KUBE_APISERVER, FieldManager
from windvane.cluster.apiserver.pipeline.deletion import Deletion
from windvane.cluster.apiserver.pipeline.draft import ObjectNotFound, Written
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.apiextensions.definition.status import (
    CLEANUP,
    accept_names,
    end_termination,
    is_true,
    stop_termination,
)
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.resource_type import Convert, ResourceType, Versions
from windvane.cluster.apiserver.registry.storage_codec import key_of, unpack
from windvane.cluster.apiserver.storage.record import Entry
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target

CRDS = "apiextensions.k8s.io/customresourcedefinitions"
RETRY = 1.0  # second, after which a failed deletion is retried


class Definitions:
    """Keeps the catalog in step with the CRDs in the store."""

    def __init__(
        self, store: Store, catalog: Catalog, writer: Writer, field_manager: FieldManager, conversions: Conversions
    ) -> None:
        self._conversions = conversions
        self._served: dict[str, tuple[Any, ...]] = {}  # by CRD: the part of it that the catalog depends on
        self._stuck: dict[str, asyncio.Task[None]] = {}  # by CRD: the timer that retries deleting its objects
        self._trying: set[asyncio.Task[None]] = set()  # the running retries; asyncio itself keeps tasks weakly
        self._store = store
        self._catalog = catalog
        self._writer = writer
        self._field_manager = field_manager
        self._type = catalog.types["apiextensions.k8s.io", "v1", "customresourcedefinitions"]

    def load(self) -> None:
        """Serve the kinds of all CRDs in the store."""
        for wire in self._all():
            self._serve(wire)

    async def resume(self) -> None:
        """Finish what the last process left half done: CRDs without accepted names, or half deleted."""
        for wire in self._all():
            await self.stored(wire["metadata"]["name"])

    async def close(self) -> None:
        """Cancel all retries."""
        for task in self._trying:
            task.cancel()
        await asyncio.gather(*self._trying, return_exceptions=True)
        self._stuck.clear()

    async def stored(self, name: str) -> None:
        """A CRD, or an object of a terminating one, was written: accept its names, serve it, or finish deleting it."""
        if (waiting := self._stuck.pop(name, None)) is not None:
            waiting.cancel()
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
            before = json_copy(wire)
            accepted = accept_names(wire, self._all())
            self._field_manager.record_update(self._type, "status", accepted, before, KUBE_APISERVER)
            return accepted

        await self._amend(name, accepting)
        if (entry := self._store.get(key_of(self._type, "", name))) is not None:
            self._serve(self._unpack(entry))  # not what was written here: another write may have followed

    async def _forget(self, name: str) -> None:
        """A CRD is gone: stop serving it, and free its names for other CRDs."""
        plural, _, group = name.partition(".")
        self._served.pop(name, None)
        self._catalog.remove(group, plural)
        self._store.end_watches(f"{group}/{plural}")
        for other in self._all():
            waits = not is_true(other, "NamesAccepted") and "deletionTimestamp" not in other["metadata"]
            if other["spec"]["group"] == group and waits:
                await self._accept(other["metadata"]["name"])

    async def _finish(self, wire: Wire) -> None:
        """Delete the objects of a CRD that is being deleted, and then remove its finalizer."""
        name = wire["metadata"]["name"]
        if CLEANUP not in wire["metadata"].get("finalizers", ()):
            return  # another finalizer holds it
        self._serve(wire)  # from here on, no object can be created
        stored = next(each for each in self._types(wire) if each.kind.version == each.storage_version)
        entries = self._store.entries(stored.collection)
        failed = "could not list instances"
        try:
            await self._conversions.all_to_version(stored, [entry.value for entry in entries])
            failed = "could not issue all deletes"
            for entry in entries:
                await self._delete(Target(stored, entry.key.namespace, entry.key.name))
        except Failure as refusal:
            if await self._amend(name, partial(stop_termination, why=f"{failed}: {refusal}")) is not None:
                self._try_later(name)
            return
        if self._store.count(stored.collection):
            return  # finalizers hold some of them; `stored` is called again when they are gone
        written = await self._amend(name, end_termination)
        if written is not None and written.gone:
            await self._forget(name)

    async def _delete(self, target: Target) -> None:
        try:
            await self._writer.delete(target, Deletion())
        except Failure as refusal:
            if refusal.status.code != 404:  # another client was faster
                raise

    async def _amend(self, name: str, change: Callable[[Wire], Wire]) -> Written | None:
        """Change a CRD. If it is gone by now, there is nothing left to do."""
        try:
            return await self._writer.amend(Target(self._type, "", name), change)
        except ObjectNotFound:
            return None

    def _try_later(self, name: str) -> None:
        if (waiting := self._stuck.get(name)) is not None:
            waiting.cancel()  # another attempt has failed at the same time
        self._stuck[name] = task = asyncio.create_task(self._try_again(name))
        self._trying.add(task)
        task.add_done_callback(self._trying.discard)

    async def _try_again(self, name: str) -> None:
        """Retry a deletion that failed because objects could not be converted."""
        await ambient.sleep(RETRY)
        del self._stuck[name]
        await self.stored(name)

    def _serve(self, wire: Wire) -> None:
        spec, status, name = wire["spec"], wire["status"], wire["metadata"]["name"]
        group, plural = spec["group"], spec["names"]["plural"]
        shape = (spec, status.get("acceptedNames"))
        now = (
            shape,
            status.get("storedVersions"),
            is_true(wire, "Established"),
            "deletionTimestamp" in wire["metadata"],
        )
        before = self._served.get(name)
        if before == now:
            return  # keeps the compiled schemas, and the cache of converted objects
        self._served[name] = now
        self._catalog.remove(group, plural)
        if is_true(wire, "Established"):
            self._catalog.add(each for each in self._types(wire) if each.served)
        if before is not None and before[0] != shape:
            # They show objects by the old definition. Clients that watch again get the new one.
            self._store.end_watches(f"{group}/{plural}")

    def _types(self, wire: Wire) -> list[ResourceType]:
        return types_of(wire, self._conversions.between)

    def _all(self) -> list[Wire]:
        return [self._unpack(entry) for entry in self._store.entries(CRDS)]

    def _unpack(self, entry: Entry) -> Wire:
        return unpack(self._type, entry.value)


def types_of(wire: Wire, convert: Convert | None = None) -> list[ResourceType]:
    """The types of a CRD, one for each version, served or not."""
    spec = wire["spec"]
    names = wire["status"]["acceptedNames"]
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    conversion = spec.get("conversion") or {}
    webhook = conversion.get("webhook") if conversion.get("strategy") == "Webhook" else None
    first = next(iter(wire["status"].get("storedVersions") or ()), storage)
    since = int(wire["metadata"].get("resourceVersion") or 0)
    versions = Versions(storage, first, webhook, convert)
    types = [
        ResourceType(
            CustomStrategy(
                Kind(
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
                version.get("schema", {}).get("openAPIV3Schema", {"type": "object"}),
                version,
                since=since,
            ),
            served=bool(version.get("served")),
            definition_name=wire["metadata"]["name"],
            storage_version=storage,
            versions=versions,
            deprecation=_deprecation(spec, version),
            leaving="deletionTimestamp" in wire["metadata"],
        )
        for version in spec["versions"]
    ]
    versions.types.update({each.kind.version: each for each in types})
    return types


def _deprecation(spec: Wire, version: Mapping[str, Any]) -> str:
    """The warning of a deprecated version, which names the best replacement."""
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
    """The sort key of versions: v1beta1 < v1beta2 < v1 < v2, and other names before all of them."""
    parts = re.fullmatch(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?", version)
    if parts is None:
        return (-1, 0, 0)
    stage = ("alpha", "beta", None).index(parts[2])
    return stage, int(parts[1]), int(parts[3] or 0)
