"""JSON paths as CRDs write them, in Kubernetes' own dialect: `.status.conditions[?(@.type=="Ready")].status`.

    ready = JSONPath.parse('.status.conditions[?(@.type=="Ready")].status')
    ready.find({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})  # ["True"]

A path is a chain of steps, and each turns the values found so far into others:

    .name  ['name']       a field; a dot in its name is written `\\.`
    [0] [-1] [0:4:2] [*]  items of a list
    [?(@.size > 3)]       the items for which this holds: == != < <= > >=, or nothing, for a field that is there
    ..                    a value and all that is inside it
    .*  [0,2]             all fields; several selections, one after the other
    "text" 3 1.5 true     these values themselves; they are for the right side of a filter

What is not there is not found, and that is no error. Neither is a path that can't be followed, such as an index in
what is no list: then nothing is found at all. Only a path that can't be read is an error, when it is parsed.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

Values: TypeAlias = list[Any]
Step: TypeAlias = Callable[[Values], Values]

_ENDS_A_NAME = frozenset(" \t\r\n.,[]$@{}")
_NUMBER = re.compile(r"[+-]?[0-9.]*")
_KEY = re.compile(r"'([^']*)'")
_SLICE = re.compile(r"(-?[0-9]{0,18})(?::(-?[0-9]{0,18}))?(?::(-?[0-9]{0,18}))?")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_SIMPLE_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class JSONPath:
    """A path that has been read and can be followed."""

    text: str
    steps: Sequence[Step]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a path; ValueError says what is wrong in it, and where."""
        return cls(text, _Parser(text).steps())

    def find(self, value: Any) -> Values:
        """All that the path leads to, from a JSON value; nothing if it can't be followed."""
        try:
            return _follow(self.steps, [value])
        except _DeadEndError:
            return []


class _DeadEndError(Exception):
    """The path can't be followed in this value."""


def _follow(steps: Sequence[Step], values: Values) -> Values:
    for step in steps:
        values = step(values)
    return values


def _field(name: str) -> Step:
    return lambda values: [value[name] for value in values if isinstance(value, dict) and name in value]


def _literal(literal: object) -> Step:
    return lambda values: [literal for _ in values]


def _fails(_: Values) -> Values:
    raise _DeadEndError


def _inside(value: object) -> Values:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _everything(values: Values) -> Values:
    return [inner for value in values for inner in _inside(value)]


def _descend(values: Values) -> Values:
    """Every value that has something inside, from the outside in; a text has its letters."""
    found = []
    # Not recursive: an object may be nested deeper than Python's stack.
    waiting = values[::-1]
    while waiting:
        value = waiting.pop()
        inner = _inside(value)
        if inner or (isinstance(value, str) and value):
            found.append(value)
            waiting.extend(reversed(inner))
    return found


def _union(branches: Sequence[Sequence[Step]]) -> Step:
    return lambda values: [found for branch in branches for found in _follow(branch, values)]


def _items(start: int, stop: int | None, step: int, *, single: bool) -> Step:
    """A slice of lists. Unlike Python's, one that reaches beyond the end is a dead end."""

    def select(values: Values) -> Values:
        found: Values = []
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list):
                raise _DeadEndError
            size = len(value)
            first = start + size if start < 0 else start
            last = size if stop is None else stop
            if last < 0 or (last == 0 and single):
                last += size
            if first == last:
                return found
            if not 0 <= first < last <= size or step <= 0:
                raise _DeadEndError
            found += value[first:last:step]
        return found

    return select


def _filter(holds: Callable[[Any], bool]) -> Step:
    def select(values: Values) -> Values:
        if not all(isinstance(value, list) for value in values):
            raise _DeadEndError
        return [item for value in values for item in value if holds(item)]

    return select


def _exists(steps: Sequence[Step]) -> Callable[[Any], bool]:
    def holds(item: object) -> bool:
        try:
            return bool(_follow(steps, [item]))
        except _DeadEndError:
            return True  # odd, but so it is in Kubernetes

    return holds


def _compares(left: Sequence[Step], sign: str, right: Sequence[Step]) -> Callable[[Any], bool]:
    def holds(item: object) -> bool:
        sides: Values = []
        for steps in (left, right):
            found = _follow(steps, [item])
            if not found:
                return False
            if len(found) > 1:
                raise _DeadEndError
            sides += found
        # The same types or nothing: 1 is neither 1.0 nor true here, and there is no order of booleans.
        comparable: tuple[type, ...] = (str, int, float, bool) if sign in ("==", "!=") else (str, int, float)
        if sign not in _OPERATORS or type(sides[0]) is not type(sides[1]) or type(sides[0]) not in comparable:
            raise _DeadEndError
        return _OPERATORS[sign](*sides)

    return holds


