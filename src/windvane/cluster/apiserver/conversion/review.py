"""ConversionReviews: the request to a conversion webhook, and what of its response is accepted.

A webhook may change everything about an object but its identity: of its metadata, labels and annotations alone.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.validation.object_meta import annotations, labels
from windvane.cluster.apiserver.registry.validation.problems import Problems

GROUP = "apiextensions.k8s.io"
UNDERSTOOD = ("v1", "v1beta1")
KEPT_APART = ("labels", "annotations")
"""What of an object's metadata a webhook may change."""
# What the real server says to JSON that is something else than it should be.
_INTO = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
_SCHEME = 'scheme "pkg/runtime/scheme.go:111"'


class InvalidConversionResponse(Exception):
    """A response that can't be used; the text says why, in the words that follow the name of the kind."""


class InvalidConvertedObject(Exception):
    """A converted object is not an object; the text is the whole message."""


def write_review(objects: Sequence[Wire], api_version: str, uid: str, accepted: Sequence[str]) -> Wire:
    """The request, in the first of the `accepted` versions that is known here."""
    version = next((each for each in accepted if each in UNDERSTOOD), None)
    if version is None:
        raise InvalidConvertedObject("no supported conversion review versions")
    return {
        "kind": "ConversionReview",
        "apiVersion": f"{GROUP}/{version}",
        "request": {
            "uid": uid,
            "desiredAPIVersion": api_version,
            "objects": [without_resource_version(each) for each in objects],
        },
        "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
    }


def without_resource_version(wire: Wire) -> Wire:
    """An object without its resourceVersion, as etcd has it."""
    metadata = {key: value for key, value in (wire.get("metadata") or {}).items() if key != "resourceVersion"}
    return {**wire, "metadata": metadata} if "metadata" in wire else wire


def read_review(answer: bytes, requested: Wire, objects: Sequence[Wire]) -> list[Wire]:
    """The converted objects of a response, each with the metadata that it had."""
    response = _response(answer, requested)
    found = response.get("convertedObjects") or []
    if len(found) != len(objects):
        raise InvalidConversionResponse(f"returned {len(found)} objects, expected {len(objects)}")
    api_version = requested["request"]["desiredAPIVersion"]
    return [_checked(before, after, api_version) for before, after in zip(objects, found, strict=True)]


def _response(answer: bytes, requested: Wire) -> Wire:
    """The `response` of a review, if it succeeds and has the uid of the request."""
    version = requested["apiVersion"].rpartition("/")[2]
    review = _read(answer)
    stated, kind = review.get("apiVersion") or requested["apiVersion"], review.get("kind") or "ConversionReview"
    if kind != "ConversionReview" or stated not in [f"{GROUP}/{each}" for each in UNDERSTOOD]:
        raise InvalidConversionResponse(f'failed: no kind "{kind}" is registered for version "{stated}" in {_SCHEME}')
    if stated != requested["apiVersion"]:
        theirs = stated.rpartition("/")[2]
        what = f"converting ({theirs}.ConversionReview) to ({version}.ConversionReview)"
        raise InvalidConversionResponse(f"failed: {what}: unknown conversion")
    response = review.get("response")
    if response is None:
        raise InvalidConversionResponse("failed: no response provided")
    if not isinstance(response, dict):
        into = f"Go struct field ConversionReview.response of type {version}.ConversionResponse"
        raise InvalidConversionResponse(f"failed: json: cannot unmarshal {_json_type(response)} into {into}")
    if version == "v1":
        if "apiVersion" not in review or "kind" not in review:
            raise InvalidConversionResponse(_unlike(review, version))
        expected, uid = requested["request"]["uid"], response.get("uid") or ""
        if uid != expected:
            raise InvalidConversionResponse(f'failed: expected response.uid="{expected}", got "{uid}"')
    result = response.get("result") or {}
    if result.get("status") != "Success":
        why = f"response.result.status was '{result.get('status') or ''}', not 'Success'"
        raise InvalidConversionResponse(f"failed: {result.get('message') or why}")
    return response


