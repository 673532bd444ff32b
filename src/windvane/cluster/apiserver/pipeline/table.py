"""Tables: what `kubectl get` asks for, so that every client shows a kind in the same columns.

    Accept: application/json;as=Table;v=v1;g=meta.k8s.io

A row has a cell for each column, and as much of its object as `includeObject` says. The columns are in `registry`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from windvane.cluster.apiserver.columns.column import DEFAULT, Column
from windvane.cluster.apiserver.columns.descriptions import describe
from windvane.cluster.apiserver.registry.resource_type import ResourceType

IncludeObject: TypeAlias = Literal["Metadata", "None", "Object"]


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

    `list_meta` is the metadata of their list; for a single object, its resourceVersion. In a watch only the first
    table has headers.
    """
    strategy, columns = type.strategy, type.strategy.columns
    rows: list[dict[str, Any]] = []
    for thing in strategy.sort_rows(objects):
        shown = strategy.to_storage(thing)  # all versions of a kind have the same columns
        row: dict[str, Any] = {"cells": [column.cell(shown) for column in columns]}
        if conditions := strategy.row_conditions(thing):
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


def _definition(type: ResourceType, column: Column) -> dict[str, Any]:  # noqa: A002
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description or describe(type.strategy.column_fields, column.name),
        "priority": column.priority,
    }


def _part(thing: dict[str, Any], include: IncludeObject, api_version: str) -> dict[str, Any] | None:
    match include:
        case "None":
            return None
        case "Object":
            return thing
    return {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": thing["metadata"]}
