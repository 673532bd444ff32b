"""Bodies: what a request brings along, read as an object, a patch or delete options."""

from typing import Any

import msgspec

from windvane.api import codec
from windvane.api.kind import Kind
from windvane.api.meta import ObjectMeta
from windvane.client.transport import Request
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.failure import Failure, bad_request, invalid
from windvane.cluster.apiserver.options import propagation_problems, refuse_options, whole_number
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.schema import wording
from windvane.cluster.apiserver.wire.go_json import go_json_problem
from windvane.cluster.apiserver.wire.negotiate import to_json
from windvane.cluster.apiserver.wire.strict_json import NotJson, decode, decode_strict
from windvane.cluster.apiserver.writing import Deletion

MOST_COMPLAINTS = 100
SHOWN = 30
TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
Wire = dict[str, Any]
Query = dict[str, str]


def read_body(request: Request, type_: ResourceType, query: Query, rules: Rules) -> tuple[Wire, list[str]]:
    """The object in a body, and warnings about fields that nobody knows; 400 if it is not one of that type."""
    kind = type_.kind
    raw = to_json(request)
    how = query.get("fieldValidation") or "Warn"
    problems: list[str] = []
    try:
        if how == "Ignore":
            wire = decode(raw)
        else:
            wire, problems = decode_strict(raw)
    except NotJson as error:
        raise _unrecognized(
            type_, f"couldn't get version/kind; json parse error: {go_json_problem(raw)}", raw
        ) from error
    if wire is None:
        wire = {}
    if not isinstance(wire, dict):
        why = f"json: cannot unmarshal {_word(wire)} into Go value of type {TYPE_META}"
        raise _unrecognized(type_, f"couldn't get version/kind; json parse error: {why}", raw)
    for name in ("apiVersion", "kind"):
        if not isinstance(wire.get(name), str | None):
            why = f"json: cannot unmarshal {_word(wire[name])} into Go struct field .{name} of type string"
            raise _unrecognized(type_, f"couldn't get version/kind; json parse error: {why}", raw)
    if type_.custom and not wire.get("kind"):
        raise _unrecognized(type_, f"Object 'Kind' is missing in '{raw.decode(errors='replace')}'", raw)
    check_kind(type_, wire)
    if not isinstance(wire.get("metadata", {}), dict | None):
        where = "value" if type_.custom else f"struct field {kind.name}.metadata"
        why = f"json: cannot unmarshal {_word(wire['metadata'])} into Go {where} of type v1.ObjectMeta"
        raise bad_request(_unreadable(type_, why))
    if type_.custom:
        try:
            codec.from_wire(wire.get("metadata") or {}, ObjectMeta)
        except msgspec.ValidationError as error:
            raise bad_request(_unreadable(type_, f"metadata: {error}")) from error
    if how != "Ignore":
        problems = [*problems, *rules.unknown_fields(type_, wire)][:MOST_COMPLAINTS]
    if problems and how == "Strict":
        raise bad_request(_unreadable(type_, f"strict decoding error: {', '.join(problems)}"))
    return wire, problems


def check_kind(type_: ResourceType, wire: Wire) -> None:
    """An object must be of the kind that its path is about; it may leave that unsaid."""
    kind = type_.kind
    version, name = wire.get("apiVersion") or kind.api_version, wire.get("kind") or kind.name
    if name != kind.name and not type_.custom:
        group = kind.group.partition(".")[0] or "core"
        what = f"converting ({kind.version}.{name}) to ({group}.{kind.name}): unknown conversion"
        raise bad_request(f'{name} in version "{version}" cannot be handled as a {kind.name}: {what}')
    if name != kind.name:
        mistaken = Kind(group=kind.group, version=kind.version, name=name, plural=kind.plural)
        cause = wording.invalid("kind", name, f"must be {kind.name}")
        raise invalid(mistaken, (wire.get("metadata") or {}).get("name", ""), [cause])
    if version != kind.api_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version ({kind.api_version})"
        )
    wire["apiVersion"], wire["kind"] = kind.api_version, kind.name


def _unrecognized(type_: ResourceType, why: str, raw: bytes) -> Failure:
    """The refusal of a body that isn't even an object; it shows the body's beginning."""
    shown = raw.decode(errors="replace") if raw[:1] in (b"{", b"[") else raw.hex()
    if len(shown) > SHOWN:
        shown = f"{shown[:SHOWN]} ..."
    return bad_request(
        f"the object provided is unrecognized (must be of type {type_.kind.name}): {why} ({shown or '<empty>'})"
    )


class _Preconditions(msgspec.Struct, rename={"resource_version": "resourceVersion"}):
    uid: str | None = None
    resource_version: str | None = None


class _DeleteOptions(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    propagation_policy: str | None = None
    grace_period_seconds: int | None = None
    orphan_dependents: bool | None = None
    preconditions: _Preconditions | None = None
    dry_run: list[str] | None = None


def read_delete_options(request: Request, query: Query) -> Deletion:
    """How to delete, from the body if there is one, else from the query."""
    raw = to_json(request).strip()
    try:
        options = msgspec.json.decode(raw, type=_DeleteOptions) if raw else _DeleteOptions()
    except msgspec.ValidationError as error:
        raise bad_request(_wrong_option(msgspec.json.decode(raw), str(error))) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {go_json_problem(raw)}") from error
    if options.kind not in ("", "DeleteOptions"):
        where = f'for version "{options.api_version}" in scheme "pkg/runtime/scheme.go:111"'
        raise bad_request(f'no kind "{options.kind}" is registered {where}')
    propagation = options.propagation_policy or query.get("propagationPolicy", "")
    refuse_options("DeleteOptions", propagation_problems(propagation, options.orphan_dependents))
    if options.orphan_dependents is not None:
        propagation = "Orphan" if options.orphan_dependents else "Background"
    grace = options.grace_period_seconds
    if grace is None:
        grace = whole_number(query, "gracePeriodSeconds")
    conditions = options.preconditions or _Preconditions()
    return Deletion(
        uid=conditions.uid or "",
        resource_version=conditions.resource_version or "",
        propagation=propagation,
        grace=grace,
        dry_run="All" in (options.dry_run or ()) or query.get("dryRun") == "All",
    )


_GO_TYPES = {"gracePeriodSeconds": "int64", "orphanDependents": "bool", "propagationPolicy": "v1.DeletionPropagation"}


def _wrong_option(options: Any, otherwise: str) -> str:
    """Go's words for an option of the wrong type."""
    for name, go_type in _GO_TYPES.items():
        if f"`$.{name}`" in otherwise and isinstance(options, dict):
            what = f"json: cannot unmarshal {_word(options[name])} into Go struct field"
            return f"{what} DeleteOptions.{name} of type {go_type}"
    return otherwise


def read_plain(request: Request) -> Wire:
    """A body that is some JSON object."""
    try:
        wire = decode(to_json(request))
    except NotJson as error:
        raise bad_request(f"the body is not JSON: {error}") from error
    if not isinstance(wire, dict):
        raise bad_request("the body must be a JSON object")
    return wire


def _unreadable(type_: ResourceType, why: str) -> str:
    kind = type_.kind
    return f'{kind.name} in version "{kind.version}" cannot be handled as a {kind.name}: {why}'


def _word(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
    return "null"
