"""From YAML to JSON as Go servers do it: YAML 1.1 with its own idea of numbers, and only the first document.

What a scalar without quotes means is decided here and not by PyYAML, which knows times and numbers to base 60 that the
real server reads as text, and doesn't know that `y` is true.
"""

import base64
import binascii
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import yaml

from windvane.api.wording import quoted, shown_float

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 250
FEW, MANY = 400_000, 4_000_000

_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASES = (16, 2, 8, 10)
_TYPES = {bool: "bool", int: "int", float: "float", str: "str", type(None): "null"}


class NotYaml(ValueError):
    """The body is not YAML, or can't be converted to JSON; the message is Go's."""


class ConvertedYAML(NamedTuple):
    """A YAML body as JSON."""

    body: bytes
    """The same in JSON, its keys in order."""
    repeated: str
    """A complaint about duplicate keys; empty if there are none."""


class _Anchored(NamedTuple):
    value: Any
    nodes: int


def to_json(body: bytes) -> ConvertedYAML:
    """The first document of a YAML body as JSON; of a key that comes twice, the last."""
    reader = _EventReader(body)
    value = reader.document()
    repeated = "yaml: unmarshal errors:\n  " + "\n  ".join(reader.repeated) if reader.repeated else ""
    return ConvertedYAML(msgspec.json.encode(value, order="sorted"), repeated)


class _EventReader:
    """One pass over the events of a document."""

    def __init__(self, body: bytes) -> None:
        self.repeated: list[str] = []
        self._events = _events(body)
        self._anchors: dict[str, _Anchored | None] = {}
        self._nodes = 0
        self._aliased = 0

    def document(self) -> Any:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                value = self._value(next(self._events), DEEPEST)
                next(self._events)  # the document must also end
                return _jsonable(value)
        return None

    def _value(self, event: yaml.Event, depth: int) -> Any:
        if depth == 0:
            raise NotYaml("yaml: exceeded max depth")
        anchor: str = getattr(event, "anchor", None) or ""
        if isinstance(event, yaml.AliasEvent):
            return self._alias(anchor)
        if anchor:
            self._anchors[anchor] = None
        before, self._nodes = self._nodes, self._nodes + 1
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = [self._value(each, depth - 1) for each in self._until(yaml.SequenceEndEvent)]
        else:
            value = self._mapping(depth)
        if anchor:
            self._anchors[anchor] = _Anchored(value, self._nodes - before)
        return value

    def _mapping(self, depth: int) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for event in self._until(yaml.MappingEndEvent):
            if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
                made |= _merged(self._value(next(self._events), depth - 1))
                continue
            key = _key(self._value(event, depth - 1))
            inner = next(self._events)
            value = self._value(inner, depth - 1)
            if key in made:
                line = inner.start_mark.line + 1 if inner.start_mark else 0
                self.repeated.append(f"line {line}: key {_go_syntax(key.value)} already set in map")
            made[key] = value
        return made

    def _until(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        while not isinstance(event := next(self._events), end):
            yield event

    def _alias(self, name: str) -> Any:
        if name not in self._anchors:
            raise NotYaml(f"yaml: unknown anchor '{name}' referenced")
        anchored = self._anchors[name]
        if anchored is None:
            raise NotYaml(f"yaml: anchor '{name}' value contains itself")
        # A few lines of aliases can stand for more than any machine holds.
        self._nodes += anchored.nodes + 1
        self._aliased += anchored.nodes + 1
        allowed = 0.99 - 0.89 * min(max(self._nodes - FEW, 0) / (MANY - FEW), 1)
        if self._aliased > 100 and self._nodes > 1000 and self._aliased / self._nodes > allowed:
            raise NotYaml("yaml: document contains excessive aliasing")
        return anchored.value


class _Key(NamedTuple):
    """A key of a mapping: to Python alone, 1 would be both true and 1.0."""

    type: type
    value: Any


def _key(value: Any) -> _Key:
    if isinstance(value, dict | list):
        raise NotYaml(f"yaml: invalid map key: {_go_syntax(value)}")
    return _Key(type(value), value)


def _events(body: bytes) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(body, Loader=LOADER)
    except yaml.reader.ReaderError as error:
        raise NotYaml(f"yaml: {error.reason}") from error
    except yaml.MarkedYAMLError as error:
        raise NotYaml(f"yaml: {_where(error)}{error.problem}") from error


def _where(error: yaml.MarkedYAMLError) -> str:
    """The line as Go counts it: from 0, where 0 is not told, but from 1 where a token can't be read."""
    line = error.problem_mark.line if error.problem_mark else 0
    if line:
        line += isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark:
        line = error.context_mark.line
    return f"line {line}: " if line else ""


def _merged(value: Any) -> dict[Any, Any]:
    """What `<<` brings in: a mapping, or several of which the first counts most."""
    merged: dict[Any, Any] = {}
    for each in reversed(value if isinstance(value, list) else [value]):
        if not isinstance(each, dict):
            raise NotYaml("yaml: map merge requires map or sequence of maps as the value")
        merged |= each
    return merged


def _scalar(event: yaml.ScalarEvent) -> Any:
    text: str = event.value
    tag = (event.tag or "").removeprefix(_TAG)
    if tag == "binary":
        try:
            return base64.b64decode(text, validate=True).decode(errors="replace")
        except binascii.Error as error:
            raise NotYaml("yaml: !!binary value contains invalid base64 data") from error
    if tag not in ("", "bool", "int", "float", "null") or (not tag and not event.implicit[0]):
        return text
    value = _plain(text)
    if tag == "float" and type(value) is int:
        value = float(value)
    if tag and _TYPES[type(value)] != tag:
        raise NotYaml(f"yaml: cannot decode !!{_TYPES[type(value)]} `{text}` as a !!{tag}")
    return value


def _plain(text: str) -> Any:
    """What a scalar without quotes means."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    plain = text.replace("_", "")
    try:
        if found := _INTEGER.fullmatch(plain):
            sign, *digits = found.groups()
            number = next(int(each, base) for each, base in zip(digits, _BASES, strict=True) if each)
            number = -number if sign == "-" else number
            return number if -(2**63) <= number < 2**64 else float(number)
        if _FLOAT.fullmatch(plain) and math.isfinite(fraction := float(plain)):
            return fraction
    except (ValueError, OverflowError):
        pass  # a number that no float holds, or of more digits than Python reads
    return text  # Go takes that for text, too


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {_key_text(key.value, inner): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_jsonable(each) for each in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotYaml(f"json: unsupported value: {_infinite(value)}")
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    return value


def _key_text(key: Any, value: Any) -> str:
    if isinstance(key, str):
        return key
    if key is None:
        raise NotYaml(f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {_go_syntax(value)}")
    if isinstance(key, float) and not math.isfinite(key):
        return _infinite(key).lower().replace("+", "").replace("inf", ".inf").replace("nan", ".nan")
    return _go_syntax(key)


def _infinite(value: float) -> str:
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _go_syntax(value: Any) -> str:
    """A value as Go's source code would have it (%#v)."""
    match value:
        case None:
            return "interface {}(nil)"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case float():
            return shown_float(value) if math.isfinite(value) else _infinite(value)
        case dict():
            inner = ", ".join(f"{_go_syntax(key.value)}:{_go_syntax(each)}" for key, each in value.items())
            return f"map[interface {{}}]interface {{}}{{{inner}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(_go_syntax, value))}}}"
    return str(value)
