"""The closures that compiled expressions are made of: small functions that do one thing each.

All take the frame: a list with the cost so far, `self` and `oldSelf` as plain JSON, and the variables of loops.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from windvane.api.cel.declared_types import Declared
from windvane.api.cel.library.operators import find, searched, shown_key
from windvane.api.cel.library.optionals import optional_find
from windvane.api.cel.loops import UNSET, Frame, Run, attempted
from windvane.api.cel.values import (
    ABSENT,
    NONE,
    CelError,
    DictMap,
    ObjectValue,
    Optional,
    equal,
    no_overload,
)
from windvane.api.cel.views import ObjectView, read
from windvane.api.openapi.patterns import Pattern

SELF, OLD_SELF, FIRST_FREE = 1, 2, 3
"""Where in the frame what is."""


@dataclass(frozen=True, slots=True)
class Step:
    """One node, ready to run; `cost` is what it always costs.

    A path such as `self.a.b` costs one for itself and one for each field. `own` is that one, which isn't counted where
    the path is a branch of `?:` or an index.
    """

    run: Run
    cost: int = 0
    is_path: bool = False
    own: int = 0
    constant: bool = False

    @property
    def value(self) -> Any:
        """The value of a constant."""
        return self.run([])


def constant(value: Any) -> Step:
    """A step that always has the same value."""
    return Step(lambda _: value, constant=True)


def variable(slot: int) -> Run:
    """The value in a slot of the frame."""
    return lambda frame: frame[slot]


def lazy(slot: int, init: Step) -> Run:
    """The value in a slot, which is computed when it is first asked for."""

    def run(frame: Frame) -> Any:
        value = frame[slot]
        if value is UNSET:
            frame[0] += init.cost
            value = frame[slot] = init.run(frame)
        return value

    return run


def reading(slot: int, of: Declared) -> Run:
    """The value that the JSON in a slot stands for."""
    return lambda frame: read(frame[slot], of)


def maybe_old(reading: Run) -> Run:
    """`oldSelf`, where it may be absent."""
    return lambda frame: NONE if frame[OLD_SELF] is ABSENT else Optional(reading(frame))


def raw_of(run: Run) -> Run:
    """The JSON of an object that an expression comes to."""

    def raw(frame: Frame) -> Any:
        value = run(frame)
        if type(value) is ObjectView:
            return value.raw
        raise no_overload()

    return raw


def raw_field(outer: Run, key: str, name: str) -> Run:
    """The JSON of a field, which must be there."""

    def raw(frame: Frame) -> Any:
        value = _entry(outer(frame), key)
        if value is None:
            raise CelError(f"no such key: {name}")
        return value

    return raw


def _entry(raw: Any, key: str) -> Any:
    """A field of an object. What is no object was wrong before, and may stay because it is unchanged."""
    if type(raw) is dict:
        return raw.get(key)
    raise CelError("invalid data, expected a map for the provided schema with type=object")


_PLAIN = {"string": str, "int": int, "bool": bool}


def own_field(key: str, name: str, of: Declared) -> Run:
    """A field of self, which is what rules ask for most."""
    plain = _PLAIN.get(of.type.kind)
    slowly = field_of(variable(SELF), key, name, of)

    def run(frame: Frame) -> Any:
        whole = frame[SELF]
        if type(whole) is dict and type(value := whole.get(key)) is plain:
            return value
        return slowly(frame)

    return run


def field_of(raw: Run, key: str, name: str, of: Declared) -> Run:
    """The value of a field."""
    plain = _PLAIN.get(of.type.kind)

    def run(frame: Frame) -> Any:
        value = _entry(raw(frame), key)
        if type(value) is plain:
            return value
        if value is None:  # a field that is null counts as one that is not there
            raise CelError(f"no such key: {name}")
        return read(value, of)

    return run


def selected(operand: Run, name: str) -> Run:
    """`operand.name` where the operand is a map, or could be anything."""

    def run(frame: Frame) -> Any:
        value = operand(frame)
        if type(value) is Optional:
            return optional_find(value, name)
        found = find(value, name)
        if found is ABSENT:
            raise CelError(f"no such key: {shown_key(name)}")
        return found

    return run


def has_field(raw: Run, key: str) -> Run:
    """Whether a field is there."""
    return lambda frame: _entry(raw(frame), key) is not None


def has_selected(operand: Run, name: str) -> Run:
    """Whether there is such a key."""

    def run(frame: Frame) -> bool:
        value = operand(frame)
        if type(value) is Optional:
            return bool(optional_find(value, name).present)
        return find(value, name) is not ABSENT

    return run


def calling(runs: list[Run], function: Callable[..., Any]) -> Run:
    """A call that costs the same whatever its arguments are."""
    if len(runs) == 1:
        only = runs[0]
        return lambda frame: function(only(frame))
    if len(runs) == 2:
        left, right = runs
        return lambda frame: function(left(frame), right(frame))
    return lambda frame: function(*[run(frame) for run in runs])


def unequal(one: Any, other: Any) -> bool:
    """`!=`."""
    return not equal(one, other)


def comparing(left: Step, right: Step, test: Callable[[Any, Any], bool]) -> Run:
    """A comparison of values that Python compares as CEL does."""
    one, other = left.run, right.run
    if not right.constant:
        return lambda frame: test(one(frame), other(frame))
    value = right.value
    return lambda frame: test(one(frame), value)


def same_text(left: Step, right: Step, wanted: bool) -> Run:
    """Whether two texts are equal; that costs more the longer they are."""
    first, second = left.run, right.run

    def run(frame: Frame) -> bool:
        try:
            one = first(frame)
        except CelError:
            frame[0] += 1 if attempted(second, frame) else 0
            raise
        try:
            other = second(frame)
        except CelError:
            frame[0] += 1 if one else 0
            raise
        frame[0] -= -min(len(one), len(other)) // 10
        return (one == other) is wanted

    return run


def matching(known: Pattern) -> Callable[[Any, Any], bool]:
    """Whether a text matches a pattern that is known."""

    def matches(text: Any, _: Any) -> bool:
        if type(text) is str:
            return searched(known, text)
        raise no_overload()

    return matches


def in_set(value: Run, among: frozenset[Any]) -> Run:
    """Whether a value is one of some constants."""
    return lambda frame: value(frame) in among


def logical(left: Step, right: Step, decides: bool) -> Step:
    """&& and ||: one side alone may decide, even if the other one comes to nothing."""
    first, second, cost = left.run, right.run, right.cost

    def run(frame: Frame) -> Any:
        try:
            value = first(frame)
        except CelError as error:
            problem = error
        else:
            if value is decides:
                return decides
            if type(value) is bool:
                frame[0] += cost
                other = second(frame)
                if type(other) is bool:
                    return other
                raise no_overload()
            problem = no_overload()
        frame[0] += cost
        try:
            if second(frame) is decides:
                return decides
        except CelError:
            pass
        raise problem

    return Step(run, left.cost)


def conditional(test: Step, then: Step, otherwise: Step) -> Step:
    """`test ? then : otherwise`."""
    then_cost, other_cost = (each.cost - (each.own if each.is_path else 0) for each in (then, otherwise))

    def run(frame: Frame) -> Any:
        value = test.run(frame)
        if value is True:
            frame[0] += then_cost
            return then.run(frame)
        if value is False:
            frame[0] += other_cost
            return otherwise.run(frame)
        raise no_overload()

    return Step(run, test.cost, is_path=True)


def alternative(first: Step, second: Step, unwrap: bool) -> Step:
    """`or` and `orValue` of an optional; the second is looked at if the first has no value."""

    def run(frame: Frame) -> Any:
        value = first.run(frame)
        if type(value) is not Optional:
            return value
        if value.present:
            return value.value if unwrap else value
        frame[0] += second.cost
        return second.run(frame)

    return Step(run, first.cost)


def not_strictly_false(value: Step) -> Step:
    """Whether to go on, even if the value comes to nothing."""

    def run(frame: Frame) -> bool:
        try:
            return value.run(frame) is not False
        except CelError:
            return True

    return Step(run, value.cost + 1)


def optionally(target: Run, at: Run) -> Run:
    """`target[?at]`; it costs one if there is something."""

    def run(frame: Frame) -> Any:
        found = optional_find(target(frame), at(frame))
        if found.present:
            frame[0] += 1
        return found

    return run


def plain_list(runs: list[Run]) -> Run:
    """A list."""
    return lambda frame: [run(frame) for run in runs]


def listing(runs: list[Run], optional: set[int]) -> Run:
    """A list some of whose elements may be absent."""

    def run(frame: Frame) -> list[Any]:
        made = []
        for place, element in enumerate(runs):
            value = element(frame)
            if place not in optional:
                made.append(value)
            elif value.present:
                made.append(value.value)
        return made

    return run


def mapping(pairs: list[tuple[Run, Run, bool]]) -> Run:
    """A map."""

    def run(frame: Frame) -> DictMap:
        made = DictMap()
        for key, value, optional in pairs:
            name, found = key(frame), value(frame)
            if not optional:
                made.put(name, found)
            elif found.present:
                made.put(name, found.value)
            else:
                made.drop(name)
        return made

    return run


def making(type_: str, fields: list[tuple[str, Run, bool]]) -> Run:
    """An object; the flag says whether a field may be absent."""

    def run(frame: Frame) -> ObjectValue:
        made: dict[str, Any] = {}
        for name, value, optional in fields:
            found = value(frame)
            if not optional:
                made[name] = found
            elif found.present:
                made[name] = found.value
            else:
                made.pop(name, None)
        return ObjectValue(type_, made)

    return run
