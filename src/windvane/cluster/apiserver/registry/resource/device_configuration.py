"""Configuration of devices, which only their drivers understand."""

import json

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.resource.device_names import driver_name
from windvane.cluster.apiserver.registry.validation.problems import Problems

LONGEST_DATA = 10 * 1024
MOST_CONFIGURATIONS = 32


def configuration(found: Wire, path: str, problems: Problems, *, is_stored: bool = False) -> None:
    """Check one configuration; with `is_stored`, it was there before and may be longer than new ones."""
    if (opaque := found.get("opaque")) is None:
        problems.required(f"{path}.opaque")
        return
    driver_name(opaque.get("driver") or "", f"{path}.opaque.driver", problems)
    raw_object(opaque.get("parameters"), f"{path}.opaque.parameters", problems, is_stored=is_stored)


def raw_object(value: object, path: str, problems: Problems, *, is_stored: bool = False) -> None:
    """Check JSON that must be an object, of which nothing else is known."""
    if value is None:
        problems.required(path)
    elif not is_stored and len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > LONGEST_DATA:
        problems.too_long(path, LONGEST_DATA)
    elif not isinstance(value, dict):
        problems.invalid(path, "<value omitted>", "must be a valid JSON object")
