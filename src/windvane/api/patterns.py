"""The regular expressions of CRDs: RE2, as in Go, which never backtracks and so can't be made to hang.

Python's own `re` takes exponential time for `(a+)+$`, knows no `\\z` or `\\pN`, and allows what Go refuses.
"""

import re
from functools import lru_cache

import re2  # type: ignore[import-untyped]

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 32 << 20  # enough for what Go compiles, and a bound on what one pattern can cost

# Where RE2 in C++ and in Go say the same in other words.
_IN_GO = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "bad repetition operator": "invalid nested repetition operator",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}


class PatternError(ValueError):
    """A pattern that Go can't compile, in Go's words."""


class Pattern:
    """One compiled pattern."""

    def __init__(self, text: str) -> None:
        # One byte of a string, which only C++ knows.
        if re.search(r"(?<!\\)(\\\\)*\\C", text):
            raise PatternError("error parsing regexp: invalid escape sequence: `\\C`")
        try:
            self._whole = re2.compile(text, _OPTIONS)
        except re2.error as error:
            raise PatternError(_in_go(error.args[0].decode(), text)) from error
        self._quick = _quick(text)

    def found_in(self, text: str) -> bool:
        """Whether the pattern matches anywhere in `text`."""
        # A set gives up, and says no, where its automaton would get too big; the single pattern never does.
        return (self._quick is not None and bool(self._quick.Match(text))) or self._whole.search(text) is not None

    def first(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Where the pattern matches first, from an index on."""
        found = self._whole.search(text, start)
        return None if found is None else found.span()


@lru_cache(maxsize=1024)
def pattern(text: str) -> Pattern:
    """The pattern, compiled once."""
    return Pattern(text)


def _quick(text: str) -> re2.Set | None:
    """A set of one pattern: five times as fast, because it says nothing but whether there is a match."""
    alone = re2.Set.SearchSet(_OPTIONS)
    try:
        alone.Add(text)
        alone.Compile()
    except re2.error:  # too big for a set
        return None
    return alone


def _in_go(message: str, text: str) -> str:
    if message.startswith("trailing \\"):
        return "error parsing regexp: trailing backslash at end of expression: ``"
    if message.startswith("pattern too large"):
        return f"error parsing regexp: expression too large: `{text}`"
    what, _, where = message.partition(": ")
    if where in ("(?<=", "(?<!"):  # Go takes a look behind for the start of a name
        what, where = "invalid named capture", re.sub("(?s)>.*", ">", text[text.index(where) :])
    return f"error parsing regexp: {_IN_GO.get(what, what)}: `{where}`"
