"""JSON merge patch (RFC 7396): a partial document that is laid over another; null removes.

A real API server differs from the RFC in one thing: it also drops the nulls inside objects in a list that it takes from
the patch, unless the list takes the place of an object.
"""

from typing import Any

from windvane.cluster.apiserver.encoding.strict_json import duplicates
from windvane.cluster.apiserver.failure import bad_request
from windvane.cluster.apiserver.schema.go_decoder import mismatch


def apply(document: Any, patch: Any) -> Any:
    """The document under the patch. Shares what is unchanged with both, and leaves both as they were."""
    if not isinstance(patch, dict | list):
        raise bad_request("Invalid JSON Patch")
    try:
        return without_nulls(patch) if isinstance(patch, list) else _merged(document, patch)
    except RecursionError as error:
        raise bad_request("exceeded max depth") from error


def check(patch: Any) -> list[str]:
    """Complaints about duplicate fields in a patch, unless fieldValidation is Ignore."""
    if not isinstance(patch, dict | None):
        raise bad_request(f"error decoding patch: {mismatch(patch, 'value', 'map[string]interface {}')}")
    return duplicates(patch)


def without_nulls(value: Any) -> Any:
    """The value without the fields that are null, at any depth. A null in a list is an item and stays."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [without_nulls(each) for each in value]
    return value


def _merged(document: Any, patch: Any) -> Any:
    if not isinstance(document, dict):
        return without_nulls(patch)
    if not isinstance(patch, dict):
        return patch
    merged = dict(document)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged
