"""Deployments: pods of one template, and an orderly way from one template to the next.

A Deployment never touches pods. It has a ReplicaSet for each template that it ever had, and makes them larger and
smaller, a step in each pass; the change that a step brings about is what brings the next pass.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from windvane import (
    After,
    AlreadyExists,
    ClientError,
    Context,
    NotFound,
    Operator,
    Selector,
    View,
    Watch,
    ambient,
    owned_by,
)
from windvane.cluster.controllers.deployment.revisions import (
    REVISION,
    current,
    has_template,
    missing_annotations,
    new_replicaset,
    size_annotations,
    to_drop,
)
from windvane.cluster.controllers.deployment.rollout import (
    Sizes,
    is_rolling,
    is_scaled,
    recreated_sizes,
    replicas_of,
    rolling_sizes,
    scaled_sizes,
)
from windvane.cluster.controllers.deployment.status import (
    CREATE_ERROR,
    CREATED,
    FOUND,
    PROGRESSING,
    condition,
    counted,
    has_deadline,
    is_complete,
    note_pause,
    rolled,
    seconds_left,
    set_condition,
)
from windvane.cluster.controllers.workloads.controller_refs import (
    ORPHAN,
    claimed_by,
    is_controlled_by,
    replicas_by_controller,
    replicasets_by_controller,
    settle_claims,
)
from windvane.cluster.controllers.workloads.pod_control import is_namespace_terminating
from windvane.cluster.controllers.workloads.pod_state import is_finished
from windvane.k8s.apps import Deployment, ReplicaSet
from windvane.k8s.core import Pod


def add_to(operator: Operator) -> None:
    """Declare the controller."""
    watches: list[Watch[Any]] = [
        Watch(ReplicaSet, to=claimed_by(Deployment, selector_of)),
        Watch(Pod, to=_recreated, seeing=is_finished),
    ]

    @operator.controller(Deployment, watches=watches, until_gone=True, events_from="deployment-controller")
    async def deployments(deployment: Deployment, ctx: Context) -> After | None:
        return await reconcile(deployment, ctx)


def selector_of(deployment: Deployment) -> Selector:
    """Which ReplicaSets and pods are its."""
    return Selector.from_label_selector(deployment.spec.selector)


def _recreated(pod: Pod, view: View) -> Deployment | None:
    """The Deployment that waits for this pod to end before it makes new ones."""
    replicaset = view.get(ReplicaSet, owned_by(ReplicaSet)(pod) or "")
    deployment = view.get(Deployment, owned_by(Deployment)(replicaset) or "") if replicaset else None
    return deployment if deployment is not None and not is_rolling(deployment) else None


async def reconcile(deployment: Deployment, ctx: Context) -> After | None:
    """One step towards what the Deployment says."""
    now = ambient.now()
    around = ctx.find(replicasets_by_controller, deployment.metadata.uid) + ctx.find(replicasets_by_controller, ORPHAN)
    sets = await settle_claims(deployment, selector_of(deployment), around, ctx)
    new = current(deployment, sets)
    old = [each for each in sets if each is not new]
    if deployment.metadata.deletion_timestamp is not None:
        deployment.status = counted(deployment, new, old, now)
        return None
    note_pause(deployment, now)
    if new is not None:
        new = await _keep_current(deployment, new, old, ctx)
    if deployment.spec.paused or is_scaled(deployment, sets):
        new, old = await _resize(deployment, scaled_sizes(deployment, new, old), new, old, ctx)
        if deployment.spec.paused:
            await _drop(deployment, old, ctx)
        deployment.status = counted(deployment, new, old, now)
        return None
    if new is None and (is_rolling(deployment) or not _old_pods_run(old, ctx)):
        collisions = deployment.status.collision_count
        new = await _create(deployment, old, ctx)
        if new is None:
            return After(seconds=0) if deployment.status.collision_count != collisions else None
    new, old = await _resize(deployment, _step(deployment, new, old, ctx), new, old, ctx)
    deployment.status = rolled(deployment, new, old, now)
    if is_complete(deployment, deployment.status):
        await _drop(deployment, old, ctx)
    left = seconds_left(deployment, deployment.status, now)
    return None if left is None else After(seconds=max(left, 0) + 1)


def _step(deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet], ctx: Context) -> Sizes:
    if not is_rolling(deployment):
        return recreated_sizes(deployment, new, old, _old_pods_run(old, ctx))
    return rolling_sizes(deployment, new, old) if new is not None else {}


def _old_pods_run(old: Sequence[ReplicaSet], ctx: Context) -> bool:
    """Whether old pods are there that have not ended, or may still come: one that is being deleted runs, too."""
    return any(
        each.status.replicas > 0
        or replicas_of(each) > 0
        or any(not is_finished(pod) for pod in ctx.find(replicas_by_controller, each.metadata.uid))
        for each in old
    )


# The current ReplicaSet


async def _keep_current(deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet], ctx: Context) -> ReplicaSet:
    """Have the current ReplicaSet know what it should of the Deployment, and the Deployment its revision."""
    patch: dict[str, object] = {}
    if annotations := missing_annotations(deployment, new, old):
        patch["metadata"] = {"annotations": annotations}
    if (new.spec.min_ready_seconds or 0) != (deployment.spec.min_ready_seconds or 0):
        patch["spec"] = {"minReadySeconds": deployment.spec.min_ready_seconds or 0}
    if patch:
        new = await ctx.client.patch(ReplicaSet, new.metadata.name, patch)
    await _set_revision(deployment, new, ctx)
    if has_deadline(deployment) and condition(deployment.status, PROGRESSING) is None:
        found = f'Found new replica set "{new.metadata.name}"'
        set_condition(deployment.status, PROGRESSING, "True", FOUND, found, ambient.now())
    return new


async def _create(deployment: Deployment, old: Sequence[ReplicaSet], ctx: Context) -> ReplicaSet | None:
    """Make the ReplicaSet of a new template; None if it could not get the name that it should have."""
    wanted = new_replicaset(deployment, old)
    try:
        new = await ctx.client.create(wanted)
    except AlreadyExists:
        there = await ctx.client.get(ReplicaSet, wanted.metadata.name)
        if is_controlled_by(there, deployment) and has_template(there, deployment.spec.template):
            return there
        # Another template has the same hash, or the name is taken. The next pass tries another hash.
        deployment.status.collision_count = (deployment.status.collision_count or 0) + 1
        return None
    except ClientError as error:
        if is_namespace_terminating(error):
            return None
        words = f'Failed to create new replica set "{wanted.metadata.name}": {error}'
        if has_deadline(deployment):
            set_condition(deployment.status, PROGRESSING, "False", CREATE_ERROR, words, ambient.now())
        ctx.event(CREATE_ERROR, words, type="Warning")
        raise
    if size := replicas_of(new):
        ctx.event("ScalingReplicaSet", f"Scaled up replica set {new.metadata.name} from 0 to {size}")
    await _set_revision(deployment, new, ctx)
    if has_deadline(deployment):
        words = f'Created new replica set "{new.metadata.name}"'
        set_condition(deployment.status, PROGRESSING, "True", CREATED, words, ambient.now())
    return new


async def _set_revision(deployment: Deployment, new: ReplicaSet, ctx: Context) -> None:
    mine, number = deployment.metadata, new.metadata.annotations.get(REVISION)
    if number is None or mine.annotations.get(REVISION) == number:
        return
    # With the version that this pass decided on: the status will be written for no other. And as part of the status,
    # because an annotation that a user sets makes a new generation, and this one should not.
    patch = {"metadata": {"annotations": {REVISION: number}, "resourceVersion": mine.resource_version}}
    patched = await ctx.client.patch(Deployment, mine.name, patch, subresource="status")
    mine.resource_version = patched.metadata.resource_version


# Sizes, and the end of old ReplicaSets


async def _resize(
    deployment: Deployment, sizes: Sizes, new: ReplicaSet | None, old: Sequence[ReplicaSet], ctx: Context
) -> tuple[ReplicaSet | None, list[ReplicaSet]]:
    """Give ReplicaSets their new sizes. Returns all as they are then."""
    return (
        new and await _resize_one(deployment, new, sizes, ctx),
        [await _resize_one(deployment, each, sizes, ctx) for each in old],
    )


async def _resize_one(deployment: Deployment, rs: ReplicaSet, sizes: Sizes, ctx: Context) -> ReplicaSet:
    name, before = rs.metadata.name, replicas_of(rs)
    if name not in sizes:
        return rs
    size, annotations = sizes[name], size_annotations(deployment)
    if size == before and annotations.items() <= rs.metadata.annotations.items():
        return rs
    patch = {
        "metadata": {"uid": rs.metadata.uid, "annotations": annotations},
        "spec": {"replicas": size},
    }
    changed = await ctx.client.patch(ReplicaSet, name, patch)
    if size != before:
        way = "up" if size > before else "down"
        ctx.event("ScalingReplicaSet", f"Scaled {way} replica set {name} from {before} to {size}")
    return changed


async def _drop(deployment: Deployment, old: Sequence[ReplicaSet], ctx: Context) -> None:
    for each in to_drop(deployment, old):
        with suppress(NotFound):
            await ctx.client.delete(ReplicaSet, each.metadata.name, uid=each.metadata.uid, propagation="Background")
