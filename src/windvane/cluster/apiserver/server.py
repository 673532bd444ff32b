"""The API server: takes a request, finds out what it is about, and has it done.

It knows no sockets. `http` carries requests to `APIServer.handle` over HTTPS, `inprocess` by a function call.
"""

import asyncio
import logging
from copy import deepcopy
from pathlib import Path
from typing import Any

from windvane import ambient
from windvane.api.field_selector import FieldSelector
from windvane.api.resource import Object, kind_of
from windvane.api.status import APIStatus, StatusDetails
from windvane.client.transport import Request
from windvane.cluster.apiserver import health
from windvane.cluster.apiserver.about import About
from windvane.cluster.apiserver.answer import Answer, User, page_not_found
from windvane.cluster.apiserver.bootstrap import bootstrap
from windvane.cluster.apiserver.builtin.types import builtin_types
from windvane.cluster.apiserver.catalog import Catalog, ResourceType
from windvane.cluster.apiserver.crd.crds import CRDS, Definitions
from windvane.cluster.apiserver.deletion import Deletion, deletion_warnings
from windvane.cluster.apiserver.failure import Failure, bad_request, failure, method_not_allowed
from windvane.cluster.apiserver.metadata import check_placement
from windvane.cluster.apiserver.metrics import Metrics
from windvane.cluster.apiserver.options import LONGEST_MANAGER, check_options, is_on
from windvane.cluster.apiserver.ownership.owners import Owners
from windvane.cluster.apiserver.patch.patching import APPLY, Patching, patch_type, read_apply
from windvane.cluster.apiserver.pods import bind, check_binding, check_budgets
from windvane.cluster.apiserver.reading import Reader
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.scale import SCALE, check_scaled, read_scale, unconvertible, without_zero
from windvane.cluster.apiserver.store.forgetting import forget_with_time
from windvane.cluster.apiserver.store.store import Store, Unsaved
from windvane.cluster.apiserver.target import Target, find_target
from windvane.cluster.apiserver.verbs import check_verb, leads_nowhere, verb_of
from windvane.cluster.apiserver.wire.accept import (
    OFFERED,
    OFFERED_STREAMS,
    Wanted,
    check_route,
    wanted,
    wanted_for_error,
    wanted_stream,
    write,
)
from windvane.cluster.apiserver.wire.body import delete_options, read_body, read_builtin, read_delete_options
from windvane.cluster.apiserver.wire.field_validation import FieldValidation
from windvane.cluster.apiserver.wire.negotiate import header, media_type_of_body
from windvane.cluster.apiserver.wire.representation import View, status_bytes
from windvane.cluster.apiserver.wire.stored import unpack
from windvane.cluster.apiserver.writing import Writer, Written, check_address, check_preconditions, check_uid
from windvane.k8s import core, policy

log = logging.getLogger(__name__)

Wire = dict[str, Any]


