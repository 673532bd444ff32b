"""What a function of the language is: its signatures, and for each the Python function that does it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from windvane.api.cel.types import Type
from windvane.api.cel.values import CelError, MapValue, is_list, items_of, type_name

Run = Callable[..., Any]
# The names that values have for their types at work, where they are not the type's own.
_AT_WORK = {"duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp"}


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function; a member is called on its first argument, `target.function(rest)`."""

    id: str
    arguments: tuple[Type, ...]
    result: Type
    run: Run
    member: bool = False


Functions = Mapping[str, tuple[Overload, ...]]


def plain(id_: str, arguments: Iterable[Type], result: Type, run: Run) -> Overload:
    """A signature `function(arguments)`."""
    return Overload(id_, tuple(arguments), result, run)


def member(id_: str, arguments: Iterable[Type], result: Type, run: Run) -> Overload:
    """A signature `first.function(others)`."""
    return Overload(id_, tuple(arguments), result, run, member=True)


def merged(*libraries: Functions) -> dict[str, tuple[Overload, ...]]:
    """The functions of several libraries; those of the same name have the signatures of all."""
    found: dict[str, tuple[Overload, ...]] = {}
    for library in libraries:
        for name, overloads in library.items():
            found[name] = found.get(name, ()) + overloads
    return found


def accepts(type_: Type, value: Any) -> bool:
    """Whether a value may be an argument of a type; of lists and maps, one entry stands for all."""
    if type_.kind in ("dyn", "parameter"):
        return True
    if _AT_WORK.get(type_.kind, type_.name) != type_name(value):
        return False
    if type_.kind == "list" and is_list(value):
        items = items_of(value)
        return not items or accepts(type_.parameters[0], items[0])
    if type_.kind == "map" and isinstance(value, MapValue) and len(value):
        key = value.keys()[0]
        return accepts(type_.parameters[0], key) and accepts(type_.parameters[1], value.find(key))
    return True


def dispatched(function: str, overloads: list[Overload]) -> Run:
    """A function that finds out what to do when it sees its arguments."""

    def run(*args: Any) -> Any:
        for overload in overloads:
            fits = len(overload.arguments) == len(args)
            if fits and all(map(accepts, overload.arguments, args)):
                return overload.run(*args)
        raise CelError(f"no such overload: {function}({', '.join(map(type_name, args))})")

    return run
