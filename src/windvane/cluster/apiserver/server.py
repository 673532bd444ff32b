"""The API server: takes a request, finds out what it is about, and has it done.

It knows no sockets. `http` carries requests to `APIServer.handle` over HTTPS, `inprocess` by a function call.
"""

import asyncio
import logging
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from windvane import ambient
from windvane.api.field_selector import FieldSelector
from windvane.api.resource import Object, kind_of
from windvane.api.status import APIStatus, StatusDetails
from windvane.client.transport import Request
from windvane.cluster.apiserver import health
from windvane.cluster.apiserver.about import About
from windvane.cluster.apiserver.access import audit
from windvane.cluster.apiserver.access.accounts import CONFIGURATION_PATH, JWKS_PATH, AccountTokens
from windvane.cluster.apiserver.access.attributes import Attributes, attributes_of
from windvane.cluster.apiserver.access.authorizer import refusal
from windvane.cluster.apiserver.access.bootstrap_policy import bootstrap_policy, settle_aggregated
from windvane.cluster.apiserver.access.gate import Gate
from windvane.cluster.apiserver.access.jwt import SigningKey
from windvane.cluster.apiserver.access.policy import CLUSTER_ROLES
from windvane.cluster.apiserver.access.signing import stamp
from windvane.cluster.apiserver.access.tokens import BearerTokens
from windvane.cluster.apiserver.answer import Answer, User, page_not_found
from windvane.cluster.apiserver.bootstrap import bootstrap
from windvane.cluster.apiserver.builtin.types import builtin_types
from windvane.cluster.apiserver.catalog import Catalog, ResourceType
from windvane.cluster.apiserver.crd.crds import CRDS, Definitions
from windvane.cluster.apiserver.deadline import LONGEST, Deadlines, time_limit
from windvane.cluster.apiserver.deletion import Deletion, deletion_warnings
from windvane.cluster.apiserver.failure import Failure, bad_request, failure, method_not_allowed, no_such_path
from windvane.cluster.apiserver.metadata import check_placement
from windvane.cluster.apiserver.metrics import Metrics
from windvane.cluster.apiserver.options import LONGEST_MANAGER, check_options, is_on, read_query
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
    wanted_for_error,
    wanted_stream,
    wanted_without_columns,
    write,
)
from windvane.cluster.apiserver.wire.accept import wanted as wanted_shape
from windvane.cluster.apiserver.wire.body import delete_options, read_body, read_builtin, read_delete_options
from windvane.cluster.apiserver.wire.field_validation import FieldValidation
from windvane.cluster.apiserver.wire.negotiate import PROTOBUF, header, media_type_of_body
from windvane.cluster.apiserver.wire.representation import View, status_bytes
from windvane.cluster.apiserver.wire.stored import unpack
from windvane.cluster.apiserver.writing import Guard, Writer, Written, check_address, check_preconditions, check_uid
from windvane.k8s import authentication, core, policy

log = logging.getLogger(__name__)

Wire = dict[str, Any]


