"""From the bytes of a body to a JSON value, at a cost that its sender can't drive up.

What decodes here is safe to walk with recursion: it is not nested deeply, and its numbers are those that Go has.
"""

import json
from typing import Any

import msgspec

DEEPEST = 250
LARGEST = 2**63

# A run of this many digits may be an integer that takes more than 64 bits. All digits look alike after the
# translation, and looking for a run of one byte is ten times as fast as a regular expression.
_LONG_NUMBER = b"0" * 19
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"000000000")

Pairs = tuple[tuple[str, Any], ...]


class NotJson(ValueError):
    """The body is not JSON, or not of a kind that can be taken in; the message says where or why."""


def decode(body: bytes) -> Any:
    """The JSON value that the body is; of a field that is there twice, the last."""
    try:
        value = msgspec.json.decode(body)
    except RecursionError:
        raise NotJson("exceeded max depth") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotJson(str(error)) from error
    # Brackets are counted much faster than depth, and most bodies have few.
    if body.count(b"[") + body.count(b"{") > DEEPEST:
        _check_depth(value)
    if _LONG_NUMBER in body.translate(_DIGITS_ALIKE):
        return _narrowed(value)
    return value


def decode_strict(body: bytes) -> tuple[Any, list[str]]:
    """The value, and a complaint like `duplicate field "spec.image"` for every field that is there twice."""
    value = decode(body)
    repeated: list[Pairs] = []

    def notice(pairs: list[tuple[str, Any]]) -> Pairs:
        kept = tuple(pairs)
        if len({key for key, _ in pairs}) < len(pairs):
            repeated.append(kept)
        return kept

    tree = json.loads(body, object_pairs_hook=notice)
    return value, _duplicates(tree, "") if repeated else []


def _duplicates(tree: Any, path: str) -> list[str]:
    found = []
    if isinstance(tree, tuple):
        times: dict[str, int] = {}
        for key, inner in tree:
            here = f"{path}.{key}" if path else key
            times[key] = times.get(key, 0) + 1
            if times[key] == 2:
                found.append(f'duplicate field "{here}"')
            found += _duplicates(inner, here)
    elif isinstance(tree, list):
        for index, inner in enumerate(tree):
            found += _duplicates(inner, f"{path}[{index}]")
    return found


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
