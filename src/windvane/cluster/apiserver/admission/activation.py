"""The CEL variables of policies and matchConditions: `object`, `oldObject`, `request` and so on."""

from collections.abc import Callable

from windvane.api.cel.library.authorization import Authorizer as AuthorizerValue
from windvane.api.cel.library.authorization import Decision, Question, ResourceCheck
from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.conversion import converted
from windvane.cluster.apiserver.admission.matcher import MatchedVersion, as_requested
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.answer import User, user_info
from windvane.cluster.apiserver.authentication.service_account import account_name
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.expressions import Activation
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.request.worker_pool import on_event_loop


async def activation(
    request: AdmissionRequest, matched: MatchedVersion, authorizer: Authorizer, *, namespace: Wire | None = None
) -> Activation:
    """The variables for a request, with objects in the version that the rules matched."""
    decide = _decide_on_the_loop(request, authorizer)
    return Activation(
        object=await _in_matched_version(request, request.object, matched),
        old=await _in_matched_version(request, request.old, matched),
        request=_request(request, matched),
        namespace=_namespace(namespace),
        authorizer=AuthorizerValue(decide),
        request_resource=ResourceCheck(
            decide,
            Question(
                group=request.type.kind.group,
                resource=request.type.kind.plural,
                subresource=request.subresource,
                namespace=request.namespace,
                name=request.name,
            ),
        ),
    )


async def _in_matched_version(request: AdmissionRequest, wire: Wire | None, matched: MatchedVersion) -> Wire | None:
    """An object in the matched version, unless it is of a subresource's own kind."""
    if wire is None or wire.get("kind", matched.kind) != request.type.kind.name:
        return wire
    return await converted(request.type, wire, matched.type)


def _request(request: AdmissionRequest, matched: MatchedVersion) -> Wire:
    wire: Wire = {
        "kind": _group_version_kind(matched),
        "resource": _group_version_resource(matched.type),
        "subResource": request.subresource,
        "requestKind": _group_version_kind(as_requested(request)),
        "requestResource": _group_version_resource(request.type),
        "requestSubResource": request.subresource,
        "name": request.name,
        "namespace": request.namespace,
    }
    return {
        **{name: value for name, value in wire.items() if value},
        "operation": request.operation,
        "userInfo": user_info(request.user),
        "dryRun": request.dry_run,
        "options": request.options,
    }


def _group_version_kind(matched: MatchedVersion) -> Wire:
    group, _, version = matched.api_version.rpartition("/")
    return {"group": group, "version": version, "kind": matched.kind}


def _group_version_resource(type_: ResourceType) -> Wire:
    return {"group": type_.kind.group, "version": type_.kind.version, "resource": type_.kind.plural}


_NAMESPACE_METADATA = (
    "name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers",
)  # fmt: skip


def _namespace(wire: Wire | None) -> Wire | None:
    if wire is None:
        return None
    metadata = {name: value for name, value in wire["metadata"].items() if name in _NAMESPACE_METADATA}
    return {"metadata": metadata, "spec": wire.get("spec") or {}, "status": wire.get("status") or {}}


def _decide_on_the_loop(request: AdmissionRequest, authorizer: Authorizer) -> Callable[[Question], Decision]:
    def ask(question: Question) -> Decision:
        user = request.user if question.account is None else _service_account(*question.account)
        attributes = Attributes(
            user,
            question.verb,
            question.path,
            question.group,
            "*" if question.path is None else "",
            question.resource,
            question.subresource,
            question.namespace,
            question.name,
        )
        decision = authorizer.decide(attributes)
        return Decision(decision.allowed, decision.reason)

    return on_event_loop(ask)


def _service_account(namespace: str, name: str) -> User:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    return User(account_name(namespace, name), groups)
