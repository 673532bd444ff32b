"""PersistentVolumes: available, bound, and what becomes of them and their data when their claim is gone."""

from windvane import Context, NotFound, Operator, View, Watch, ambient
from windvane.cluster.controllers.volume.directories import Directories
from windvane.cluster.controllers.volume.match import key_of, volumes_by_claim
from windvane.cluster.controllers.volume.provisioner import BOUND_BY_CONTROLLER, PROVISIONED_BY, is_ours
from windvane.k8s.core import ObjectReference, PersistentVolume, PersistentVolumeClaim


def add_to(operator: Operator, directories: Directories | None) -> None:
    """Declare the controller; it removes what is in `directories` with the volume."""

    @operator.controller(
        PersistentVolume,
        watches=[
            Watch(
                PersistentVolumeClaim,
                to=_volumes_of_claim,
                seeing=lambda claim: (claim.metadata.uid, claim.spec.volume_name),
            )
        ],
        events_from="persistentvolume-controller",
        until_gone=True,
    )
    async def persistentvolumes(volume: PersistentVolume, ctx: Context) -> None:
        await reconcile(volume, directories, ctx)


async def reconcile(volume: PersistentVolume, directories: Directories | None, ctx: Context) -> None:
    """One pass: say how it stands between the volume and its claim, and release what is not claimed any more."""
    reference = volume.spec.claim_ref
    if reference is None or not reference.uid:
        _set_phase(volume, "Available")
        return
    claim = await _claim(reference, ctx)
    if claim is None:
        await _reclaim(volume, directories, ctx)
    elif claim.spec.volume_name == volume.metadata.name:
        _set_phase(volume, "Bound")
    elif claim.spec.volume_name and is_ours(volume) and volume.spec.persistent_volume_reclaim_policy == "Delete":
        await _reclaim(volume, directories, ctx)  # it was made for a claim that found another one
    elif claim.spec.volume_name:
        await _unbind(volume, ctx)


async def _claim(reference: ObjectReference, ctx: Context) -> PersistentVolumeClaim | None:
    """The claim that a volume is bound to. That it is gone is believed only when the server says so."""
    name, namespace = reference.name or "", reference.namespace or ""
    claim = ctx.get(PersistentVolumeClaim, name, namespace=namespace)
    if claim is not None and claim.metadata.uid == reference.uid:
        return claim
    try:
        claim = await ctx.client.get(PersistentVolumeClaim, name, namespace=namespace)
    except NotFound:
        return None
    return claim if claim.metadata.uid == reference.uid else None


async def _reclaim(volume: PersistentVolume, directories: Directories | None, ctx: Context) -> None:
    if volume.status.phase != "Failed":
        _set_phase(volume, "Released")
    match volume.spec.persistent_volume_reclaim_policy:
        case "Delete" if is_ours(volume) and directories is not None:
            await _delete(volume, directories, ctx)
        case "Delete" if PROVISIONED_BY not in volume.metadata.annotations and volume.spec.csi is None:
            name = volume.metadata.name
            words = f'error getting deleter volume plugin for volume "{name}": no deletable volume plugin matched'
            _fail(volume, "VolumeFailedDelete", words, ctx)
        case "Recycle":
            _fail(volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!", ctx)
        case _:
            pass  # it stays, or is another provisioner's to delete


async def _delete(volume: PersistentVolume, directories: Directories, ctx: Context) -> None:
    try:
        await directories.remove(volume.metadata.name)
    except OSError as error:
        _fail(volume, "VolumeFailedDelete", str(error), ctx)
        raise
    if volume.metadata.deletion_timestamp is None:
        await ctx.client.delete(PersistentVolume, volume.metadata.name, uid=volume.metadata.uid)


async def _unbind(volume: PersistentVolume, ctx: Context) -> None:
    """The claim has another volume: this one is free again, or is still kept for a claim of that name."""
    bound_by_us = BOUND_BY_CONTROLLER in volume.metadata.annotations
    change = {
        "metadata": {
            "resourceVersion": volume.metadata.resource_version,
            "annotations": {BOUND_BY_CONTROLLER: None},
        },
        "spec": {"claimRef": None if bound_by_us else {"uid": None, "resourceVersion": None}},
    }
    changed = await ctx.client.patch(PersistentVolume, volume.metadata.name, change)
    volume.metadata.resource_version = changed.metadata.resource_version
    _set_phase(volume, "Available")


def _set_phase(volume: PersistentVolume, phase: str, message: str | None = None) -> None:
    status = volume.status
    if status.phase != phase:
        status.phase, status.message = phase, message
        status.last_phase_transition_time = ambient.now().replace(microsecond=0)


def _fail(volume: PersistentVolume, reason: str, words: str, ctx: Context) -> None:
    if volume.status.phase != "Failed":
        ctx.event(reason, words, type="Warning")
        _set_phase(volume, "Failed", words)


def _volumes_of_claim(claim: PersistentVolumeClaim, view: View) -> list[str]:
    reserved = [each.metadata.name for each in view.find(volumes_by_claim, key_of(claim))]
    return reserved + ([claim.spec.volume_name] if claim.spec.volume_name else [])
