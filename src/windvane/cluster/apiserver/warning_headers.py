"""Warning headers, as many and as long as a real server sends: 4096 characters in all.

When they are more, each of them is cut to 256 characters, and those that still don't fit are left out.
"""

from collections.abc import Iterable
from unicodedata import category

MOST_CHARACTERS = 4096
MOST_OF_ONE = 256


def warning_headers(warnings: Iterable[str]) -> list[tuple[str, str]]:
    """Each warning once, in their order; one that no header can hold is dropped."""
    told = [each for each in dict.fromkeys(warnings) if each and not _has_control_characters(each)]
    if sum(map(len, told)) > MOST_CHARACTERS:
        told = _cut(told)
    return [_header(each) for each in told]


def _cut(warnings: list[str]) -> list[str]:
    kept: list[str] = []
    length = 0
    for each in warnings:
        if length >= MOST_CHARACTERS:
            break
        kept.append(each[:MOST_OF_ONE])
        length += len(kept[-1])
    return kept


def _has_control_characters(text: str) -> bool:
    return any(category(character) == "Cc" for character in text)


def _header(text: str) -> tuple[str, str]:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return "Warning", f'299 - "{quoted}"'