class APIServer:
    """The whole API over one store."""

    def __init__(
        self,
        store: Store,
        tokens: Mapping[str, User] | None = None,
        key: SigningKey | None = None,
        *,
        require_accounts: bool = False,
        audit_log: audit.AuditLog | None = None,
    ) -> None:
        """`tokens` are bearer tokens and whose they are; with `key`, tokens of ServiceAccounts are signed.

        With `require_accounts`, a pod whose ServiceAccount is missing is refused; see `access.pod_accounts`. With an
        `audit_log`, what is asked is recorded there.
        """
        self._audit = audit_log
        self.store = store
        accounts = AccountTokens(store, key or SigningKey.new())
        self.tokens = BearerTokens(tokens or {}, accounts)
        self.catalog = Catalog()
        self.catalog.add(builtin_types())
        self._reader = Reader(store)
        self._rules = Rules(store, require_accounts=require_accounts)
        self._owners = Owners(self.catalog)
        self._writer = Writer(store, self._rules, self._owners)
        self._definitions = Definitions(store, self.catalog, self._writer, self._owners)
        self._definitions.load()
        self._metrics = Metrics(store)
        self._gate = Gate(store, self.tokens, accounts)
        self._deadlines = Deadlines()
        self._forgetting: asyncio.Task[None] | None = None
        self._about = About(self.catalog, self._metrics, self._checks())

    async def start(self) -> None:
        """Make sure that what every cluster has is there."""
        await self._definitions.resume()
        await bootstrap(self.store, self.catalog, self._writer)
        await bootstrap_policy(self.store, self.catalog, self._writer)
        self._forgetting = asyncio.create_task(forget_with_time(self.store))

    async def close(self) -> None:
        """Make everything durable and stop. Watches end."""
        if self._forgetting is not None:
            self._forgetting.cancel()
            await asyncio.gather(self._forgetting, return_exceptions=True)
        await self.store.close()
        if self._audit is not None:
            self._audit.close()
            self._audit = None

    async def handle(self, request: Request, user: User) -> Answer:
        """Answer any request; see `answer.Handler`."""
        wanted = attributes_of(request, user)
        id_ = header(request, audit.ID) or ambient.uid()
        record = None
        if self._audit is not None:
            record = audit.Record(self._audit, request, wanted, user.address, id_)
            record.write("RequestReceived")
        answer = await self._answered(request, wanted, record)
        answer.headers = [*answer.headers, (audit.ID, id_)]
        if record is not None:
            record.answered(answer)
        return answer

    async def _answered(self, request: Request, wanted: Attributes, record: audit.Record | None) -> Answer:
        warnings: list[str] = []
        try:
            seconds = LONGEST if wanted.verb == "watch" else time_limit(read_query(request.query))
            dispatched = self._dispatch(request, self._admitted(request, wanted, record), warnings)
            # A read waits for nothing and nobody, and a watch for as long as somebody reads.
            answer = await (self._deadlines.within(seconds, dispatched) if request.method in CHANGING else dispatched)
        except Failure as refused:
            warnings += refused.warnings
            answer = _refused(refused, request)
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

    async def _dispatch(self, request: Request, wanted: Attributes, warnings: list[str]) -> Answer:
        """Answer a request; `warnings` are added to what is answered, also to a refusal."""
        if (document := self._about.answer(request)) is not None:
            return document
        if request.path.rstrip("/") in (CONFIGURATION_PATH, JWKS_PATH):
            return self._about_tokens(request)
        query = read_query(request.query)
        target = find_target(request.path, self.catalog)
        verb = verb_of(request.method, target, query) if target else ""
        if target is None or leads_nowhere(verb, target):
            return page_not_found()
        check_verb(request.method, verb, target)
        _check_same(wanted, target, verb)
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
            answer = await self._carry_out(verb, target, request, query, shape, validation, warnings, wanted)
            code = answer.code
        except Failure as refused:
            code = refused.status.code
            raise
        finally:
            self._metrics.count(counted, code, ambient.monotonic() - began)
        return answer

    def _admitted(self, request: Request, wanted: Attributes, record: audit.Record | None) -> Attributes:
        """What is asked for, and by whom, once it is allowed; a `Failure` 403 if it is not.

        This comes before all else: whether there is such a kind, or such an object, is not for everybody to know.
        """
        if (became := self._gate.impersonation.user(request.headers, wanted)) is not None:
            wanted = replace(wanted, user=became[0])
            if record is not None:
                record.impersonated, record.constraint = became
        decision = self._gate.authorizer.decide(wanted)
        if record is not None:
            record.decision = decision
        if not decision.allowed:
            raise refusal(wanted, decision.reason)
        return wanted

    def _about_tokens(self, request: Request) -> Answer:
        """What others need to check tokens of ServiceAccounts themselves."""
        if request.method != "GET":
            raise method_not_allowed()
        if request.path.rstrip("/") == JWKS_PATH:
            return Answer(200, msgspec.json.encode(self._gate.accounts.keys()), "application/jwk-set+json")
        address = f"https://{header(request, 'Host') or 'kubernetes.default.svc'}"
        return Answer(200, msgspec.json.encode(self._gate.accounts.configuration(address)))

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
        wanted: Attributes,
    ) -> Answer:
        view = View(target.type, shape, self._rules, query.get("includeObject", ""))
        dry_run = query.get("dryRun") == "All"
        if target.subresource in ON_NODES:
            return self._of_node(target)
        if target.subresource == "scale":
            return await self._scale(verb, target, request, query, shape, validation)
        if target.subresource in POSTED:
            kind, *older = POSTED[target.subresource]
            posted = read_builtin(request, kind_of(kind), validation, *older)
            self._writer.check_namespace(target, target.name)
            if target.subresource == "token":
                issued = self._gate.accounts.issue(target.namespace, target.name, posted)
                return _answer(201, write(issued, shape), shape)
            return await self._posted_about_pod(target, posted, query, shape)
        guard = self._gate.guard(wanted, target)
        match verb:
            case "get":
                return _answer(200, view.one(self._reader.get(target, query).value), shape)
            case "list":
                return _answer(200, view.many(self._reader.list(target, query)), shape)
            case "watch":
                content = f"{PROTOBUF};stream=watch" if shape.media_type == PROTOBUF else "application/json"
                return Answer(content_type=content, stream=view.stream(self._reader.watch(target, query)))
            case "create" if target.type.kind.group in REVIEWS:
                wire = read_body(request, target.type, self._rules, validation)
                check_placement(target.type, wire, target.namespace)
                review = self._gate.reviews.answer(target.type.kind.name, wire, wanted.user)
                return _answer(201, write(review, shape), shape)
            case "create" if target.type.kind.resource == "bindings":
                binding = read_body(request, target.type, self._rules, validation)
                pods = self.catalog.types["", "v1", "pods"]
                pod = Target(pods, target.namespace, (binding.get("metadata") or {}).get("name", ""), "binding")
                return await self._posted_about_pod(pod, binding, query, shape)
            case "create":
                wire = read_body(request, target.type, self._rules, validation)
                stamp(target, wire, wanted.user)
                written = await self._create(target, wire, _writer(request, query), dry_run, guard)
                warnings += written.warnings
                await self._follow_up(target, wire["metadata"]["name"], dry_run)
                return _answer(201, view.one(written.value), shape)
            case "update":
                wire = read_body(request, target.type, self._rules, validation)
                written = await self._writer.update(
                    target, wire, by=_writer(request, query), dry_run=dry_run, guard=guard
                )
                await self._follow_up(target, target.name, dry_run)
                warnings += written.warnings
                return _answer(201 if written.made else 200, view.one(written.value), shape)
            case "patch":
                written = await self._patch(target, request, query, validation, guard)
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

    async def _create(self, target: Target, wire: Wire, by: str, dry_run: bool, guard: Guard) -> Written:
        """Store a new object; under another name, if the one that was made up for it is taken."""
        made_up = not (wire.get("metadata") or {}).get("name")
        for _ in range(MADE_UP_NAMES if made_up else 0):
            try:
                return await self._writer.create(target, wire, by=by, dry_run=dry_run, guard=guard)
            except Failure as refused:
                if refused.status.reason != "AlreadyExists":
                    raise
                wire["metadata"]["name"] = ""
        return await self._writer.create(target, wire, by=by, dry_run=dry_run, guard=guard)

    async def _patch(
        self, target: Target, request: Request, query: dict[str, str], validation: FieldValidation, guard: Guard
    ) -> Written:
        by, dry_run = _writer(request, query), query.get("dryRun") == "All"
        if not _applies(request):
            change = self._patching(target.type, target.type, request, validation).change
            return await self._writer.modify(target, change, by=by, dry_run=dry_run, guard=guard)
        config, repeated = read_apply(request)

        def merge(current: Wire | None) -> Wire:
            force = is_on(query, "force")
            merged = self._owners.applied(target.type, target.subresource, config, current, by, force=force)
            _mind_repeated(repeated, validation)
            return merged

        return await self._writer.apply(target, merge, dry_run=dry_run, guard=guard)

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
        view = View(SCALE, shape, self._rules, query.get("includeObject", ""))
        if verb == "get":
            wire = unpack(type_, self._reader.get(entire).value)
            check_scaled(type_, wire)
            return _answer(200, view.made(read_scale(type_, wire)), shape)
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
        return _answer(200, view.made(read_scale(type_, unpack(type_, written.value))), shape)

    def _of_node(self, target: Target) -> Answer:
        """What a node would have to say about a pod."""
        pod = unpack(target.type, self._reader.get(Target(target.type, target.namespace, target.name)).value)
        if target.type.kind.resource == "pods" and not pod["spec"].get("nodeName"):
            if target.subresource == "log":
                return Answer(204)
            raise bad_request(f"pod {target.name} does not have a host assigned")
        what = f"the embedded API server does not serve {target.subresource} yet: there is no kubelet behind it"
        raise failure(501, "NotImplemented", what)

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
            except Failure as refused:
                if refused.status.code != 404:  # somebody else was faster
                    raise
            await self._follow_up(one, entry.key.name, how.dry_run)
        return _answer(200, view.many(listed), shape)

    async def _follow_up(self, target: Target, name: str, dry_run: bool) -> None:
        """What follows from a write is done before anybody hears of the write.

        A definition changes what is served, and one that is being deleted goes with the last of its objects. A
        ClusterRole may be part of others.
        """
        kind = target.type.kind
        current = self.catalog.find(kind.group, kind.version, kind.plural)
        if dry_run:
            return
        if target.type.collection == CLUSTER_ROLES:
            await settle_aggregated(self.store, self.catalog, self._writer)
        elif target.type.collection == CRDS:
            await self._definitions.stored(name)
        elif current is not None and current.leaving:
            await self._definitions.stored(current.definition_name)


