"""What can be done to strings beyond comparing them; characters are counted, not bytes."""

from typing import Any

from windvane.api.cel.cost.limits import ITEM, room_for
from windvane.api.cel.functions import Functions, member, plain
from windvane.api.cel.library.formatting import formatted
from windvane.api.cel.types import DYN, INT, STRING, list_of
from windvane.api.cel.values import CelError, items_of

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_UPPER = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}
_QUOTED = str.maketrans(
    {
        "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\",
        '"': '\\"',
    }
)  # fmt: skip
# What Go takes for space.
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def _out_of_range(index: int) -> CelError:
    return CelError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    return text.find(part, offset)


def _last_index_of(text: str, part: str) -> int:
    if not part:
        return len(text)
    return text.rfind(part)


def _last_index_before(text: str, part: str, offset: int) -> int:
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    if offset >= len(text):
        return -1
    return text.rfind(part, 0, offset + len(part))


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    times = text.count(old)
    room_for(len(text) + (min(times, count) if count >= 0 else times) * len(new))
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    parts = text.count(separator)
    room_for(len(text) + (min(parts, count) if count > 0 else parts) * ITEM)
    if not separator:
        letters = list(text)
        if 0 < count < len(letters):
            letters[count - 1 :] = ["".join(letters[count - 1 :])]
        return letters
    return text.split(separator, count - 1 if count > 0 else -1)


def _substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def _substring_to(text: str, start: int, end: int) -> str:
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    if not 0 <= end <= len(text):
        raise _out_of_range(end)
    return text[start:end]


def _join(parts: Any, separator: str = "") -> str:
    found = items_of(parts)
    for each in found:
        if type(each) is not str:
            raise CelError(f"join: invalid input: {each}")
    return separator.join(found)


FUNCTIONS: Functions = {
    "charAt": (member("string_char_at_int", [STRING, INT], STRING, _char_at),),
    "indexOf": (
        member("string_index_of_string", [STRING, STRING], INT, _index_of),
        member("string_index_of_string_int", [STRING, STRING, INT], INT, _index_of),
    ),
    "lastIndexOf": (
        member("string_last_index_of_string", [STRING, STRING], INT, _last_index_of),
        member("string_last_index_of_string_int", [STRING, STRING, INT], INT, _last_index_before),
    ),
    "lowerAscii": (member("string_lower_ascii", [STRING], STRING, lambda text: text.translate(_LOWER)),),
    "upperAscii": (member("string_upper_ascii", [STRING], STRING, lambda text: text.translate(_UPPER)),),
    "replace": (
        member("string_replace_string_string", [STRING, STRING, STRING], STRING, _replace),
        member("string_replace_string_string_int", [STRING, STRING, STRING, INT], STRING, _replace),
    ),
    "split": (
        member("string_split_string", [STRING, STRING], list_of(STRING), _split),
        member("string_split_string_int", [STRING, STRING, INT], list_of(STRING), _split),
    ),
    "substring": (
        member("string_substring_int", [STRING, INT], STRING, _substring),
        member("string_substring_int_int", [STRING, INT, INT], STRING, _substring_to),
    ),
    "trim": (member("string_trim", [STRING], STRING, lambda text: text.strip(_SPACE)),),
    "join": (
        member("list_join", [list_of(STRING)], STRING, _join),
        member("list_join_string", [list_of(STRING), STRING], STRING, _join),
    ),
    "format": (member("string_format", [STRING, list_of(DYN)], STRING, formatted),),
    "strings.quote": (plain("strings_quote", [STRING], STRING, lambda text: f'"{text.translate(_QUOTED)}"'),),
}
