"""A label selector picks objects by their labels: `app=web,tier in (front,back),!legacy`.

    Selector.parse("app=web,!legacy").matches({"app": "web"})
    Selector.of({"app": "web"})

Every requirement must hold. A selector without requirements matches everything; `Selector.nothing()` matches
nothing. A missing label satisfies `!=`, `notin` and `!`, and nothing else.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias, get_args

from windvane.api.names import label_key_problems, label_value_problems

Operator: TypeAlias = Literal["=", "==", "!=", "in", "notin", ">", "<", "exists", "!"]

_EXAMPLE = "write for example app=web,tier in (front,back),!legacy"
_TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^=!(),<> \t\r\n]+|$)")
_SYMBOLS = frozenset(["==", "!=", *"=!(),<>"])
_BINARY: Mapping[str, Operator] = {
    operator: operator for operator in get_args(Operator) if operator not in ("exists", "!")
}
_EXPRESSION: Mapping[str, Operator] = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}

Place: TypeAlias = Literal[
    "start", "after a comma", "after a requirement", "key", "operator", "value",
    "values", "first of values", "next of values", "after one of values",
]  # fmt: skip
"""Where in a selector something is expected."""

_EXPECTED: Mapping[Place, str] = {
    "start": "a label key",
    "after a comma": "a label key",
    "after a requirement": "',' or the end",
    "key": "a label key",
    "operator": "one of = == != in notin > < after the key",
    "value": "a value",
    "values": "'('",
    "first of values": "a value",
    "next of values": "a value",
    "after one of values": "',' or ')'",
}


class UnexpectedToken(ValueError):
    """A selector's text has `found` at a `place` where something else must be; `found` is empty at its end."""

    def __init__(self, message: str, found: str, place: Place) -> None:
        super().__init__(message)
        self.found = found
        self.place = place


class BadRequirement(ValueError):
    """A key, an operator and values that make no requirement."""

    def __init__(self, message: str, key: str, operator: Operator, values: tuple[str, ...]) -> None:
        super().__init__(message)
        self.key = key
        self.operator = operator
        self.values = values


class MatchExpression(Protocol):
    """The part of `LabelSelectorRequirement` that a selector is made from."""

    @property
    def key(self) -> str: ...
    @property
    def operator(self) -> str: ...
    @property
    def values(self) -> Iterable[str] | None: ...


