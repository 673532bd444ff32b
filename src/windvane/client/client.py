"""The client: Kubernetes' verbs, typed by the class you pass.

    async with Client.connect() as client:
        site = await client.get(Website, "blog", namespace="web")
        await client.apply(deployment_for(site))
        async for event in client.watch(core.Pod, namespace="web", labels={"app": "blog"}): ...

`namespace` may be left out where one object is meant: it is then that of the object, or the context's own. Where many
objects are meant (list, watch), leaving it out means all namespaces.
"""

import builtins
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import msgspec

from windvane.api import codec
from windvane.api.field_selector import FieldSelector
from windvane.api.kind import Kind
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Object, kind_of, object_to_wire, read_object
from windvane.api.selector import Selector
from windvane.client.accept_header import JSON, for_list, for_one
from windvane.client.calls import Calls
from windvane.client.config import load_config
from windvane.client.discovery import ServerVersion, discover, server_version
from windvane.client.errors import Unreadable
from windvane.client.http import HTTPTransport
from windvane.client.pager import Pager
from windvane.client.pod_client import PodClient
from windvane.client.transport import Request, Transport
from windvane.client.watch_stream import WatchEvent, WatchStream
from windvane.k8s.authentication import BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus
from windvane.k8s.autoscaling import Scale
from windvane.k8s.policy import Eviction

ObjectT = TypeVar("ObjectT", bound=Object)
Labels = Mapping[str, str] | Selector | str | None
Fields = Mapping[str, str] | FieldSelector | str | None
Propagation = Literal["Background", "Foreground", "Orphan"]
PatchType = Literal["merge", "json", "strategic"]

# Two kinds that the client must know by itself; importing all of `windvane.k8s.core` for them would be a waste.
POD = Kind(group="", version="v1", name="Pod", plural="pods")
SERVICE_ACCOUNT = Kind(group="", version="v1", name="ServiceAccount", plural="serviceaccounts")
PATCH_CONTENT = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",  # JSON is YAML
}


