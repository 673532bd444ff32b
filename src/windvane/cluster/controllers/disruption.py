"""PodDisruptionBudgets: how many pods may be made to leave now, so that enough of them stay.

The API server takes one off for each eviction that it grants, and notes the pod; what is right is computed here, from
the pods that are there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from windvane import (
    After,
    Condition,
    Context,
    LabelSelector,
    NotFound,
    Object,
    Operator,
    OwnerReference,
    Selector,
    View,
    Watch,
    ambient,
    dynamic,
    kind_of,
    scaled_value,
    set_condition,
)
from windvane.cluster.controllers.workloads.controller_refs import controller_of
from windvane.cluster.controllers.workloads.pod_state import is_ready
from windvane.k8s.apps import Deployment, ReplicaSet, StatefulSet
from windvane.k8s.core import Pod, ReplicationController
from windvane.k8s.policy import PodDisruptionBudget

NAME = "disruption"
ALLOWED = "DisruptionAllowed"
SEEN_WITHIN = timedelta(minutes=2)
"""How soon a pod that was evicted is expected to be seen to go."""
UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the status of "
    "the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please "
    'set ".spec.minAvailable" field of the PDB to an integer value.'
)

Workload: TypeAlias = Deployment | ReplicaSet | StatefulSet | ReplicationController
WORKLOADS: tuple[type[Workload], ...] = (Deployment, ReplicaSet, StatefulSet, ReplicationController)


class UnknownScale(Exception):
    """It can't be said how many pods there should be; the message says why."""


def add_to(operator: Operator) -> None:
    """Declare the controller."""
    watches: list[Watch[Any]] = [Watch(Pod, to=_budgets_of_pod, seeing=_what_matters)]
    watches += [Watch(each, to=_budgets_of_workload, seeing=_replicas) for each in WORKLOADS]

    @operator.controller(PodDisruptionBudget, name=NAME, watches=watches, events_from="controllermanager")
    async def budgets(budget: PodDisruptionBudget, ctx: Context) -> After | None:
        return await reconcile(budget, ctx)


async def reconcile(budget: PodDisruptionBudget, ctx: Context) -> After | None:
    """One pass: count, and say what that allows. If there is no way to count, nothing is allowed."""
    pods = ctx.list(Pod, labels=selector_of(budget))
    now = ambient.now()
    told = budget.status.observed_generation == budget.metadata.generation and budget.status.expected_pods == 0
    if not pods and not told:
        ctx.event("NoPods", "No matching pods found")
    try:
        expected, wanted = await _expected(budget, pods, ctx)
    except (UnknownScale, ValueError) as error:
        words = f"Failed to calculate the number of expected pods: {error}"
        ctx.event("CalculateExpectedPodCountFailed", words, type="Warning")
        budget.status.disruptions_allowed = 0
        _say(budget, False, "SyncFailed", str(error))
        return None
    noted = still_noted(budget, pods, now)
    set_status(budget, healthy(pods, noted), wanted, expected, noted)
    if not noted:
        return None
    return After(seconds=max((min(noted.values()) + SEEN_WITHIN - now).total_seconds(), 0) + 1)


def selector_of(budget: PodDisruptionBudget) -> Selector:
    """Which pods a budget is about."""
    return Selector.from_label_selector(budget.spec.selector)


def wanted_healthy(budget: PodDisruptionBudget, expected: int) -> int:
    """How many healthy pods there must be, of those that are expected."""
    if budget.spec.max_unavailable is not None:
        return max(expected - scaled_value(budget.spec.max_unavailable, expected, round_up=True), 0)
    return scaled_value(
        budget.spec.min_available if budget.spec.min_available is not None else 0, expected, round_up=True
    )


def still_noted(budget: PodDisruptionBudget, pods: Iterable[Pod], now: datetime) -> dict[str, datetime]:
    """The pods that were evicted and not seen to go yet. One that takes too long is taken not to go at all."""
    staying = {each.metadata.name for each in pods if each.metadata.deletion_timestamp is None}
    noted = budget.status.disrupted_pods
    return {name: since for name, since in noted.items() if name in staying and now <= since + SEEN_WITHIN}


def healthy(pods: Iterable[Pod], noted: dict[str, datetime]) -> int:
    """How many pods are ready, and stay."""
    return sum(
        is_ready(each) and each.metadata.deletion_timestamp is None and each.metadata.name not in noted for each in pods
    )