class LabelSelectorShape(Protocol):
    """The part of `LabelSelector` that a selector is made from."""

    @property
    def match_labels(self) -> Mapping[str, str] | None: ...
    @property
    def match_expressions(self) -> Iterable[MatchExpression] | None: ...


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label. The values are sorted."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(sorted(self.values)))
        if problem := self._problem():
            message = f"label {self.key[:80]!r}: {problem}; {_EXAMPLE}"
            raise BadRequirement(message, self.key, self.operator, self.values)

    def _problem(self) -> str | None:
        if problems := label_key_problems(self.key):
            return f"bad label key: {'; '.join(problems)}"
        if self.operator in ("in", "notin"):
            if not self.values:
                return f"{self.operator!r} needs at least one value"
        elif len(self.values) != (0 if self.operator in ("exists", "!") else 1):
            return f"{self.operator!r} doesn't go with {len(self.values)} values"
        if self.operator in ("<", ">") and as_integer(self.values[0]) is None:
            return f"{self.operator!r} needs an integer, not {self.values[0][:80]!r}"
        for value in self.values:
            if problems := label_value_problems(value):
                return f"bad label value {value[:80]!r}: {'; '.join(problems)}"
        return None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels satisfy the condition."""
        value = labels.get(self.key)
        match self.operator:
            case "=" | "==" | "in":
                return value in self.values
            case "!=" | "notin":
                return value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
        found, limit = as_integer(value or ""), as_integer(self.values[0])
        if found is None or limit is None:
            return False
        return found > limit if self.operator == ">" else found < limit

    def __str__(self) -> str:
        match self.operator:
            case "exists":
                return self.key
            case "!":
                return f"!{self.key}"
            case "in" | "notin":
                return f"{self.key} {self.operator} ({','.join(self.values)})"
        return f"{self.key}{self.operator}{self.values[0]}"


@dataclass(frozen=True, slots=True)
class Selector:
    """A set of requirements, in the order of their keys."""

    requirements: Sequence[Requirement] = ()

    def __post_init__(self) -> None:
        in_order = tuple(sorted(self.requirements, key=lambda requirement: requirement.key))
        object.__setattr__(self, "requirements", in_order)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a selector as `kubectl -l` and the API server do."""
        return cls(_Parser(text).requirements())

    @classmethod
    def of(cls, labels: Mapping[str, str]) -> Self:
        """The selector of objects that have all these labels."""
        return cls([Requirement(key, "=", (value,)) for key, value in labels.items()])

    @classmethod
    def nothing(cls) -> Self:
        """A selector that no object can satisfy, also when it is printed and sent to a server."""
        return cls([Requirement("nothing", "exists"), Requirement("nothing", "!")])

    @classmethod
    def from_label_selector(cls, selector: LabelSelectorShape | None) -> Self:
        """The selector in an object's spec. None selects nothing, an empty one everything."""
        if selector is None:
            return cls.nothing()
        requirements = [Requirement(key, "=", (value,)) for key, value in (selector.match_labels or {}).items()]
        for expression in selector.match_expressions or ():
            if expression.operator not in _EXPRESSION:
                allowed = ", ".join(_EXPRESSION)
                problem = f"{expression.operator!r} is not an operator; there is {allowed}"
                raise ValueError(f"label {expression.key[:80]!r}: {problem}")
            operator = _EXPRESSION[expression.operator]
            requirements.append(Requirement(expression.key, operator, tuple(expression.values or ())))
        return cls(requirements)

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Whether an object with these labels is selected."""
        have = labels or {}
        return all(requirement.matches(have) for requirement in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


class _Parser:
    """Reads one requirement after the other; every token is looked at a bounded number of times."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next = 0
        self._word = ""
        self._start = 0
        self._advance()

    def requirements(self) -> list[Requirement]:
        if not self._word:
            return []
        found = [self._requirement("start")]
        while self._word:
            self._expect(",", "after a requirement")
            found.append(self._requirement("after a comma"))
        return found

    def _requirement(self, place: Place) -> Requirement:
        start = self._start
        absent = self._word == "!"
        if absent:
            self._advance()
        key = self._identifier("key" if absent else place)
        try:
            return Requirement(key, "!") if absent else self._rest(key)
        except BadRequirement as error:
            message = f"label selector {self._shown()}, character {start + 1}: {error}"
            raise BadRequirement(message, error.key, error.operator, error.values) from None

    def _rest(self, key: str) -> Requirement:
        if self._word in ("", ","):
            return Requirement(key, "exists")
        if self._word not in _BINARY:
            Requirement(key, "exists")  # a key that can't be is worth more words than what comes after it
            raise self._unexpected("operator")
        operator = _BINARY[self._advance()]
        if operator in ("in", "notin"):
            return Requirement(key, operator, self._values())
        # `a=` asks for the empty string.
        value = "" if self._word in ("", ",") else self._identifier("value")
        return Requirement(key, operator, (value,))

    def _values(self) -> tuple[str, ...]:
        self._expect("(", "values")
        values = {self._value("first of values")}
        while self._word == ",":
            self._advance()
            values.add(self._value("next of values"))
        self._expect(")", "after one of values")
        return tuple(values)

    def _value(self, place: Place) -> str:
        """One of several values, which may be left out: `a in (b,)` also asks for the empty string."""
        return "" if self._word in (",", ")") else self._identifier(place)

    def _identifier(self, place: Place) -> str:
        if self._word in _SYMBOLS or not self._word:
            raise self._unexpected(place)
        return self._advance()

    def _expect(self, symbol: str, place: Place) -> None:
        if self._word != symbol:
            raise self._unexpected(place)
        self._advance()

    def _advance(self) -> str:
        """Step over the current token and return it. The token after the last is empty."""
        passed = self._word
        token = _TOKEN.match(self._text, self._next)
        self._word = token[1] if token else ""
        self._start = token.start(1) if token else len(self._text)
        self._next = token.end() if token else len(self._text)
        return passed

    def _unexpected(self, place: Place) -> UnexpectedToken:
        found = repr(self._word[:80]) if self._word else "the end"
        where = f"label selector {self._shown()}, character {self._start + 1}"
        message = f"{where}: found {found}, expected {_EXPECTED[place]}; {_EXAMPLE}"
        return UnexpectedToken(message, self._word, place)

    def _shown(self) -> str:
        return repr(self._text) if len(self._text) <= 80 else f"{self._text[:80]!r}…"


def as_integer(text: str) -> int | None:
    """The number in a label, if it is one that fits into 64 bits."""
    if not re.fullmatch(r"[+-]?0*[0-9]{1,19}", text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
