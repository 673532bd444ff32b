"""PersistentVolumeClaims: each gets a volume that is there, or one that is made for it, and is bound to it for life.

The volume is written first, then the claim. Whatever is interrupted in between is found and finished by the next pass.
"""

from typing import Any

from windvane import Context, Index, Operator, View, Watch, index, to_wire
from windvane.cluster.controllers.volume.directories import Directories
from windvane.cluster.controllers.volume.match import (
    FREE,
    best_match,
    capacity,
    claims_used_by,
    class_of,
    default_class,
    is_reserved_for,
    key_of,
    mismatch,
    names_class,
    pods_by_claim,
    requested,
    reserved_for,
    volumes_by_claim,
    waits_for_consumer,
)
from windvane.cluster.controllers.volume.provisioner import (
    BOUND_BY_CONTROLLER,
    is_ours,
    provision,
    reference_to,
)
from windvane.k8s.core import PersistentVolume, PersistentVolumeClaim, Pod
from windvane.k8s.storage import StorageClass

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
UNBOUND = "unbound"

claims_by_binding: Index[PersistentVolumeClaim] = index(
    PersistentVolumeClaim, by=lambda claim: None if BIND_COMPLETED in claim.metadata.annotations else UNBOUND
)


def add_to(operator: Operator, directories: Directories | None) -> None:
    """Declare the controller; without `directories`, it makes no volumes."""

    @operator.controller(
        PersistentVolumeClaim,
        watches=[
            Watch(PersistentVolume, to=_claims_of_volume),
            Watch(StorageClass, to=_claims_of_class),
            Watch(Pod, to=claims_used_by, seeing=lambda _: None),
        ],
        events_from="persistentvolume-controller",
    )
    async def persistentvolumeclaims(claim: PersistentVolumeClaim, ctx: Context) -> None:
        await reconcile(claim, directories, ctx)


async def reconcile(claim: PersistentVolumeClaim, directories: Directories | None, ctx: Context) -> None:
    """One pass: find or make a volume for the claim, or see to the one that it has."""
    if BIND_COMPLETED in claim.metadata.annotations:
        await _see_to_bound(claim, ctx)
    elif claim.spec.volume_name:
        await _bind_to_named(claim, claim.spec.volume_name, ctx)
    else:
        await _bind_to_any(claim, directories, ctx)


async def _bind_to_any(claim: PersistentVolumeClaim, directories: Directories | None, ctx: Context) -> None:
    storage_class = ctx.get(StorageClass, class_of(claim)) if class_of(claim) else None
    waiting = waits_for_consumer(storage_class) and not _has_consumer(claim, ctx)
    around = ctx.find(volumes_by_claim, key_of(claim)) + ([] if waiting else ctx.find(volumes_by_claim, FREE))
    volume = best_match(claim, around)
    if volume is not None:
        await _bind(claim, volume, ctx)
        return
    default = default_class(ctx.list(StorageClass))
    if not names_class(claim) and default is not None:
        await _patch(claim, {"spec": {"storageClassName": default.metadata.name}}, ctx)
        return  # that it has changed brings the next pass
    if waiting:
        ctx.event("WaitForFirstConsumer", "waiting for first consumer to be created before binding")
    elif class_of(claim):
        await provision(claim, storage_class, directories, ctx)
    else:
        words = "no persistent volumes available for this claim and no storage class is set"
        ctx.event("FailedBinding", words)
    _set_status(claim, "Pending", None)


async def _bind_to_named(claim: PersistentVolumeClaim, name: str, ctx: Context) -> None:
    volume = ctx.get(PersistentVolume, name)
    if volume is None:
        pass  # a user may make it
    elif is_reserved_for(volume, claim):
        await _bind(claim, volume, ctx)
        return
    elif volume.spec.claim_ref is not None:
        ctx.event("FailedBinding", f'volume "{name}" already bound to a different claim.', type="Warning")
    elif (problem := mismatch(volume, claim)) is not None:
        ctx.event("VolumeMismatch", f'Cannot bind to requested volume "{name}": {problem}', type="Warning")
    else:
        await _bind(claim, volume, ctx)
        return
    _set_status(claim, "Pending", None)


