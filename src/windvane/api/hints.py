"""Reading a struct's type annotations: the types of its fields, and the markers on them."""

import types
from collections.abc import Iterator
from functools import cache
from typing import Any, Generic, Union, get_args, get_origin, get_type_hints

import msgspec

from windvane.api.markers import Marker


@cache
def type_hints(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The types of a struct's fields with their markers; parameters of a generic base are filled in."""
    arguments = {
        parameter: argument
        for cls in struct.__mro__
        for base in getattr(cls, "__orig_bases__", ())
        if (origin := get_origin(base)) not in (None, Generic)
        for parameter, argument in zip(origin.__parameters__, get_args(base), strict=True)
    }
    hints = get_type_hints(struct, include_extras=True)
    return {name: arguments.get(hints[name], hints[name]) for name in struct.__struct_fields__}


@cache
def fields(struct: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """What msgspec knows of a struct's fields. It finds that out anew each time, and a Pod has 200 structs in it."""
    return msgspec.structs.fields(struct)


def unwrap(annotated: Any) -> tuple[Any, list[Marker]]:
    """A field's type without markers and without `| None`, and its markers in the order they were written."""
    markers: list[Marker] = []
    type_ = annotated
    while True:
        if hasattr(type_, "__metadata__"):
            markers = [marker for marker in type_.__metadata__ if isinstance(marker, Marker)] + markers
            type_ = type_.__origin__
        elif get_origin(type_) in (Union, types.UnionType) and types.NoneType in get_args(type_):
            rest = [argument for argument in get_args(type_) if argument is not types.NoneType]
            type_ = Union[tuple(rest)]  # noqa: UP007 - a union of a run-time tuple has no other spelling
        else:
            return type_, markers


def takes_none(annotated: Any) -> bool:
    """Whether a field's type is `... | None`, below its markers."""
    while hasattr(annotated, "__metadata__"):
        annotated = annotated.__origin__
    return annotated is Any or types.NoneType in get_args(annotated)


def metadata(annotated: Any) -> Iterator[Any]:
    """All that `Annotated` says of a field, and of what is in its list or map."""
    if hasattr(annotated, "__metadata__"):
        yield from annotated.__metadata__
        yield from metadata(annotated.__origin__)
    else:
        for inner in get_args(annotated):
            yield from metadata(inner)
