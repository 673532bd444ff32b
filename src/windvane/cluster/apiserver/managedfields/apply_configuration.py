"""Whether an object that is to be applied fits its kind's schema closely enough to be merged."""

from collections.abc import Iterator
from typing import Any

from windvane.cluster.apiserver.managedfields.field_set import words
from windvane.cluster.apiserver.managedfields.shape import NoStep, Shape
from windvane.cluster.apiserver.patch.strategic_patch import printed

UNDEFINED = "{{undefined}}"
"""How a key that is null is told."""


class NullValue:
    """The null of an expression, which to the API server is a value as any other, and so fits in no field."""

    def __str__(self) -> str:
        return "NULL_VALUE"


def with_null_values(value: Any) -> Any:
    """What an expression made, as `misfit` has to look at it."""
    if isinstance(value, dict):
        return {name: with_null_values(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [with_null_values(inner) for inner in value]
    return NullValue() if value is None else value


def misfit(shape: Shape, applied: Any) -> str:
    """All that is wrong with an applied object, in the API server's words; empty if nothing is."""
    found = list(_misfits(shape, applied, ""))
    if len(found) < 2:
        return "".join(found)
    return "\n".join(["errors:", *(f"  {each}" for each in found)])


def _misfits(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if value is None:
        return
    form = shape.form_of(value)
    if form == "map":
        if type(value) is dict:
            yield from _misfit_fields(shape, value, path)
        else:
            yield _at(path, f"expected map, got &{{{printed(value)}}}")
    elif form == "list":
        if type(value) is list:
            yield from _misfit_items(shape, value, path)
        else:
            yield _at(path, f"expected list, got &{{{printed(value)}}}")
    elif problem := _misfit_scalar(shape.scalar, value):
        yield _at(path, problem)


def _misfit_fields(shape: Shape, value: dict[str, Any], path: str) -> Iterator[str]:
    for name, inner in value.items():
        part = shape.field(name)
        if part is None:
            yield _at(f"{path}.{name}", "field not declared in schema")
            return
        yield from _misfits(part, inner, f"{path}.{name}")


def _misfit_items(shape: Shape, value: list[Any], path: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(value):
        if shape.whole_list:
            yield from _misfits(shape.item(), item, f"{path}[{index}]")
            continue
        try:
            step = shape.step_to(_as_key(item))
        except NoStep as problem:
            yield _at(path, f"element {index}: {problem}")
            return
        place = words([step]).replace(f'"{UNDEFINED}"', UNDEFINED)
        if step in seen:
            yield _at(path, f"duplicate entries for key {place}")
        seen.add(step)
        yield from _misfits(shape.item(), item, f"{path}{place}")


def _as_key(item: Any) -> Any:
    """An item of a list as it is known by its key, or as a whole."""
    if isinstance(item, dict):
        return {name: UNDEFINED if isinstance(inner, NullValue) else inner for name, inner in item.items()}
    return UNDEFINED if isinstance(item, NullValue) else item


def _misfit_scalar(scalar: str, value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match scalar:
        case "numeric" if not number:
            return f"expected numeric (int or float), got {_go_type(value)}"
        case "string" if not isinstance(value, str):
            return f"expected string, got &value.valueUnstructured{{Value:{_go_literal(value)}}}"
        case "boolean" if not isinstance(value, bool):
            return f"expected boolean, got &{{{printed(value)}}}"
        case "untyped" if isinstance(value, dict | list):
            return f"expected any scalar, got &{{{printed(value)}}}"
    return ""


def _at(path: str, problem: str) -> str:
    return f"{path}: {problem}" if path else problem


def _go_type(value: Any) -> str:
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    if isinstance(value, NullValue):
        return "structpb.NullValue"
    return "bool" if isinstance(value, bool) else "string"


def _go_literal(value: Any) -> str:
    """A value as Go prints it with its type (%#v)."""
    match value:
        case None:
            return "interface {}(nil)"
        case NullValue():
            return "0"  # the number of that constant
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"'
        case dict():
            inner = ", ".join(f'"{key}":{_go_literal(value[key])}' for key in sorted(value))
            return f"map[string]interface {{}}{{{inner}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(_go_literal, value))}}}"
    return str(value)
