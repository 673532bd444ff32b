"""Decodes patch requests and applies them to objects.

The result of a JSON patch or a merge patch is encoded as JSON and decoded again, like any body. A strategic merge patch
works on unstructured values, and its result is converted from them.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from windvane.api import wording
from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.status import StatusDetails
from windvane.client.transport import Request
from windvane.cluster.apiserver.encoding.go_yaml import NotYaml, to_json
from windvane.cluster.apiserver.encoding.media_types import header
from windvane.cluster.apiserver.encoding.strict_json import NotJson, decode, decode_exactly, duplicates, repeats
from windvane.cluster.apiserver.failure import Failure, bad_request, failure, invalid, unsupported_media_type
from windvane.cluster.apiserver.patch import json_patch, merge_patch, strategic_patch
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.request.options import FieldValidation
from windvane.cluster.apiserver.schema.decoder import Unreadable
from windvane.cluster.apiserver.schema.go_decoder import mismatch
from windvane.cluster.apiserver.schema.scheme import class_for
from windvane.cluster.apiserver.schema.unstructured_converter import UnstructuredError, from_unstructured

Change = Callable[[Wire], Wire]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
NOTHING = Kind(group="", version="", name="", plural="")


def patch_type(request: Request, of: ResourceType) -> str:
    """The type of a patch by its Content-Type; 415 if it can't be applied to such objects."""
    stated = header(request, "Content-Type").partition(";")[0].strip()
    known = [JSON_PATCH, MERGE_PATCH, *([STRATEGIC_PATCH] if of.strategy.allow_strategic_merge_patch else [])]
    if stated in known:
        return stated
    if not of.strategy.is_routed:
        raise unsupported_media_type([*known, APPLY])
    raise failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", StatusDetails())


def read_apply(request: Request) -> tuple[Wire, str]:
    """The apply configuration of a request, which is YAML or JSON, and a complaint about duplicate keys."""
    try:
        config = to_json(request.body or b"")
    except NotYaml as error:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {error}") from error
    value = decode(config.body)
    if not isinstance(value, dict | None):
        what = mismatch(value, "value", "map[string]interface {}")
        raise bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {what}")
    return value or {}, config.repeated


class Patcher:
    """One patch of objects of one type."""

    def __init__(self, type_: ResourceType, patch_type: str, patch: bytes, validation: FieldValidation) -> None:
        self._type = type_
        self._patch_type = patch_type
        self._patch = patch
        self._validation = validation

    def change(self, wire: Wire) -> Wire:
        """The object after the patch."""
        if self._patch_type == STRATEGIC_PATCH:
            return self._strategic(wire)
        return self._plain(wire)

    def _plain(self, wire: Wire) -> Wire:
        patched: Any
        if self._patch_type == JSON_PATCH:
            patch, exactly = self._read("error decoding patch: ", otherwise="")
            complaints = [] if self._validation.ignores else json_patch.check(exactly)
            patched = json_patch.apply(wire, patch)
        else:
            patch, exactly = self._read("error decoding patch: ", otherwise="Invalid JSON Patch")
            complaints = [] if self._validation.ignores else merge_patch.check(exactly)
            patched = merge_patch.apply(wire, patch)
        body = msgspec.json.encode(patched, order="sorted")
        try:
            decoded = self._type.strategy.read_body(body, body)
        except Unreadable as problem:
            raise _invalid(body.decode(), str(problem)) from problem
        self._check([*complaints, *decoded.complaints], body.decode())
        return decoded.wire

    def _strategic(self, wire: Wire) -> Wire:
        kind = self._type.kind
        patch, exactly = self._read("", otherwise="")
        merged = strategic_patch.apply(wire, patch, self._type.schema)
        shown = strategic_patch.printed(patch or {})
        try:
            restored, unknown = from_unstructured(
                class_for(kind.group, kind.api_version, kind.name), merged, kind.version
            )
        except UnstructuredError as problem:
            raise _invalid(shown, str(problem)) from problem
        self._check([*duplicates(exactly), *unknown], shown)
        return restored | {"apiVersion": kind.api_version, "kind": kind.name}

    def _read(self, doing: str, otherwise: str) -> tuple[Any, Any]:
        """The patch, and again with its duplicate fields.

        The error for invalid JSON begins with `doing`; if fieldValidation is Ignore, it is `otherwise`.
        """
        try:
            value = decode(self._patch)
        except NotJson as error:
            if self._validation.ignores:
                raise bad_request(otherwise or str(error)) from error
            raise bad_request(f"{doing}{error}") from error
        return value, decode_exactly(self._patch) if repeats(self._patch, value) else value

    def _check(self, complaints: list[str], shown: str) -> None:
        if reason := self._validation.reason_to_refuse(complaints):
            raise _invalid(shown, reason)


def _invalid(shown: str, why: str) -> Failure:
    """The refusal of a patched object. It names no object: a patch may have changed the name."""
    return invalid(NOTHING, "", [wording.invalid("patch", shown, why)])


def check_repeated(repeated: str, validation: FieldValidation) -> None:
    """Refuse duplicate keys in an apply configuration, or warn about them, once it is otherwise valid."""
    if validation.reason_to_refuse([repeated] if repeated else []):
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: {repeated}")
