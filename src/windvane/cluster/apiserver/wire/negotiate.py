"""Which representation a request wants, and what its body is written in."""

from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import yaml

from windvane.client.transport import Request
from windvane.cluster.apiserver.failure import not_acceptable

Shape = Literal["", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
SHAPES: dict[str, Shape] = {
    "": "",
    "Table": "Table",
    "PartialObjectMetadata": "PartialObjectMetadata",
    "PartialObjectMetadataList": "PartialObjectMetadataList",
}
PROTOBUF = "application/vnd.kubernetes.protobuf"
WRITABLE = ("application/json", "application/yaml", PROTOBUF)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The representation to answer with."""

    media_type: str = "application/json"
    shape: Shape = ""


def header(request: Request, name: str) -> str:
    """A header's value; empty if it is absent. Names are matched without regard to case."""
    lowered = name.lower()
    return next((value for key, value in request.headers.items() if key.lower() == lowered), "")


def wanted(request: Request) -> Wanted:
    """The first representation in `Accept` that can be given; 406 if there is none."""
    accept = header(request, "Accept")
    if not accept.strip():
        return Wanted()
    for clause in accept.split(","):
        media_type, *parameters = [part.strip() for part in clause.split(";")]
        options = dict(parameter.split("=", 1) for parameter in parameters if "=" in parameter)
        shape = SHAPES.get(options.get("as", ""))
        if shape is None or (shape and (options.get("g"), options.get("v")) != ("meta.k8s.io", "v1")):
            continue
        if media_type in ("*/*", "application/*", "application/json"):
            return Wanted("application/json", shape)
        if media_type == "application/yaml":
            return Wanted("application/yaml", shape)
    raise not_acceptable(WRITABLE)


def write(document: Any, media_type: str) -> bytes:
    """A document in the media type that was negotiated."""
    if media_type == "application/yaml":
        return yaml.safe_dump(document, default_flow_style=False).encode()
    return msgspec.json.encode(document)


def media_type_of_body(request: Request) -> str:
    """The media type of the body, without its parameters; JSON if it isn't said."""
    return header(request, "Content-Type").partition(";")[0].strip().lower() or "application/json"
