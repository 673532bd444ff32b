"""Reads Kubernetes' protobuf, which Go clients send built-in kinds in, as the JSON value that it stands for.

A body is four magic bytes and an envelope that names the kind of the message in it. Which field has which number is a
fact that `protobuf_fields` states. Go writes a field that is not a pointer even if it is zero, and its JSON leaves most
of those out: what is read here has exactly the fields of Go's JSON, without those that are null there.
"""

import base64
import math
import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from windvane.api.json_value import Wire
from windvane.api.time import MicroTime, format_time
from windvane.cluster.apiserver.encoding import strict_json
from windvane.cluster.apiserver.encoding.protobuf_fields import KINDS, MESSAGES

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
ENVELOPE = {
    "runtime.Unknown": "1:typeMeta:TypeMeta 2:raw:view 3:contentEncoding:string 4:contentType:string",
    "runtime.TypeMeta": "1:apiVersion:string 2:kind:string",
}

# Messages in one another. The schemas of CRDs are the deepest, with one or two for each level.
DEEPEST = 100
# A field may take two bytes here and a hundred in memory.
MOST_FIELDS = 250_000

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SCHEMA = "apiextensions.v1.JSONSchemaProps"

Part = int | float | memoryview | None
"""A field's value as it is on the wire; None for four bytes, which no field of Kubernetes is."""


def to_json_value(body: bytes) -> Wire:
    """The object in a protobuf body, as it is in JSON; ValueError if it is malformed or of no kind that is known."""
    if not body.startswith(MAGIC):
        raise ValueError(f"a protobuf body must start with the bytes {MAGIC!r}, and this one starts with {body[:4]!r}")
    reader = _Reader()
    envelope = reader.read("runtime.Unknown", memoryview(body)[len(MAGIC) :])
    if envelope.get("contentEncoding") or envelope.get("contentType", "") not in ("", MEDIA_TYPE):
        raise ValueError("the protobuf envelope must have a protobuf message in it that is not compressed")
    type_meta = envelope.get("typeMeta", {})
    api_version, kind = type_meta.get("apiVersion", ""), type_meta.get("kind", "")
    # Every group has its own name for these: a client of apps/v1 sends apps/v1 DeleteOptions.
    message = "meta.v1.DeleteOptions" if kind == "DeleteOptions" else _kinds(api_version).get(kind)
    if message is None:
        what = f'kind "{kind[:100]}" in version "{api_version[:100]}"'
        raise ValueError(f"no protobuf message is known for {what}: send it as JSON")
    return {"apiVersion": api_version, "kind": kind, **reader.read(message, envelope.get("raw", memoryview(b"")))}


def _kinds(api_version: str) -> dict[str, str]:
    return {message.rpartition(".")[2]: message for message in KINDS.get(api_version, "").split()}


class _Field(NamedTuple):
    """One field of a message, as `protobuf_fields` states it."""

    name: str
    shape: str
    type: str
    omits_zero: bool


@cache
def _fields(message: str) -> Mapping[int, _Field]:
    words = (ENVELOPE.get(message) or MESSAGES[message]).split()
    return {int(number): _field(message, name, type_) for number, name, type_ in (word.split(":") for word in words)}


def _field(message: str, name: str, written: str) -> _Field:
    shape = written[:2] if written[0] in "[{" else ""
    type_ = written.removeprefix(shape).removesuffix("?")
    if type_[0].isupper():
        type_ = f"{message.rpartition('.')[0]}.{type_}"
    return _Field(name, shape, type_, written.endswith("?"))


