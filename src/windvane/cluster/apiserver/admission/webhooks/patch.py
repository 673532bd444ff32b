"""Applies the patches of webhooks."""

from typing import Any

from windvane.api.json_value import Wire
from windvane.api.meta import ObjectMeta
from windvane.api.wording import quoted
from windvane.cluster.apiserver.admission.webhooks.errors import FailedCall, internal_error
from windvane.cluster.apiserver.encoding.strict_json import NotJson, decode
from windvane.cluster.apiserver.failure import failure
from windvane.cluster.apiserver.patch.json_patch import DoesNotApply, applied
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.schema.connect_options import CONNECT_OPTIONS
from windvane.cluster.apiserver.schema.go_decoder import examine, mismatch
from windvane.cluster.apiserver.schema.scheme import NotRegistered, class_for, internal_package, package_of
from windvane.cluster.apiserver.schema.shapes import fields_of

JSON_PATCH = "JSONPatch"
Operations = list[dict[str, Any] | None]


def operations_of(webhook: str, patch: bytes) -> Operations:
    """The operations in a response."""
    about = "received undecodable patch in webhook response: "
    try:
        operations = decode(patch)
    except NotJson as error:
        raise FailedCall(webhook, f"{about}{error}") from error
    if not isinstance(operations, list | None):
        raise FailedCall(webhook, about + mismatch(operations, "value", "jsonpatch.Patch"))
    for each in operations or ():
        if not isinstance(each, dict | None):
            raise FailedCall(webhook, about + mismatch(each, "value", "jsonpatch.Operation"))
    return operations or []


def patched(type_: ResourceType, wire: Wire, operations: Operations) -> Wire:
    """The patched object, not yet decoded; it must still be of its kind."""
    stated = wire["apiVersion"], wire["kind"]
    try:
        changed = applied(wire, operations)
    except (DoesNotApply, RecursionError) as error:
        raise internal_error(str(error)) from error
    return check_object(type_, changed, stated)


def check_object(type_: ResourceType, changed: Any, stated: tuple[str, str]) -> Wire:
    """Check that a changed object is still of that apiVersion and kind."""
    if not isinstance(changed, dict):
        raise internal_error(mismatch(changed, "value", "map[string]interface {}"))
    if type_.strategy.is_unstructured and stated == (type_.kind.api_version, type_.kind.name):
        problem = examine(ObjectMeta, changed.get("metadata") or {}, "v1").problem
    else:
        problem = _problem(type_, changed, stated)
    if problem:
        raise internal_error(problem)
    if not type_.strategy.is_unstructured and (connection := CONNECT_OPTIONS.get(stated[1])):
        # Connect options have no metadata, and empty fields are dropped.
        return {name: value for name, value in changed.items() if value and name in fields_of(connection)}
    if not isinstance(changed.get("metadata"), dict):
        changed["metadata"] = {}
    return changed


def _problem(type_: ResourceType, changed: Wire, stated: tuple[str, str]) -> str:
    """Why a changed object of a built-in kind can't be decoded; empty if it can."""
    api_version, name = changed.get("apiVersion") or stated[0], changed.get("kind") or stated[1]
    changed["apiVersion"], changed["kind"] = api_version, name
    if not isinstance(api_version, str) or not isinstance(name, str):
        return f"Object 'Kind' is missing in {quoted(str(changed))}"
    try:
        cls = class_for(type_.kind.group, api_version, name)
    except NotRegistered as error:
        return str(error)
    if problem := examine(cls, changed, api_version.rpartition("/")[2]).problem:
        return problem
    if (api_version, name) != stated:
        into = f"{internal_package(stated[0].rpartition('/')[0])}.{stated[1]}"
        what = f"{package_of(api_version, name)}.{name}"
        raise failure(500, "", f"converting ({what}) to ({into}): unknown conversion")
    return ""
