"""The regular expressions of CRDs: RE2, as in Go, which never backtracks and so can't be made to hang.

Python's own `re` takes exponential time for `(a+)+$`, knows no `\\z` or `\\pN`, and allows what Go refuses.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import re2  # type: ignore[import-untyped]

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
# A bound on what one pattern can cost, and on how long all wait until it is compiled: a quarter of a second. RE2 spells
# out in bytes what a letter can be, so this is less than what Go compiles: `\pL{400}` is in, and `\pL{450}` is not.
_OPTIONS.max_mem = 8 << 20
_SECONDS_PER_STEP = 1e-8
_LARGE = 20_000  # steps; a pattern of text without such classes has some hundred

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
        self._steps: int = self._whole.programsize
        self._quick = _quick(text) if self._steps <= _LARGE else None

    def seconds(self, text: str) -> float:
        """How long it can take at worst to look through `text`; most patterns take a hundredth of that."""
        return len(text) * self._steps * _SECONDS_PER_STEP

    def found_in(self, text: str) -> bool:
        """Whether the pattern matches anywhere in `text`."""
        # A set gives up, and says no, where its automaton would get too big; the single pattern never does.
        return (self._quick is not None and bool(self._quick.Match(text))) or self._whole.search(text) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the pattern matches, from left to right. An empty match may be there twice."""
        return (found.span() for found in self._whole.finditer(text))


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