class _Reader:
    """Reads the messages of one body, and keeps account of what they cost."""

    def __init__(self) -> None:
        self._fields_left = MOST_FIELDS
        self._path: list[str] = []
        """The names of the fields that are being read, the innermost last; also says where an error is."""

    def read(self, name: str, data: memoryview) -> Wire:
        """An outermost message; ValueError says in which field something is wrong."""
        try:
            found: Wire = self._message(name, data)
        except ValueError as error:
            where = ".".join([name, *filter(None, self._path)])
            raise ValueError(f"{where}: {error}") from error
        return found

    def _message(self, name: str, data: memoryview) -> Any:
        if len(self._path) > DEEPEST:
            raise ValueError(f"more than {DEEPEST} messages are in one another")
        fields = _fields(name)
        found: Wire = {}
        for number, part in self._parts(data):
            if field := fields.get(number):
                self._path.append(field.name)
                self._add(field, part, found)
                self._path.pop()
        form = JSON_FORMS.get(name)
        return form(found) if form else found

    def _add(self, field: _Field, part: Part, found: Wire) -> None:
        if field.shape == "{}":
            key, value = self._entry(field.type, _delimited(part))
            found.setdefault(field.name, {})[key] = value
        elif field.shape == "[]":
            found.setdefault(field.name, []).append(self._value(field.type, part))
        elif field.name:
            value = self._value(field.type, part)
            if value is not None and (value or not field.omits_zero):
                found[field.name] = value
        else:
            found.update(self._value(field.type, part))

    def _entry(self, type_: str, data: memoryview) -> tuple[str, Any]:
        """A map is a list of messages with a key and a value; what is empty in them may be left out."""
        key: Part = data[:0]
        value: Part = data[:0]
        for number, part in self._parts(data):
            if number == 1:
                key = part
            elif number == 2:
                value = part
        return _scalar("string", key), self._value(type_, value)

    def _value(self, type_: str, part: Part) -> Any:
        return self._message(type_, _delimited(part)) if "." in type_ else _scalar(type_, part)

    def _parts(self, data: memoryview) -> Iterator[tuple[int, Part]]:
        """The numbered parts that every message is made of."""
        position, end = 0, len(data)
        while position < end:
            tag, position = _varint(data, position)
            number, wire_type = tag >> 3, tag & 7
            if number == 0:
                raise ValueError("a field has the number 0")
            part: Part = None
            match wire_type:
                case 0:
                    part, position = _varint(data, position)
                case 1:
                    start, position = position, position + 8
                    if position <= end:
                        (part,) = struct.unpack("<d", data[start:position])
                case 2:
                    size, start = _varint(data, position)
                    position = start + size
                    part = data[start:position]
                case 5:
                    position += 4
                case _:
                    raise ValueError(f"field {number} has the wire type {wire_type}, which Kubernetes doesn't use")
            self._fields_left -= 1
            if self._fields_left < 0:
                raise ValueError(f"the body has more than {MOST_FIELDS} fields")
            if position > end:
                raise ValueError("the message ends in the middle of a field")
            yield number, part


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first, and the position after it."""
    if position < len(data) and data[position] < 0x80:  # as most are
        return data[position], position + 1
    number = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise ValueError("the message ends in the middle of a number")
        group = data[position]
        position += 1
        number |= (group & 0x7F) << shift
        if group < 0x80:
            return number & 0xFFFF_FFFF_FFFF_FFFF, position
    raise ValueError("a number takes more than 64 bits")


def _delimited(part: Part) -> memoryview:
    if isinstance(part, memoryview):
        return part
    raise ValueError("a message is expected here, and on the wire is something else")


def _scalar(type_: str, part: Part) -> Any:
    match type_, part:
        case "string", memoryview() as text:
            try:
                return str(text, "utf-8")
            except UnicodeDecodeError:
                raise ValueError("the text is not UTF-8") from None
        case "bytes", memoryview() as content:
            return base64.b64encode(content).decode()
        case "json", memoryview() as document:
            try:
                return strict_json.decode(bytes(document)) if document else None
            except strict_json.NotJson as error:
                raise ValueError(f"this is not JSON: {error}") from error
        case "view", memoryview() as content:
            return content
        case "bool", int() as number:
            return number != 0
        case "int32", int() as number:
            return _signed(number, 32)
        case "int64", int() as number:
            return _signed(number, 64)
        case "double", float() as number:
            return _as_in_json(number)
    raise ValueError(f"a {type_} is expected here, and on the wire is something else")


def _signed(number: int, bits: int) -> int:
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def _as_in_json(number: float) -> int | float:
    if not math.isfinite(number):
        raise ValueError(f"JSON has no number {number}")
    return int(number) if number.is_integer() and abs(number) < strict_json.LARGEST else number


# What follows is about messages that are not objects in JSON.


def _moment(message: Wire) -> datetime | None:
    if not message:
        return None
    microseconds = math.trunc(message.get("nanos", 0) / 1000)
    try:
        return EPOCH + timedelta(seconds=message.get("seconds", 0), microseconds=microseconds)
    except OverflowError:
        raise ValueError("the time is not in the years 1 to 9999") from None


def _time(message: Wire) -> str | None:
    moment = _moment(message)
    return format_time(moment) if moment else None


def _micro_time(message: Wire) -> str | None:
    moment = _moment(message)
    return MicroTime.of(moment).to_wire() if moment else None


def _int_or_string(message: Wire) -> int | str:
    match message.get("type", 0):
        case 0:
            number: int = message.get("intVal", 0)
            return number
        case 1:
            text: str = message.get("strVal", "")
            return text
    raise ValueError(f"an IntOrString has the type 0 or 1, and not {message['type']}")


def _alone(message: Wire) -> Any:
    return next(iter(message.values()), None)


def _items(message: Wire) -> list[str]:
    items: list[str] = message.get("items", [])
    return items


JSON_FORMS: Mapping[str, Callable[[Wire], Any]] = {
    "apiextensions.v1.JSON": _alone,
    f"{SCHEMA}OrArray": lambda message: message.get("jSONSchemas") or message.get("schema"),
    f"{SCHEMA}OrBool": lambda message: message.get("schema", message.get("allows", False)),
    f"{SCHEMA}OrStringArray": lambda message: message.get("property") or message.get("schema"),
    "authentication.v1.ExtraValue": _items,
    "authorization.v1.ExtraValue": _items,
    "certificates.v1.ExtraValue": _items,
    "intstr.IntOrString": _int_or_string,
    "meta.v1.FieldsV1": _alone,
    "meta.v1.MicroTime": _micro_time,
    "meta.v1.Time": _time,
    "resource.Quantity": lambda message: message.get("string", "0"),
    "runtime.RawExtension": _alone,
}
