"""What is read from a cluster, into a view of it: each object once, when something is asked that has to do with it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec

from windvane import ambient
from windvane.api.resource import Dynamic, object_to_wire
from windvane.cli.plan.transport import Reads
from windvane.client.calls import Calls
from windvane.client.errors import APIError, ClientError, Forbidden, NotFound
from windvane.client.transport import Request, Transport
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.storage_codec import key_of, pack, unpack
from windvane.cluster.apiserver.request.info import RequestInfo
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Write
from windvane.cluster.apiserver.target import Target, find_target
from windvane.runtime.crds import Conversion
from windvane.runtime.writes.write_recorder import VERBS, place_of

Wire = dict[str, Any]

LOADER = User("windvane-plan", ("system:masters", "system:authenticated"))
JSON = {"Accept": "application/json"}
PAGE = 500
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACES = "/api/v1/namespaces"
SERVED_WITHIN = 10.0
"""Seconds that the view takes at most to serve a kind once it has its CRD."""
HELD_BY_NAMESPACE = ("limitranges", "resourcequotas")
"""What decides about new objects of a namespace."""
ASKED_FOR = {
    "pods": ("/apis/scheduling.k8s.io/v1/priorityclasses", "/apis/node.k8s.io/v1/runtimeclasses"),
    "persistentvolumeclaims": ("/apis/storage.k8s.io/v1/storageclasses",),
    "ingresses.networking.k8s.io": ("/apis/networking.k8s.io/v1/ingressclasses",),
}
"""What decides about new objects of a kind: the classes that they name, or get."""


class Loader:
    """Has in an embedded API server what a request needs to be answered as the cluster would."""

    def __init__(
        self, transport: Transport, server: APIServer, *, conversion: Conversion, own: Iterable[Dynamic]
    ) -> None:
        self.calls = Calls(Reads(transport))
        """The cluster itself."""
        self._server = server
        self._conversion = conversion
        self._own = {each.metadata.name: object_to_wire(each) for each in own}
        self._known: set[Key] = set()  # what was looked for in the cluster, whether it was there or not
        self._covered: set[tuple[str, str, str]] = set()  # the collections, namespaces and selectors that were listed
        self._asked: set[str] = set()  # the CRDs that were looked for
        self._loading = asyncio.Lock()
        self.types: dict[str, ResourceType] = {}
        """The type of each collection that there is something of."""
        self.read: dict[Key, bytes] = {}
        """What was read, as the store has it: many objects are read, and few are looked at again."""
        self.versions: dict[str, str] = {}
        """The resourceVersions that the view gave to what was read, and those of the cluster."""
        self.notes: dict[str, None] = {}
        """What could not be read, and was done without; an ordered set."""

    async def target(self, path: str) -> Target | None:
        """What a path is about. A kind that a CRD defines is known once it is asked for."""
        place = place_of(path)
        if place is None:
            return None
        target = self._find(path)
        if target is None and place.group and place.resource:
            async with self._loading:
                await self._load_definition(f"{place.resource}.{place.group}")
            target = self._find(path)
        return target

    def _find(self, path: str) -> Target | None:
        try:
            return find_target(RequestInfo.of(Request("GET", path)), self._server.catalog)
        except Failure:
            return None

    def _builtin(self, path: str) -> Target:
        target = self._find(path)
        if target is None:
            raise LookupError(f"{path} is served by every API server")
        return target

    async def load(self, request: Request, target: Target) -> None:
        """Have what a request is about, and what decides about it."""
        async with self._loading:
            if request.method == "POST" and not target.name:
                if name := _name_in(request.body):
                    await self._load_object(replace(target, name=name))
            elif target.name:
                await self._load_object(target)
            else:
                await self._load_target(target, _selectors(request))
            if request.method in VERBS:
                await self._load_deciders(target)

    async def _load_target(self, target: Target, selectors: Mapping[str, str]) -> None:
        if target.name:
            await self._load_object(target)
            return
        type_, words = self._stored(target.type), urlencode(sorted(selectors.items()))
        places = [(type_.collection, where, which) for where in ("", target.namespace) for which in ("", words)]
        if any(each in self._covered for each in places):
            return
        path = type_.kind.collection_path(target.namespace)
        try:
            await self._put(type_, [item async for item in self._listed(path, selectors)])
        except NotFound:
            if not type_.strategy.is_unstructured:
                raise
            # The view has a CRD that the cluster has not: it is part of what is planned.
        self._covered.add((type_.collection, target.namespace, words))

    def _stored(self, type_: ResourceType) -> ResourceType:
        """The version of a kind that its objects are read in: that in which they are stored, here and there.

        So what is written is compared with what was read in the same version.
        """
        if type_.versions is None:
            return type_
        kind = type_.kind
        return self._server.catalog.find(kind.group, type_.versions.storage, kind.plural) or type_

    async def _listed(self, path: str, selectors: Mapping[str, str]) -> AsyncIterator[Wire]:
        more = ""
        while True:
            query = [*selectors.items(), ("limit", str(PAGE)), *([("continue", more)] if more else [])]
            page = msgspec.json.decode(await self.calls.call(Request("GET", path, query, JSON)))
            for item in page.get("items") or ():
                yield item
            more = (page.get("metadata") or {}).get("continue") or ""
            if not more:
                return

    async def _load_object(self, target: Target) -> None:
        type_ = self._stored(target.type)
        kind = type_.kind
        key = key_of(type_, target.namespace, target.name)
        listed = ((type_.collection, where, "") in self._covered for where in ("", target.namespace))
        if key in self._known or any(listed):
            return
        if kind.resource == "customresourcedefinitions.apiextensions.k8s.io":
            await self._load_definition(target.name)
            return
        self._known.add(key)
        path = kind.path(target.name, target.namespace)
        try:
            wire = msgspec.json.decode(await self.calls.call(Request("GET", path, (), JSON)))
        except NotFound:
            return
        except BaseException:
            self._known.discard(key)
            raise
        self._known.discard(key)
        await self._put(type_, [wire])

    async def _load_deciders(self, target: Target) -> None:
        """What decides whether something may be written, and what becomes of it. What can't be read decides nothing."""
        paths = list(ASKED_FOR.get(target.type.kind.resource, ()))
        if target.namespace:
            namespace = self._builtin(f"{NAMESPACES}/{target.namespace}")
            try:
                await self._load_object(namespace)
            except Forbidden as error:
                self._do_without(error)
                now = ambient.now().strftime("%Y-%m-%dT%H:%M:%SZ")
                wire: Wire = {"metadata": {"name": target.namespace, "uid": ambient.uid(), "creationTimestamp": now}}
                await self._put(namespace.type, [{**wire, "spec": {"finalizers": ["kubernetes"]}}])
            paths += [f"{NAMESPACES}/{target.namespace}/{each}" for each in HELD_BY_NAMESPACE]
        for path in paths:
            found = self._find(path)
            if found is None:
                continue
            try:
                await self._load_target(found, {})
            except (Forbidden, NotFound) as error:
                self._do_without(error)
                self._covered.add((found.type.collection, found.namespace, ""))

    def _do_without(self, error: APIError) -> None:
        self.notes[f"the plan does without: {error}"] = None

    async def _put(self, type_: ResourceType, items: Iterable[Wire]) -> None:
        """Have objects as they were read, in the view."""
        self.types[type_.collection] = type_
        writes = []
        for item in items:
            wire = self._as_here(type_, item)
            key = key_of(type_, wire["metadata"].get("namespace", ""), wire["metadata"]["name"])
            if key in self._known:
                continue
            self._known.add(key)
            writes.append((Write(key, 0, partial(pack, type_, wire)), item["metadata"].get("resourceVersion", "")))
        records = await self._server.store.commit_together([write for write, _ in writes])
        for record, (write, version) in zip(records, writes, strict=True):
            self.versions[str(record.revision)] = version
            self.read[write.key] = record.value

    def _as_here(self, type_: ResourceType, item: Wire) -> Wire:
        """An object as a server of this version has it: one of another version has other fields, and other defaults.

        Else the first write in the view would seem to change these.
        """
        wire = {"apiVersion": type_.kind.api_version, "kind": type_.kind.name, **item}
        if isinstance(type_.strategy, BuiltinStrategy):
            type_.strategy.structural.prune(wire)
            type_.strategy.apply_defaults(wire)
        return wire

    async def _load_definition(self, name: str) -> None:
        """Have the view serve the kind of a CRD of the cluster."""
        if name in self._asked:
            return
        try:
            wire = msgspec.json.decode(await self.calls.call(Request("GET", f"{DEFINITIONS}/{name}", (), JSON)))
        except NotFound:
            return
        except Forbidden as error:
            if name not in self._own:
                raise
            wire = self._own[name]
            self.notes[f"the plan takes the class for the CRD: {error}"] = None
        finally:
            self._asked.add(name)
        spec = wire["spec"]
        if (spec.get("conversion") or {}).get("strategy") == "Webhook":
            # It is the operator that runs there which would be asked: here, it is the one that is planned.
            ours = self._conversion.get((spec["group"], spec["names"]["kind"]))
            spec["conversion"] = ours or {"strategy": "None"}
            if ours is None:
                self.notes[f"the versions of {name} are not converted in the plan"] = None
        wire.pop("status", None)
        wire["metadata"].pop("resourceVersion", None)
        target = self._builtin(DEFINITIONS)
        answer = await self._server.handle(Request("POST", DEFINITIONS, (), JSON, msgspec.json.encode(wire)), LOADER)
        if answer.code >= 300:
            raise ClientError(f"the CRD {name} of the cluster is not understood: {answer.body.decode()}")
        self.types[target.type.collection] = target.type
        key = key_of(target.type, "", name)
        self._known.add(key)
        await self._served(name)
        if (entry := self._server.store.get(key)) is not None:  # with its uid, and the field managers that it has there
            now = unpack(target.type, entry.value)
            now["metadata"] = {**now["metadata"], **wire["metadata"]}
            record = await self._server.store.commit(key, entry.revision, partial(pack, target.type, now))
            self.read[key] = record.value

    async def _served(self, name: str) -> None:
        """Wait until the view serves the kind of a CRD."""
        end = ambient.monotonic() + SERVED_WITHIN
        while not any(f"{plural}.{group}" == name for group, _, plural in self._server.catalog.types):
            if ambient.monotonic() > end:
                raise ClientError(f"the CRD {name} of the cluster is not served: kubectl describe crd {name}")
            await ambient.sleep(0.01)


def _selectors(request: Request) -> dict[str, str]:
    return {name: value for name, value in request.query if name in ("labelSelector", "fieldSelector") and value}


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""


class _Named(msgspec.Struct):
    metadata: _Metadata = _Metadata()


def _name_in(body: bytes | None) -> str:
    try:
        return msgspec.json.decode(body or b"{}", type=_Named).metadata.name
    except msgspec.DecodeError:
        return ""
