"""A column of `kubectl get`, and the cells that many kinds share.

A cell is a function from an object, as plain JSON, to what is shown. Most are made by `field`, which reads one field;
what needs more than that is a small function beside its kind.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from windvane.api import codec
from windvane.api.json_value import Wire
from windvane.api.meta import LabelSelector
from windvane.api.quantity import Quantity
from windvane.api.selector import Selector
from windvane.cluster.apiserver.columns.age import since

Cell: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what its head says, and what each object shows in it."""

    name: str
    """Empty for a cell without a head, which `kubectl` does not show."""
    cell: Callable[[Wire], Cell]
    type: str = "string"
    format: str = ""
    description: str = ""
    """Empty if it is what `descriptions` says."""
    priority: int = 0
    """Above 0 it is shown by `kubectl get -o wide` only."""


Columns: TypeAlias = tuple[Column, ...]


def wide(name: str, cell: Callable[[Wire], Cell]) -> Column:
    """A column for `kubectl get -o wide` only."""
    return Column(name, cell, priority=1)


def read(thing: Wire, path: str) -> Any:
    """What is in a field such as `spec.replicas`; None if it isn't there."""
    here: Any = thing
    for name in path.split("."):
        here = here.get(name) if isinstance(here, dict) else None
    return here


def items(thing: Wire, path: str) -> list[Any]:
    """The list in a field; empty if it isn't there."""
    return read(thing, path) or []


def field(path: str, default: Cell = "") -> Callable[[Wire], Cell]:
    """The cell that shows a field, or `default` if it isn't there."""

    def cell(thing: Wire) -> Cell:
        value: Cell = read(thing, path)
        return default if value is None else value

    return cell


def count(*paths: str) -> Callable[[Wire], int]:
    """The cell that shows how many entries there are in these lists or maps."""
    return lambda thing: sum(len(read(thing, path) or ()) for path in paths)


def age(thing: Wire) -> str:
    """The cell that says how long ago an object was made."""
    return since(read(thing, "metadata.creationTimestamp"))


def ago(path: str, missing: str) -> Callable[[Wire], str]:
    """The cell that says how long ago the time in a field was."""

    def cell(thing: Wire) -> str:
        time: str | None = read(thing, path)
        return since(time) if time else missing

    return cell


def is_true(thing: Wire, type_: str) -> bool:
    """Whether the first condition of this type in an object's status is true."""
    for condition in items(thing, "status.conditions"):
        if condition.get("type") == type_:
            return bool(condition.get("status") == "True")
    return False


def labels(path: str) -> Callable[[Wire], str]:
    """The cell that shows the labels in a field: `app=web,tier=front`."""
    return lambda thing: labels_as_text(read(thing, path))


def labels_as_text(pairs: Mapping[str, str] | None) -> str:
    """Labels in the order of their keys."""
    return ",".join(f"{key}={value}" for key, value in sorted((pairs or {}).items())) or "<none>"


def selector(path: str, *, empty: str = "<none>", wrong: str = "<error>") -> Callable[[Wire], str]:
    """The cell that shows the label selector in a field, as `kubectl -l` would take it."""

    def cell(thing: Wire) -> str:
        wire = read(thing, path)
        if wire is None:
            return empty
        try:
            return str(Selector.from_label_selector(codec.from_wire(wire, LabelSelector))) or empty
        except ValueError:
            return wrong

    return cell


def quantity(value: str | int | None, missing: str = "0") -> str:
    """An amount such as `1Gi`, written the way the API server writes it."""
    return missing if value is None else str(Quantity(value))


def shortened(shown: Sequence[str]) -> str:
    """The first three of a list, and how many more there are."""
    text = ",".join(shown[:3])
    return f"{text} + {len(shown) - 3} more..." if len(shown) > 3 else text


def containers(path: str) -> Columns:
    """The columns for the names and images of the containers in a pod template."""
    return (
        wide("Containers", lambda thing: ",".join(each.get("name", "") for each in items(thing, path))),
        wide("Images", lambda thing: ",".join(each.get("image", "") for each in items(thing, path))),
    )


def ratio(part: str, whole: str) -> Callable[[Wire], str]:
    """The cell that shows two counts as `2/3`."""
    return lambda thing: f"{read(thing, part) or 0}/{read(thing, whole) or 0}"


def integer(name: str, path: str) -> Column:
    """A column for a count."""
    return Column(name, field(path, 0), "integer")


NAME = Column("Name", field("metadata.name"), format="name")
AGE = Column("Age", age)
# `kubectl` turns the time into an age, and the head into AGE.
DEFAULT: Columns = (NAME, Column("Created At", field("metadata.creationTimestamp", None), "date"))
"""What a kind shows that names no columns: its name and when it was made, as on a real cluster."""
