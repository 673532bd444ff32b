"""StatefulSets: pods with names and data of their own, made and replaced one after the other."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from windvane import After, Context, NotFound, Operator, Selector, View, Watch, ambient, from_wire
from windvane.cluster.controllers.statefulset.identity import (
    is_claim_of,
    ordinal_in,
    ordinals,
    revision_of,
    stateful_pod,
)
from windvane.cluster.controllers.statefulset.plan import (
    Action,
    CreatePod,
    DeletePod,
    RetainClaims,
    Round,
    UpdatePod,
    is_rolling,
    partition,
    plan,
    set_status,
)
from windvane.cluster.controllers.statefulset.pod_control import StatefulPodControl
from windvane.cluster.controllers.workloads.controller_refs import (
    ORPHAN,
    claimed_by,
    pods_by_controller,
    settle_claims,
)
from windvane.cluster.controllers.workloads.controller_revisions import keep_history, to_drop
from windvane.cluster.controllers.workloads.pod_state import seconds_until_available
from windvane.cluster.controllers.workloads.slow_start import slow_start
from windvane.cluster.controllers.workloads.status_steps import StatusSteps
from windvane.k8s.apps import ControllerRevision, StatefulSet
from windvane.k8s.core import PersistentVolumeClaim, Pod, PodTemplateSpec

HASH_LABEL = "controller.kubernetes.io/hash"


def add_to(operator: Operator) -> None:
    """Declare the controller."""

    @operator.controller(
        StatefulSet,
        watches=[
            Watch(Pod, to=claimed_by(StatefulSet, selector_of)),
            Watch(ControllerRevision, to=claimed_by(StatefulSet, selector_of)),
            Watch(PersistentVolumeClaim, to=_sets_of_claim),
        ],
        until_gone=True,
        events_from="statefulset-controller",
    )
    async def statefulsets(stateful: StatefulSet, ctx: Context) -> After | None:
        return await reconcile(stateful, ctx)


async def reconcile(stateful: StatefulSet, ctx: Context) -> After | None:
    """One pass: have a revision for the template, claim pods, do what can be done next, and say how it stood before."""
    steps = StatusSteps(stateful.status)
    pods = await _pods(stateful, ctx)
    now = ambient.now()
    if stateful.metadata.deletion_timestamp is not None:
        # Its revisions may be orphans by now, which the next set of its name will want to find as they are.
        set_status(stateful, pods, stateful.status.current_revision or "", stateful.status.update_revision or "", now)
        return None
    history = await keep_history(stateful, selector_of(stateful), ctx, hash_label=HASH_LABEL)
    if history is None:
        return After(seconds=0)  # the name of the revision is taken: the next pass tries another
    update, old = history
    current = next((each for each in old if each.metadata.name == stateful.status.current_revision), update)
    rounds = plan(stateful, pods, update.metadata.name, now)
    set_status(stateful, pods, current.metadata.name, update.metadata.name, now)
    control = StatefulPodControl(stateful, ctx)
    try:
        await _carry_out(rounds, control, lambda ordinal: _pod(stateful, ordinal, current, update))
    finally:
        live = {current.metadata.name, *map(revision_of, pods)}
        await _forget([each for each in old if each.metadata.name not in live], stateful, ctx)
    seconds = seconds_until_available(pods, stateful.spec.min_ready_seconds or 0, now)
    return steps.after(stateful.status, After(seconds=seconds) if seconds else None)


def selector_of(stateful: StatefulSet) -> Selector:
    """Which pods and revisions may be its."""
    return Selector.from_label_selector(stateful.spec.selector)


async def _pods(stateful: StatefulSet, ctx: Context) -> list[Pod]:
    def is_member(pod: Pod) -> bool:
        return ordinal_in(pod.metadata.name, stateful) is not None

    around = ctx.find(pods_by_controller, stateful.metadata.uid) + ctx.find(pods_by_controller, ORPHAN)
    return await settle_claims(stateful, selector_of(stateful), around, ctx, where=is_member)


def _pod(stateful: StatefulSet, ordinal: int, current: ControllerRevision, update: ControllerRevision) -> Pod:
    """The pod of an ordinal at the revision that it should have: the current one if an update has not come to it."""
    held_back = is_rolling(stateful) and ordinal < ordinals(stateful).start + partition(stateful)
    if held_back:
        return stateful_pod(stateful, ordinal, _template_in(current), current.metadata.name)
    return stateful_pod(stateful, ordinal, stateful.spec.template, update.metadata.name)


def _template_in(revision: ControllerRevision) -> PodTemplateSpec:
    stored = ((revision.data or {}).get("spec") or {}).get("template")
    if not isinstance(stored, dict):
        raise ValueError(f"ControllerRevision {revision.metadata.name} has no data.spec.template to make pods from")
    return from_wire({key: value for key, value in stored.items() if key != "$patch"}, PodTemplateSpec)


async def _forget(unused: list[ControllerRevision], stateful: StatefulSet, ctx: Context) -> None:
    """Delete the revisions that are not used and that are more than are to be kept."""
    for each in to_drop(unused, stateful.spec.revision_history_limit, live=()):
        with suppress(NotFound):
            await ctx.client.delete(ControllerRevision, each.metadata.name, uid=each.metadata.uid)


async def _carry_out(rounds: list[Round], control: StatefulPodControl, pod_of: Callable[[int], Pod]) -> None:
    """Do all of a round at once, carefully, and the next one only if that worked."""

    def do(action: Action) -> Awaitable[None]:
        match action:
            case CreatePod(ordinal):
                return control.create(pod_of(ordinal))
            case UpdatePod(pod):
                return control.tend(pod)
            case RetainClaims(pod):
                return control.retain(pod)
            case DeletePod(pod):
                return control.delete(pod)

    for actions in rounds:
        await slow_start(len(actions), partial(next, map(do, actions)))


def _sets_of_claim(claim: PersistentVolumeClaim, view: View) -> list[StatefulSet]:
    return [each for each in view.list(StatefulSet) if is_claim_of(claim, each)]
