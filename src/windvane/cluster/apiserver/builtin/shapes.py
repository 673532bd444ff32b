"""The types behind a built-in kind: which fields its objects have in JSON, and what each may hold."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from windvane.api.hints import type_hints
from windvane.api.kind import Kind
from windvane.api.resource import Object
from windvane.cluster.apiserver.catalog import builtin_kinds


@cache
def class_of(kind: Kind) -> type[Object] | None:
    """The class of a built-in kind."""
    for cls in builtin_kinds():
        if (cls.__kind__.api_version, cls.__kind__.name) == (kind.api_version, kind.name):
            return cls
    return None


@cache
def fields_of(cls: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The types of a struct's fields, by their names in JSON."""
    hints = type_hints(cls)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(cls)}


@cache
def optional_fields_of(cls: type[msgspec.Struct]) -> frozenset[str]:
    """The names in JSON of the fields that may be left out."""
    return frozenset(field.encode_name for field in msgspec.structs.fields(cls) if not field.required)
