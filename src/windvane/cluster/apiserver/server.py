"""The API server: takes a request, finds out what it is about, and has it done.

It knows no sockets. `http` carries requests to `APIServer.handle` over HTTPS, `inprocess` by a function call.
"""

import asyncio
import logging
from pathlib import Path
from typing import Any, cast

import msgspec

from windvane import ambient
from windvane.api.resource import Object, kind_of
from windvane.api.status import APIStatus, StatusDetails
from windvane.client.transport import Request
from windvane.cluster.apiserver import discovery, health
from windvane.cluster.apiserver.answer import Answer, User
from windvane.cluster.apiserver.bootstrap import bootstrap
from windvane.cluster.apiserver.builtin.types import BuiltinType, builtin_types
from windvane.cluster.apiserver.catalog import Catalog, ResourceType
from windvane.cluster.apiserver.columns.tables import IncludeObject
from windvane.cluster.apiserver.crd.crds import CRDS, Definitions
from windvane.cluster.apiserver.failure import Failure, bad_request, failure, method_not_allowed
from windvane.cluster.apiserver.metrics import Metrics
from windvane.cluster.apiserver.openapi.documents import OpenAPI
from windvane.cluster.apiserver.options import check_options
from windvane.cluster.apiserver.patch.patching import Patching, patch_type
from windvane.cluster.apiserver.pods import bind, check_budgets
from windvane.cluster.apiserver.reading import Reader
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.scale import read_scale, write_scale
from windvane.cluster.apiserver.services import Addresses
from windvane.cluster.apiserver.store.forgetting import forget_with_time
from windvane.cluster.apiserver.store.store import Store
from windvane.cluster.apiserver.target import Target, find_target, leads_nowhere
from windvane.cluster.apiserver.version import version
from windvane.cluster.apiserver.wire.body import read_body, read_builtin, read_delete_options
from windvane.cluster.apiserver.wire.field_validation import FieldValidation
from windvane.cluster.apiserver.wire.negotiate import Wanted, header, wanted, write
from windvane.cluster.apiserver.wire.representation import View, status_bytes
from windvane.cluster.apiserver.wire.stored import unpack
from windvane.cluster.apiserver.writing import Deletion, Writer, Written
from windvane.k8s import autoscaling, core, policy

log = logging.getLogger(__name__)

Wire = dict[str, Any]


