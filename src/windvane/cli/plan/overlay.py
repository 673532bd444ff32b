"""A copy-on-write view of a cluster: an API server in this process, over the objects that were read so far.

    the operator's client ──▶ Overlay ──(what is not here yet: GET)──▶ the cluster
                                 │
                                 ▼
                    an embedded API server, in memory

What is asked for is read from the cluster once, and is here from then on, with its uid, owners and managedFields.
Every write ends here, by the rules of an API server: defaults, validation, conflicts, finalizers. `Reads` is all that
there is of the cluster, and can do nothing but read.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec

from windvane import ambient
from windvane.api import codec
from windvane.api.kind import Kind
from windvane.api.openapi.structural import Structural
from windvane.api.resource import Dynamic, object_to_wire
from windvane.cli.plan.judge import Judge
from windvane.cli.plan.outside import not_outside
from windvane.client.calls import Calls
from windvane.client.errors import APIError, ClientError, Forbidden, NotFound
from windvane.client.transport import Request, Response, Transport
from windvane.cluster.apiserver.answer import Answer, User
from windvane.cluster.apiserver.builtin.defaults import apply_defaults
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.failure import Failure, failure
from windvane.cluster.apiserver.http.entrance import refusal
from windvane.cluster.apiserver.outbound.caller import Caller
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.store.record import Key
from windvane.cluster.apiserver.store.store import Store, Write
from windvane.cluster.apiserver.target import Target, find_target
from windvane.cluster.apiserver.wire.stored import key_of, pack, unpack
from windvane.runtime.crds import NO_CONVERSION, Conversion
from windvane.runtime.noting import VERBS, place_of

Wire = dict[str, Any]

JSON = {"Accept": "application/json"}
PAGE = 500
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACES = "/api/v1/namespaces"
LIVE = ("attach", "exec", "log", "portforward", "proxy")
"""Subresources that are a program's own words: nothing of them can be kept."""
HELD_BY_NAMESPACE = ("limitranges", "resourcequotas")
"""What decides about new objects of a namespace."""
ASKED_FOR = {
    "pods": ("/apis/scheduling.k8s.io/v1/priorityclasses", "/apis/node.k8s.io/v1/runtimeclasses"),
    "persistentvolumeclaims": ("/apis/storage.k8s.io/v1/storageclasses",),
    "ingresses.networking.k8s.io": ("/apis/networking.k8s.io/v1/ingressclasses",),
}
"""What decides about new objects of a kind: the classes that they name, or get."""


class NotARead(ClientError):
    """Something was about to be written to the cluster. It was not sent."""


class Reads:
    """The cluster, for reading: requests that are no GET are not sent, whoever makes them. A `Transport`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """See `Transport.open`."""
        if request.method != "GET":
            raise NotARead(f"{request}: windvane plan writes nothing, and did not send this: it is a bug of windvane's")
        with not_outside():
            async with self._transport.open(request) as response:
                yield response

    def websocket(self, request: Request, protocols: object) -> AbstractAsyncContextManager[Any]:
        """See `Transport.websocket`."""
        del protocols
        raise NotARead(f"{request}: windvane plan opens no WebSockets")

    async def close(self) -> None:
        """Nothing: the transport below is its maker's."""


@dataclass(frozen=True)
class Change:
    """An object of which something was written: as it was in the cluster, and as it is here."""

    kind: Kind
    before: Wire | None
    after: Wire | None


