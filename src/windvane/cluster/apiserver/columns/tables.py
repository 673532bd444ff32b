"""Tables: what the server answers to `kubectl get`, so that every client shows a kind in the same columns.

    Accept: application/json;as=Table;v=v1;g=meta.k8s.io

A row has a cell for each column, and as much of its object as was asked for. The columns themselves are in `columns`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.columns.builtin import BUILTIN, DEFAULT
from windvane.cluster.apiserver.columns.column import Column, Columns
from windvane.cluster.apiserver.columns.custom import custom_columns
from windvane.cluster.apiserver.columns.descriptions import describe
from windvane.cluster.apiserver.columns.pods import completed
from windvane.cluster.apiserver.columns.policy import by_precedence

IncludeObject: TypeAlias = Literal["Metadata", "None", "Object"]

POD = ("", "Pod")
FLOW_SCHEMA = ("flowcontrol.apiserver.k8s.io", "FlowSchema")

# Reading the JSON paths of a CRD takes longer than following them; they change only with the type.
_known: WeakKeyDictionary[ResourceType, Columns] = WeakKeyDictionary()


def table(
    type: ResourceType,  # noqa: A002 - what it is called everywhere in the server
    objects: Sequence[dict[str, Any]],
    *,
    list_meta: Mapping[str, Any],
    include_object: IncludeObject = "Metadata",
    no_headers: bool = False,
    api_version: str = "meta.k8s.io/v1",
) -> dict[str, Any]:
    """The objects as a Table, of meta.k8s.io/v1 or the version before it, which is the same.

    `list_meta` is the metadata of their list; for an object that was asked for alone, its resourceVersion.
    In a watch only the first table has headers.
    """
    columns = columns_of(type)
    key = (type.kind.group, type.kind.name)
    if key == FLOW_SCHEMA:
        objects = sorted(objects, key=by_precedence)
    rows: list[dict[str, Any]] = []
    for thing in objects:
        # All versions of a kind have the same columns.
        shown = type.to_storage(thing) if type.stored_kind.group == type.kind.group else thing
        row: dict[str, Any] = {"cells": [column.cell(shown) for column in columns]}
        if key == POD and (conditions := completed(thing)):
            row["conditions"] = conditions
        row["object"] = _part(thing, include_object, api_version)
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": api_version,
        "metadata": dict(list_meta),
        "columnDefinitions": None if no_headers else [_definition(type, column) for column in columns if column.name],
        # An empty table of a kind without columns of its own has no rows at all, instead of an empty list of them.
        "rows": rows if rows or columns is not DEFAULT else None,
    }


def columns_of(type: ResourceType) -> Columns:  # noqa: A002
    """The columns of a kind, built-in or custom."""
    if type.definition is None:
        return BUILTIN.get((type.kind.group, type.kind.name), DEFAULT)
    if type not in _known:
        _known[type] = custom_columns(type.definition)
    return _known[type]


def _definition(type: ResourceType, column: Column) -> dict[str, Any]:  # noqa: A002
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description or describe(type.kind.name, column.name),
        "priority": column.priority,
    }


def _part(thing: dict[str, Any], include: IncludeObject, api_version: str) -> dict[str, Any] | None:
    match include:
        case "None":
            return None
        case "Object":
            return thing
    return {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": thing["metadata"]}