class APIServer:
    """The whole API over one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.catalog = Catalog()
        self.catalog.add(builtin_types())
        self._definitions = Definitions(store, self.catalog)
        self._definitions.load()
        self._reader = Reader(store)
        self._rules = Rules(Addresses(store))
        self._writer = Writer(store, self._rules)
        self._openapi = OpenAPI(self.catalog)
        self._metrics = Metrics(store)
        self._forgetting: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Make sure that what every cluster has is there."""
        await bootstrap(self.store, self.catalog, self._writer)
        self._forgetting = asyncio.create_task(forget_with_time(self.store))

    async def close(self) -> None:
        """Make everything durable and stop. Watches end."""
        if self._forgetting is not None:
            self._forgetting.cancel()
            await asyncio.gather(self._forgetting, return_exceptions=True)
        await self.store.close()

    async def handle(self, request: Request, user: User) -> Answer:
        """Answer any request; see `answer.Handler`."""
        warnings: list[str] = []
        try:
            answer = await self._dispatch(request, user, warnings)
            if answer.body and answer.content_type == "application/json":
                answer.body += b"\n"
        except Failure as refusal:
            answer = Answer(refusal.status.code, status_bytes(refusal.status))
            if refusal.status.details and refusal.status.details.retry_after_seconds:
                answer.headers = [("Retry-After", str(refusal.status.details.retry_after_seconds))]
        except RecursionError:
            return Answer(400, status_bytes(bad_request("the object is nested too deeply").status))
        except Exception:
            log.exception("%s failed", request)
            unforeseen = failure(
                500, "InternalError", f"Internal error occurred: {request} failed; see the server's log"
            )
            return Answer(500, status_bytes(unforeseen.status))
        answer.headers = [*answer.headers, *map(_warning, dict.fromkeys(warnings))]
        return answer

    async def _dispatch(self, request: Request, user: User, warnings: list[str]) -> Answer:
        """Answer a request; `warnings` are added to what is answered, also to a refusal."""
        del user  # access control comes with its own layer
        if (document := self._document(request)) is not None:
            return document
        if leads_nowhere(request.path, self.catalog):
            return Answer(404, b"404 page not found\n", content_type="text/plain; charset=utf-8")
        query = dict(request.query)
        target = find_target(_without_watch(request.path, query), self.catalog)
        verb = _verb(request, target, query)
        allowed = SUBRESOURCE_VERBS.get(target.subresource, target.type.verbs)
        if verb not in allowed and not (target.subresource in POSTED and request.method == "POST"):
            raise method_not_allowed()
        if verb == "deletecollection" and target.type.kind.namespaced and not target.namespace:
            raise method_not_allowed()
        check_options(verb, query)
        validation = FieldValidation(query.get("fieldValidation", ""), warnings)
        began = ambient.monotonic()
        kind = target.type.kind
        counted = (verb, kind.group, kind.version, kind.plural, target.subresource)
        try:
            answer = await self._carry_out(verb, target, request, query, validation, warnings)
        except Failure as refusal:
            self._metrics.count(counted, refusal.status.code, ambient.monotonic() - began)
            raise
        self._metrics.count(counted, answer.code, ambient.monotonic() - began)
        if target.type.deprecation:
            warnings.append(target.type.deprecation)
        return answer

    def _document(self, request: Request) -> Answer | None:
        """The documents about the API, which belong to no kind."""
        path = request.path
        if (answer := health.answer(path, request.query, self._checks())) is not None:
            return answer
        if path == "/metrics":
            return self._metrics.answer()
        if path in ("/version", "/version/"):
            return Answer(200, msgspec.json.encode(version()))
        accept = header(request, "Accept")
        if (found := discovery.document(self.catalog, path, accept)) is not None:
            return Answer(200, msgspec.json.encode(found), content_type=discovery.content_type(found))
        if path.startswith("/openapi/"):
            return self._openapi.answer(path, request.query, accept)
        return None

    def _checks(self) -> dict[str, health.Check]:
        return {"ping": lambda: None}  # that it answers is all there is to say yet

    async def _carry_out(
        self,
        verb: str,
        target: Target,
        request: Request,
        query: dict[str, str],
        validation: FieldValidation,
        warnings: list[str],
    ) -> Answer:
        shape = wanted(request)
        view = View(target.type, shape, self._rules, _include_object(query))
        dry_run = query.get("dryRun") == "All"
        if target.subresource == "scale":
            return await self._scale(verb, target, request, query, shape, validation)
        if target.subresource in ("binding", "eviction") and request.method == "POST":
            kind, *older = POSTED[target.subresource]
            posted = read_builtin(request, kind_of(kind), validation, *older)
            return await self._posted_about_pod(target, posted, query, shape)
        match verb:
            case "get":
                return _answer(200, view.one(self._reader.get(target, query).value), shape)
            case "list":
                return _answer(200, view.many(self._reader.list(target, query)), shape)
            case "watch":
                return Answer(
                    200, content_type="application/json", stream=view.stream(self._reader.watch(target, query))
                )
            case "create" if target.type.kind.group in REVIEWS:
                what = f"the embedded API server does not answer a {target.type.kind.name} yet: it lets everybody in"
                raise failure(501, "NotImplemented", what)
            case "create" if target.type.kind.resource == "bindings":
                binding = read_body(request, target.type, self._rules, validation)
                pods = self.catalog.types["", "v1", "pods"]
                pod = Target(pods, target.namespace, (binding.get("metadata") or {}).get("name", ""), "binding")
                return await self._posted_about_pod(pod, binding, query, shape)
            case "create":
                wire = read_body(request, target.type, self._rules, validation)
                written = await self._writer.create(target, wire, dry_run=dry_run)
                await self._follow_up(target, wire["metadata"]["name"], dry_run)
                return _answer(201, view.one(written.value), shape)
            case "update":
                wire = read_body(request, target.type, self._rules, validation)
                written = await self._writer.update(target, wire, dry_run=dry_run)
                await self._follow_up(target, target.name, dry_run)
                warnings += written.warnings
                return _answer(201 if written.made else 200, view.one(written.value), shape)
            case "patch":
                change = self._patching(target.type, target.type, request, validation).change
                written = await self._writer.modify(target, change, dry_run=dry_run)
                await self._follow_up(target, target.name, dry_run)
                warnings += written.warnings
                return _answer(200, view.one(written.value), shape)
            case "delete":
                how = read_delete_options(request, query)
                written = await self._writer.delete(target, how)
                await self._follow_up(target, target.name, how.dry_run)
                return self._deleted(target, written, view, shape)
            case "deletecollection":
                return await self._delete_collection(target, request, query, view, shape)
        raise method_not_allowed()

    def _patching(
        self, of: ResourceType, patched: ResourceType, request: Request, validation: FieldValidation
    ) -> Patching:
        """The patch in a request about objects of one type; what is patched may be something else, as their Scale."""
        body = request.body or b""
        return Patching(patched, patch_type(request, of), body, self._rules, validation)

    async def _posted_about_pod(self, target: Target, posted: Wire, query: dict[str, str], shape: Wanted) -> Answer:
        pod = Target(target.type, target.namespace, target.name)
        dry_run = query.get("dryRun") == "All"
        if target.subresource == "binding":
            await self._writer.modify(pod, lambda wire: bind(wire, posted), dry_run=dry_run, whole=True)
        else:
            check_budgets(self.store, self._reader.get(pod).value, target.namespace)
            options = posted.get("deleteOptions") or {}
            dry_run = dry_run or "All" in (options.get("dryRun") or ())
            await self._writer.delete(pod, Deletion(grace=options.get("gracePeriodSeconds"), dry_run=dry_run))
        return _answer(201, status_bytes(APIStatus(status="Success", code=201), shape), shape)

    async def _scale(
        self,
        verb: str,
        target: Target,
        request: Request,
        query: dict[str, str],
        shape: Wanted,
        validation: FieldValidation,
    ) -> Answer:
        type_ = target.type
        entire = Target(type_, target.namespace, target.name)
        if verb == "get":
            scale = read_scale(type_, unpack(type_, self._reader.get(entire).value))
            return _answer(200, write(scale, shape.media_type), shape)
        if verb == "update":
            stated = _read_scale_body(request, type_, validation)

            def change(wire: Wire) -> Wire:
                return write_scale(type_, wire, stated)

        else:
            patching = self._patching(type_, SCALE, request, validation)

            def change(wire: Wire) -> Wire:
                return write_scale(type_, wire, patching.change(read_scale(type_, wire)))

        written = await self._writer.modify(entire, change, dry_run=query.get("dryRun") == "All")
        return _answer(200, write(read_scale(type_, unpack(type_, written.value)), shape.media_type), shape)

    def _deleted(self, target: Target, written: Written, view: View, shape: Wanted) -> Answer:
        if not written.gone or target.type.returned_when_deleted:
            return _answer(200, view.one(written.value), shape)
        kind, uid = target.type.kind, unpack(target.type, written.value)["metadata"]["uid"]
        details = StatusDetails(name=target.name, group=kind.group, kind=kind.plural, uid=uid)
        return _answer(200, status_bytes(APIStatus(status="Success", details=details), shape), shape)

    async def _delete_collection(
        self, target: Target, request: Request, query: dict[str, str], view: View, shape: Wanted
    ) -> Answer:
        listed = self._reader.list(target, query)
        how = read_delete_options(request, query)
        for entry in listed.entries:
            one = Target(target.type, entry.key.namespace, entry.key.name)
            try:
                await self._writer.delete(one, how)
            except Failure as refusal:
                if refusal.status.code != 404:  # somebody else was faster
                    raise
            await self._follow_up(one, entry.key.name, how.dry_run)
        return _answer(200, view.many(listed), shape)

    async def _follow_up(self, target: Target, name: str, dry_run: bool) -> None:
        """A definition that was written changes what is served, before anybody hears that it was written."""
        if target.type.collection == CRDS and not dry_run:
            await self._definitions.stored(name)


