"""Volumes: larger ones for members, with the template for those to come, and the one that snapshots are kept on."""

from etcd_operator import backups, names
from etcd_operator.api import EtcdCluster
from etcd_operator.world import World
from windvane import Client, Context, Forbidden, Invalid, NotFound, Quantity, find_condition
from windvane.k8s import apps, core

SIZED, NOT_GROWN = "StorageSized", "VolumeNotGrown"
"""The condition that says whether volumes may be as large as asked for, and its reason if not."""


async def grow(cluster: EtcdCluster, world: World, ctx: Context) -> str:
    """Have volumes be as large as the spec asks for; smaller ones it can't ask for. Returns why not, if so."""
    for place in world.places.values():
        claim = place.claim
        if (
            claim is None
            or claim.metadata.deletion_timestamp is not None
            or size_of(claim) >= cluster.spec.storage_size
        ):
            continue
        wanted = {"spec": {"resources": {"requests": {"storage": str(cluster.spec.storage_size)}}}}
        try:
            await ctx.client.patch(core.PersistentVolumeClaim, claim.metadata.name, wanted)
        except (Forbidden, Invalid) as error:
            why = f"the volume can't grow to {cluster.spec.storage_size}: {error}"
            if not _was_said(cluster, why):
                ctx.event("VolumeNotGrown", why, type="Warning")
            return why  # and the others are of the same storage class
        ctx.event("VolumeGrown", f"{claim.metadata.name} is to have {cluster.spec.storage_size}")
    return ""


def _was_said(cluster: EtcdCluster, why: str) -> bool:
    """Whether the last pass said the same: an Event is for what is new."""
    said = find_condition(cluster.status.conditions, SIZED)
    return said is not None and said.message == why


async def renew_template(cluster: EtcdCluster, world: World, ctx: Context) -> None:
    """Delete a StatefulSet whose template is for smaller volumes, without its pods: the next pass makes it anew.

    The pass ends here: one that is still there could only be deleted again.
    """
    there = world.stateful_set
    if there is None:
        return
    if there.metadata.deletion_timestamp is None:
        if all(size_of(each) == cluster.spec.storage_size for each in there.spec.volume_claim_templates):
            return
        await ctx.client.delete(apps.StatefulSet, there.metadata.name, uid=there.metadata.uid, propagation="Orphan")
    ctx.wait("the StatefulSet is made anew, with a template for larger volumes", after=1)


async def have_backup_volume(cluster: EtcdCluster, client: Client) -> None:
    """Have the volume for snapshots. It is nobody's, so it outlives the cluster; like any, it can only grow."""
    try:
        there = await client.get(core.PersistentVolumeClaim, names.backups(cluster.metadata.name))
    except NotFound:
        there = None
    wanted = backups.claim_for(cluster, there)
    if there is None or size_of(there) != size_of(wanted):
        await client.apply(wanted, force=True)


def size_of(claim: core.PersistentVolumeClaim) -> Quantity:
    """How much a claim asks for."""
    resources = claim.spec.resources
    return resources.requests.get("storage", Quantity(0)) if resources else Quantity(0)