async def _see_to_bound(claim: PersistentVolumeClaim, ctx: Context) -> None:
    name = claim.spec.volume_name
    volume = ctx.get(PersistentVolume, name) if name else None
    if not name:
        words = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
        _lose(claim, "ClaimLost", words, ctx)
    elif volume is None:
        _lose(claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!", ctx)
    elif volume.spec.claim_ref is not None and volume.spec.claim_ref.uid != claim.metadata.uid:
        words = "Two claims are bound to the same volume, this one is bound incorrectly"
        _lose(claim, "ClaimMisbound", words, ctx)
    else:
        await _bind(claim, volume, ctx)
        await _expand(claim, volume, ctx)


async def _bind(claim: PersistentVolumeClaim, volume: PersistentVolume, ctx: Context) -> None:
    """Have the volume name the claim, then the claim the volume, where they don't yet."""
    reference = volume.spec.claim_ref
    if reference is None or reference.uid != claim.metadata.uid:
        change: dict[str, Any] = {"spec": {"claimRef": to_wire(reference_to(claim))}}
        if reference is None:
            change["metadata"] = {"annotations": {BOUND_BY_CONTROLLER: "yes"}}
        # With the version that we looked at: another claim may have got it meanwhile.
        change.setdefault("metadata", {})["resourceVersion"] = volume.metadata.resource_version
        await ctx.client.patch(PersistentVolume, volume.metadata.name, change)
    annotations = {BIND_COMPLETED: "yes"}
    if claim.spec.volume_name != volume.metadata.name:
        annotations[BOUND_BY_CONTROLLER] = "yes"
    if not annotations.keys() <= claim.metadata.annotations.keys() or not claim.spec.volume_name:
        bound = {"metadata": {"annotations": annotations}, "spec": {"volumeName": volume.metadata.name}}
        await _patch(claim, bound, ctx)
    _set_status(claim, "Bound", volume)


async def _expand(claim: PersistentVolumeClaim, volume: PersistentVolume, ctx: Context) -> None:
    """Let a volume be as large as its claim has come to ask for, if its class allows it; a directory has no limit."""
    storage_class = ctx.get(StorageClass, class_of(claim)) if class_of(claim) else None
    wanted = requested(claim)
    if not is_ours(volume) or storage_class is None or not storage_class.allow_volume_expansion:
        return
    if capacity(volume) < wanted:
        change = {
            "metadata": {"resourceVersion": volume.metadata.resource_version},
            "spec": {"capacity": {"storage": wanted.to_wire()}},
        }
        await ctx.client.patch(PersistentVolume, volume.metadata.name, change)
        ctx.event("VolumeResizeSuccessful", "Resize volume succeeded")
    if claim.status.capacity.get("storage", wanted) < wanted:
        claim.status.capacity = claim.status.capacity | {"storage": wanted}


def _set_status(claim: PersistentVolumeClaim, phase: str, volume: PersistentVolume | None) -> None:
    status = claim.status
    if volume is None:
        status.access_modes, status.capacity = [], {}
    else:
        status.access_modes = list(volume.spec.access_modes)
        if status.phase != phase:
            status.capacity = dict(volume.spec.capacity)
    status.phase = phase


def _lose(claim: PersistentVolumeClaim, reason: str, words: str, ctx: Context) -> None:
    if claim.status.phase != "Lost":
        ctx.event(reason, words, type="Warning")
        _set_status(claim, "Lost", None)


async def _patch(claim: PersistentVolumeClaim, change: dict[str, Any], ctx: Context) -> None:
    change.setdefault("metadata", {})["resourceVersion"] = claim.metadata.resource_version
    changed = await ctx.client.patch(PersistentVolumeClaim, claim.metadata.name, change)
    claim.metadata.resource_version = changed.metadata.resource_version  # its status is written on top of that


def _has_consumer(claim: PersistentVolumeClaim, ctx: Context) -> bool:
    """Whether a pod needs it. On which node does not matter: there are no volumes here that only some nodes have."""
    return bool(ctx.find(pods_by_claim, claim.metadata.name))


def _claims_of_volume(volume: PersistentVolume, view: View) -> list[tuple[str, str]]:
    """A free volume may be for any claim that has none; another concerns its own."""
    if volume.spec.claim_ref is not None:
        namespace, _, name = reserved_for(volume).partition("/")
        return [(namespace, name)]
    unbound = view.find(claims_by_binding, UNBOUND, all_namespaces=True)
    return [(each.metadata.namespace, each.metadata.name) for each in unbound]


def _claims_of_class(storage_class: StorageClass, view: View) -> list[tuple[str, str]]:
    unbound = view.find(claims_by_binding, UNBOUND, all_namespaces=True)
    return [
        (each.metadata.namespace, each.metadata.name)
        for each in unbound
        if class_of(each) in ("", storage_class.metadata.name)
    ]
