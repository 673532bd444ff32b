"""What has changed from one version of a CRD to the next, as its author would say it. No I/O."""

from collections.abc import Iterator, Mapping
from typing import Any

SHOWN = 5


def definition_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """A few words: `spec.port is new, the column Port is new`."""
    words: list[str] = []
    for what, old, new in (
        ("the version ", _names(before["spec"], "versions"), _names(after["spec"], "versions")),
        ("", list(_all_fields(before)), list(_all_fields(after))),
        ("the column ", _all_columns(before), _all_columns(after)),
    ):
        words += [f"{what}{each} is new" for each in new if each not in old]
        words += [f"{what}{each} is gone" for each in old if each not in new]
    more = [f"and {len(words) - SHOWN} more"] if len(words) > SHOWN else []
    return ", ".join([*dict.fromkeys(words[:SHOWN]), *more]) or "what its fields may be, or how they are described"


def _names(where: Mapping[str, Any], key: str) -> list[str]:
    return [each["name"] for each in where.get(key) or []]


def _all_columns(definition: Mapping[str, Any]) -> list[str]:
    found = [name for version in definition["spec"]["versions"] for name in _names(version, "additionalPrinterColumns")]
    return list(dict.fromkeys(found))


def _all_fields(definition: Mapping[str, Any]) -> Iterator[str]:
    for version in definition["spec"]["versions"]:
        yield from _fields(version["schema"]["openAPIV3Schema"], "")


def _fields(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, below in (schema.get("properties") or {}).items():
        where = f"{path}.{name}" if path else name
        yield where
        yield from _fields(below, where)
    for key in ("items", "additionalProperties"):
        if isinstance(below := schema.get(key), dict):
            yield from _fields(below, f"{path}[]")
