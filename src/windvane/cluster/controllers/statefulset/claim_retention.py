"""What becomes of a StatefulSet's claims when it is scaled down or deleted: its retention policy, as owners of claims.

The controller never deletes a claim. One that is to go with the set is owned by the set; one that is to go because the
set is scaled down is owned by the pod that goes; and the garbage collector does the rest.
"""

from windvane import Object, OwnerReference, owner_reference
from windvane.cluster.controllers.statefulset.identity import ordinal_in, ordinals
from windvane.k8s.apps import StatefulSet
from windvane.k8s.core import PersistentVolumeClaim, Pod


def owners_by_policy(claim: PersistentVolumeClaim, stateful: StatefulSet, pod: Pod) -> list[OwnerReference]:
    """The owners that a claim of this pod should have. Owners that are neither the set nor the pod stay.

    A claim of an earlier pod or set of the same name is left to the garbage collector, as it is.
    """
    there = claim.metadata.owner_references
    if is_of_an_earlier(pod, claim) or is_of_an_earlier(stateful, claim):
        return there
    others = [each for each in there if each.uid not in (stateful.metadata.uid, pod.metadata.uid)]
    owner = None if has_other_controller(claim, stateful, pod) else _owner(stateful, pod)
    wanted = [*others, owner_reference(owner)] if owner is not None else others
    return there if _controllers(there) == _controllers(wanted) and len(there) == len(wanted) else wanted


def has_other_controller(claim: PersistentVolumeClaim, stateful: StatefulSet, pod: Pod) -> bool:
    """Whether the policy is of no effect on a claim because another controller looks after it."""
    return _policy(stateful) != ("Retain", "Retain") and any(
        each.controller and each.uid not in (stateful.metadata.uid, pod.metadata.uid)
        for each in claim.metadata.owner_references
    )


def is_of_an_earlier(owner: Object, claim: PersistentVolumeClaim) -> bool:
    """Whether a claim is owned by one that had the same name, and is no more."""
    return any(
        (each.kind, each.name) == (owner.kind, owner.metadata.name) and each.uid != owner.metadata.uid
        for each in claim.metadata.owner_references
    )


def goes_when_scaled(stateful: StatefulSet) -> bool:
    """Whether the claims of a pod go when the set is scaled down by it."""
    return _policy(stateful)[1] == "Delete"


def _owner(stateful: StatefulSet, pod: Pod) -> Object | None:
    when_deleted, when_scaled = _policy(stateful)
    if when_scaled == "Delete" and ordinal_in(pod.metadata.name, stateful) not in ordinals(stateful):
        return pod
    return stateful if when_deleted == "Delete" else None


def _policy(stateful: StatefulSet) -> tuple[str, str]:
    """What is done with claims when the set is deleted, and when it is scaled down."""
    policy = stateful.spec.persistent_volume_claim_retention_policy
    if policy is None:
        return "Retain", "Retain"
    return policy.when_deleted or "Retain", policy.when_scaled or "Retain"


def _controllers(owners: list[OwnerReference]) -> set[str]:
    return {each.uid for each in owners if each.controller}
