"""One ConversionReview: objects of a kind in some version or other, and what they are in another version.

Converted are spec, status and whatever else a kind has. Metadata stays as it is, but for labels and annotations, where
a function may keep what the other version has no field for. What a function leaves at its default is stated.
"""

import logging
from functools import cache
from typing import Any, Literal

import msgspec

from windvane import ambient
from windvane.api import codec
from windvane.api.custom_resources.crd import root_schema
from windvane.api.custom_resources.schema import SchemaError
from windvane.api.lenient import MISSING, read_leniently
from windvane.api.meta import ObjectMeta
from windvane.api.openapi.structural import Structural
from windvane.api.resource import Object, kind_of, object_to_wire, read_object
from windvane.api.struct import Struct
from windvane.runtime.conversion import Conversions, Converter
from windvane.webhook.review import BadReview, ReviewAnswer

log = logging.getLogger(__name__)

VERSIONS = ("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")
OPERATION = "CONVERT"
AT_ONCE = 100
"""How many objects are converted before others have their turn: a review of a list may have thousands."""


class _Request(Struct):
    uid: str
    desired_api_version: str = msgspec.field(name="desiredAPIVersion")
    objects: list[msgspec.Raw] | None = None


class _Review(Struct):
    api_version: str
    kind: Literal["ConversionReview"]
    request: _Request | None = None


class _Identity(Struct):
    """As much of an object as it takes to find its converters, and to name it."""

    api_version: str = ""
    kind: str = ""
    metadata: dict[str, Any] | None = None

    def __str__(self) -> str:
        metadata = self.metadata or {}
        name = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}".lstrip("/")
        return f"{self.kind} {name} ({self.api_version})"


_decoder = msgspec.json.Decoder(_Review)


class CanNotConvert(Exception):
    """An object can't be converted; the message says which, and why."""


async def convert_review(body: bytes, conversions: Conversions) -> ReviewAnswer:
    """Convert the objects of a review: all of them, or none, with the reason."""
    try:
        review = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReview(f"this is no ConversionReview: {error}") from error
    if review.api_version not in VERSIONS:
        raise BadReview(f"the version {review.api_version!r} is not known here; known are {', '.join(VERSIONS)}")
    if (request := review.request) is None:
        raise BadReview("this ConversionReview has no request in it")
    response: dict[str, Any] = {"uid": request.uid}
    converted: list[Any] = []
    try:
        for count, raw in enumerate(request.objects or ()):
            if count % AT_ONCE == AT_ONCE - 1:
                await ambient.sleep(0)
            converted.append(_convert(raw, request.desired_api_version, conversions))
        response |= {"convertedObjects": converted, "result": {"status": "Success"}}
    except CanNotConvert as error:
        response |= {"convertedObjects": [], "result": {"status": "Failure", "message": str(error)}}
    answer = {"apiVersion": review.api_version, "kind": review.kind, "response": response}
    return ReviewAnswer(codec.encode(answer), OPERATION, allowed=response["result"]["status"] == "Success")


def _convert(raw: msgspec.Raw, desired: str, conversions: Conversions) -> Any:
    try:
        identity = codec.decode(raw, _Identity)
    except (msgspec.DecodeError, RecursionError) as error:
        raise CanNotConvert(f"an object can't be read: {error}") from error
    if identity.api_version == desired:
        return raw
    path = _path(identity, desired, conversions)
    thing, whole = _read(raw, path[0].source, identity)
    for converter in path:
        thing = _step(thing, converter, identity)
    try:
        wire = object_to_wire(thing)
        if not whole:
            wire = _without_nothing(wire)
        _structural(type(thing)).fill(wire)
        wire["metadata"] = _metadata(identity.metadata or {}, thing.metadata)
        return msgspec.Raw(codec.encode(wire))
    except Exception as error:
        # Here, where it is known which object it was: in the whole answer, it would not be found.
        raise _failed(path[-1], identity, error) from error


