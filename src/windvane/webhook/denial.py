"""How a refusal is told: as the Status that the API server itself would answer with, so that kubectl shows it as well.

    raise Denied("it can't be changed", field="spec.region")

    The Website "blog" is invalid: spec.region: Invalid value: "eu": it can't be changed

The API server puts the name of the webhook in front of the message.
"""

import re
from typing import Any

import msgspec

from windvane.api.kind import Kind
from windvane.api.status import APIStatus, StatusCause, StatusDetails
from windvane.runtime.admission import Denied

_AT = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`$")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


class ReviewRefused(Exception):
    """The request is denied, with this Status."""

    def __init__(self, status: APIStatus) -> None:
        super().__init__(status.message)
        self.status = status


def denied(error: Denied, kind: Kind, name: str, wire: Any) -> ReviewRefused:
    """What an author's function said about the object `wire`."""
    if not error.field:
        return ReviewRefused(_failure(error.message, "Forbidden", 403))
    return _invalid(kind, name, error.field, f"Invalid value: {_shown(wire, error.field)}{error.message}")


def unreadable(error: Exception, kind: Kind, name: str) -> ReviewRefused:
    """An object does not fit its class: where, and how."""
    text = str(error)
    where = _AT.search(text)
    return _invalid(kind, name, where[1] if where else "", f"Invalid value: {_AT.sub('', text)}")


def too_deep() -> ReviewRefused:
    """An object has more levels than can be read here."""
    return ReviewRefused(_failure("it is nested too deeply to be judged", "Forbidden", 403))


def failed(message: str) -> ReviewRefused:
    """Something went wrong that is not the user's fault."""
    return ReviewRefused(_failure(message, "InternalError", 500))


def asked_wrongly(message: str) -> ReviewRefused:
    """The API server asked something that it should not have asked: the configuration of the webhook is wrong."""
    return ReviewRefused(_failure(message, "BadRequest", 400))


def _failure(message: str, reason: str, code: int) -> APIStatus:
    return APIStatus(status="Failure", message=message, reason=reason, code=code)


def _invalid(kind: Kind, name: str, field: str, problem: str) -> ReviewRefused:
    where = f"{kind.name}.{kind.group}" if kind.group else kind.name
    status = _failure(f'{where} "{name}" is invalid: {f"{field}: " if field else ""}{problem}', "Invalid", 422)
    cause = StatusCause(reason="FieldValueInvalid", message=problem, field=field)
    status.details = StatusDetails(name=name, group=kind.group, kind=kind.name, causes=[cause])
    return ReviewRefused(status)


def _shown(wire: Any, field: str) -> str:
    """The value of a field, as the API server shows it before it says what is wrong with it; "" if there is none."""
    value = wire
    for name, index in _STEP.findall(field):
        if name and isinstance(value, dict):
            value = value.get(name)
        elif index and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        else:
            return ""
    if not isinstance(value, str | int | float):
        return ""
    return f"{msgspec.json.encode(value).decode()}: "
