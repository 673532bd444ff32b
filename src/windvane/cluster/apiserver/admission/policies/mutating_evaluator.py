"""One MutatingAdmissionPolicy, compiled, which changes objects."""

from collections.abc import Callable, Iterator
from typing import Any

from windvane.api.cel.cost.limits import TooMuch
from windvane.api.cel.patches import OBJECT, as_json, misplaced
from windvane.api.cel.values import CelError, ObjectValue
from windvane.api.json_value import Wire
from windvane.cluster.apiserver.expressions import (
    BUDGET,
    PATCHES,
    Activation,
    Compiled,
    MatchConditions,
    OutOfBudget,
    Scope,
)
from windvane.cluster.apiserver.managedfields.apply_configuration import misfit, with_null_values
from windvane.cluster.apiserver.managedfields.merge import merge
from windvane.cluster.apiserver.managedfields.shape import Shape
from windvane.cluster.apiserver.patch.json_patch import DoesNotApply, applied

_FIELDS = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_LARGEST = 2**53 - 1  # the largest integer that JSON holds exactly; larger ones become text in a JSON patch


class PatchError(Exception):
    """A mutation can't be applied; the message is the real server's."""


class MutatingPolicy:
    """The expressions of a policy."""

    def __init__(self, spec: Wire) -> None:
        self._scope = Scope(params=spec.get("paramKind") is not None, variables=spec.get("variables") or [])
        self.conditions = MatchConditions(spec.get("matchConditions") or [], self._scope)
        self.mutations = [self._mutation(each) for each in spec.get("mutations") or ()]
        self.may_be_asked_again = spec.get("reinvocationPolicy") == "IfNeeded"

    def _mutation(self, stated: Wire) -> Callable[[Activation, Shape | None], Wire]:
        """A function that applies one mutation; raises `PatchError`."""
        type_ = stated["patchType"]
        expression = (stated.get(_FIELDS[type_]) or {}).get("expression", "")
        compiled = self._scope.compile_patch(expression, PATCHES[type_])
        change = _configured if type_ == "ApplyConfiguration" else _patched

        def mutate(given: Activation, shape: Shape | None) -> Wire:
            try:
                return change(given.object or {}, self._value(compiled, given), shape)
            except TooMuch as error:
                raise PatchError(str(error)) from None

        return mutate

    def _value(self, compiled: Compiled, given: Activation) -> Any:
        if compiled.problem:
            raise PatchError(compiled.problem)
        try:
            [result], _ = self._scope.evaluate([compiled], given, BUDGET)
        except OutOfBudget as error:
            raise PatchError(str(error)) from error
        if result.problem:
            raise PatchError(result.problem)
        return result.value


def _configured(wire: Wire, made: Any, shape: Shape | None) -> Wire:
    """An object with an ApplyConfiguration merged into it, as by server-side apply, but without a manager."""
    if problems := list(misplaced(made, OBJECT.name)):
        raise PatchError("type mismatch: " + "\n".join(problems))
    try:
        stated: Wire = {**as_json(made), "apiVersion": wire["apiVersion"], "kind": wire["kind"]}
    except CelError as error:
        raise PatchError(f"invalid return type: {error}") from error
    if shape is None:
        group, _, version = wire["apiVersion"].rpartition("/")
        unknown = f"no corresponding type for {group}/{version}, Kind={wire['kind']}"
        raise PatchError(f"error applying patch: failed to convert patch object to typed object: {unknown}")
    if problem := misfit(shape, with_null_values(stated)):
        raise PatchError(f"error applying patch: failed to convert patch object to typed object: {problem}")
    if atomic := list(_atomic(shape, stated, "")):
        told = f"may not mutate atomic arrays, maps or structs: {', '.join(atomic)}"
        raise PatchError(f"error applying patch: invalid ApplyConfiguration: {told}")
    laid_over: Wire = merge(shape, wire, stated)
    return laid_over


def _atomic(shape: Shape, value: Any, path: str) -> Iterator[str]:
    """The atomic parts of an ApplyConfiguration, which are not allowed: they would lose fields."""
    if type(value) is dict and "map" in shape.forms:
        if shape.whole_map:
            yield path
        for name, inner in value.items():
            if shape.has_field(name) and (part := shape.field(name)) is not None:
                yield from _atomic(part, inner, f"{path}.{name}")
    elif type(value) is list and "list" in shape.forms:
        if shape.whole_list:
            yield path
        for index, inner in enumerate(value):
            yield from _atomic(shape.item(), inner, f"{path}[{index}]")


def _patched(wire: Wire, made: Any, _: Shape | None) -> Wire:
    """An object changed by a JSON patch; one whose test fails changes nothing."""
    operations: list[Wire | None] = [dict(_operation(each.fields)) for each in made]
    try:
        changed: Wire = applied(wire, operations)
    except DoesNotApply as error:
        if str(error).endswith("test failed"):
            return wire
        raise PatchError(f"JSON Patch: {error}") from error
    return changed


def _operation(fields: Wire) -> Iterator[tuple[str, Any]]:
    yield "op", fields.get("op", "")
    yield "path", fields.get("path", "")
    if fields.get("from"):
        yield "from", fields["from"]
    if "value" not in fields:
        return
    value = fields["value"]
    if isinstance(value, ObjectValue) and (problems := list(misplaced(value, value.type_name))):
        raise PatchError("type mismatch: " + "\n".join(problems))
    try:
        yield "value", _without_large_numbers(as_json(value))
    except CelError as error:
        why = "JSONPath valueExpression evaluated to a type that could not marshal to JSON"
        raise PatchError(f"{why}: {error}") from error


def _without_large_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_large_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_large_numbers(inner) for inner in value]
    large = type(value) is int and abs(value) > _LARGEST
    return str(value) if large else value
