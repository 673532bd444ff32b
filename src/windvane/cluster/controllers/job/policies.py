"""What a Job's author says about failures that are special, and about when enough has succeeded."""

from collections.abc import Iterable
from typing import NamedTuple

from windvane.cluster.controllers.job.completion_indexes import Indexes
from windvane.k8s.batch import (
    Job,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
)
from windvane.k8s.core import ContainerStatus, Pod


class FailureAction(NamedTuple):
    """What a policy says of a failed pod."""

    action: str = "Count"
    message: str = ""
    """Which rule applies, and why."""


def failure_action(job: Job, pod: Pod) -> FailureAction:
    """What the pod failure policy says of a failed pod: the first rule that applies decides, and else it counts."""
    policy = job.spec.pod_failure_policy
    for number, rule in enumerate(policy.rules if policy else ()):
        if why := _why(rule, pod):
            return FailureAction(rule.action, f"{why} matching {rule.action} rule at index {number}")
    return FailureAction()


def counts(job: Job, pod: Pod) -> bool:
    """Whether a failed pod counts towards the limits of failures."""
    return failure_action(job, pod).action != "Ignore"


def _why(rule: PodFailurePolicyRule, pod: Pod) -> str:
    """Why a rule applies to a pod; nothing if it does not."""
    which = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if rule.on_exit_codes is not None:
        for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
            if (code := _exit_code(status)) and _matches(rule.on_exit_codes, status.name, code):
                return f"Container {status.name} for pod {which} failed with exit code {code}"
        return ""
    return next(
        (
            f"Pod {which} has condition {condition.type}"
            for condition in pod.status.conditions
            if _has_pattern(rule.on_pod_conditions, condition.type, condition.status)
        ),
        "",
    )


def _exit_code(status: ContainerStatus) -> int:
    ended = status.state.terminated if status.state else None
    return ended.exit_code if ended else 0


def _matches(rule: PodFailurePolicyOnExitCodesRequirement, container: str, code: int) -> bool:
    if rule.container_name not in (None, container):
        return False
    return (code in rule.values) == (rule.operator == "In")


def _has_pattern(patterns: Iterable[PodFailurePolicyOnPodConditionsPattern], kind: str, status: str) -> bool:
    return any(each.type == kind and (each.status or "True") == status for each in patterns)


def met_rule(job: Job, completed: Indexes) -> int | None:
    """The number of the first rule of the success policy that is met; None if none is."""
    policy = job.spec.success_policy
    for number, rule in enumerate(policy.rules if policy else ()):
        if rule.succeeded_indexes is None:
            if rule.succeeded_count is not None and len(completed) >= rule.succeeded_count:
                return number
            continue
        asked = Indexes.parse(rule.succeeded_indexes, job.spec.completions or 0)
        needed = len(asked) if rule.succeeded_count is None else min(rule.succeeded_count, len(asked))
        if len(asked) and len(completed) and completed.shared_with(asked) >= needed:
            return number
    return None
