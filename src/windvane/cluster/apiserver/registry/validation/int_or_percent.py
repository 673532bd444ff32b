"""Rules for numbers that may be percentages."""

import re

from windvane.cluster.apiserver.registry.validation.problems import Problems

_PERCENT = re.compile("[0-9]+%")
_NOT_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
LONGEST_PERCENT = 19  # what is longer is no number to Go either


def int_or_percent(value: int | str, path: str, problems: Problems) -> None:
    """Check a number that isn't negative, or a percentage."""
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            problems.invalid(path, value, _NOT_PERCENT)
    else:
        problems.not_negative(path, value)


def number(value: int | str) -> int:
    """A number, or that of a percentage."""
    if isinstance(value, int):
        return value
    return int(value[:-1]) if _PERCENT.fullmatch(value) and len(value) <= LONGEST_PERCENT else 0


def at_most_all(value: int | str, path: str, problems: Problems) -> None:
    """Check a percentage that is a share of something."""
    if isinstance(value, str) and number(value) > 100:
        problems.invalid(path, value, "must not be greater than 100%")
