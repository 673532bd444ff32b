"""Random objects of the built-in kinds, made from nothing but their types."""

import types
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from windvane.api.hints import type_hints, unwrap
from windvane.api.int_or_string import IntOrString
from windvane.api.markers import Format
from windvane.api.quantity import Quantity
from windvane.api.resource import Object
from windvane.api.struct import Struct
from windvane.api.time import MicroTime

StructT = TypeVar("StructT", bound=Struct)

DEEPEST = 6
SHORT = st.text(max_size=3)
FIRST, LAST = datetime(1970, 1, 1), datetime(9999, 1, 1)  # noqa: DTZ001 - the strategy adds the zone itself
TIMES = st.datetimes(FIRST, LAST, timezones=st.just(UTC))
NUMBERS = st.integers(-(2**63), 2**63 - 1)
NUMBERS_32 = st.integers(-(2**31), 2**31 - 1)
VALUES = st.recursive(
    st.booleans() | NUMBERS | SHORT,
    lambda inner: st.lists(inner | st.none(), max_size=2) | st.dictionaries(SHORT, inner | st.none(), max_size=2),
    max_leaves=3,
)
LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    bytes: st.binary(max_size=3),
    datetime: TIMES,
    float: st.floats(allow_nan=False, allow_infinity=False),
    int: NUMBERS,
    str: SHORT,
    Any: VALUES,
    IntOrString: NUMBERS_32 | SHORT,
    MicroTime: TIMES.map(MicroTime.of),
    Quantity: st.sampled_from(["0", "100m", "1.5Gi", "3e6", "-2"]).map(Quantity),
}


@st.composite
def structs(draw: st.DrawFn, cls: type[StructT], depth: int = 0) -> StructT:
    """Instances of a struct class with all required fields and a few of the others."""
    fields = msgspec.structs.fields(cls)
    # The class itself says which kind it is.
    fixed = ("api_version", "kind") if issubclass(cls, Object) else ()
    required = [each.name for each in fields if each.required]
    optional = [each.name for each in fields if not each.required and each.name not in fixed]
    some = draw(st.sets(st.sampled_from(optional), max_size=4)) if optional and depth < DEEPEST else ()
    hints = type_hints(cls)
    return cls(**{name: draw(values(hints[name], depth + 1)) for name in [*required, *sorted(some)]})


def values(annotated: Any, depth: int) -> st.SearchStrategy[Any]:
    """Values of a field's type, never None: that is for fields that are left out."""
    type_, markers = unwrap(annotated)
    arguments = get_args(type_)
    if Format("int32") in markers:
        return NUMBERS_32
    if type_ in LEAVES:
        return LEAVES[type_]
    if isinstance(type_, type) and issubclass(type_, Struct):
        return structs(type_, depth)
    origin = get_origin(type_)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return st.lists(values(arguments[0], depth), max_size=2)
    if origin is dict:
        return st.dictionaries(SHORT, values(arguments[1], depth), max_size=2)
    if origin in (Union, types.UnionType):
        return st.one_of([values(each, depth) for each in arguments])
    raise TypeError(f"no values are known for {type_}")