class Client:
    """One API server, over any transport."""

    def __init__(self, transport: Transport, *, namespace: str = "default", field_manager: str = "windvane") -> None:
        self.namespace = namespace
        """Where objects are looked for when no namespace is given."""
        self.field_manager = field_manager
        """The name under which the server remembers which fields we own."""
        self.calls = Calls(transport)

    @classmethod
    def connect(
        cls, *, kubeconfig: str | Path | None = None, context: str | None = None, field_manager: str = "windvane"
    ) -> Self:
        """A client for the cluster that `load_config` finds. Nothing is sent before the first call."""
        config = load_config(kubeconfig=kubeconfig, context=context)
        return cls(HTTPTransport(config), namespace=config.namespace, field_manager=field_manager)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Drop all connections; watches end."""
        await self.calls.transport.close()

    # Reading

    async def get(self, what: type[ObjectT], name: str, *, namespace: str = "", resource_version: str = "") -> ObjectT:
        """One object. With `resource_version` "0", any that the server has in its cache will do."""
        query = _query(resourceVersion=resource_version)
        return await self._object(what, Request("GET", self._path(what, name, namespace), query, for_one(what)))

    def list(
        self,
        what: type[ObjectT],
        *,
        namespace: str = "",
        labels: Labels = None,
        fields: Fields = None,
        resource_version: str = "",
        resource_version_match: Literal["", "Exact", "NotOlderThan"] = "",
        page_size: int = 500,
    ) -> Pager[ObjectT]:
        """Many objects: await it for all, or iterate over it (or its `pages()`) to hold one page at a time.

        `page_size=0` asks for everything in one answer.
        """
        query = _query(
            **_selectors(labels, fields),
            resourceVersion=resource_version,
            resourceVersionMatch=resource_version_match,
        )
        request = Request("GET", kind_of(what).collection_path(namespace), query, for_list(what))
        return Pager(self.calls, request, what, page_size)

    def watch(
        self,
        what: type[ObjectT],
        *,
        namespace: str = "",
        labels: Labels = None,
        fields: Fields = None,
        resource_version: str = "",
        initial: bool = False,
    ) -> AsyncGenerator[WatchEvent[ObjectT]]:
        """Changes from `resource_version` (or now) on, resumed across connections until `Gone` says to list again.

        With `initial`, the objects that are there come first, as ADDED events, and then one BOOKMARK whose
        `initial_end` is set: streamed where the server can, listed in pages where it can't.
        """
        if initial and resource_version:
            raise ValueError("watch starts with what is there (initial=True) or from a resource_version, not both")
        query = _query(**_selectors(labels, fields))
        request = Request("GET", kind_of(what).collection_path(namespace), query, for_one(what))
        return WatchStream(self.calls, request, what, version=resource_version, initial=initial).events()

    # Writing

    async def create(self, thing: ObjectT, *, namespace: str = "", dry_run: bool = False) -> ObjectT:
        """Make a new object; `AlreadyExists` if there is one of that name."""
        kind = kind_of(thing)
        path = kind.collection_path(self._namespace(kind, namespace or thing.metadata.namespace))
        query = _query(fieldManager=self.field_manager, dryRun=_dry(dry_run))
        return await self._object(type(thing), Request("POST", path, query, JSON, codec.encode(object_to_wire(thing))))

    async def apply(
        self,
        thing: ObjectT,
        *,
        subresource: str = "",
        force: bool = False,
        field_manager: str = "",
        dry_run: bool = False,
    ) -> ObjectT:
        """State the fields that should be so (server-side apply); what was stated before and isn't now, goes.

        `Conflict` names the fields that other managers own; `force` takes them over.
        """
        wire = object_to_wire(thing)
        # The server keeps these books itself and refuses an object that brings its own.
        wire["metadata"].pop("managedFields", None)
        query = _query(
            fieldManager=field_manager or self.field_manager,
            force="true" if force else "",
            dryRun=_dry(dry_run),
        )
        return await self._patch(type(thing), self._path_of(thing, subresource), query, "apply", wire)

    async def patch(
        self,
        what: type[ObjectT],
        name: str,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        type: PatchType = "merge",  # noqa: A002 - kubectl's word
        namespace: str = "",
        subresource: str = "",
        dry_run: bool = False,
    ) -> ObjectT:
        """Change parts of an object: a JSON merge patch, a JSON patch (a list), or a strategic merge patch."""
        query = _query(fieldManager=self.field_manager, dryRun=_dry(dry_run))
        return await self._patch(what, self._path(what, name, namespace, subresource), query, type, patch)

    async def replace(self, thing: ObjectT, *, subresource: str = "", dry_run: bool = False) -> ObjectT:
        """Put `thing` in place of what is there; `Conflict` if that has changed since `thing` was read.

        Fields that the class doesn't know are lost, so prefer `apply`.
        """
        query = _query(fieldManager=self.field_manager, dryRun=_dry(dry_run))
        body = codec.encode(object_to_wire(thing))
        return await self._object(type(thing), Request("PUT", self._path_of(thing, subresource), query, JSON, body))

    async def delete(
        self,
        what: type[ObjectT],
        name: str,
        *,
        namespace: str = "",
        uid: str = "",
        resource_version: str = "",
        propagation: Propagation | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
    ) -> ObjectT | None:
        """Delete one object: only if it (still) has that `uid` and `resource_version`, where given.

        Returns it if the server shows it once more, for one because finalizers hold it; else None.
        """
        options = codec.encode(_delete_options(propagation, grace_period, dry_run, uid, resource_version))
        request = Request("DELETE", self._path(what, name, namespace), (), JSON, options)
        body = await self.calls.call(request)
        return None if _is_status(body) else _read(body, what, str(request))

    async def delete_collection(
        self,
        what: type[ObjectT],
        *,
        namespace: str = "",
        labels: Labels = None,
        fields: Fields = None,
        propagation: Propagation | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Delete all objects of a kind in one namespace that the selectors match."""
        kind = kind_of(what)
        path = kind.collection_path(self._namespace(kind, namespace))
        options = codec.encode(_delete_options(propagation, grace_period, dry_run))
        await self.calls.call(Request("DELETE", path, _query(**_selectors(labels, fields)), JSON, options))

    # Subresources that have a type of their own. Those that don't, such as status and finalize, are reached with
    # `subresource=` above; a pod's streams with `pod`.

    async def get_scale(self, what: type[Object], name: str, *, namespace: str = "") -> Scale:
        """How many replicas an object wants and has."""
        return await self._object(Scale, Request("GET", self._path(what, name, namespace, "scale"), (), JSON))

    async def scale(self, what: type[Object], name: str, replicas: int, *, namespace: str = "") -> Scale:
        """Set how many replicas an object wants."""
        path = self._path(what, name, namespace, "scale")
        query = _query(fieldManager=self.field_manager)
        return await self._patch(Scale, path, query, "merge", {"spec": {"replicas": replicas}})

    async def evict(
        self, pod: str, *, namespace: str = "", grace_period: int | None = None, dry_run: bool = False
    ) -> None:
        """Ask a pod to leave; `TooManyRequests` while a disruption budget forbids it."""
        namespace = namespace or self.namespace
        wire = object_to_wire(Eviction(metadata=ObjectMeta(name=pod, namespace=namespace)))
        wire["deleteOptions"] = _delete_options(None, grace_period, dry_run)
        path = POD.path(pod, namespace, "eviction")
        # A budget may forbid it for hours, and the server asks to come back every ten seconds: not for us to decide.
        await self.calls.call(Request("POST", path, (), JSON, codec.encode(wire), wait_if_asked=False))

    async def bind(self, pod: str, node: str, *, namespace: str = "", uid: str = "") -> None:
        """Give a pod the node that it will run on; `Conflict` if it has one, or is another one than `uid`."""
        namespace = namespace or self.namespace
        metadata = dict(_query(name=pod, namespace=namespace, uid=uid))
        target = {"kind": "Node", "apiVersion": "v1", "name": node}
        wire = {"kind": "Binding", "apiVersion": "v1", "metadata": metadata, "target": target}
        await self.calls.call(Request("POST", POD.path(pod, namespace, "binding"), (), JSON, codec.encode(wire)))

    async def token(
        self,
        service_account: str,
        *,
        namespace: str = "",
        audiences: Sequence[str] = (),
        seconds: int | None = None,
        bound_to: BoundObjectReference | None = None,
    ) -> TokenRequestStatus:
        """A token with which to act as a service account, and when it expires; or before, with what it is bound to."""
        namespace = namespace or self.namespace
        spec = TokenRequestSpec(audiences=[*audiences], expiration_seconds=seconds, bound_object_ref=bound_to)
        request = TokenRequest(spec=spec)
        path = SERVICE_ACCOUNT.path(service_account, namespace, "token")
        body = codec.encode(object_to_wire(request))
        return (await self._object(TokenRequest, Request("POST", path, (), JSON, body))).status

    def pod(self, name: str, *, namespace: str = "") -> PodClient:
        """A pod's logs, and ways to run commands in it and to reach its ports."""
        return PodClient(self.calls, POD.path(name, namespace or self.namespace))

    # The server itself

    async def version(self) -> ServerVersion:
        """Which Kubernetes the server is."""
        return await server_version(self.calls)

    async def discover(self, *, verbs: Collection[str] = ()) -> "builtins.list[Kind]":
        """All kinds that the server serves, or those with which all `verbs` can be done: `verbs=["list", "watch"]`.

        The versions of a kind come in the server's order of preference. `dynamic(kind)` is a class for one without.
        """
        return await discover(self.calls, verbs)

    async def _patch(
        self, what: type[ObjectT], path: str, query: Sequence[tuple[str, str]], content: str, patch: Any
    ) -> ObjectT:
        headers = {**JSON, "Content-Type": PATCH_CONTENT[content]}
        return await self._object(what, Request("PATCH", path, query, headers, codec.encode(patch)))

    async def _object(self, what: type[ObjectT], request: Request) -> ObjectT:
        return _read(await self.calls.call(request), what, str(request))

    def _path(self, what: type[Object], name: str, namespace: str, subresource: str = "") -> str:
        kind = kind_of(what)
        return kind.path(name, self._namespace(kind, namespace), subresource)

    def _path_of(self, thing: Object, subresource: str = "") -> str:
        if not thing.metadata.name:
            raise ValueError(f"this {thing.kind} has no metadata.name, so there is no telling which one is meant")
        return self._path(type(thing), thing.metadata.name, thing.metadata.namespace, subresource)

    def _namespace(self, kind: Kind, namespace: str) -> str:
        return namespace or (self.namespace if kind.namespaced else "")