# Kinds that are questions about who may do what; the answers come with access control.
REVIEWS = ("authentication.k8s.io", "authorization.k8s.io")
# What is posted about pods, by the subresource that it is posted to, and in which older versions it may be.
POSTED: dict[str, tuple[type[Object], *tuple[str, ...]]] = {
    "binding": (core.Binding,),
    "eviction": (policy.Eviction, "policy/v1beta1"),
}
SCALE = BuiltinType(autoscaling.Scale)
SUBRESOURCE_VERBS = {
    "status": ("get", "patch", "update"),
    "scale": ("get", "patch", "update"),
    "finalize": ("update",),
    **dict.fromkeys(POSTED, ()),
}


def open_server(path: Path | None = None) -> APIServer:
    """The API server over the data in `path`, or over memory alone."""
    return APIServer(Store.open(path))


def _verb(request: Request, target: Target, query: dict[str, str]) -> str:
    """What is to be done, in the words of RBAC."""
    match request.method, bool(target.name):
        case "GET", one:
            if not one and query.get("watch", "false").lower() not in ("false", "0"):
                return "watch"
            return "get" if one else "list"
        case "POST", one:
            return "create" if not one or target.type.custom else ""
        case "PUT", True:
            return "update"
        case "PATCH", True:
            return "patch"
        case "DELETE", one:
            return "delete" if one else "deletecollection"
    return ""


def _without_watch(path: str, query: dict[str, str]) -> str:
    """The path behind an old-style one: `/api/v1/watch/pods` was how to watch before `?watch=true`."""
    parts = path.split("/")
    place = 3 if parts[1:2] == ["api"] else 4
    if parts[place : place + 1] != ["watch"]:
        return path
    del parts[place]
    query["watch"] = "true"
    namespaced = parts[place : place + 1] == ["namespaces"] and len(parts) > place + 2
    if len(parts) > place + (4 if namespaced else 2) - 1 and len(parts) - place in (2, 4):
        query["fieldSelector"] = f"metadata.name={parts.pop()}"
    return "/".join(parts)


def _include_object(query: dict[str, str]) -> IncludeObject:
    asked = query.get("includeObject", "Metadata")
    return cast(IncludeObject, asked) if asked in ("None", "Object") else "Metadata"


def _read_scale_body(request: Request, type_: ResourceType, validation: FieldValidation) -> Wire:
    try:
        return read_builtin(request, SCALE.kind, validation)
    except Failure as refusal:
        if type_.custom and refusal.status.code == 400:
            # The part of the real server that serves custom kinds can't say what is wrong with any other.
            why = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'
            raise bad_request(why) from refusal
        raise


def _answer(code: int, body: bytes, shape: Wanted) -> Answer:
    return Answer(code, body, content_type=shape.media_type)


def _warning(text: str) -> tuple[str, str]:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return "Warning", f'299 - "{quoted}"'
