"""AdmissionReviews: the request to a webhook, and its response.

A malformed response is a failure of the webhook; the error has the real server's words.
"""

from typing import Any

import msgspec

from windvane.api.json_value import Wire
from windvane.api.status import APIStatus
from windvane.api.wording import quoted
from windvane.cluster.apiserver.admission.matcher import MatchedVersion, as_requested
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.answer import user_info
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.schema.decoder import Unreadable, json_value, type_meta
from windvane.cluster.apiserver.schema.go_decoder import examine

GROUP = "admission.k8s.io"
KNOWN_VERSIONS = ("v1", "v1beta1")
REVIEW = "AdmissionReview"


class UnreadableReview(Exception):
    """The response is no AdmissionReview; the text follows `failed to call webhook: `."""


class InvalidResponse(Exception):
    """The response is invalid; the text follows `received invalid webhook response: `."""


class AdmissionResponse(msgspec.Struct, rename={"patch_type": "patchType", "audit_annotations": "auditAnnotations"}):
    """The `response` of a review."""

    uid: str = ""
    allowed: bool = False
    status: APIStatus | None = None
    patch: bytes = b""
    patch_type: str | None = None
    audit_annotations: dict[str, str] = {}
    warnings: list[str] = []


class AdmissionReview(msgspec.Struct, rename={"api_version": "apiVersion"}):
    """The fields of a review that are read."""

    api_version: str = ""
    kind: str = ""
    response: AdmissionResponse | None = None


def admission_request(
    request: AdmissionRequest, matched: MatchedVersion, new: Wire | None, old: Wire | None, uid: str
) -> Wire:
    """The `request` of a review; `new` and `old` are the objects in the matched version."""
    requested = as_requested(request)
    parts: Wire = {
        "uid": uid,
        "kind": _kind(matched),
        "resource": _resource(matched.type),
        "subResource": request.subresource,
        "requestKind": _kind(requested),
        "requestResource": _resource(request.type),
        "requestSubResource": request.subresource,
        "name": request.name,
        "namespace": request.namespace,
        "operation": request.operation,
    }
    return {
        **{name: value for name, value in parts.items() if value != ""},
        "userInfo": user_info(request.user),
        "object": new,
        "oldObject": old,
        "dryRun": request.dry_run,
        "options": request.options,
    }


def read(body: bytes, version: str) -> AdmissionReview:
    """Decode a review, which should be of that version."""
    try:
        value = json_value(body)
        api_version, kind = type_meta(value)
    except Unreadable as error:
        raise UnreadableReview(str(error)) from error
    value = value or {}
    _check_kind(api_version or f"{GROUP}/{version}", kind or REVIEW, version)
    if problem := examine(AdmissionReview, value, version).problem:
        raise UnreadableReview(problem.replace("APIStatus", "Status"))
    return msgspec.convert({**_without_nulls(value), "apiVersion": api_version, "kind": kind}, AdmissionReview)


def check_response(review: AdmissionReview, version: str, uid: str, *, mutating: bool) -> AdmissionResponse:
    """The response of a review, if it is valid and has the uid of the request."""
    response = review.response
    if response is None:
        raise InvalidResponse("webhook response was absent")
    if version == "v1beta1":  # that version never had these checks
        response.patch_type = "JSONPatch" if mutating and response.patch else None
        response.patch = response.patch if mutating else b""
        return response
    if response.uid != uid:
        raise InvalidResponse(f"expected response.uid={quoted(uid)}, got {quoted(response.uid)}")
    if (review.api_version, review.kind) != (f"{GROUP}/v1", REVIEW):
        group, _, stated = review.api_version.rpartition("/")
        raise InvalidResponse(
            f"expected webhook response of {GROUP}/v1, Kind={REVIEW}, got {group}/{stated}, Kind={review.kind}"
        )
    if not mutating:
        if response.patch:
            raise InvalidResponse("validating webhook may not return response.patch")
        if response.patch_type is not None:
            raise InvalidResponse("validating webhook may not return response.patchType")
    elif response.patch and response.patch_type is None:
        raise InvalidResponse("webhook returned response.patch but not response.patchType")
    elif not response.patch and response.patch_type is not None:
        raise InvalidResponse("webhook returned response.patchType but not response.patch")
    elif response.patch_type == "":
        raise InvalidResponse('webhook returned invalid response.patchType of ""')
    return response


def _check_kind(api_version: str, kind: str, version: str) -> None:
    """Refuse a response of another kind, with Go's conversion error."""
    known = {f"{GROUP}/{each}": each for each in KNOWN_VERSIONS}
    if kind == REVIEW and api_version in known:
        if known[api_version] == version:
            return
        found = f"{known[api_version]}.{REVIEW}"
    elif (api_version, kind) == ("v1", "Status"):
        found = "v1.Status"
    else:
        where = f'for version {quoted(api_version)} in scheme "pkg/runtime/scheme.go:111"'
        raise UnreadableReview(f"no kind {quoted(kind)} is registered {where}")
    raise UnreadableReview(f"converting ({found}) to ({version}.{REVIEW}): unknown conversion")


def _without_nulls(value: Any) -> Any:
    """A value without nulls, which Go takes for absent."""
    if not isinstance(value, dict):
        return value
    return {name: _without_nulls(each) for name, each in value.items() if each is not None}


def _kind(matched: MatchedVersion) -> Wire:
    group, _, version = matched.api_version.rpartition("/")
    return {"group": group, "version": version, "kind": matched.kind}


def _resource(type_: ResourceType) -> Wire:
    return {"group": type_.kind.group, "version": type_.kind.version, "resource": type_.kind.plural}
