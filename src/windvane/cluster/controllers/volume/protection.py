"""What is in use is not removed: claims that pods have, and volumes that are bound, go only when they are let go.

Both carry a finalizer from the start, which comes off here.
"""

from typing import TypeVar

from windvane import Context, Object, Operator, Watch
from windvane.cluster.controllers.volume.match import claims_used_by, pods_by_claim
from windvane.k8s.core import PersistentVolume, PersistentVolumeClaim, Pod

CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"

ObjectT = TypeVar("ObjectT", bound=Object)


def add_to(operator: Operator) -> None:
    """Declare both controllers."""

    @operator.controller(
        PersistentVolumeClaim,
        watches=[Watch(Pod, to=claims_used_by)],
        until_gone=True,
        name="pvc-protection-controller",
    )
    async def protect_claim(claim: PersistentVolumeClaim, ctx: Context) -> None:
        if claim.metadata.deletion_timestamp is None:
            await _add(claim, CLAIM_FINALIZER, ctx)
        elif CLAIM_FINALIZER in claim.metadata.finalizers and not await _is_used(claim, ctx):
            await _remove(claim, CLAIM_FINALIZER, ctx)

    @operator.controller(PersistentVolume, until_gone=True, name="pv-protection-controller")
    async def protect_volume(volume: PersistentVolume, ctx: Context) -> None:
        if volume.metadata.deletion_timestamp is None:
            await _add(volume, VOLUME_FINALIZER, ctx)
        elif volume.status.phase != "Bound":
            await _remove(volume, VOLUME_FINALIZER, ctx)


def uses(pod: Pod, claim: PersistentVolumeClaim) -> bool:
    """Whether a pod keeps a claim from being removed: one that is on a node, and may have files open."""
    if not pod.spec.node_name or claim.metadata.name not in claims_used_by(pod):
        return False
    named = {each.persistent_volume_claim.claim_name for each in pod.spec.volumes if each.persistent_volume_claim}
    if claim.metadata.name in named:
        return True
    is_its_own = any(each.uid == pod.metadata.uid for each in claim.metadata.owner_references)
    is_shut_down = pod.metadata.deletion_timestamp is not None and pod.metadata.deletion_grace_period_seconds == 0
    return is_its_own and not is_shut_down


async def _is_used(claim: PersistentVolumeClaim, ctx: Context) -> bool:
    if any(uses(each, claim) for each in ctx.find(pods_by_claim, claim.metadata.name)):
        return True
    # The cache may not know of a pod that was made a moment ago; what goes now does not come back.
    return any(uses(each, claim) for each in await ctx.client.list(Pod, namespace=claim.metadata.namespace))


async def _add(thing: Object, finalizer: str, ctx: Context) -> None:
    if finalizer not in thing.metadata.finalizers:
        await _set(thing, [*thing.metadata.finalizers, finalizer], ctx)


async def _remove(thing: Object, finalizer: str, ctx: Context) -> None:
    if finalizer in thing.metadata.finalizers:
        await _set(thing, [each for each in thing.metadata.finalizers if each != finalizer], ctx)


async def _set(thing: Object, finalizers: list[str], ctx: Context) -> None:
    # With the version that we looked at: another client may have added a finalizer since, and it must not get lost.
    patch = {"metadata": {"finalizers": finalizers or None, "resourceVersion": thing.metadata.resource_version}}
    await ctx.client.patch(type(thing), thing.metadata.name, patch)