def _read(raw: msgspec.Raw, source: type[Object], identity: _Identity) -> tuple[Object, bool]:
    """The object, and whether all is there that its class requires.

    Server-side apply of another version than before has parts of an object converted: that without what the manifest
    stated the last time. What is missing is None for the functions, and is missing afterwards as well.
    """
    try:
        return read_object(bytes(raw), source), True
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        refused = CanNotConvert(f"{identity} does not fit its class {source.__name__}: {error}")
        refused.__cause__ = error
    try:
        thing, problems = read_leniently(bytes(raw), source)
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise refused from refused.__cause__
    if not all(each.endswith(MISSING) for each in problems):
        raise refused from refused.__cause__
    return thing, False


def _without_nothing(wire: Any) -> Any:
    if isinstance(wire, dict):
        return {key: _without_nothing(value) for key, value in wire.items() if value is not None}
    if isinstance(wire, list):
        return [_without_nothing(item) for item in wire if item is not None]
    return wire


@cache
def _structural(cls: type[Object]) -> Structural:
    """What fills in the defaults of a version.

    Python leaves out what has its default, and an API server fills in defaults only in what it is sent and what it has
    stored, each in that version: what was converted would lack them. A class that no CRD could describe has none.
    """
    try:
        return Structural(root_schema(cls, documented=False))
    except SchemaError:
        return Structural({})


def _path(identity: _Identity, desired: str, conversions: Conversions) -> list[Converter]:
    group, _, version = identity.api_version.rpartition("/")
    wanted_group, _, wanted = desired.rpartition("/")
    kind = (group, identity.kind)
    versions = conversions.versions(kind)
    if not versions:
        raise CanNotConvert(f"{identity}: this operator converts no objects of that kind")
    if wanted_group != group:
        raise CanNotConvert(f"{identity} can't become an object of another group, {desired}")
    for each in (version, wanted):
        if each not in versions:
            raise CanNotConvert(f"{identity}: version {each!r} is not known here; known are {', '.join(versions)}")
    path = conversions.path(kind, version, wanted)
    if path is None:
        raise CanNotConvert(f"{identity}: no function leads from {version} to {wanted}")
    return path


def _step(thing: Object, converter: Converter, identity: _Identity) -> Object:
    name = _called(converter)
    # The function may change what it is given, and give that back in part.
    metadata = codec.from_wire(codec.to_wire(thing.metadata), ObjectMeta)
    try:
        made = converter.function(thing)
    except (Exception, SystemExit) as error:
        raise _failed(converter, identity, error) from error
    if not isinstance(made, converter.target):
        log.error("%s made a %s of %s", name, type(made).__name__, identity)
        raise CanNotConvert(
            f"{identity}: {name} returned a {type(made).__name__}, and must return a {converter.target.__name__} "
            f"({kind_of(converter.target).api_version})"
        )
    made.metadata = _carried_over(metadata, made.metadata)
    return made


def _failed(converter: Converter, identity: _Identity, error: BaseException) -> CanNotConvert:
    log.error("%s failed on %s", _called(converter), identity, exc_info=error)
    reason = f"{_called(converter)} failed ({type(error).__name__}); the log of the operator says more"
    return CanNotConvert(f"{identity}: {reason}")


def _called(converter: Converter) -> str:
    return getattr(converter.function, "__name__", repr(converter.function))


def _carried_over(before: ObjectMeta, after: ObjectMeta) -> ObjectMeta:
    """The metadata of an object, with what a function did to labels and annotations.

    If it has passed on the metadata, they are as it left them. If it has made others, they are in addition.
    """
    if (after.name, after.generate_name) == (before.name, before.generate_name):
        before.labels, before.annotations = after.labels, after.annotations
    else:
        before.labels = {**before.labels, **after.labels}
        before.annotations = {**before.annotations, **after.annotations}
    return before


def _metadata(raw: dict[str, Any], metadata: ObjectMeta) -> dict[str, Any]:
    """The metadata as it came, known or not, with these labels and annotations."""
    kept = {key: value for key, value in raw.items() if key not in ("labels", "annotations")}
    if metadata.labels:
        kept["labels"] = metadata.labels
    if metadata.annotations:
        kept["annotations"] = metadata.annotations
    return kept
