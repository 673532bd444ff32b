"""Conflicts in the API server's words: which managers own the fields that another one applies."""

from windvane.api.status import StatusCause, StatusDetails
from windvane.api.wording import quoted
from windvane.cluster.apiserver.failure import Failure, failure
from windvane.cluster.apiserver.managedfields.field_set import Path, words
from windvane.cluster.apiserver.managedfields.managed_fields import UPDATE, Manager
from windvane.cluster.apiserver.managedfields.updater import Conflicts


def refusal(conflicts: Conflicts) -> Failure:
    """The 409 that applying is answered with."""
    found = sorted(conflicts.found, key=lambda conflict: conflict[0])  # each manager's are in order already
    causes = [
        StatusCause(reason="FieldManagerConflict", message=f"conflict with {called(manager)}", field=words(path))
        for manager, path in found
    ]
    return failure(409, "Conflict", _message(found), StatusDetails(causes=causes))


def called(manager: Manager) -> str:
    """A manager's name, and what else it takes to know which one is meant."""
    name = quoted(manager.name)
    if manager.subresource:
        name = f"{name} with subresource {quoted(manager.subresource)}"
    return f"{name} using {manager.api_version}" if manager.operation == UPDATE else name


def _message(found: list[tuple[Manager, Path]]) -> str:
    if len(found) == 1:
        manager, path = found[0]
        return f"Apply failed with 1 conflict: conflict with {called(manager)}: {words(path)}"
    by_manager: dict[Manager, list[Path]] = {}
    for manager, path in found:
        by_manager.setdefault(manager, []).append(path)
    lines = []
    for manager, theirs in by_manager.items():
        lines.append(f"conflicts with {called(manager)}:")
        lines += [f"- {words(path)}" for path in theirs]
    return f"Apply failed with {len(found)} conflicts: " + "\n".join(lines)
