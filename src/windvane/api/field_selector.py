r"""A field selector picks objects by a few of their fields: `metadata.name=web,status.phase!=Running`.

Which fields can be asked for depends on the kind; the server gives them to `matches` as a flat mapping.
In a value, `,`, `=` and `\` are written with a backslash before them. Blanks count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

_EXAMPLE = "write for example metadata.name=web,status.phase!=Running"
_TERM = re.compile(r"((?:\\.|[^\\,])*\\?)(,|$)", re.DOTALL)
_OPERATOR = re.compile("!=|==|=")
_SPECIAL = re.compile(r"[\\,=]")
_VALUE = re.compile(r"(?:[^\\,=]|\\[\\,=])*")
_ESCAPED = re.compile(r"\\(.)")


class UnreadableTerm(ValueError):
    """A term without an operator, or with something `unescaped` in its value: a comma, `=`, or a backslash and more."""

    def __init__(self, message: str, term: str, unescaped: str = "") -> None:
        super().__init__(message)
        self.term = term
        self.unescaped = unescaped


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One condition on one field. A field that is missing is the empty string."""

    field: str
    operator: Literal["=", "!="]
    value: str

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether these fields satisfy the condition."""
        return (fields.get(self.field, "") == self.value) == (self.operator == "=")

    def __str__(self) -> str:
        return self.field + self.operator + _SPECIAL.sub(r"\\\g<0>", self.value)


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """A set of requirements that must all hold, in the order of their text; without any, it matches everything."""

    requirements: Sequence[FieldRequirement] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "requirements", tuple(sorted(self.requirements, key=str)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a selector as `kubectl --field-selector` and the API server do."""
        # In order, as the API server reads them: of two bad terms, both complain about the same one.
        requirements = [_parse_term(term, text) for term in sorted(term for term, _ in _TERM.findall(text)) if term]
        # A lone "=" asks for nothing, and is dropped as the API server does.
        return cls([requirement for requirement in requirements if requirement.field or requirement.value])

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> Self:
        """The selector of objects whose fields have all these values."""
        for field in fields:
            if re.search(r"[\\,=!]", field):
                raise ValueError(f"field selector: {field!r} is not the path of a field; {_EXAMPLE}")
        return cls([FieldRequirement(field, "=", value) for field, value in fields.items()])

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether an object with these fields is selected."""
        return all(requirement.matches(fields) for requirement in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


def _parse_term(term: str, text: str) -> FieldRequirement:
    operator = _OPERATOR.search(term)
    if operator is None:
        raise _unreadable(text, term, f"{term[:80]!r} has no operator")
    value = term[operator.end() :]
    readable = _VALUE.match(value)
    if readable is not None and readable.end() < len(value):
        raise _unescaped(text, term, value[readable.end() :])
    value = _ESCAPED.sub(r"\1", value)
    return FieldRequirement(term[: operator.start()], "!=" if operator[0] == "!=" else "=", value)


def _unescaped(text: str, term: str, rest: str) -> UnreadableTerm:
    """What is wrong with a value is at the beginning of `rest`."""
    if rest[0] == "\\":
        problem = rf"a backslash itself is written '\\', and '{rest[:2]}' means nothing in {term[:80]!r}"
        return _unreadable(text, term, problem, rest[:2])
    return _unreadable(text, term, rf"write '{rest[0]}' as '\{rest[0]}' in {term[:80]!r}", rest[0])


def _unreadable(text: str, term: str, problem: str, unescaped: str = "") -> UnreadableTerm:
    shown = repr(text) if len(text) <= 80 else f"{text[:80]!r}…"
    return UnreadableTerm(f"field selector {shown}: {problem}; {_EXAMPLE}", term, unescaped)
