"""Rules for conditions of the form that all newer kinds have."""

import re

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems
from windvane.cluster.apiserver.registry.validation.problems import Problems

STATUSES = ("False", "True", "Unknown")
LONGEST_REASON, LONGEST_MESSAGE = 1024, 32 * 1024
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_WRONG_REASON = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    f"'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '{_REASON}')"
)


def conditions(found: list[Wire], path: str, problems: Problems) -> None:
    """Check each condition, and that no type is there twice."""
    seen: set[str] = set()
    for index, condition in enumerate(found):
        here, type_ = f"{path}[{index}]", condition.get("type") or ""
        if type_ in seen:
            problems.duplicate(f"{here}.type", type_)
        seen.add(type_)
        _condition(condition, type_, here, problems)


def _condition(condition: Wire, type_: str, path: str, problems: Problems) -> None:
    problems.all_invalid(f"{path}.type", type_, label_key_problems(type_))
    if (status := condition.get("status") or "") not in STATUSES:
        problems.unsupported(f"{path}.status", status, STATUSES)
    if (generation := condition.get("observedGeneration") or 0) < 0:
        problems.invalid(f"{path}.observedGeneration", generation, "must be greater than or equal to zero")
    if not condition.get("lastTransitionTime"):
        problems.required(f"{path}.lastTransitionTime")
    if not (reason := condition.get("reason") or ""):
        problems.required(f"{path}.reason")
    else:
        if not re.fullmatch(_REASON, reason):
            problems.invalid(f"{path}.reason", reason, _WRONG_REASON)
        if len(reason.encode()) > LONGEST_REASON:
            problems.too_long(f"{path}.reason", LONGEST_REASON)
    if len((condition.get("message") or "").encode()) > LONGEST_MESSAGE:
        problems.too_long(f"{path}.message", LONGEST_MESSAGE)