class _Parser:
    """Reads a path from left to right. `origin` is where its text begins in the whole path, for errors."""

    def __init__(self, text: str, whole: str | None = None, origin: int = 0) -> None:
        self._text = text
        self._whole = text if whole is None else whole
        self._origin = origin
        self._at = 0

    def steps(self) -> list[Step]:
        steps: list[Step] = []
        while self._at < len(self._text):
            here = self._text[self._at]
            if self._text.startswith("[?(", self._at):
                steps.append(self._filter())
            elif self._text.startswith("..", self._at):
                if steps and steps[-1] is _descend:
                    raise self._problem("'..' twice in a row")
                self._at += 2
                steps.append(_descend)
                following = self._text[self._at : self._at + 1]
                if following.isalnum() or following == "_":
                    steps.append(self._name())
            elif here == ".":
                self._at += 1
                steps.append(self._name())
            elif here == "[":
                steps += self._brackets()
            elif here in "\"'":
                steps.append(self._quoted(here))
            elif here in " @$":
                self._at += 1
            elif here in "+-" or here.isdecimal():
                steps.append(self._number())
            elif here.isalnum() or here == "_":
                steps.append(self._word())
            else:
                raise self._problem(f"{here!r} is not expected here")
        return steps

    def _name(self) -> Step:
        """A field, up to what ends it; a backslash takes the next character as it is."""
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in _ENDS_A_NAME:
            self._at += 2 if self._text[self._at] == "\\" else 1
        if self._at > len(self._text):
            self._at = len(self._text) - 1
            raise self._problem("there is nothing after the last backslash")
        name = self._text[start : self._at]
        return _everything if name == "*" else _field(name.replace("\\", ""))

    def _word(self) -> Step:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in _ENDS_A_NAME:
            self._at += 1
        word = self._text[start : self._at]
        # The dialect has more words, for templates. In a path they mean nothing, and finding nothing is all they do.
        return _literal(word == "true") if word in ("true", "false") else _fails

    def _number(self) -> Step:
        match = _NUMBER.match(self._text, self._at)
        digits = match[0] if match else ""
        try:
            number = float(digits) if "." in digits else int(digits)
        except ValueError:
            raise self._problem(f"{digits!r} is not a number") from None
        self._at += len(digits)
        return _literal(number)

    def _quoted(self, quote: str) -> Step:
        start = self._at
        end = self._text.find(quote, start + 1)
        while end > 0 and self._text[end - 1] == "\\":
            end = self._text.find(quote, end + 1)
        if end < 0 or "\n" in self._text[start:end]:
            raise self._problem(f"the text that begins with {quote} does not end")
        text = _ESCAPE.sub(lambda escape: self._unescaped(escape[1], quote), self._text[start + 1 : end])
        self._at = end + 1
        return lambda _: [text]

    def _unescaped(self, escape: str, quote: str) -> str:
        if escape in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[escape]
        if escape == quote:
            return quote
        code = int(escape[1:], 16) if len(escape) > 1 else -1
        if not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise self._problem(f"'\\{escape}' means nothing in a text")
        return chr(code)

    def _brackets(self) -> list[Step]:
        start = self._at
        end = self._text.find("]", start)
        if end < 0 or "\n" in self._text[start:end]:
            raise self._problem("'[' without ']'")
        parts = self._text[start + 1 : end].split(",")
        if len(parts) == 1:
            steps = self._selection(parts[0], start)
        else:
            steps = [_union([self._selection(part.strip(" "), start) for part in parts])]
        self._at = end + 1
        return steps

    def _selection(self, text: str, start: int) -> list[Step]:
        """What is inside of brackets: a quoted key, an index, a slice, or a star."""
        if text == "*":
            return [_items(0, None, 1, single=False)]
        if key := _KEY.fullmatch(text):
            # A key is read like a field, so a dot in it must be escaped here too.
            return _Parser(f".{key[1]}", self._whole, self._origin + start + 1).steps()
        bounds = _SLICE.fullmatch(text)
        if bounds is None or "-" in bounds.groups():
            raise self._problem(f"[{text}] is neither an index such as [0], nor [*], nor a key in single quotes")
        first, last, step = bounds.groups()
        begin = int(first or 0)
        if last is None:
            return [_items(begin, begin + 1, int(step or 1), single=True)]
        return [_items(begin, int(last) if last else None, int(step or 1), single=False)]

    def _filter(self) -> Step:
        start = self._at + len("[?(")
        end = self._end_of_filter(start)
        if not self._text.startswith(")]", end):
            raise self._problem("the filter that begins here does not end with ')]'")
        text = self._text[start:end]
        self._at = end + 2
        comparison = _COMPARISON.fullmatch(text)
        if comparison is None:
            return _filter(_exists(self._part(text, start)))
        left, sign, right = comparison.groups()
        after = start + comparison.start(3)
        return _filter(_compares(self._part(left, start), sign, self._part(right, after)))

    def _part(self, text: str, start: int) -> list[Step]:
        return _Parser(text, self._whole, self._origin + start).steps()

    def _end_of_filter(self, start: int) -> int:
        """Where its parenthesis closes; one in quotes does not."""
        quote = ""
        for at in range(start, len(self._text)):
            here = self._text[at]
            if here == "\n":
                break
            if here in "\"'" and not quote:
                quote = here
            elif quote and here == quote and self._text[at - 1] != "\\":
                quote = ""
            elif here == ")" and not quote:
                return at
        return len(self._text)

    def _problem(self, problem: str) -> ValueError:
        place = self._origin + self._at + 1
        shown = self._whole if len(self._whole) <= 100 else f"{self._whole[:100]}…"
        return ValueError(f"JSON path {shown!r}, character {place}: {problem}; write for example .spec.image")
