"""What a regular expression finds in a string: `self.x.find('[0-9]+')`."""

from collections.abc import Iterator

from windvane.api.cel.functions import Functions, member
from windvane.api.cel.types import INT, STRING, list_of
from windvane.api.cel.values import CelError
from windvane.api.patterns import Pattern, PatternError, pattern


def _compiled(expression: str) -> Pattern:
    try:
        return pattern(expression)
    except PatternError as error:
        raise CelError(f"Illegal regex: {error}") from None


def _find(text: str, expression: str) -> str:
    return next(_found(text, expression), "")


def _find_all(text: str, expression: str, most: int = -1) -> list[str]:
    found = list(_found(text, expression))
    return found if most < 0 else found[:most]


def _found(text: str, expression: str) -> Iterator[str]:
    """All that is found; nothing right behind something is nothing new."""
    compiled = _compiled(expression)
    at, last = 0, -1
    while at <= len(text) and (span := compiled.first(text, at)) is not None:
        start, end = span
        if start != end or start != last:
            yield text[start:end]
        last = end
        at = end if end > at else at + 1
        if start == end:
            at = max(at, end + 1)


FUNCTIONS: Functions = {
    "find": (member("string_find_string", [STRING, STRING], STRING, _find),),
    "findAll": (
        member("string_find_all_string", [STRING, STRING], list_of(STRING), _find_all),
        member("string_find_all_string_int", [STRING, STRING, INT], list_of(STRING), _find_all),
    ),
}
