"""From the bytes of a body to a JSON value, at a cost that its sender can't drive up.

What decodes here is safe to walk with recursion: it is not nested deeply, and its numbers are those that Go has.
"""

import codecs
import json
import math
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from windvane.cluster.apiserver.encoding.go_json import go_json_problem

DEEPEST = 250
LARGEST = 2**63

# A run of this many digits may be an integer that takes more than 64 bits. All digits look alike after the
# translation, and looking for a run of one byte is ten times as fast as a regular expression.
_LONG_NUMBER = b"0" * 19
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")

# As in Go, what makes no character is replaced: every such byte, and every half of a pair of escapes that is alone.
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_ESCAPES = re.compile(r"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)")


def _replaced(wrong: UnicodeError) -> tuple[str, int]:
    if not isinstance(wrong, UnicodeDecodeError):
        raise wrong
    return _REPLACEMENT * (wrong.end - wrong.start), wrong.end


codecs.register_error("replaced one for one", _replaced)


class NotJson(ValueError):
    """The body is not JSON, or exceeds a limit; the message says where or why, as Go does."""


class DuplicateKeys(dict[str, Any]):
    """An object with a duplicate key. It has the last value; `pairs` has all."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class NumberLiteral(float):
    """A number with its literal text."""

    text: str

    def __new__(cls, text: str) -> "NumberLiteral":
        number = super().__new__(cls, text)
        number.text = text
        return number


def decode(body: bytes) -> Any:
    """The JSON value that the body is; of a field that is there twice, the last."""
    try:
        value = _decode(body)
    except RecursionError:
        raise NotJson("exceeded max depth") from None
    # Brackets are counted much faster than depth, and most bodies have few.
    if body.count(b"[") + body.count(b"{") > DEEPEST:
        _check_depth(value)
    if _LONG_NUMBER in body.translate(_DIGITS_ALIKE):
        return _narrowed(value)
    return value


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if problem := go_json_problem(body):
            raise NotJson(problem) from error
    # It is JSON to Go, if not to msgspec.
    return json.loads(_text(body), parse_float=_finite, parse_int=_short)


def decode_exactly(body: bytes) -> Any:
    """The value again, with all that `decode` forgets: fields that come twice, and how numbers are written."""

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        once = dict(pairs)
        return once if len(once) == len(pairs) else DuplicateKeys(pairs)

    return json.loads(_text(body), object_pairs_hook=made, parse_float=NumberLiteral, parse_int=_whole)


def repeats(body: bytes, value: Any) -> bool:
    """Whether a field may come twice in the body. If none does, no quotation mark was lost in its value."""
    return b"\\u0022" in body or body.count(b'"') != msgspec.json.encode(value).count(b'"')


def pairs_of(value: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """The fields of an object in their order, each as often as it is there."""
    return value.pairs if isinstance(value, DuplicateKeys) else value.items()


def merged(value: Any) -> Any:
    """An exact value as Go's structs hold it: what comes twice is laid over what came first."""
    if isinstance(value, dict):
        made: dict[str, Any] = {}
        for key, inner in pairs_of(value):
            made[key] = _over(made.get(key), merged(inner))
        return made
    if isinstance(value, list):
        return [merged(inner) for inner in value]
    return float(value) if isinstance(value, NumberLiteral) else value


def _over(first: Any, second: Any) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return first | {key: _over(first.get(key), inner) for key, inner in second.items()}
    if isinstance(first, list) and isinstance(second, list):
        return [_over(*pair) for pair in zip(first, second, strict=False)] + second[len(first) :]
    return second


def duplicates(value: Any, path: str = "") -> list[str]:
    """A complaint like `duplicate field "spec.image"` for every field of an exact value that is there twice."""
    found = []
    if isinstance(value, dict):
        seen: set[str] = set()
        for key, inner in pairs_of(value):
            here = f"{path}.{key}" if path else key
            if key in seen:
                found.append(f'duplicate field "{here}"')
            seen.add(key)
            found += duplicates(inner, here)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += duplicates(inner, f"{path}[{index}]")
    return list(dict.fromkeys(found))


def _text(body: bytes) -> str:
    return _ESCAPES.sub(
        lambda found: _REPLACEMENT if found[1] else found[0], body.decode(errors="replaced one for one")
    )


def _whole(text: str) -> int | NumberLiteral:
    number = _short(text)
    return number if isinstance(number, int) and -LARGEST <= number < LARGEST else NumberLiteral(text)


def _short(text: str) -> int | float:
    """An integer, unless it is so long that it takes Python a while to read."""
    return int(text) if len(text) < 21 else _finite(text)


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise NotJson(f"json: cannot unmarshal number {text} into Go value of type float64")
    return number


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if type(outer) is dict or type(outer) is list
            for inner in (outer.values() if type(outer) is dict else outer)
        ]
        if not level:
            return
    raise NotJson("exceeded max depth")


def _narrowed(value: Any) -> Any:
    """The value with integers beyond 64 bits as floats, which is what they are to Go."""
    if type(value) is dict:
        return {key: _narrowed(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_narrowed(inner) for inner in value]
    if type(value) is int and not -LARGEST <= value < LARGEST:
        try:
            return float(value)
        except OverflowError:
            raise NotJson("number out of range") from None
    return value
