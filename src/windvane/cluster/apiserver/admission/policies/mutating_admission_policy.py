"""The admission plugin MutatingAdmissionPolicy: policies change an object one by one; some are reinvoked."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from windvane.api.json_value import Wire, identical_json, json_copy
from windvane.api.status import StatusCause
from windvane.api.wording import quoted
from windvane.cluster.apiserver.admission.conversion import converted
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.policies.dispatcher import (
    Invocation,
    Misconfigured,
    PolicyDispatcher,
    name_of,
)
from windvane.cluster.apiserver.admission.policies.params import ConvertStored
from windvane.cluster.apiserver.admission.policies.policy_source import BoundPolicies
from windvane.cluster.apiserver.admission.reinvocation import Reinvocation
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.webhooks.errors import internal_error
from windvane.cluster.apiserver.admission.webhooks.patch import check_object
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.failure import Failure, forbidden
from windvane.cluster.apiserver.managedfields.shape import Shape, shape_of
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.request.worker_pool import run_costly
from windvane.cluster.apiserver.schema.go_decoder import examine, mismatch
from windvane.cluster.apiserver.schema.scheme import OpaqueKind, class_for
from windvane.cluster.apiserver.storage.store import Store

if TYPE_CHECKING:
    from windvane.cluster.apiserver.admission.policies.mutating_evaluator import MutatingPolicy

_Key = tuple[str, str, str, str]
"""A policy, a binding, and the namespace and name of the params."""


class _Problem(Exception):
    """Why a policy refuses a request."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


def _compiled(spec: Wire) -> "MutatingPolicy":
    # The CEL engine takes long to import, and most servers never see a policy.
    from windvane.cluster.apiserver.admission.policies.mutating_evaluator import MutatingPolicy

    return MutatingPolicy(spec)


