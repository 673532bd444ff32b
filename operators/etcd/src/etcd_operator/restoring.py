"""Making a cluster out of a snapshot: a new one, or one that has lost its quorum and is given up, with consent.

Either way a Job fills the volume of the first member, and the cluster then grows from that member as any other does.
While this goes on, no etcd runs. Everything is found out from what there is, so it can be cut short at any moment:

    no pods → no volumes but the one for this restore → the Job is done → the cluster begins
"""

from typing import NoReturn

from etcd_operator import names, restore
from etcd_operator.act import delete
from etcd_operator.api import EtcdBackup, EtcdCluster
from etcd_operator.backups import script_for
from etcd_operator.report import quorum_comes_back, quorum_is_lost
from etcd_operator.results import Failure, Running, outcome
from etcd_operator.world import World
from windvane import Context
from windvane.k8s import batch, core

RESTORE = "etcd.windvane.dev/restore"
"""On a volume claim: which restore it was made for."""
LOOK_AGAIN = 2.0


def give_up(cluster: EtcdCluster, world: World, ctx: Context) -> None:
    """Begin a recovery, if there is consent and need. What it is about to do is in the status before it is done."""
    status, consent = cluster.status, cluster.spec.recovery
    if status.recovering or consent is None or not status.cluster_id or consent.give_up != status.cluster_id:
        return
    if status.last_backup is None or not quorum_is_lost(cluster, world):
        return  # the condition Available says what is missing
    if quorum_comes_back(cluster, world):
        # Consent may be older than this trouble; and to the operator, members that it can't reach look like lost ones.
        when = f"so many have lost their data, or have been away for {cluster.spec.replace_after}, that none can lead"
        message = f"too few members answer; it is given up, as spec.recovery allows, once {when}"
        ctx.condition("Available", False, message, reason="QuorumLost")
        return
    status.recovering = status.cluster_id
    last = status.last_backup
    ctx.event(
        "GivenUp",
        f"the cluster {status.cluster_id} is given up, as spec.recovery allows: it is made anew from {last.name}, and "
        f"what was written after {last.taken:%Y-%m-%d %H:%M:%S} UTC is lost",
        type="Warning",
    )
    _wait(ctx, "the recovery begins")


def under_way(cluster: EtcdCluster) -> str:
    """Which restore has to be done before there can be a cluster; nothing if none."""
    status = cluster.status
    if status.recovering:
        return status.recovering
    begins_with = cluster.spec.restore is not None and not status.cluster_id and status.restored_from is None
    return cluster.metadata.uid if begins_with else ""


async def go_on(cluster: EtcdCluster, which: str, world: World, ctx: Context) -> None:
    """Bring a restore further. Returns when it is done; until then, the pass ends here."""
    await _stop_members(world, ctx)
    await _clear(cluster, which, world, ctx)
    claim, snapshot = _source(cluster, ctx)
    await ctx.apply(script_for(cluster))
    wanted = restore.job_for(cluster, restore=which, volume_claim=claim, snapshot=snapshot)
    # One that is there stays as it is: a Job can't be changed, and the spec may have been since.
    job = ctx.get(batch.Job, wanted.metadata.name) or await ctx.apply(wanted)
    restored = outcome(job, ctx.list(core.Pod, labels={names.LABEL_CLUSTER: cluster.metadata.name}))
    if isinstance(restored, Running):
        _wait(ctx, f"a snapshot is being restored: {restored.message}")
    if isinstance(restored, Failure):
        ctx.event("RestoreFailed", restored.message, type="Warning")
        again = f"kubectl delete job {job.metadata.name} -n {job.metadata.namespace}"
        _wait(ctx, f"the restore failed: {restored.message}. To have it tried again: {again}")
    status = cluster.status
    if status.last_backup is not None and status.last_backup.name == restored.name:
        restored.revision = status.last_backup.revision  # which only the Job that took it could tell
    status.restored_from, status.cluster_id, status.recovering, status.members = restored, "", "", []
    ctx.event("Restored", f"from {restored.name}, taken {restored.taken:%Y-%m-%d %H:%M:%S} UTC: nothing later is there")


def _wait(ctx: Context, message: str) -> NoReturn:
    """End the pass, so that nothing that it did not state is taken away."""
    ctx.condition("Available", False, message, reason="Restoring")
    ctx.condition("Progressing", True, message, reason="Restoring")
    ctx.wait(message, after=LOOK_AGAIN)


async def _stop_members(world: World, ctx: Context) -> None:
    there = world.stateful_set
    if there is not None and there.metadata.deletion_timestamp is None:
        await delete(ctx, there)
    if any(place.pod is not None for place in world.places.values()):
        _wait(ctx, "the members that are left are being stopped")


async def _clear(cluster: EtcdCluster, which: str, world: World, ctx: Context) -> None:
    """Make room: a volume of the cluster that is given up must not be mistaken for one of the new."""
    left = [place.claim for place in world.places.values() if place.claim is not None]
    old = [each for each in left if each.metadata.annotations.get(RESTORE) != which]
    if old and not cluster.status.recovering:
        _wait(ctx, f"there are volumes of an earlier cluster, {old[0].metadata.name} for one: delete them first")
    for claim in old:
        if claim.metadata.deletion_timestamp is None:
            await delete(ctx, claim)
    if old:
        _wait(ctx, "the volumes of the cluster that is given up are being deleted")
    if not left:
        claim = restore.member_claim_for(cluster)
        claim.metadata.annotations[RESTORE] = which
        await ctx.client.apply(claim, force=True)


def _source(cluster: EtcdCluster, ctx: Context) -> tuple[str, str]:
    """The volume claim and the snapshot on it that the data comes from."""
    status, asked = cluster.status, cluster.spec.restore
    if status.recovering and status.last_backup is not None:
        return status.last_backup.volume_claim, status.last_backup.name
    if asked is None:
        raise ValueError("nothing says which snapshot to restore")
    if asked.backup is None:
        return asked.volume_claim or names.backups(cluster.metadata.name), asked.snapshot or ""
    backup = ctx.get(EtcdBackup, asked.backup)
    if backup is None:
        _wait(ctx, f"there is no EtcdBackup {asked.backup} in this namespace")
    if backup.status.snapshot is None:
        _wait(ctx, f"the EtcdBackup {asked.backup} is not complete")
    return backup.status.snapshot.volume_claim, backup.status.snapshot.name