class APIServer:
    """The whole API over one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.catalog = Catalog()
        self.catalog.add(builtin_types())
        self._reader = Reader(store)
        self._rules = Rules(store)
        self._owners = Owners(self.catalog)
        self._writer = Writer(store, self._rules, self._owners)
        self._definitions = Definitions(store, self.catalog, self._writer, self._owners)
        self._definitions.load()
        self._metrics = Metrics(store)
        self._forgetting: asyncio.Task[None] | None = None
        self._about = About(self.catalog, self._metrics, self._checks())

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
        except Failure as refusal:
            answer = _refused(refusal, request)
        except Unsaved as error:
            log.error("%s: %s", request, error)
            answer = _refused(failure(500, "", str(error)), request)
        except RecursionError:
            answer = _refused(bad_request("the object is nested too deeply"), request)
        except Exception:
            log.exception("%s failed", request)
            message = f"Internal error occurred: {request} failed; see the server's log"
            answer = _refused(failure(500, "InternalError", message), request)
        answer.headers = [*answer.headers, *map(_warning, dict.fromkeys(warnings))]
        return answer

    async def _dispatch(self, request: Request, user: User, warnings: list[str]) -> Answer:
        """Answer a request; `warnings` are added to what is answered, also to a refusal."""
        del user  # access control comes with its own layer
        if (document := self._about.answer(request)) is not None:
            return document
        query = dict(reversed(request.query))  # of what is said twice, the first counts
        target = find_target(request.path, self.catalog)
        verb = verb_of(request.method, target, query) if target else ""
        if target is None or leads_nowhere(verb, target):
            return page_not_found()
        check_verb(request.method, verb, target)
        if target.watch and target.name:
            query["fieldSelector"] = str(FieldSelector.of({"metadata.name": target.name}))
            target = Target(target.type, target.namespace)
        shape = _wanted(request, verb, target)
        check_options("apply" if verb == "patch" and _applies(request) else verb, query)
        validation = FieldValidation(query.get("fieldValidation", ""), warnings)
        if target.type.deprecation:
            warnings.append(target.type.deprecation)
        began = ambient.monotonic()
        kind = target.type.kind
        counted = (verb, kind.group, kind.version, kind.plural, target.subresource)
        code = 500
        try:
            answer = await self._carry_out(verb, target, request, query, shape, validation, warnings)
            code = answer.code
        except Failure as refusal:
            code = refusal.status.code
            raise
        finally:
            self._metrics.count(counted, code, ambient.monotonic() - began)
        return answer

    def _checks(self) -> dict[str, health.Check]:
        return {"ping": lambda: None, "etcd": lambda: "the store is closed" if self.store.closed else None}

    async def _carry_out(
        self,
        verb: str,
        target: Target,
        request: Request,
        query: dict[str, str],
        shape: Wanted,
        validation: FieldValidation,
        warnings: list[str],
    ) -> Answer:
        view = View(target.type, shape, self._rules, query.get("includeObject", ""))
        dry_run = query.get("dryRun") == "All"
        if (why := NOT_SERVED.get(target.subresource)) is not None:
            what = f"the embedded API server does not serve {target.subresource} yet: {why}"
            raise failure(501, "NotImplemented", what)
        if target.subresource == "scale":
            return await self._scale(verb, target, request, query, shape, validation)
        if target.subresource in POSTED:
            kind, *older = POSTED[target.subresource]
            posted = read_builtin(request, kind_of(kind), validation, *older)
            return await self._posted_about_pod(target, posted, query, shape)
        match verb:
            case "get":
                return _answer(200, view.one(self._reader.get(target, query).value), shape)
            case "list":
                return _answer(200, view.many(self._reader.list(target, query)), shape)
            case "watch":
                return Answer(stream=view.stream(self._reader.watch(target, query)))
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
                written = await self._create(target, wire, _writer(request, query), dry_run)
                warnings += written.warnings
                await self._follow_up(target, wire["metadata"]["name"], dry_run)
                return _answer(201, view.one(written.value), shape)
            case "update":
                wire = read_body(request, target.type, self._rules, validation)
                written = await self._writer.update(target, wire, by=_writer(request, query), dry_run=dry_run)
                await self._follow_up(target, target.name, dry_run)
                warnings += written.warnings
                return _answer(201 if written.made else 200, view.one(written.value), shape)
            case "patch":
                written = await self._patch(target, request, query, validation)
                await self._follow_up(target, target.name, dry_run)
                warnings += written.warnings
                return _answer(201 if written.made else 200, view.one(written.value), shape)
            case "delete":
                how = read_delete_options(request, query)
                warnings += deletion_warnings(target.type, how)
                written = await self._writer.delete(target, how)
                await self._follow_up(target, target.name, how.dry_run)
                return self._deleted(target, written, view, shape)
            case "deletecollection":
                how = read_delete_options(request, query)
                warnings += deletion_warnings(target.type, how)
                return await self._delete_collection(target, how, query, view, shape)
        raise method_not_allowed()

    async def _create(self, target: Target, wire: Wire, by: str, dry_run: bool) -> Written:
        """Store a new object; under another name, if the one that was made up for it is taken."""
        made_up = not (wire.get("metadata") or {}).get("name")
        for _ in range(MADE_UP_NAMES if made_up else 0):
            try:
                return await self._writer.create(target, wire, by=by, dry_run=dry_run)
            except Failure as refusal:
                if refusal.status.reason != "AlreadyExists":
                    raise
                wire["metadata"]["name"] = ""
        return await self._writer.create(target, wire, by=by, dry_run=dry_run)

    async def _patch(
        self, target: Target, request: Request, query: dict[str, str], validation: FieldValidation
    ) -> Written:
        by, dry_run = _writer(request, query), query.get("dryRun") == "All"
        if not _applies(request):
            change = self._patching(target.type, target.type, request, validation).change
            return await self._writer.modify(target, change, by=by, dry_run=dry_run)
        config, repeated = read_apply(request)

        def merge(current: Wire | None) -> Wire:
            force = is_on(query, "force")
            merged = self._owners.applied(target.type, target.subresource, config, current, by, force=force)
            _mind_repeated(repeated, validation)
            return merged

        return await self._writer.apply(target, merge, dry_run=dry_run)

    def _patching(
        self, of: ResourceType, patched: ResourceType, request: Request, validation: FieldValidation
    ) -> Patching:
        """The patch in a request about objects of one type; what is patched may be something else, as their Scale."""
        body = request.body or b""
        return Patching(patched, patch_type(request, of), body, self._rules, validation)

    async def _posted_about_pod(self, target: Target, posted: Wire, query: dict[str, str], shape: Wanted) -> Answer:
        pod = Target(target.type, target.namespace, target.name)
        kind = "Binding" if target.subresource == "binding" else "Eviction"
        about = check_placement(target.type, posted, target.namespace)
        if about.get("name", "") != target.name:
            raise bad_request(f"name in URL does not match name in {kind} object")
        if kind == "Binding":
            check_binding(posted)

            def assign(wire: Wire) -> Wire:
                check_preconditions(pod, posted, wire)
                return bind(wire, posted)

            await self._writer.amend(pod, assign, dry_run=query.get("dryRun") == "All")
        else:
            check_budgets(self.store, self._reader.get(pod).value, target.namespace)
            await self._writer.delete(pod, delete_options(posted.get("deleteOptions") or {}, query))
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
            wire = unpack(type_, self._reader.get(entire).value)
            check_scaled(type_, wire)
            return _answer(200, write(read_scale(type_, wire), shape), shape)
        by = _writer(request, query)
        if verb == "patch" and _applies(request):
            config, repeated = read_apply(request)

            def make(scale: Wire) -> Wire:
                after = self._owners.applied(SCALE, "scale", config, scale, by, force=is_on(query, "force"))
                _mind_repeated(repeated, validation)
                if type_.custom and after.get("spec") != scale.get("spec"):
                    raise unconvertible(target.name)
                return after

        else:
            stated = _read_scale_body(request, type_, validation) if verb == "update" else None
            if stated is not None:
                check_address(entire, stated)
            patching = None if verb == "update" else self._patching(type_, SCALE, request, validation)

            def make(scale: Wire) -> Wire:
                after = patching.change(scale) if patching else deepcopy(stated or {})
                without_zero(after)
                self._owners.updated(SCALE, "scale", after, scale, by)
                return after

        def rescale(scale: Wire, current: Wire) -> Wire:
            after = make(scale)
            check_address(entire, after)
            check_uid(entire, after, current)
            return after

        written = await self._writer.scale(entire, rescale, dry_run=query.get("dryRun") == "All")
        return _answer(200, write(read_scale(type_, unpack(type_, written.value)), shape), shape)

    def _deleted(self, target: Target, written: Written, view: View, shape: Wanted) -> Answer:
        if not written.gone or target.type.returned_when_deleted:
            return _answer(200, view.one(written.value), shape)
        kind, uid = target.type.kind, unpack(target.type, written.value)["metadata"]["uid"]
        details = StatusDetails(name=target.name, group=kind.group, kind=kind.plural, uid=uid)
        return _answer(200, status_bytes(APIStatus(status="Success", details=details), shape), shape)

    async def _delete_collection(
        self, target: Target, how: Deletion, query: dict[str, str], view: View, shape: Wanted
    ) -> Answer:
        listed = self._reader.list(target, query)
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
        """A definition that was written changes what is served, before anybody hears that it was written.

        One that is being deleted goes with the last of its objects.
        """
        kind = target.type.kind
        current = self.catalog.find(kind.group, kind.version, kind.plural)
        if dry_run:
            return
        if target.type.collection == CRDS:
            await self._definitions.stored(name)
        elif current is not None and current.leaving:
            await self._definitions.stored(current.definition_name)


MADE_UP_NAMES = 7  # are tried, and then one more that must do, as on a real server
# Kinds that are questions about who may do what; the answers come with access control.
REVIEWS = ("authentication.k8s.io", "authorization.k8s.io")
# What is posted about pods, by the subresource that it is posted to, and in which older versions it may be.
POSTED: dict[str, tuple[type[Object], *tuple[str, ...]]] = {
    "binding": (core.Binding,),
    "eviction": (policy.Eviction, "policy/v1beta1"),
}
NOT_SERVED = {
    **dict.fromkeys(("attach", "exec", "log", "portforward", "proxy"), "there is no kubelet behind it"),
    "token": "it has no key to sign with",
}


def _writer(request: Request, query: dict[str, str]) -> str:
    """Who writes: the manager that the request names, or else the program that sent it."""
    if manager := query.get("fieldManager"):
        return manager
    program = header(request, "User-Agent").partition("/")[0]
    printable = "".join(character for character in program if character.isprintable())
    return printable.encode()[:LONGEST_MANAGER].decode(errors="ignore")


def _applies(request: Request) -> bool:
    """Whether a patch is one that is applied."""
    return media_type_of_body(request) == APPLY


def _mind_repeated(repeated: str, validation: FieldValidation) -> None:
    """Refuse what was applied with a key twice, or warn of it; by then it is known that it could be applied."""
    if validation.reason_to_refuse([repeated] if repeated else []):
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: {repeated}")


def open_server(path: Path | None = None) -> APIServer:
    """The API server over the data in `path`, or over memory alone."""
    return APIServer(Store.open(path))


def _wanted(request: Request, verb: str, target: Target) -> Wanted:
    """The representation to answer with. Built-in kinds are behind a router, which looks at media types, too."""
    if not target.type.custom:
        check_route(request, (*OFFERED, *OFFERED_STREAMS) if verb in ("list", "watch") else OFFERED)
    return wanted_stream(request) if verb == "watch" else wanted(request)


def _refused(refusal: Failure, request: Request) -> Answer:
    shape = wanted_for_error(request)
    answer = _answer(refusal.status.code, status_bytes(refusal.status, shape), shape)
    if refusal.status.details and refusal.status.details.retry_after_seconds:
        answer.headers = [("Retry-After", str(refusal.status.details.retry_after_seconds))]
    return answer


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
