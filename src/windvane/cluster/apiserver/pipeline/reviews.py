"""TokenReview, SubjectAccessReview and their kin: objects that are answered, and never stored."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from windvane import ambient
from windvane.api import wording
from windvane.api.field_selector import FieldSelector
from windvane.api.json_value import Wire
from windvane.api.meta import ManagedFieldsEntry, ObjectMeta
from windvane.api.selector import Selector
from windvane.api.status import StatusCause, StatusDetails
from windvane.api.time import format_time
from windvane.cluster.apiserver.answer import User, user_info
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.authorization.rbac import PolicyRule
from windvane.cluster.apiserver.failure import bad_request, failure
from windvane.cluster.apiserver.schema.shapes import fields_of

AUTHORIZATION = "authorization.k8s.io"


class TokenReviewer(Protocol):
    """Reviews bearer tokens."""

    def review(self, token: str, audiences: Sequence[str]) -> Wire:
        """The `status` of a TokenReview."""
        ...


class Reviews:
    """Answers reviews."""

    def __init__(self, authorizer: Authorizer, tokens: TokenReviewer) -> None:
        self._authorizer = authorizer
        self._tokens = tokens

    def check(self, kind: str, wire: Wire) -> None:
        """Refuse a review that is incomplete or invalid."""
        spec = wire.get("spec") or {}
        match kind:
            case "SelfSubjectReview":
                pass
            case "TokenReview":
                if not spec.get("token"):
                    raise bad_request("token is required for TokenReview in authentication")
            case "SelfSubjectRulesReview":
                if not spec.get("namespace"):
                    raise bad_request("no namespace on request")
            case "SelfSubjectAccessReview":
                _refuse([*_spec_problems(spec), *_metadata_problems(wire, "must be empty")])
            case "LocalSubjectAccessReview":
                _refuse([*_spec_problems(spec), *_subject_problems(spec), *_local_problems(wire, spec)])
            case _:
                problems = [*_spec_problems(spec), *_subject_problems(spec)]
                _refuse([*problems, *_metadata_problems(wire, "must be empty")])

    def answer(self, kind: str, wire: Wire, user: User) -> Wire:
        """A checked review with its status."""
        spec = wire.get("spec") or {}
        match kind:
            case "SelfSubjectReview":
                metadata = {"creationTimestamp": format_time(ambient.now())}
                return {**_head(wire), "metadata": metadata, "status": {"userInfo": user_info(user)}}
            case "TokenReview":
                return {**wire, "status": self._tokens.review(spec["token"], spec.get("audiences") or ())}
            case "SelfSubjectRulesReview":
                status = self._rules(user, spec["namespace"])
                return {**_head(wire), "metadata": {}, "spec": {}, "status": status}
            case "SelfSubjectAccessReview":
                return {**wire, "status": self._status(spec, user)}
        return {**wire, "status": self._status(spec, subject_of(spec))}

    def _status(self, spec: Mapping[str, Any], user: User) -> Wire:
        decision = self._authorizer.decide(attributes_from(spec, user))
        status: Wire = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        if problem := _selector_problems(spec.get("resourceAttributes") or {}):
            status["evaluationError"] = problem
        return status

    def _rules(self, user: User, namespace: str) -> Wire:
        rules, problem = self._authorizer.rules_of(user, namespace)
        status: Wire = {
            "resourceRules": [_plain(rule) for rule in rules if rule.resources],
            "nonResourceRules": [_plain(PolicyRule(rule.verbs, urls=rule.urls)) for rule in rules if rule.urls],
            "incomplete": False,
        }
        if problem:
            status["evaluationError"] = problem
        return status


def subject_of(spec: Mapping[str, Any]) -> User:
    """The user of a SubjectAccessReview."""
    extra = tuple((key, tuple(values)) for key, values in (spec.get("extra") or {}).items())
    return User(spec.get("user") or "", tuple(spec.get("groups") or ()), spec.get("uid") or "", extra)


def attributes_from(spec: Mapping[str, Any], user: User) -> Attributes:
    """The attributes of an access review."""
    if (other := spec.get("nonResourceAttributes")) is not None and spec.get("resourceAttributes") is None:
        return Attributes(user, other.get("verb", ""), other.get("path", ""))
    attributes = spec["resourceAttributes"]
    names = ("group", "version", "resource", "subresource", "namespace", "name")
    return Attributes(user, attributes.get("verb", ""), **{name: attributes.get(name) or "" for name in names})


def _head(wire: Wire) -> Wire:
    return {"kind": wire["kind"], "apiVersion": wire["apiVersion"]}


def _plain(rule: PolicyRule) -> Wire:
    return {key: list(values) for key, values in msgspec.to_builtins(rule).items() if values}


def _refuse(causes: Sequence[StatusCause]) -> None:
    if not causes:
        return
    problems = [f"{cause.field}: {cause.message}" for cause in causes]
    listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    # The real server leaves the kind out here, too.
    details = StatusDetails(group=AUTHORIZATION, causes=list(causes))
    raise failure(422, "Invalid", f'.{AUTHORIZATION} "" is invalid: {listed}', details)


def _spec_problems(spec: Mapping[str, Any]) -> list[StatusCause]:
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    found = []
    if resource is not None and other is not None:
        why = "cannot be specified in combination with resourceAttributes"
        found.append(wording.invalid("spec.nonResourceAttributes", _shown(other), why))
    if resource is None and other is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        found.append(wording.invalid("spec.resourceAttributes", None, why))
    for name in ("fieldSelector", "labelSelector"):
        if (selector := (resource or {}).get(name)) is not None:
            found += _selector_shape_problems(selector, f"spec.resourceAttributes.{name}")
    return found


def _selector_shape_problems(selector: Mapping[str, Any], path: str) -> list[StatusCause]:
    raw, requirements = selector.get("rawSelector"), selector.get("requirements")
    if raw and requirements:
        return [wording.invalid(f"{path}.rawSelector", raw, "may not specified at the same time as requirements")]
    if not raw and not requirements:
        why = f"when {path} is specified, requirements or rawSelector is required"
        return [wording.required(f"{path}.requirements", why)]
    return []


def _subject_problems(spec: Mapping[str, Any]) -> list[StatusCause]:
    if spec.get("user") or spec.get("groups"):
        return []
    return [wording.invalid("spec.user", "", "at least one of user or group must be specified")]


def _metadata_problems(wire: Wire, why: str, *allowed: str) -> list[StatusCause]:
    metadata: Wire = wire["metadata"]
    if not set(metadata) - {"managedFields", *allowed}:
        return []
    shown = dict(metadata)
    if managers := metadata.get("managedFields"):
        shown["managedFields"] = [_ordered(ManagedFieldsEntry, each) for each in managers]
    return [wording.invalid("metadata", _ordered(ObjectMeta, shown), why)]


def _ordered(struct: type[msgspec.Struct], wire: Wire) -> wording.Record:
    """A struct as Go prints it, with the fields in Go's order."""
    return wording.Record({name: wire[name] for name in fields_of(struct) if name in wire})


def _local_problems(wire: Wire, spec: Mapping[str, Any]) -> list[StatusCause]:
    namespace = wire["metadata"]["namespace"]
    found = _metadata_problems(wire, "must be empty except for namespace", "namespace")
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and (resource.get("namespace") or "") != namespace:
        place = "spec.resourceAttributes.namespace"
        found.append(wording.invalid(place, resource.get("namespace") or "", "must match metadata.namespace"))
    if other is not None:
        found.append(wording.invalid("spec.nonResourceAttributes", _shown(other), "disallowed on this kind of request"))
    return found


def _shown(other: Mapping[str, Any]) -> wording.Record:
    return wording.Record({"Path": other.get("path", ""), "Verb": other.get("verb", "")})


def _selector_problems(attributes: Mapping[str, Any]) -> str:
    """Selectors in a review must be valid, though RBAC ignores them."""
    found = []
    for name, kind in (("fieldSelector", FieldSelector), ("labelSelector", Selector)):
        raw = (attributes.get(name) or {}).get("rawSelector")
        try:
            kind.parse(raw or "")
        except ValueError:
            found.append(f"spec.resourceAttributes.{name} ignored due to parse error")
    return "; ".join(found)