MADE_UP_NAMES = 7  # are tried, and then one more that must do, as on a real server
CHANGING = frozenset({"DELETE", "PATCH", "POST", "PUT"})
# Groups of kinds that are questions about who may do what.
REVIEWS = ("authentication.k8s.io", "authorization.k8s.io")
# What is posted about an object, by the subresource that it is posted to, and in which older versions it may be.
POSTED: dict[str, tuple[type[Object], *tuple[str, ...]]] = {
    "binding": (core.Binding,),
    "eviction": (policy.Eviction, "policy/v1beta1"),
    "token": (authentication.TokenRequest,),
}
# What only the node that a pod runs on could answer.
ON_NODES = frozenset({"attach", "exec", "log", "portforward", "proxy"})


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


def open_server(
    path: Path | None = None,
    *,
    tokens: Mapping[str, User] | None = None,
    key: SigningKey | None = None,
    require_accounts: bool = False,
    audit_log: audit.AuditLog | None = None,
) -> APIServer:
    """The API server over the data in `path`, or over memory alone. For the rest see `APIServer`."""
    return APIServer(Store.open(path), tokens, key, require_accounts=require_accounts, audit_log=audit_log)


def _check_same(wanted: Attributes, target: Target, verb: str) -> None:
    """What is done must be what was allowed: `attributes_of` and `find_target` read the same path in two ways."""
    kind = target.type.kind
    place = target.namespace or (target.name if kind.resource == "namespaces" else "")
    done = (kind.group, kind.version, kind.plural, target.subresource, place)
    allowed = (wanted.group, wanted.version, wanted.resource, wanted.subresource, wanted.namespace)
    named = target.name in ("", wanted.name)
    if done != allowed or not named or verb not in ("", wanted.verb):
        raise no_such_path()