class Overlay:
    """See the module. `handle` is an API server for an `InProcessTransport`."""

    def __init__(
        self,
        transport: Transport,
        *,
        caller: Caller | None = None,
        store: Store | None = None,
        conversion: Conversion = NO_CONVERSION,
        own: Iterable[Dynamic] = (),
        judge: Judge | None = None,
    ) -> None:
        """Webhooks that are configured in the view are called by `caller`; `conversion` says how it is for CRDs.

        `own` are the CRDs of the operator's classes, for those who may not read the cluster's. A `judge` is asked about
        what is written.
        """
        self._calls = Calls(Reads(transport))
        self._store = store or Store.open()
        self._server = APIServer(self._store, caller=caller)
        self._known: set[Key] = set()  # what was looked for in the cluster, whether it was there or not
        self._covered: set[tuple[str, str, str]] = set()  # the collections, namespaces and selectors that were listed
        self._before: dict[Key, bytes] = {}  # as the store has it: many are read, and few are looked at again
        self._types: dict[str, ResourceType] = {}
        self._structural: dict[str, Structural] = {}
        self._conversion = conversion
        self._judge = judge
        self._versions: dict[str, str] = {}  # the resourceVersions of the view, and those of the cluster
        self._own = {each.metadata.name: object_to_wire(each) for each in own}
        self._asked: set[str] = set()  # the CRDs that were looked for
        self._written: dict[Key, None] = {}  # in order
        self._ever: set[Key] = set()  # what was written, also before `begin`
        self._gone: set[str] = set()  # the uids of what was deleted before `begin`
        self._loading = asyncio.Lock()
        self.notes: dict[str, None] = {}
        """What could not be read, and was done without; an ordered set."""
        self.closed_to_writes = ""
        """Why nothing more can be written; empty if it can."""

    async def close(self) -> None:
        """Forget all of it."""
        await self._server.close()

    # Answering

    async def handle(self, request: Request, user: User) -> Answer:
        """Answer any request; see `answer.Handler`."""
        try:
            target = await self.target(request.path)
            if target is None or target.subresource in LIVE:
                return await self._passed_on(request, target)
            await self._load(request, target)
        except Failure:
            return await self._server.handle(request, user)  # which says the same, in an answer
        except APIError as error:
            return Answer(error.code, codec.encode(error.status))
        except ClientError as error:
            return refusal(failure(503, "ServiceUnavailable", f"the cluster can't be read: {error}"))
        if request.method in VERBS and self.closed_to_writes:
            return refusal(failure(503, "ServiceUnavailable", self.closed_to_writes))
        writes = request.method in VERBS
        there = self._keys(target) if writes else set()
        answer = await self._server.handle(request, user)
        if writes and answer.code < 300 and ("dryRun", "All") not in request.query:
            is_first = self._note(target, there)
            if self._judge is not None and is_first and target.type.kind.name != "Event":
                await self._judge.ask(request, target, answer.body, self._versions)
        return answer

    async def unnoted(self, request: Request, user: User) -> Answer:
        """The same, of the view alone: nothing is read from the cluster for it, and it is no change."""
        return await self._server.handle(request, user)

    async def _passed_on(self, request: Request, target: Target | None) -> Answer:
        """What the cluster says to what the view knows nothing of: its version, an aggregated API, a pod's log."""
        if request.method != "GET" or (target is not None and target.subresource != "log"):
            what = f"{request.method} {request.path}"
            return refusal(failure(403, "Forbidden", f"windvane plan writes nothing and opens nothing: {what}"))
        try:
            async with self._calls.stream(request) as response:
                kind = next(iter(response.header("Content-Type")), "application/json")
                return Answer(response.code, await response.read(), kind)
        except APIError as error:
            return Answer(error.code, codec.encode(error.status))
        except ClientError as error:
            return refusal(failure(503, "ServiceUnavailable", f"the cluster can't be read: {error}"))

    def _keys(self, target: Target) -> set[Key]:
        """The objects that a deletion may take away."""
        return {each.key for each in self._store.entries(target.type.collection)} if not target.name else set()

    def _note(self, target: Target, there: set[Key]) -> bool:
        """Remember what was written; whether it is one object that was not written before."""
        collection = target.type.collection
        self._types[collection] = target.type
        if target.name:
            key = key_of(target.type, target.namespace, target.name)
            self._written[key] = None
            is_first = key not in self._ever
            self._ever.add(key)
            return is_first
        now = {each.key for each in self._store.entries(collection)}
        for key in sorted(now ^ there):  # one that was created, or those of a collection that was deleted
            self._written[key] = None
        if now == there:  # of which some may have finalizers still
            for each in self._store.entries(collection, target.namespace):
                self._written[each.key] = None
        self._ever |= now ^ there
        return len(now - there) == 1

    # What was written

    @property
    def changes(self) -> list[Change]:
        """The objects that are not as they were, in the order in which they were first written."""
        changes = []
        for key in self._written:
            type_ = self._types[key.collection]
            was = self._before.get(key)
            before, after = None if was is None else unpack(type_, was), self._now(key)
            if before != after:
                changes.append(Change(type_.kind, before, after))
        return changes

    @property
    def objects(self) -> list[tuple[Kind, Wire]]:
        """All that is in the view."""
        return [
            (type_.kind, unpack(type_, entry.value))
            for collection, type_ in self._types.items()
            for entry in self._store.entries(collection)
        ]

    @property
    def gone(self) -> set[str]:
        """The uids of the objects that were deleted, and are not there any more."""
        then = {key: each["metadata"].get("uid", "") for key in self._written if (each := self._now(key)) is not None}
        were = {
            key: unpack(self._types[key.collection], was)["metadata"].get("uid", "")
            for key in self._written
            if (was := self._before.get(key)) is not None
        }
        return {uid for key, uid in were.items() if then.get(key) != uid} | self._gone

    def versions(self) -> dict[tuple[Kind, str, str], str]:
        """Which version there is of what was written; none of what is gone."""
        versions = {}
        for key in self._written:
            now = self._now(key)
            kind = self._types[key.collection].kind
            versions[kind, key.namespace, key.name] = now["metadata"]["resourceVersion"] if now else ""
        return versions

    def begin(self) -> None:
        """What was written so far is how it was, from here on."""
        self._gone = self.gone
        for key in self._written:
            self._remember(key)
        self._written.clear()

    def _remember(self, key: Key) -> None:
        entry = self._store.get(key)
        if entry is None:
            self._before.pop(key, None)
        else:
            self._before[key] = entry.value

    def _now(self, key: Key) -> Wire | None:
        entry = self._store.get(key)
        return unpack(self._types[key.collection], entry.value) if entry is not None else None

    # Reading from the cluster

    async def target(self, path: str) -> Target | None:
        """What a path is about. A kind that a CRD defines is known once somebody asks for it."""
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
            return find_target(path, self._server.catalog)
        except Failure:
            return None

    def _builtin(self, path: str) -> Target:
        target = self._find(path)
        if target is None:
            raise LookupError(f"{path} is served by every API server")
        return target

    async def _load(self, request: Request, target: Target) -> None:
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
        type_, words = target.type, urlencode(sorted(selectors.items()))
        places = [(type_.collection, where, which) for where in ("", target.namespace) for which in ("", words)]
        if any(each in self._covered for each in places):
            return
        path = type_.kind.collection_path(target.namespace)
        try:
            await self._put(type_, [item async for item in self._listed(path, selectors)])
        except NotFound:
            if not type_.custom:
                raise
            # The view has a CRD that the cluster has not: it is part of what is planned.
        self._covered.add((type_.collection, target.namespace, words))

    async def _listed(self, path: str, selectors: Mapping[str, str]) -> AsyncIterator[Wire]:
        more = ""
        while True:
            query = [*selectors.items(), ("limit", str(PAGE)), *([("continue", more)] if more else [])]
            page = msgspec.json.decode(await self._calls.call(Request("GET", path, query, JSON)))
            for item in page.get("items") or ():
                yield item
            more = (page.get("metadata") or {}).get("continue") or ""
            if not more:
                return

    async def _load_object(self, target: Target) -> None:
        type_, kind = target.type, target.type.kind
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
            wire = msgspec.json.decode(await self._calls.call(Request("GET", path, (), JSON)))
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
        self._types[type_.collection] = type_
        writes = []
        for item in items:
            wire = self._as_here(type_, item)
            key = key_of(type_, wire["metadata"].get("namespace", ""), wire["metadata"]["name"])
            if key in self._known:
                continue
            self._known.add(key)
            writes.append((Write(key, 0, partial(pack, type_, wire)), item["metadata"].get("resourceVersion", "")))
        records = await self._store.commit_together([write for write, _ in writes])
        for record, (write, version) in zip(records, writes, strict=True):
            self._versions[str(record.revision)] = version
            self._remember(write.key)

    def _as_here(self, type_: ResourceType, item: Wire) -> Wire:
        """An object as a server of this version has it: one of another version has other fields, and other defaults.

        Else the first write in the view would seem to change these.
        """
        wire = {"apiVersion": type_.kind.api_version, "kind": type_.kind.name, **item}
        if not type_.custom:
            if type_.collection not in self._structural:
                self._structural[type_.collection] = Structural(type_.schema)
            self._structural[type_.collection].prune(wire)
            apply_defaults(type_.kind, wire)
        return wire

    async def _load_definition(self, name: str) -> None:
        """Have the view serve the kind of a CRD of the cluster."""
        if name in self._asked:
            return
        try:
            wire = msgspec.json.decode(await self._calls.call(Request("GET", f"{DEFINITIONS}/{name}", (), JSON)))
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
        self._types[target.type.collection] = target.type
        key = key_of(target.type, "", name)
        self._known.add(key)
        while not any(f"{kind}.{group}" == name for group, _, kind in self._server.catalog.types):
            await ambient.sleep(0.01)
        self._remember(key)


LOADER = User("windvane-plan", ("system:masters", "system:authenticated"))


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
