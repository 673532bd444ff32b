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
            raise ValueError(f"label {self.key[:80]!r}: {problem}; {_EXAMPLE}")

    def _problem(self) -> str | None:
        if problems := label_key_problems(self.key):
            return f"bad label key: {'; '.join(problems)}"
        if self.operator in ("in", "notin"):
            if not self.values:
                return f"{self.operator!r} needs at least one value"
        elif len(self.values) != (0 if self.operator in ("exists", "!") else 1):
            return f"{self.operator!r} doesn't go with {len(self.values)} values"
        if self.operator in ("<", ">") and _integer(self.values[0]) is None:
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
        found, limit = _integer(value or ""), _integer(self.values[0])
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
        found: list[Requirement] = []
        if self._word:
            found.append(self._requirement())
            while self._word:
                self._expect(",", "',' or the end")
                found.append(self._requirement())
        return found

    def _requirement(self) -> Requirement:
        start = self._start
        absent = self._word == "!"
        if absent:
            self._advance()
        key = self._identifier("a label key")
        operator: Operator
        values: tuple[str, ...] = ()
        if absent:
            operator = "!"
        elif self._word in ("", ","):
            operator = "exists"
        elif self._word in _BINARY:
            operator = _BINARY[self._advance()]
            values = self._values() if operator in ("in", "notin") else (self._value(end=("", ",")),)
        else:
            raise self._problem("one of = == != in notin > < after the key")
        try:
            return Requirement(key, operator, values)
        except ValueError as error:
            raise ValueError(f"label selector {self._shown()}, character {start + 1}: {error}") from None

    def _values(self) -> tuple[str, ...]:
        self._expect("(", "'('")
        values = {self._value(end=(",", ")"))}
        while self._word == ",":
            self._advance()
            values.add(self._value(end=(",", ")")))
        self._expect(")", "',' or ')'")
        return tuple(values)

    def _value(self, end: tuple[str, str]) -> str:
        """A value, which may be left out: `a=` and `a in (b,)` ask for the empty string."""
        return "" if self._word in end else self._identifier("a value")

    def _identifier(self, expected: str) -> str:
        if self._word in _SYMBOLS or not self._word:
            raise self._problem(expected)
        return self._advance()

    def _expect(self, symbol: str, expected: str) -> None:
        if self._word != symbol:
            raise self._problem(expected)
        self._advance()

    def _advance(self) -> str:
        """Step over the current token and return it. The token after the last is empty."""
        passed = self._word
        token = _TOKEN.match(self._text, self._next)
        self._word = token[1] if token else ""
        self._start = token.start(1) if token else len(self._text)
        self._next = token.end() if token else len(self._text)
        return passed

    def _problem(self, expected: str) -> ValueError:
        found = repr(self._word[:80]) if self._word else "the end"
        where = f"label selector {self._shown()}, character {self._start + 1}"
        return ValueError(f"{where}: found {found}, expected {expected}; {_EXAMPLE}")

    def _shown(self) -> str:
        return repr(self._text) if len(self._text) <= 80 else f"{self._text[:80]!r}…"


def _integer(text: str) -> int | None:
    """The number in a label, if it is one that fits into 64 bits."""
    if not re.fullmatch(r"[+-]?0*[0-9]{1,19}", text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