def _wanted(request: Request, verb: str, target: Target) -> Wanted:
    """The representation to answer with. Built-in kinds are behind a router, which looks at media types, too."""
    if not target.type.custom:
        check_route(request, (*OFFERED, *OFFERED_STREAMS) if verb in ("list", "watch") else OFFERED)
    if target.type.kind.group in REVIEWS:
        return wanted_without_columns(request)
    return wanted_stream(request) if verb == "watch" else wanted_shape(request)


def _refused(refused: Failure, request: Request) -> Answer:
    shape = wanted_for_error(request)
    answer = _answer(refused.status.code, status_bytes(refused.status, shape), shape)
    answer.headers = [*refused.headers]
    if refused.status.details and refused.status.details.retry_after_seconds:
        answer.headers = [*answer.headers, ("Retry-After", str(refused.status.details.retry_after_seconds))]
    return answer


def _read_scale_body(request: Request, type_: ResourceType, validation: FieldValidation) -> Wire:
    try:
        return read_builtin(request, SCALE.kind, validation)
    except Failure as refused:
        if type_.custom and refused.status.code == 400:
            # The part of the real server that serves custom kinds can't say what is wrong with any other.
            why = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'
            raise bad_request(why) from refused
        raise


def _answer(code: int, body: bytes, shape: Wanted) -> Answer:
    return Answer(code, body, content_type=shape.media_type)


def _warning(text: str) -> tuple[str, str]:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return "Warning", f'299 - "{quoted}"'
