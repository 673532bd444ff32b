"""Request bodies, decoded as an object or as DeleteOptions."""

from collections.abc import Callable

import msgspec

from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.client.transport import Request
from windvane.cluster.apiserver.encoding.go_yaml import ConvertedYAML, NotYaml, to_json
from windvane.cluster.apiserver.encoding.media_types import PROTOBUF, media_type_of_body
from windvane.cluster.apiserver.failure import Failure, bad_request, unsupported_media_type
from windvane.cluster.apiserver.pipeline.deletion import Deletion
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.request.options import (
    FieldValidation,
    propagation_problems,
    refuse_options,
    whole_number,
)
from windvane.cluster.apiserver.schema.decoder import (
    DecodedObject,
    Unreadable,
    decode_builtin,
    decode_delete_options,
)

SHOWN = 30
READABLE = ("application/json", "application/yaml", PROTOBUF)
Query = dict[str, str]


def read_body(request: Request, type_: ResourceType, validation: FieldValidation) -> Wire:
    """The object in a body; 400 if it is not of that type."""
    sent = request.body or b""
    return _read(request, type_.kind, validation, lambda body: type_.strategy.read_body(body, sent))


def read_builtin(request: Request, kind: Kind, validation: FieldValidation, *older: str) -> Wire:
    """The same for a built-in kind, which may have no path of its own in the API.

    `older` are other versions that are accepted.
    """
    return _read(request, kind, validation, lambda body: decode_builtin(body, kind), *older)


def _read(
    request: Request, kind: Kind, validation: FieldValidation, decode: Callable[[bytes], DecodedObject], *older: str
) -> Wire:
    try:
        converted = _to_json(request)
        decoded = decode(converted.body)
    except Unreadable as problem:
        raise _refused(problem, kind, request.body or b"") from problem
    complaints = [converted.repeated, *decoded.complaints] if converted.repeated else decoded.complaints
    if reason := validation.reason_to_refuse(complaints):
        raise _refused(Unreadable(reason, decoded.kind, decoded.version), kind, b"")
    if decoded.api_version not in (kind.api_version, *older):
        data = f"the API version in the data ({decoded.api_version})"
        raise bad_request(f"{data} does not match the expected API version ({kind.api_version})")
    return decoded.wire


def read_delete_options(request: Request, query: Query) -> Deletion:
    """DeleteOptions from the body if there is one, else from the query."""
    if not request.body:
        return delete_options({}, query)
    try:
        return delete_options(decode_delete_options(_to_json(request).body), {})
    except Unreadable as problem:
        raise bad_request(str(problem)) from problem


def delete_options(options: Wire, query: Query) -> Deletion:
    """DeleteOptions that were decoded, completed from the query."""
    propagation = options.get("propagationPolicy") or query.get("propagationPolicy", "")
    orphans = options.get("orphanDependents")
    refuse_options("DeleteOptions", propagation_problems(propagation, orphans))
    if orphans is not None:
        propagation = "Orphan" if orphans else "Background"
    grace = options.get("gracePeriodSeconds")
    if grace is None:
        grace = whole_number(query, "gracePeriodSeconds")
    conditions = options.get("preconditions") or {}
    return Deletion(
        uid=conditions.get("uid") or "",
        resource_version=conditions.get("resourceVersion") or "",
        propagation=propagation,
        grace=grace,
        dry_run="All" in (options.get("dryRun") or ()) or query.get("dryRun") == "All",
    )


def _to_json(request: Request) -> ConvertedYAML:
    """The body as JSON: it may be YAML or protobuf."""
    body = request.body or b""
    media_type = media_type_of_body(request)
    if media_type == "application/json":
        return ConvertedYAML(body, "")
    if media_type == "application/yaml":
        try:
            return to_json(body)
        except NotYaml as error:
            raise Unreadable(str(error)) from error
    if media_type == PROTOBUF:
        return ConvertedYAML(_protobuf_to_json(body), "")
    raise unsupported_media_type(READABLE)


def _protobuf_to_json(body: bytes) -> bytes:
    """Decode what Go clients send of built-in kinds. The tables for it are large, and loaded with the first one."""
    from windvane.cluster.apiserver.encoding.protobuf import MAGIC, to_json_value

    if not body:
        raise Unreadable("empty data")
    if not body.startswith(MAGIC):
        raise Unreadable("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    try:
        return msgspec.json.encode(to_json_value(body))
    except ValueError as error:
        raise Unreadable(str(error)) from error


def _refused(problem: Unreadable, expected: Kind, sent: bytes) -> Failure:
    """The refusal of a body. If not even its kind is known, the message quotes it, unless it is long."""
    if problem.kind:
        what = f'{problem.kind} in version "{problem.version}"'
        return bad_request(f"{what} cannot be handled as a {expected.name}: {problem}")
    start = sent[:SHOWN]
    shown = start.decode(errors="replace") if start.startswith(b"{") else start.hex()
    shown += " ..." if len(sent) > SHOWN else ""
    what = f"the object provided is unrecognized (must be of type {expected.name})"
    return bad_request(f"{what}: {problem} ({shown or '<empty>'})")
