"""Finds a value of the wrong type in an object of a built-in kind, and says so as Go's decoder does.

Such an object is refused with 400 before anything else is looked at, and only its first problem is told.
"""

import binascii
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, get_args, get_origin

import msgspec

from windvane.api.hints import unwrap
from windvane.api.kind import Kind
from windvane.api.markers import Format, Marker
from windvane.api.meta import ObjectMeta
from windvane.api.quantity import Quantity
from windvane.api.time import MicroTime
from windvane.cluster.apiserver.builtin.go_names import WORD_TYPES, folded_in
from windvane.cluster.apiserver.builtin.shapes import class_of, fields_of

_BAD_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_BAD_SUFFIX = "unable to parse quantity's suffix"
_LIKE_QUANTITY = re.compile(r"\s*[+-]?[0-9]*\.?[0-9]*[eEinumkKMGTP]*[-+]?[0-9]*\s*")
_SECONDS, _MICROSECONDS = "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.000000Z07:00"
_TIME_PARTS = tuple(
    zip(
        ("2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"),
        (r"[0-9]{4}", "-", "[0-9]{2}", "-", "[0-9]{2}", "T", "[0-9]{2}", ":", "[0-9]{2}", ":", "[0-9]{2}"),
        strict=True,
    )
)
_GO_TYPES = {"bool": "bool", "bytes": "[]uint8", "Quantity": "resource.Quantity"}
_BASE64 = re.compile("[A-Za-z0-9+/]")


def decode_problem(kind: Kind, obj: object) -> str | None:
    """The message for the first value that has the wrong type, or None if all are right."""
    cls = class_of(kind)
    if cls is None:
        return None
    package = kind.version
    problem = next(_struct(cls, obj, [], "", package), None)
    return problem and f'{kind.name} in version "{kind.version}" cannot be handled as a {kind.name}: {problem}'


def _struct(cls: type[msgspec.Struct], value: object, path: list[str], field: str, package: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _mismatch(value, path, field, _go_name(cls, package))
        return
    fields = fields_of(cls)
    for name, each in value.items():
        if name not in fields or each is None:
            continue
        folded = folded_in(cls.__name__, name)
        below = [*path, folded, name] if folded else [*path, name]
        yield from _value(fields[name], each, below, f"{cls.__name__}.{name}", package)


def _value(annotated: Any, value: object, path: list[str], field: str, package: str) -> Iterator[str]:
    """The problems of one value; `field` is the struct and the name that it stands under in Go."""
    if value is None:
        return
    type_, markers = unwrap(annotated)
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is list:
        if not isinstance(value, list):
            yield _mismatch(value, path, field, f"[]{_go_type(arguments[0], field, package)}")
            return
        for each in value:
            yield from _value(arguments[0], each, path, field, package)
    elif origin is dict:
        if arguments[1] is Any:
            return
        if not isinstance(value, dict):
            words = WORD_TYPES.get(field) or f"map[string]{_go_type(arguments[1], field, package)}"
            yield _mismatch(value, path, field, words)
            return
        for each in value.values():
            yield from _value(arguments[1], each, path, field, package)
    elif type_ is Quantity:
        yield from _quantity(value)
    elif set(arguments) == {int, str}:
        if not isinstance(value, str):
            yield from _number(value, path, field, "int32")
    elif type_ is int:
        yield from _number(value, path, field, _integer(markers))
    elif type_ in (datetime, MicroTime):
        yield from _time(value, path, field, _SECONDS if type_ is datetime else _MICROSECONDS)
    elif type_ is bytes:
        yield from _bytes(value, path, field)
    elif isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        yield from _struct(type_, value, path, field, package)
    elif type_ in (str, bool) and not isinstance(value, type_):
        yield _mismatch(value, path, field, _go_type(type_, field, package))


def _quantity(value: object) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        yield _BAD_QUANTITY
        return
    try:
        Quantity.from_wire(value)
    except ValueError:
        yield _BAD_SUFFIX if value and _LIKE_QUANTITY.fullmatch(str(value)) else _BAD_QUANTITY


def _number(value: object, path: list[str], field: str, go_type: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield _mismatch(value, path, field, go_type)
    elif isinstance(value, float) or not -(2 ** (int(go_type[3:]) - 1)) <= value < 2 ** (int(go_type[3:]) - 1):
        yield _mismatch(value, path, field, go_type, f"number {value}")


def _time(value: object, path: list[str], field: str, layout: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield _mismatch(value, path, field, "string")
        return
    rest = value
    for shown, pattern in _TIME_PARTS:
        matched = re.match(pattern, rest)
        if matched is None:
            yield f'parsing time "{value}" as "{layout}": cannot parse "{rest}" as "{shown}"'
            return
        rest = rest[matched.end() :]
    rest = re.sub(r"^[.,][0-9]+", "", rest)
    if not re.fullmatch(r"Z|[+-][0-9]{2}:[0-9]{2}", rest):
        yield f'parsing time "{value}" as "{layout}": cannot parse "{rest}" as "Z07:00"'


def _bytes(value: object, path: list[str], field: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield _mismatch(value, path, field, "[]uint8")
        return
    try:
        binascii.a2b_base64(value, strict_mode=True)
    except ValueError:
        yield from _base64_problem(value)


def _base64_problem(value: str) -> Iterator[str]:
    """Where Go stops reading; line breaks are no reason to."""
    meant = [(place, each) for place, each in enumerate(value) if each not in "\r\n"]
    padding = len(meant)
    for count, (place, each) in enumerate(meant):
        if each == "=" and count % 4 >= 2:
            padding = count
            break
        if not _BASE64.match(each):
            yield f"illegal base64 data at input byte {place}"
            return
    ending, needed = "".join(each for _, each in meant[padding:]), "=" * (-padding % 4)
    if ending == needed:
        return
    if not ending:
        place = meant[padding - padding % 4][0]
    elif ending.startswith(needed):
        place = meant[padding + len(needed)][0]
    else:
        place = len(value) if ending == "=" else meant[padding][0]
    yield f"illegal base64 data at input byte {place}"


def _mismatch(value: object, path: list[str], field: str, go_type: str, shown: str = "") -> str:
    into = f"Go struct field {field.partition('.')[0]}.{'.'.join(path)}" if path else "Go value"
    return f"json: cannot unmarshal {shown or _json_type(value)} into {into} of type {go_type}"


def _json_type(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return {"str": "string", "dict": "object", "list": "array"}.get(type(value).__name__, "value")


def _go_type(annotated: Any, field: str, package: str) -> str:
    type_, markers = unwrap(annotated)
    if type_ is str:
        return WORD_TYPES.get(field, "string")
    if type_ is int:
        return _integer(markers)
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return _go_name(type_, package)
    return _GO_TYPES.get(getattr(type_, "__name__", ""), "interface {}")


def _integer(markers: list[Marker]) -> str:
    return next((str(marker.keywords()["format"]) for marker in markers if isinstance(marker, Format)), "int64")


def _go_name(cls: type[msgspec.Struct], package: str) -> str:
    """The name of a struct with that of its package, which in Kubernetes is the version of its group."""
    version = "v1" if issubclass(cls, ObjectMeta) or cls.__module__.endswith((".core", ".meta")) else package
    return f"{version}.{cls.__name__}"
