"""What can be said about constants in an expression before it runs: texts that are no durations, mixed lists."""

from collections.abc import Iterator
from typing import Any

from windvane.api.cel.cost.limits import tick
from windvane.api.cel.grammar.source import Issue
from windvane.api.cel.grammar.syntax import Call, Expr, ListExpr, Literal, MapExpr
from windvane.api.cel.library.formatting import ACCEPTED, FormatError, expand, refused
from windvane.api.cel.times import read_duration, read_timestamp, timestamp
from windvane.api.cel.types import Type, without_optional
from windvane.api.cel.values import CelError
from windvane.api.openapi.patterns import PatternError, pattern

_AT_WORK = {"duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp", "null": "null_type"}


def constant_issues(expr: Expr) -> list[Issue]:
    """What is wrong with the constants of a checked expression."""
    found: list[Issue] = []
    for each in expr.all():
        if isinstance(each, Call) and each.args and isinstance(each.args[0], Literal):
            found += _argument_issues(each, each.args[0])
    found += _mixed(expr)
    for each in expr.all():
        if isinstance(each, Call):
            found += _format_issues(each)
    return found


def _argument_issues(call: Call, argument: Literal) -> Iterator[Issue]:
    value, valid = argument.value, True
    if call.function == "duration":
        valid = isinstance(value, str) and read_duration(value) is not None
    elif call.function == "timestamp":
        valid = _is_timestamp(value)
    elif call.function == "matches" and isinstance(value, str):
        valid = _is_pattern(value)
    if not valid:
        yield Issue(argument.offset, f"invalid {call.function} argument")


def _is_timestamp(value: Any) -> bool:
    try:
        if isinstance(value, int):
            return bool(timestamp(value * 10**9))
        return read_timestamp(value) is not None
    except CelError:
        return False


def _is_pattern(text: str) -> bool:
    try:
        pattern(text)
    except PatternError:
        return False
    return True


def _mixed(expr: Expr) -> Iterator[Issue]:
    """Elements of lists and maps that are of another type than the first, except what is to be formatted."""
    tick()
    if isinstance(expr, Call) and expr.function == "format":
        return
    if isinstance(expr, ListExpr):
        types = [_entry_type(each, index in expr.optional) for index, each in enumerate(expr.elements)]
        for each, type_ in zip(expr.elements, types, strict=True):
            if not _equivalent(types[0], type_):
                yield _mismatch(each, types[0], type_)
                break
    if isinstance(expr, MapExpr):
        for entry in expr.entries:
            first = expr.entries[0]
            if not _equivalent(first.key.type, entry.key.type):
                yield _mismatch(entry.key, first.key.type, entry.key.type)
            wanted, found = _entry_type(first.value, first.optional), _entry_type(entry.value, entry.optional)
            if not _equivalent(wanted, found):
                yield _mismatch(entry.value, wanted, found)
    for each in expr.below():
        yield from _mixed(each)


def _entry_type(expr: Expr, optional: bool) -> Type:
    return without_optional(expr.type) if optional else expr.type


def _equivalent(one: Type, other: Type) -> bool:
    if one.kind != other.kind or len(one.parameters) != len(other.parameters):
        return False
    return one.name == other.name and all(map(_equivalent, one.parameters, other.parameters))


def _mismatch(at: Expr, expected: Type, found: Type) -> Issue:
    return Issue(at.offset, f"expected type '{expected}' but found '{found}'")


class _BadArgument(FormatError):
    """An argument that its clause can't be used on."""

    def __init__(self, expr: Expr, message: str) -> None:
        super().__init__(message)
        self.expr = expr


def _format_issues(call: Call) -> Iterator[Issue]:
    if call.function != "format" or call.target is None or len(call.args) != 1:
        return
    text, args = call.target, call.args[0]
    if not isinstance(text, Literal) or not isinstance(text.value, str) or not isinstance(args, ListExpr):
        return
    asked = 0

    def clause(letter: str, _: int | None, index: int) -> str:
        nonlocal asked
        asked += 1
        _check_clause(letter.lower(), args.elements[index])
        return ""

    try:
        expand(text.value, len(args.elements), clause)
    except FormatError as error:
        at = error.__cause__.expr if isinstance(error.__cause__, _BadArgument) else call
        yield Issue(at.offset, str(error))
        return
    if len(args.elements) > asked:
        count = f"(expected {asked}, got {len(args.elements)})"
        yield Issue(call.offset, f"too many arguments supplied to string.format {count}")


def _check_clause(letter: str, expr: Expr) -> None:
    if expr.type.kind != "dyn" and expr.type.kind not in ACCEPTED[letter][0]:
        name = _AT_WORK.get(expr.type.kind, expr.type.name)
        raise _BadArgument(expr, str(refused(letter, name)))
    if letter == "s" and isinstance(expr, ListExpr | MapExpr):
        for each in expr.below():
            _check_clause("s", each)