class MutatingAdmissionPolicy(AdmissionPlugin):
    """Evaluates all policies with bindings."""

    name = "MutatingAdmissionPolicy"

    def __init__(self, store: Store, catalog: Catalog, authorizer: Authorizer, convert: ConvertStored) -> None:
        policies = BoundPolicies(store, "mutatingadmissionpolicies", _compiled)
        self._dispatcher = PolicyDispatcher(policies, store, catalog, convert)
        self._authorizer = authorizer
        self._shapes: dict[ResourceType, Shape] = {}

    def handles(self, request: AdmissionRequest) -> bool:
        return self._dispatcher.any(request)

    async def mutate(self, request: AdmissionRequest) -> None:
        """Apply the policies; raises a `Failure` if one fails whose `failurePolicy` is Fail."""
        reinvocation: Reinvocation[_Key] = request.kept.setdefault(self.name, Reinvocation())
        if request.again and not identical_json(reinvocation.last, request.object):
            reinvocation.changed()
        problems: list[_Problem] = []
        found = [each async for each in self._dispatcher.about(request)]
        # Misconfigured policies are reported first.
        for each in sorted(found, key=lambda each: isinstance(each, Invocation)):
            if isinstance(each, Misconfigured):
                told = [_misconfigured(each)]
            else:
                told = [
                    problem
                    for params in each.params
                    for problem in await self._ask(request, each, params, reinvocation)
                ]
            if not each.policy.ignores_errors:
                problems += told
        reinvocation.last = request.object
        if problems:
            raise _refusal(request, problems)

    async def _ask(
        self,
        request: AdmissionRequest,
        invocation: "Invocation[MutatingPolicy]",
        params: Wire | None,
        reinvocation: Reinvocation[_Key],
    ) -> list[_Problem]:
        """Apply one policy with one of its params."""
        from windvane.cluster.apiserver.admission.activation import activation
        from windvane.cluster.apiserver.admission.policies.mutating_evaluator import PatchError
        from windvane.cluster.apiserver.expressions import ConditionError

        problems: list[_Problem] = []
        namespace = self._dispatcher.namespace(request)
        given = replace(
            await activation(request, invocation.matched, self._authorizer, namespace=namespace), params=params
        )
        policy_name = f"policy '{invocation.policy.name}' with binding '{invocation.binding.name}'"
        try:
            policy = await run_costly(invocation.policy.compiled, invocation.policy.spec)
            if not await run_costly(partial(policy.conditions.met, given), given.object, given.old, params):
                return []
        except ConditionError as error:
            return [_Problem(f"{policy_name} denied request: {error}", "Invalid")]
        named = (params or {}).get("metadata") or {}
        key = invocation.policy.name, invocation.binding.name, named.get("namespace", ""), named.get("name", "")
        if request.again and key not in reinvocation.again:
            return []
        before = request.object
        for mutate in policy.mutations if before is not None else ():
            try:
                shape = self._shape(invocation.matched.type, request)
                wire = json_copy(await run_costly(partial(mutate, given, shape), given.object, given.old, params))
            except PatchError as error:
                problems.append(_Problem(f"{policy_name} denied request: {error}", "Invalid"))
                continue
            wire = self._decoded(invocation.matched.type, wire, request)
            given = replace(given, object=wire)
            request.object = await converted(invocation.matched.type, wire, request.type)
            request.changed = True
        if not identical_json(before, request.object):
            reinvocation.changed()
        if policy.may_be_asked_again:
            reinvocation.seen.add(key)
            if request.changed:
                reinvocation.changed()  # in the real server a policy is reinvoked even for its own change
        return problems

    def _shape(self, type_: ResourceType, request: AdmissionRequest) -> Shape | None:
        """The shape for merges; None for the kinds of subresources, such as a Scale."""
        if request.object is not None and request.object.get("kind") != request.type.kind.name:
            return None
        if (shape := self._shapes.get(type_)) is None:
            shape = self._shapes[type_] = shape_of(type_.schema, builtin=not type_.strategy.is_unstructured)
        return shape

    def _decoded(self, type_: ResourceType, changed: Any, request: AdmissionRequest) -> Wire:
        """Decode the result of a policy; a `Failure` if it is no object of the kind any more."""
        before = request.object or {}
        whole = before.get("kind") == request.type.kind.name
        stated = (type_.kind.api_version, type_.kind.name) if whole else (before["apiVersion"], before["kind"])
        wire = _read(type_, changed, stated)
        if whole:
            owners = wire["metadata"].pop("managedFields", None)
            type_.strategy.decode(wire)
            if owners is not None:
                wire["metadata"]["managedFields"] = owners
        return wire


def _read(type_: ResourceType, changed: Any, stated: tuple[str, str]) -> Wire:
    if not isinstance(changed, dict):
        into = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
        raise internal_error(f"couldn't get version/kind; json parse error: {mismatch(changed, 'value', into)}")
    try:
        wire = check_object(type_, changed, stated)
    except Failure as error:
        if error.status.reason:
            raise
        raise internal_error(f"failed to convert object: {error}") from error  # it is of another kind
    if not type_.strategy.is_unstructured:
        class_ = class_for(type_.kind.group, wire["apiVersion"], wire["kind"])
        unknown = examine(class_, wire, wire["apiVersion"].rpartition("/")[2]).complaints
        if unknown and class_ is not OpaqueKind:
            raise internal_error(f"strict decoding error: {', '.join(unknown)}")
    return wire


def _misconfigured(found: "Misconfigured[MutatingPolicy]") -> _Problem:
    name = found.policy.name
    policy_name = quoted(name) if found.binding is None else f"'{name}' with binding '{found.binding.name}'"
    return _Problem(f"policy {policy_name} denied request: {found.message}")


def _refusal(request: AdmissionRequest, problems: list[_Problem]) -> Failure:
    refusal = forbidden(request.type.kind, name_of(request), "")
    status = refusal.status
    status.message = str(problems[0])
    status.reason = problems[0].reason or status.reason
    if status.details is not None:
        status.details.causes = [StatusCause(message=str(each)) for each in problems]
    return refusal
