"""How a claim gets a volume that was not there: a directory is made for it, and a PersistentVolume that says where."""

from windvane import AlreadyExists, Context, ObjectMeta
from windvane.cluster.controllers.volume.directories import Directories
from windvane.cluster.controllers.volume.match import class_of, requested
from windvane.k8s.core import (
    HostPathVolumeSource,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
)
from windvane.k8s.storage import StorageClass

PROVISIONER = "windvane.dev/directory"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
STORAGE_PROVISIONER_BETA = "volume.beta.kubernetes.io/storage-provisioner"


async def provision(
    claim: PersistentVolumeClaim, storage_class: StorageClass | None, directories: Directories | None, ctx: Context
) -> None:
    """Have a volume for a claim of this class, or say which provisioner has to, or why there can't be one."""
    if storage_class is None:
        words = f'storageclass.storage.k8s.io "{class_of(claim)}" not found'
        ctx.event("ProvisioningFailed", words, type="Warning")
    elif storage_class.provisioner.startswith("kubernetes.io/"):
        ctx.event("ProvisioningFailed", "no volume plugin matched", type="Warning")
    elif storage_class.provisioner != PROVISIONER or directories is None:
        await _leave_to_others(claim, storage_class.provisioner, ctx)
    elif (problem := unsupported(claim)) is not None:
        words = f'Failed to provision volume with StorageClass "{storage_class.metadata.name}": {problem}'
        ctx.event("ProvisioningFailed", words, type="Warning")
    else:
        await _make(claim, storage_class, directories, ctx)


def unsupported(claim: PersistentVolumeClaim) -> str | None:
    """What a claim asks for that no directory can be."""
    if claim.spec.selector is not None:
        return "claim.spec.selector is not supported: a new directory has no labels"
    if claim.spec.data_source is not None or claim.spec.data_source_ref is not None:
        return "claim.spec.dataSource is not supported: a new directory is empty"
    if claim.spec.volume_mode == "Block":
        return "claim.spec.volumeMode Block is not supported: a directory is no device"
    return None


def volume_for(claim: PersistentVolumeClaim, storage_class: StorageClass, path: str) -> PersistentVolume:
    """The volume that a directory is, bound to the claim that it was made for."""
    return PersistentVolume(
        metadata=ObjectMeta(
            name=volume_name(claim), annotations={PROVISIONED_BY: PROVISIONER, BOUND_BY_CONTROLLER: "yes"}
        ),
        spec=PersistentVolumeSpec(
            capacity={"storage": requested(claim)},
            access_modes=list(claim.spec.access_modes),
            claim_ref=reference_to(claim),
            persistent_volume_reclaim_policy=storage_class.reclaim_policy or "Delete",
            storage_class_name=storage_class.metadata.name,
            mount_options=list(storage_class.mount_options),
            volume_mode=claim.spec.volume_mode or "Filesystem",
            host_path=HostPathVolumeSource(path=path, type="DirectoryOrCreate"),
        ),
    )


def volume_name(claim: PersistentVolumeClaim) -> str:
    """What the volume that is made for a claim is called."""
    return f"pvc-{claim.metadata.uid}"


def reference_to(claim: PersistentVolumeClaim) -> ObjectReference:
    """A claim, as a volume that is bound to it names it."""
    return ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.metadata.namespace,
        name=claim.metadata.name,
        uid=claim.metadata.uid,
        resource_version=claim.metadata.resource_version,
    )


def is_ours(volume: PersistentVolume) -> bool:
    """Whether a volume is a directory that was made here."""
    return volume.metadata.annotations.get(PROVISIONED_BY) == PROVISIONER


async def _make(
    claim: PersistentVolumeClaim, storage_class: StorageClass, directories: Directories, ctx: Context
) -> None:
    name = volume_name(claim)
    try:
        path = await directories.make(name)
    except OSError as error:
        words = f'Failed to provision volume with StorageClass "{storage_class.metadata.name}": {error}'
        ctx.event("ProvisioningFailed", words, type="Warning")
        raise
    try:
        await ctx.client.create(volume_for(claim, storage_class, str(path)))
    except AlreadyExists:
        return  # an earlier attempt, of which no answer came
    ctx.event("ProvisioningSucceeded", f"Successfully provisioned volume {name} using {PROVISIONER}")


async def _leave_to_others(claim: PersistentVolumeClaim, provisioner: str, ctx: Context) -> None:
    mine = claim.metadata
    wanted = {STORAGE_PROVISIONER: provisioner, STORAGE_PROVISIONER_BETA: provisioner}
    if not wanted.items() <= mine.annotations.items():
        patch = {"metadata": {"annotations": wanted, "resourceVersion": mine.resource_version}}
        changed = await ctx.client.patch(PersistentVolumeClaim, mine.name, patch)
        mine.resource_version = changed.metadata.resource_version
    ctx.event(
        "ExternalProvisioning",
        f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the "
        "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
        "correctly registered.",
    )
