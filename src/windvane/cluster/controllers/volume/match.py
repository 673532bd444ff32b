"""Which PersistentVolume a claim gets: the one that is reserved for it, or the smallest that is good enough."""

from collections.abc import Iterable

from windvane import Index, Quantity, Selector, index
from windvane.k8s.core import PersistentVolume, PersistentVolumeClaim, Pod
from windvane.k8s.storage import StorageClass

CLASS = "volume.beta.kubernetes.io/storage-class"
IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
IS_DEFAULT_BETA = "storageclass.beta.kubernetes.io/is-default-class"
FREE = ""
"""What volumes that are not reserved are found by."""


def class_of(thing: PersistentVolume | PersistentVolumeClaim) -> str:
    """The name of its StorageClass; empty if it has none."""
    return thing.metadata.annotations.get(CLASS) or thing.spec.storage_class_name or ""


def names_class(claim: PersistentVolumeClaim) -> bool:
    """Whether a claim says which class it is of; one that says "of none" does."""
    return CLASS in claim.metadata.annotations or claim.spec.storage_class_name is not None


def default_class(classes: Iterable[StorageClass]) -> StorageClass | None:
    """The class of claims that name none: of several that say that they are it, the newest."""
    defaults = [
        each
        for each in classes
        if "true" in (each.metadata.annotations.get(IS_DEFAULT), each.metadata.annotations.get(IS_DEFAULT_BETA))
    ]
    by_name = sorted(defaults, key=lambda each: each.metadata.name)
    return max(by_name, key=_made_at, default=None)


def waits_for_consumer(storage_class: StorageClass | None) -> bool:
    """Whether a claim of this class gets its volume only when a pod needs it."""
    return storage_class is not None and storage_class.volume_binding_mode == "WaitForFirstConsumer"


def key_of(claim: PersistentVolumeClaim) -> str:
    """A claim by namespace and name."""
    return f"{claim.metadata.namespace}/{claim.metadata.name}"


def reserved_for(volume: PersistentVolume) -> str:
    """The claim that a volume is reserved for, or bound to, by namespace and name."""
    reference = volume.spec.claim_ref
    return f"{reference.namespace}/{reference.name}" if reference is not None else FREE


volumes_by_claim: Index[PersistentVolume] = index(PersistentVolume, by=reserved_for)


def claims_used_by(pod: Pod) -> list[str]:
    """The names of the claims that a pod has volumes of."""
    return [
        each.persistent_volume_claim.claim_name
        if each.persistent_volume_claim is not None
        else f"{pod.metadata.name}-{each.name}"
        for each in pod.spec.volumes
        if each.persistent_volume_claim is not None or each.ephemeral is not None
    ]


pods_by_claim: Index[Pod] = index(Pod, by=claims_used_by)


def is_reserved_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is for this claim, and not for an earlier one of its name."""
    reference = volume.spec.claim_ref
    return (
        reference is not None
        and reserved_for(volume) == key_of(claim)
        and (not reference.uid or reference.uid == claim.metadata.uid)
    )


def requested(claim: PersistentVolumeClaim) -> Quantity:
    """How much a claim asks for."""
    requests = claim.spec.resources.requests if claim.spec.resources is not None else {}
    return requests.get("storage", Quantity(0))


def capacity(volume: PersistentVolume) -> Quantity:
    """How much a volume has."""
    return volume.spec.capacity.get("storage", Quantity(0))


def mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str | None:
    """Why a claim can't have a volume that it asks for by name, in the words of Kubernetes; None if it can."""
    if volume.metadata.deletion_timestamp is not None:
        return f'the volume is marked for deletion "{volume.metadata.name}"'
    if capacity(volume) < requested(claim):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if (volume.spec.volume_attributes_class_name or "") != (claim.spec.volume_attributes_class_name or ""):
        return "volumeAttributesClassName does not match"
    if (volume.spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem"):
        return "incompatible volumeMode"
    if not set(claim.spec.access_modes) <= set(volume.spec.access_modes):
        return "incompatible accessMode"
    return None


def best_match(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]) -> PersistentVolume | None:
    """The volume for a claim that names none: one that is reserved for it, or that has little more than it needs."""
    selector = Selector.from_label_selector(claim.spec.selector) if claim.spec.selector is not None else None
    fitting = []
    for volume in volumes:
        if is_reserved_for(volume, claim):
            if mismatch(volume, claim) in (None, "storageClassName does not match"):
                return volume
        elif (
            volume.spec.claim_ref is None
            and volume.status.phase == "Available"
            and mismatch(volume, claim) is None
            and (selector is None or selector.matches(volume.metadata.labels))
        ):
            fitting.append(volume)
    return min(
        fitting, key=lambda each: (len(each.spec.access_modes), capacity(each), each.metadata.name), default=None
    )


def _made_at(storage_class: StorageClass) -> float:
    created = storage_class.metadata.creation_timestamp
    return created.timestamp() if created is not None else 0.0