def _query(**parameters: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in parameters.items() if value)


def _selectors(labels: Labels, fields: Fields) -> dict[str, str]:
    return {
        "labelSelector": str(Selector.of(labels) if isinstance(labels, Mapping) else labels or ""),
        "fieldSelector": str(FieldSelector.of(fields) if isinstance(fields, Mapping) else fields or ""),
    }


def _dry(dry_run: bool) -> str:
    return "All" if dry_run else ""


def _delete_options(
    propagation: Propagation | None, grace_period: int | None, dry_run: bool, uid: str = "", resource_version: str = ""
) -> dict[str, Any]:
    preconditions = dict(_query(uid=uid, resourceVersion=resource_version))
    options = {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "propagationPolicy": propagation,
        "gracePeriodSeconds": grace_period,
        "dryRun": ["All"] if dry_run else None,
        "preconditions": preconditions or None,
    }
    return {key: value for key, value in options.items() if value is not None}


class _Kind(msgspec.Struct):
    kind: str = ""


def _is_status(body: bytes) -> bool:
    try:
        return msgspec.json.decode(body, type=_Kind).kind == "Status"
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False  # nor is it an object; `_read` says so


def _read(body: bytes, what: type[ObjectT], request: str) -> ObjectT:
    try:
        return read_object(body, what)
    except (msgspec.DecodeError, ValueError) as error:  # ValueError: not UTF-8, or `Dynamic` of another kind
        raise Unreadable(f"{request}: the answer can't be read as {kind_of(what)}: {error}") from error
