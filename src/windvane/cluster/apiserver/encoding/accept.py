"""Content negotiation: the media type and shape of an answer, from the Accept header as the real server reads it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import msgspec

from windvane.client.transport import Request
from windvane.cluster.apiserver.encoding.media_types import PROTOBUF, header
from windvane.cluster.apiserver.encoding.protobuf_metadata import write_metadata
from windvane.cluster.apiserver.encoding.yaml_text import to_yaml
from windvane.cluster.apiserver.failure import Failure, not_acceptable, not_available

Shape = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
SHAPING = frozenset({"as", "g", "v"})
SHAPES: Mapping[str, Shape] = {each: each for each in get_args(Shape) if each}
OFFERED = ("application/json", "application/yaml", PROTOBUF)
OFFERED_STREAMS = ("application/json;stream=watch", f"{PROTOBUF};stream=watch")
WRITABLE = ("application/json", "application/yaml")
IN_PROTOBUF: frozenset[Shape | None] = frozenset({"PartialObjectMetadata", "PartialObjectMetadataList"})
FOR_PEOPLE = ("curl", "Wget", "Mozilla/5.0")
TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})


@dataclass(frozen=True, slots=True)
class MediaTypeOptions:
    """The representation to answer with."""

    media_type: str = "application/json"
    shape: Shape = ""
    shape_version: str = "v1"
    """Of meta.k8s.io, where the shape is from."""
    pretty: bool = False
    """Whether JSON is indented."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One of the media types in an Accept header."""

    media_type: str
    quality: float
    parameters: Mapping[str, str]

    @property
    def vagueness(self) -> int:
        """The number of wildcards: `*/*` comes last among those of equal quality."""
        return self.media_type.count("*")


def clauses(accept: str) -> list[Clause]:
    """The clauses of an Accept header, the preferred one first."""
    found = []
    for text in accept.split(","):
        media_type, *rest = [part.strip(" ") for part in text.split(";")]
        parameters = {key.strip(" "): value.strip(" ") for key, _, value in (p.partition("=") for p in rest) if value}
        quality = _number(parameters.pop("q", "1"))
        found.append(Clause("*/*" if media_type == "*" else media_type, quality, parameters))
    return sorted(found, key=lambda clause: (-clause.quality, clause.vagueness))


def check_route(request: Request, offered: Sequence[str]) -> None:
    """Refuse what the real server's router refuses, which compares media types literally."""
    asked = {clause.media_type for clause in clauses(header(request, "Accept") or "*/*")}
    if "*/*" not in asked and asked.isdisjoint(offered):
        raise not_available(offered)


def negotiate(request: Request) -> MediaTypeOptions:
    """The preferred representation that is supported; 406 if there is none."""
    return _choose(request, _shape, WRITABLE, OFFERED)


def negotiate_stream(request: Request) -> MediaTypeOptions:
    """The same for a watch, which is never YAML and never indented: each line is an event."""
    return replace(_choose(request, _shape, ("application/json",), OFFERED_STREAMS), pretty=False)


def negotiate_without_table(request: Request) -> MediaTypeOptions:
    """The same for kinds without tables."""
    return _choose(request, _no_table, WRITABLE, OFFERED)


def negotiate_plain(request: Request) -> MediaTypeOptions:
    """The same for documents, which have one shape only."""
    return _choose(request, _no_shape, WRITABLE, OFFERED)


def negotiate_error(request: Request) -> MediaTypeOptions:
    """The same for an error; never a 406."""
    try:
        return negotiate_plain(request)
    except Failure:
        return MediaTypeOptions(pretty=True)


def _choose(
    request: Request,
    shape_of: Callable[[Mapping[str, str]], Shape | None],
    writable: Sequence[str],
    offered: Sequence[str],
) -> MediaTypeOptions:
    pretty = is_for_people(request)
    accept = header(request, "Accept")
    if not accept:
        return MediaTypeOptions(pretty=pretty)
    for clause in clauses(accept):
        shape = shape_of(clause.parameters)
        media_type = _first_match(clause.media_type, (*writable, PROTOBUF) if shape in IN_PROTOBUF else writable)
        if media_type is not None and shape is not None and clause.parameters.get("stream", "watch") == "watch":
            version = clause.parameters.get("v", "v1")
            return MediaTypeOptions(media_type, shape, version, pretty or clause.parameters.get("pretty") == "1")
    raise not_acceptable(offered)


def _first_match(pattern: str, writable: Sequence[str]) -> str | None:
    if pattern in ("*/*", "application/*"):
        return writable[0]
    return pattern if pattern in writable else None


def _no_shape(parameters: Mapping[str, str]) -> Shape | None:
    return None if SHAPING & parameters.keys() else ""


def _shape(parameters: Mapping[str, str]) -> Shape | None:
    """The shape of a clause; None if it is not supported."""
    if not SHAPING & parameters.keys():
        return ""
    if parameters.get("g") != "meta.k8s.io" or parameters.get("v") not in ("v1", "v1beta1"):
        return None
    return SHAPES.get(parameters.get("as", ""))


def _no_table(parameters: Mapping[str, str]) -> Shape | None:
    shape = _shape(parameters)
    return None if shape == "Table" else shape


def is_for_people(request: Request) -> bool:
    """Whether to indent JSON: the query says so, or the client is a browser or a command-line tool."""
    asked = next((value for key, value in request.query if key == "pretty"), "")
    return asked in TRUE if asked else header(request, "User-Agent").startswith(FOR_PEOPLE)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def write(document: Any, options: MediaTypeOptions) -> bytes:
    """A document in the media type that was negotiated."""
    if options.media_type == PROTOBUF:
        return write_metadata(document)
    if options.media_type == "application/yaml":
        return to_yaml(document, sort=True).encode()
    return finished(msgspec.json.encode(document), options)


def finished(body: bytes, options: MediaTypeOptions) -> bytes:
    """JSON as it is sent: one line, or indented."""
    return msgspec.json.format(body, indent=2) if options.pretty else body + b"\n"