def _read(answer: bytes) -> Wire:
    try:
        review = msgspec.json.decode(answer)
    except msgspec.DecodeError as error:
        raise InvalidConversionResponse(f"failed: couldn't get version/kind; json parse error: {error}") from error
    if isinstance(review, dict):
        return review
    what = f"json: cannot unmarshal {_json_type(review)} into Go value of type {_INTO}"
    raise InvalidConversionResponse(f"failed: couldn't get version/kind; json parse error: {what}")


def _unlike(review: Wire, version: str) -> str:
    def words(api_version: str, kind: str) -> str:
        return f"{api_version or '/'}, Kind={kind}"

    expected = words(f"{GROUP}/{version}", "ConversionReview")
    got = words(review.get("apiVersion") or "", review.get("kind") or "")
    return f"failed: expected webhook response of {expected}, got {got}"


def _checked(before: Wire, after: Any, api_version: str) -> Wire:
    """A converted object with the metadata that it had; it must still be the same object."""
    if after is None:
        raise InvalidConvertedObject("unexpected end of JSON input")
    if not isinstance(after, dict):
        raise InvalidConvertedObject(
            f"json: cannot unmarshal {_json_type(after)} into Go value of type map[string]interface {{}}"
        )
    if not after.get("kind"):
        raise InvalidConvertedObject(f"Object 'Kind' is missing in '{msgspec.json.encode(after).decode()}'")
    for what, expected, found in (
        ("groupVersion", api_version, after.get("apiVersion")),
        ("kind", before["kind"], after["kind"]),
    ):
        if expected != found:
            why = f"invalid {what} (expected {expected}, received {found})"
            raise InvalidConversionResponse(f"returned invalid object at index 0: {why}")
    had, has = before.get("metadata") or {}, after.get("metadata")
    stated = has if isinstance(has, dict) else {}
    for field, name in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        one, other = had.get(field) or "", stated.get(field) or ""
        if one != other:
            raise InvalidConversionResponse(f"returned invalid object: must have the same {name}: {one} != {other}")
    return {**after, "metadata": _restored(had, has)}


def _restored(had: Wire, has: Any) -> Wire:
    """The old metadata with the new labels and annotations."""
    if not isinstance(has, dict):
        problem = "missing metadata" if has is None else f"invalid metadata of type {_go_type(has)}"
        raise InvalidConversionResponse(f"returned invalid metadata: {problem} in converted object")
    metadata = {key: value for key, value in had.items() if key not in KEPT_APART}
    for field in KEPT_APART:
        if (stated := has.get(field)) is None:
            continue
        if not isinstance(stated, dict):
            why = f"invalid metadata.{field} of type {_go_type(stated)} in converted object"
            raise InvalidConversionResponse(f"returned invalid metadata: {why}")
        for key, value in stated.items():
            if not isinstance(value, str):
                why = f"metadata.{field}[{key}] must be a string, but is {_go_type(value)} in converted object"
                raise InvalidConversionResponse(f"returned invalid metadata: {why}")
        if stated != had.get(field):
            _check(field, stated)
        metadata[field] = stated
    return metadata


def _check(field: str, stated: Wire) -> None:
    """Refuse labels or annotations that are malformed."""
    problems = Problems()
    if field == "labels":
        labels(stated, "metadata.labels", problems)
    else:
        annotations(stated, "metadata.annotation", problems)
    messages = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in problems))
    if messages:
        listed = messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"
        raise InvalidConversionResponse(f"returned invalid metadata: {listed}")


def _json_type(value: Any) -> str:
    """What Go's JSON decoder calls a value."""
    names = {bool: "bool", str: "string", int: "number", float: "number", list: "array"}
    return names.get(type(value), "object")


def _go_type(value: Any) -> str:
    """The type that Go decodes a value to."""
    names = {
        bool: "bool",
        str: "string",
        int: "int64",
        float: "float64",
        list: "[]interface {}",
        dict: "map[string]interface {}",
    }
    return names.get(type(value), "<nil>")
