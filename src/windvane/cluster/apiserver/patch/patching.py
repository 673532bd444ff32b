"""Patches: from a request's body to a function that changes an object."""

from collections.abc import Callable
from typing import Any

from windvane.api.status import StatusDetails
from windvane.client.transport import Request
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.failure import bad_request, failure, unsupported_media_type
from windvane.cluster.apiserver.patch import json_patch, merge_patch, strategic_patch
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.wire.body import check_kind
from windvane.cluster.apiserver.wire.go_json import go_json_problem
from windvane.cluster.apiserver.wire.negotiate import media_type_of_body
from windvane.cluster.apiserver.wire.strict_json import NotJson, decode

Wire = dict[str, Any]
Change = Callable[[Wire], Wire]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


def patch_of(type_: ResourceType, request: Request, how: str) -> Change:
    """What the patch in a request does to an object of that type; `how` is its fieldValidation."""
    known = (JSON_PATCH, MERGE_PATCH) if type_.custom else (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)
    media_type = media_type_of_body(request)
    if media_type not in known:
        if type_.custom:
            raise unsupported_media_type([*known, APPLY])
        raise failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", StatusDetails())
    patch = _read(request, "" if media_type == STRATEGIC_PATCH else "error decoding patch: ")
    if how != "Ignore" and media_type == JSON_PATCH:
        json_patch.check(patch)
    elif how != "Ignore" and media_type == MERGE_PATCH:
        merge_patch.check(patch)

    def change(wire: Wire) -> Wire:
        patched: Any
        if media_type == STRATEGIC_PATCH:
            patched = strategic_patch.apply(wire, patch, type_.schema)
        else:
            patched = _plain(media_type, wire, patch)
        if not isinstance(patched, dict) or not isinstance(patched.get("metadata"), dict):
            raise bad_request("the patch leaves nothing that is an object with metadata")
        check_kind(type_, patched)
        return patched

    return change


def plain_patch_of(request: Request) -> Change:
    """What the patch in a request does to something that has no schema to merge by."""
    media_type = media_type_of_body(request)
    if media_type not in (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH):
        raise unsupported_media_type([JSON_PATCH, MERGE_PATCH])
    patch = _read(request, "error decoding patch: ")
    return lambda wire: _plain(MERGE_PATCH if media_type == STRATEGIC_PATCH else media_type, wire, patch)


def strictness(type_: ResourceType, how: str, change: Change, warnings: list[str], rules: Rules) -> Change:
    """The same change, with unknown fields refused or noted as `fieldValidation` says."""
    if how == "Ignore":
        return change

    def checked(wire: Wire) -> Wire:
        patched = change(wire)
        problems = rules.unknown_fields(type_, patched)
        if problems and how == "Strict":
            kind = type_.kind
            head = f'{kind.name} in version "{kind.version}" cannot be handled as a {kind.name}'
            raise bad_request(f"{head}: strict decoding error: {', '.join(problems)}")
        warnings[:] = problems
        return patched

    return checked


def _plain(media_type: str, wire: Wire, patch: Any) -> Any:
    return json_patch.apply(wire, patch) if media_type == JSON_PATCH else merge_patch.apply(wire, patch)


def _read(request: Request, doing: str) -> Any:
    try:
        return decode(request.body or b"")
    except NotJson as error:
        raise bad_request(f"{doing}{go_json_problem(request.body or b'')}") from error
