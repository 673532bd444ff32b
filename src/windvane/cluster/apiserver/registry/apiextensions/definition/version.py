"""What a version of a CRD has beside its name, and what the server checks of it: a schema, subresources, columns."""

import re
from collections.abc import Mapping
from typing import Any

from windvane.api.custom_resources.schema import Schema
from windvane.api.openapi.check import schema_causes
from windvane.api.openapi.internal import internal_schema, stated_keywords
from windvane.api.status import StatusCause
from windvane.api.wording import duplicate, forbidden, invalid, required, too_many

Wire = Mapping[str, Any]

MOST_SELECTABLE = 8
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
# With a status subresource, status is validated by its own part of the schema: nothing around it may say more.
_AT_ROOT = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum",
    "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items",
    "Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
)  # fmt: skip


def deprecation_causes(version: Wire, path: str) -> list[StatusCause]:
    """What is wrong with the warning that a deprecated version gives."""
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    problems = []
    if not version.get("deprecated"):
        problems = ["can only be set for deprecated versions"]
    else:
        if len(warning.encode()) > 256:
            problems.append("must be <= 256 characters long")
        if not warning:
            problems.append("must not be an empty string")
        at = next((index for index, character in enumerate(warning) if not character.isprintable()), None)
        if at is not None:
            bytes_before = len(warning[:at].encode())
            rule = "must only contain printable UTF-8 characters; non-printable character found at index"
            problems.append(f"{rule} {bytes_before}")
    return [invalid(f"{path}.deprecationWarning", warning, problem) for problem in problems]


def part_causes(
    part: Wire, paths: Wire, has_status: bool, version: Wire, *, is_unchanged: bool = False
) -> list[StatusCause]:
    """What is wrong with a schema, subresources, columns and selectable fields, wherever they are kept.

    `is_unchanged` says that the version had the same schema before.
    """
    found: list[StatusCause] = []
    if of := (part.get("schema") or {}).get("openAPIV3Schema"):
        here = f"{paths['schema']}.openAPIV3Schema"
        if has_status:
            found += _root_causes(of, here)
        if of.get("nullable"):
            found.append(forbidden(f"{here}.nullable", "nullable cannot be true at the root"))
        found += schema_causes(of, here, is_unchanged=is_unchanged)
    found += _scale_causes((part.get("subresources") or {}).get("scale"), f"{paths['subresources']}.scale")
    for index, column in enumerate(part.get("additionalPrinterColumns") or ()):
        found += _column_causes(column, f"{paths['additionalPrinterColumns']}[{index}]")
    if fields := part.get("selectableFields"):
        of = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        found += _selectable_causes(fields, of, paths["selectableFields"])
    return found


def _root_causes(of: Schema, path: str) -> list[StatusCause]:
    if (type_ := of.get("type") or "object") != "object":
        why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        return [invalid(f"{path}.type", type_, why)]
    if not set(stated_keywords(of)) <= set(_AT_ROOT):
        why = f"only [{' '.join(_AT_ROOT)}] fields are allowed at the root of the schema"
        return [invalid(path, internal_schema(of), f"{why} if the status subresource is enabled")]
    return []


def _simple_path_causes(field: str, path: str) -> list[StatusCause]:
    return [] if path.startswith(".") else [invalid(field, path, "must be a simple json path starting with .")]


def _scale_causes(scale: Wire | None, path: str) -> list[StatusCause]:
    if scale is None:
        return []
    found = []
    for name, places in (
        ("specReplicasPath", (".spec",)),
        ("statusReplicasPath", (".status",)),
        ("labelSelectorPath", (".spec", ".status")),
    ):
        stated = scale.get(name) or ""
        if not stated:
            found += [required(f"{path}.{name}")] if len(places) == 1 else []
        elif problems := _simple_path_causes(f"{path}.{name}", stated):
            found += problems
        elif not stated.startswith(tuple(f"{place}." for place in places)):
            under = places[0] if len(places) == 1 else f"either {' or '.join(places)}"
            found.append(invalid(f"{path}.{name}", stated, f"should be a json path under {under}"))
    return found


def _column_causes(column: Wire, path: str) -> list[StatusCause]:
    found = []
    if not column.get("name"):
        found.append(required(f"{path}.name"))
    types = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not (type_ := column.get("type") or ""):
        found.append(required(f"{path}.type", types))
    elif type_ not in _COLUMN_TYPES:
        found.append(invalid(f"{path}.type", type_, types))
    if (format_ := column.get("format") or "") and format_ not in _COLUMN_FORMATS:
        found.append(invalid(f"{path}.format", format_, f"must be one of {','.join(_COLUMN_FORMATS)}"))
    if not (json_path := column.get("jsonPath") or ""):
        found.append(required(f"{path}.JSONPath"))
    else:
        found += _simple_path_causes(f"{path}.JSONPath", json_path)
    return found


def _selectable_causes(fields: list[Wire], of: Schema, path: str) -> list[StatusCause]:
    found = []
    seen: set[str] = set()
    for index, each in enumerate(fields):
        field, json_path = f"{path}[{index}].jsonPath", each.get("jsonPath") or ""
        if not json_path:
            found.append(required(field))
            continue
        target, problem = _followed(of, json_path)
        if problem:
            found.append(invalid(field, json_path, f"is an invalid path: {problem}"))
            continue
        if json_path.split(".")[1] == "metadata":
            found.append(invalid(field, json_path, "must not point to fields in metadata"))
        if target.get("type") not in ("string", "boolean", "integer"):
            why = (
                "must point to a field of type string, boolean or integer. "
                "Enum string fields and strings with formats are allowed."
            )
            found.append(invalid(field, json_path, why))
        if json_path in seen:
            found.append(duplicate(field, json_path))
        seen.add(json_path)
    if len(seen) > MOST_SELECTABLE:
        found.append(too_many(path, len(seen), MOST_SELECTABLE))
    return found


def _followed(of: Schema, path: str) -> tuple[Schema, str]:
    """What a path leads to, or why it leads nowhere."""
    steps = re.findall(r"'(?:\\'|[^'])*'|[.\[\]]|[^.\[\]]+", path)
    while steps:
        match steps.pop(0):
            case ".":
                pass
            case "[":
                return {}, "array notation is not allowed"
            case other:
                return {}, f"expected [ or . but got: {other}"
        if not steps:
            return {}, "unexpected end of JSON path"
        name = steps.pop(0)
        properties, additional = of.get("properties"), of.get("additionalProperties")
        inner = properties.get(name) if properties else additional
        if not isinstance(inner, dict):
            return {}, "does not refer to a valid field"
        of = inner
    return of, ""
