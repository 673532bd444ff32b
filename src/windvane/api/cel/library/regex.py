"""What a regular expression finds in a string: `self.x.find('[0-9]+')`."""

from collections.abc import Iterator
from itertools import islice

from windvane.api.cel.cost.limits import ITEM, room_for, time_for
from windvane.api.cel.functions import Functions, member
from windvane.api.cel.types import INT, STRING, list_of
from windvane.api.cel.values import CelError
from windvane.api.openapi.patterns import Pattern, PatternError, pattern


def _compiled(expression: str) -> Pattern:
    try:
        return pattern(expression)
    except PatternError as error:
        raise CelError(f"Illegal regex: {error}") from None


def _find(text: str, expression: str) -> str:
    return next(_found(text, expression), "")


def _find_all(text: str, expression: str, most: int = -1) -> list[str]:
    return list(islice(_found(text, expression), most if most >= 0 else None))


def _found(text: str, expression: str) -> Iterator[str]:
    """All that is found; nothing right behind something is nothing new."""
    last, compiled = -1, _compiled(expression)
    time_for(compiled.seconds(text))
    for start, end in compiled.spans(text):
        if start != end or start != last:
            room_for(end - start + ITEM)
            yield text[start:end]
        last = end


FUNCTIONS: Functions = {
    "find": (member("string_find_string", [STRING, STRING], STRING, _find),),
    "findAll": (
        member("string_find_all_string", [STRING, STRING], list_of(STRING), _find_all),
        member("string_find_all_string_int", [STRING, STRING, INT], list_of(STRING), _find_all),
    ),
}
