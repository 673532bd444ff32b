"""Rules for the numbers that controllers write into the status of what they run."""

from typing import Any

from windvane.cluster.apiserver.builtin.problems import Problems

Json = dict[str, Any]


def deployment_status(obj: Json, old: Json, problems: Problems) -> None:
    """Check the numbers in a Deployment's status."""
    fields = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas")
    _counts(obj, ("observedGeneration", *fields), ("updatedReplicas", "readyReplicas", "availableReplicas"), problems)
    _available_are_ready(obj, "cannot be greater than readyReplicas", problems)
    before, now = (each.get("status", {}).get("collisionCount", 0) for each in (old, obj))
    if now < before:
        problems.invalid("status.collisionCount", now, "cannot be decremented")


def replica_set_status(obj: Json, _: Json, problems: Problems) -> None:
    """Check the numbers in a ReplicaSet's status."""
    fields = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
    _counts(obj, fields, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), problems)
    _available_are_ready(obj, "cannot be greater than readyReplicas", problems)


def stateful_set_status(obj: Json, _: Json, problems: Problems) -> None:
    """Check the numbers in a StatefulSet's status."""
    parts = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    _counts(obj, ("replicas", *parts, "observedGeneration", "collisionCount"), parts, problems)
    _available_are_ready(obj, "cannot be greater than status.readyReplicas", problems)


def daemon_set_status(obj: Json, _: Json, problems: Problems) -> None:
    """Check the numbers in a DaemonSet's status."""
    fields = (
        "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
        "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
    )  # fmt: skip
    _counts(obj, fields, (), problems)


def disruption_budget_status(obj: Json, _: Json, problems: Problems) -> None:
    """Check the numbers in a PodDisruptionBudget's status."""
    _counts(obj, ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"), (), problems)


def _counts(obj: Json, fields: tuple[str, ...], parts: tuple[str, ...], problems: Problems) -> None:
    status = obj.get("status", {})
    for field in fields:
        problems.not_negative(f"status.{field}", status.get(field))
    for field in parts:
        if status.get(field, 0) > status.get("replicas", 0):
            problems.invalid(f"status.{field}", status.get(field, 0), "cannot be greater than status.replicas")


def _available_are_ready(obj: Json, rule: str, problems: Problems) -> None:
    status = obj.get("status", {})
    if status.get("availableReplicas", 0) > status.get("readyReplicas", 0):
        problems.invalid("status.availableReplicas", status.get("availableReplicas", 0), rule)