def set_status(
    budget: PodDisruptionBudget, healthy: int, wanted: int, expected: int, noted: dict[str, datetime]
) -> None:
    """Say in the status what was counted, and what it allows."""
    status = budget.status
    status.current_healthy, status.desired_healthy, status.expected_pods = healthy, wanted, expected
    # A budget without pods allows nothing: when the first ones come, it may be some time before they are counted.
    status.disruptions_allowed = max(healthy - wanted, 0) if expected > 0 else 0
    status.disrupted_pods = noted
    status.observed_generation = budget.metadata.generation
    some = status.disruptions_allowed > 0
    _say(budget, some, "SufficientPods" if some else "InsufficientPods", "")


def _say(budget: PodDisruptionBudget, holds: bool, reason: str, message: str) -> None:
    set_condition(
        budget.status.conditions,
        Condition(
            type=ALLOWED,
            status="True" if holds else "False",
            reason=reason,
            message=message,
            observed_generation=budget.status.observed_generation or 0,
        ),
    )


# How many pods there should be


@dataclass(frozen=True)
class ScaleTarget:
    """Something that has a number of pods made."""

    uid: str
    replicas: int


async def _expected(budget: PodDisruptionBudget, pods: Sequence[Pod], ctx: Context) -> tuple[int, int]:
    """How many pods there should be, and how many of them healthy."""
    if budget.spec.max_unavailable is None and isinstance(budget.spec.min_available, int | None):
        return len(pods), wanted_healthy(budget, len(pods))
    counted: dict[str, int] = {}
    owners: dict[str, OwnerReference] = {}
    unmanaged = False
    for pod in pods:
        owner = controller_of(pod)
        if owner is None:
            unmanaged = True
        elif owner.uid not in owners:
            owners[owner.uid] = owner
            found = _known(owner, ctx) or await _scale_of(owner, ctx)
            if found is None:
                raise UnknownScale(f'found no controllers for pod "{pod.metadata.name}"')
            counted[found.uid] = found.replicas
    if unmanaged:
        ctx.event("UnmanagedPods", UNMANAGED.format(_shown(budget.spec.selector)), type="Warning")
    expected = sum(counted.values())
    return expected, wanted_healthy(budget, expected)


def _known(owner: OwnerReference, ctx: Context) -> ScaleTarget | None:
    """A built-in kind's replicas; for a ReplicaSet of a Deployment, those of the Deployment."""
    for kind in WORKLOADS:
        if not _refers_to(owner, kind):
            continue
        there = ctx.get(kind, owner.name)
        if there is None or there.metadata.uid != owner.uid:
            return None
        above = controller_of(there)
        if above is not None and _refers_to(above, Deployment):
            return _known(above, ctx)
        return ScaleTarget(there.metadata.uid, _replicas(there))
    return None


def _refers_to(owner: OwnerReference, what: type[Object]) -> bool:
    """Whether a reference is to an object of that kind, in whatever version."""
    kind = kind_of(what)
    return owner.kind == kind.name and owner.api_version.rpartition("/")[0] == kind.group


async def _scale_of(owner: OwnerReference, ctx: Context) -> ScaleTarget | None:
    """The replicas of anything else that can be scaled."""
    group = owner.api_version.rpartition("/")[0]
    kinds = await ctx.client.discover()
    kind = next((each for each in kinds if (each.group, each.name) == (group, owner.kind)), None)
    if kind is None:
        raise UnknownScale(f'no matches for kind "{owner.kind}" in version "{owner.api_version}"')
    if "scale" not in kind.subresources:
        raise UnknownScale(f"{kind.resource} does not implement the scale subresource")
    try:
        scale = await ctx.client.get_scale(dynamic(kind), owner.name)
    except NotFound:
        return None
    return ScaleTarget(scale.metadata.uid, scale.spec.replicas or 0) if scale.metadata.uid == owner.uid else None


def _shown(selector: LabelSelector | None) -> str:
    """A selector in the words that users know from any cluster."""
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.match_labels if selector else {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.key},Operator:{each.operator},Values:[{' '.join(each.values)}],}},"
        for each in (selector.match_expressions if selector else ())
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


# Which budgets a change concerns


def _what_matters(pod: Pod) -> Any:
    owner = controller_of(pod)
    going = pod.metadata.deletion_timestamp is not None
    return pod.metadata.labels, going, is_ready(pod), owner.uid if owner else ""


def _replicas(workload: Workload) -> int:
    return 1 if workload.spec.replicas is None else workload.spec.replicas


def _budgets_of_pod(pod: Pod, view: View) -> list[PodDisruptionBudget]:
    return [each for each in view.list(PodDisruptionBudget) if selector_of(each).matches(pod.metadata.labels)]


def _budgets_of_workload(workload: Workload, view: View) -> list[PodDisruptionBudget]:
    template = workload.spec.template
    labels = template.metadata.labels if template is not None and template.metadata is not None else {}
    return [each for each in view.list(PodDisruptionBudget) if selector_of(each).matches(labels)]
