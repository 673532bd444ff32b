"""Rules for the numbers that controllers write into the status of what they run."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.validation.problems import Problems


def replica_counts(obj: Wire, fields: tuple[str, ...], parts: tuple[str, ...], problems: Problems) -> None:
    """Check that numbers are not negative, and those in `parts` not larger than all replicas."""
    status = obj.get("status", {})
    for field in fields:
        problems.not_negative(f"status.{field}", status.get(field))
    for field in parts:
        if status.get(field, 0) > status.get("replicas", 0):
            problems.invalid(f"status.{field}", status.get(field, 0), "cannot be greater than status.replicas")


def available_are_ready(obj: Wire, rule: str, problems: Problems) -> None:
    """Check that no more replicas are available than ready."""
    status = obj.get("status", {})
    if status.get("availableReplicas", 0) > status.get("readyReplicas", 0):
        problems.invalid("status.availableReplicas", status.get("availableReplicas", 0), rule)
