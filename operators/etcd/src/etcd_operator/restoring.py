"""Making a cluster out of a snapshot: a new one, or one that has lost its quorum and is given up, with consent.

Either way a Job fills the volume of the first member, and the cluster then grows from that member as any other does.
While this goes on, no etcd runs. Everything is found out from what there is, so it can be cut short at any moment:

    no pods → no volumes but the one for this restore → the Job is done → the cluster begins

One that is given up begins, if it can, with the data of a member that is left. Then the other volumes stay until the
Job is done. For a snapshot they go first, and another Job before that has read it to its end. So what they have is lost
only once something else is there; and until the first deed that can't be undone, consent can be taken back.
"""

from typing import NoReturn

from etcd_operator import names, restore
from etcd_operator.act import delete
from etcd_operator.api import EtcdBackup, EtcdCluster, Snapshot
from etcd_operator.backups import script_for
from etcd_operator.refusals import refusal
from etcd_operator.report import cost_of, hoped_for, quorum_comes_back, quorum_is_lost, recovery_source
from etcd_operator.results import NO_POD, Failure, Running, outcome
from etcd_operator.world import Place, World
from windvane import Context
from windvane.k8s import batch, core

RESTORE = "etcd.windvane.dev/restore"
"""On a volume claim: which restore it was made for."""
LOOK_AGAIN = 2.0


def give_up(cluster: EtcdCluster, world: World, ctx: Context) -> None:
    """Begin a recovery, if there is consent and need. What it is about to do is in the status before it is done."""
    status, consent = cluster.status, cluster.spec.recovery
    if status.recovering and _is_back(world):
        status.recovering, status.recovering_from = "", None
        ctx.event("QuorumBack", "a majority follows a leader again before anything was deleted: it is not given up")
    if status.recovering or consent is None or not status.cluster_id or consent.give_up != status.cluster_id:
        return
    source = recovery_source(cluster, world)
    if source is None or not quorum_is_lost(cluster, world):
        return  # the condition Available says what is missing
    if quorum_comes_back(cluster, world):
        # Consent may be older than this trouble; and to the operator, members that it can't reach look like lost ones.
        when = f"so many have lost their data, or have been away for {cluster.spec.replace_after}, that none can lead"
        message = f"too few members answer; it is given up, as spec.recovery allows, once {when}. It is then made anew "
        message += f"from {source.name}, and lost is {cost_of(cluster, source)}"
        ctx.condition("Available", False, message, reason="QuorumLost")
        return
    if silent := hoped_for(cluster, world):
        # One that is slow just now may have more than those that answer: its volume would go with the others.
        message = f"it is given up, as spec.recovery allows, once {', '.join(silent)} answers, or has been away for "
        message += f"{cluster.spec.replace_after}: it may have more than the members that answer"
        ctx.condition("Available", False, message, reason="QuorumLost")
        return
    status.recovering, status.recovering_from = status.cluster_id, source
    ctx.event(
        "GivenUp",
        f"the cluster {status.cluster_id} is given up, as spec.recovery allows: it is made anew from {source.name}, "
        f"and lost is {cost_of(cluster, source)}",
        type="Warning",
    )
    _wait(ctx, "the recovery begins")


def _is_back(world: World) -> bool:
    """Whether there is a leader after all: the operator may have been away between its decision and the first deed."""
    there = world.stateful_set
    return world.leader is not None and there is not None and there.metadata.deletion_timestamp is None


def under_way(cluster: EtcdCluster) -> str:
    """Which restore has to be done before there can be a cluster; nothing if none."""
    status = cluster.status
    if status.recovering:
        survivor = _survivor(cluster)
        return status.recovering if survivor is None else f"{status.recovering}-{survivor}"
    begins_with = cluster.spec.restore is not None and not status.cluster_id and status.restored_from is None
    return cluster.metadata.uid if begins_with else ""


def _survivor(cluster: EtcdCluster) -> int | None:
    """The place of the member whose data a recovery begins from; None if it is from a snapshot."""
    source = cluster.status.recovering_from
    return names.ordinal_of(cluster.metadata.name, source.volume_claim) if source is not None else None


async def go_on(cluster: EtcdCluster, which: str, world: World, ctx: Context) -> NoReturn:
    """Bring a restore further. The pass ends here; when it is done, the next one goes on with a new cluster."""
    await _stop_members(cluster, world, ctx)
    survivor = _survivor(cluster)
    if survivor is not None:
        restored = await _of_survivor(cluster, which, world, survivor, ctx)
    else:
        restored = await _of_snapshot(cluster, which, world, ctx)
    status = cluster.status
    status.restored_from, status.cluster_id, status.members = restored, "", []
    status.recovering, status.recovering_from = "", None
    ctx.event("Restored", f"from {restored.name}, of {restored.taken:%Y-%m-%d %H:%M:%S} UTC: nothing later is there")
    # That is written before any member starts, and before the Job goes that could tell it again.
    _wait(ctx, "the restored cluster begins", after=0)


async def _of_snapshot(cluster: EtcdCluster, which: str, world: World, ctx: Context) -> Snapshot:
    """Have the first member's volume filled from a snapshot."""
    claim, snapshot, revision = _source(cluster, ctx)
    if cluster.status.recovering and _others(which, world):
        _heed(cluster, ctx)
        reading = restore.reading_job_for(cluster, restore=which, volume_claim=claim, snapshot=snapshot)
        back = "No volume was touched: without spec.recovery, the members are started again as they were"
        otherwise = "" if _has_touched_any(cluster, ctx) else back
        await _done(cluster, reading, f"snapshot {snapshot} is being read", ctx, otherwise=otherwise)
    await _clear(cluster, which, world, ctx)
    job = restore.job_for(cluster, restore=which, volume_claim=claim, snapshot=snapshot)
    restored = await _done(cluster, job, "a snapshot is being restored", ctx)
    restored.revision = revision  # which only the Job that took it could tell
    return restored


async def _of_survivor(cluster: EtcdCluster, which: str, world: World, ordinal: int, ctx: Context) -> Snapshot:
    """Have a member's data be that of a new cluster, in its place. Only then do the volumes of the others go."""
    name, claim = names.member(cluster.metadata.name, ordinal), world.places.get(ordinal, Place(ordinal)).claim
    consent, last = cluster.spec.recovery, cluster.status.last_backup
    if consent is not None and consent.source == "Snapshot" and last is not None:
        cluster.status.recovering_from = last
        ctx.event("GivenUp", f"the data of {name} is given up, too: lost is {cost_of(cluster, last)}", type="Warning")
        _wait(ctx, "the recovery goes on with the snapshot")
    otherwise = "To recover from the last snapshot instead, set spec.recovery.source to Snapshot" if last else ""
    if claim is None or claim.metadata.deletion_timestamp is not None:
        if claim is None:
            _heed(cluster, ctx, is_gone=True)  # what a Job has done is gone with it
        gone = f"the volume of {name}, whose data the recovery was to begin from, is gone"
        back = "Without spec.recovery, the other members are started again as they were"
        _wait(ctx, ". ".join(filter(None, (gone, back, otherwise))))
    job = restore.salvage_job_for(cluster, restore=which, ordinal=ordinal)
    restored = await _done(cluster, job, f"the data of {name} is being restored", ctx, otherwise=otherwise)
    if claim.metadata.annotations.get(RESTORE) != which:
        # It is nobody's until the new member is seen with it.
        mark = {"metadata": {"annotations": {RESTORE: which, names.ANNOTATION_MEMBER: None}}}
        await ctx.client.patch(core.PersistentVolumeClaim, claim.metadata.name, mark)
        _wait(ctx, f"the data of {name} is that of a new cluster", after=0)
    await _delete_others(which, world, ctx)
    if (source := cluster.status.recovering_from) is not None:
        restored.revision, restored.taken = source.revision, source.taken
    return restored


async def _done(cluster: EtcdCluster, wanted: batch.Job, doing: str, ctx: Context, *, otherwise: str = "") -> Snapshot:
    """Have a Job restore something, or read it; when it is done, what that was."""
    await ctx.apply(script_for(cluster))
    # One that is there stays as it is: a Job can't be changed, and the spec may have been since.
    job = ctx.get(batch.Job, wanted.metadata.name) or await ctx.apply(wanted)
    restored = outcome(job, ctx.list(core.Pod, labels={names.LABEL_CLUSTER: cluster.metadata.name}))
    if isinstance(restored, Running):
        why = await refusal(ctx.client, job) if restored.message.startswith(NO_POD) else ""
        _wait(ctx, f"{doing}: {restored.message}{': ' if why else ''}{why}")
    if isinstance(restored, Failure):
        ctx.event("RestoreFailed", restored.message, type="Warning")
        again = f"To have it tried again: kubectl delete job {job.metadata.name} -n {job.metadata.namespace}"
        _wait(ctx, f"the restore failed: {restored.message}. {again}{'. ' if otherwise else ''}{otherwise}")
    return restored


def _wait(ctx: Context, message: str, *, after: float = LOOK_AGAIN) -> NoReturn:
    """End the pass here, and say why."""
    ctx.condition("Available", False, message, reason="Restoring")
    ctx.condition("Progressing", True, message, reason="Restoring")
    ctx.wait(message, after=after)


def _heed(cluster: EtcdCluster, ctx: Context, *, is_gone: bool = False) -> None:
    """End a recovery for which there is no consent any more, unless a volume was touched that is not gone by now."""
    status, consent = cluster.status, cluster.spec.recovery
    if not status.recovering or (consent is not None and consent.give_up == status.recovering):
        return
    if _has_touched_any(cluster, ctx) and not is_gone:
        return
    status.recovering, status.recovering_from = "", None
    ctx.event("RecoveryEnded", "spec.recovery does not agree to it any more, and no volume was given up")
    _wait(ctx, "the members are started again as they were", after=0)


def _has_touched_any(cluster: EtcdCluster, ctx: Context) -> bool:
    """Whether a Job may have written to a volume, or volumes may have been deleted for one: all but to read."""
    jobs = ctx.list(batch.Job, labels=restore.labels(cluster))
    return any(
        not each.metadata.name.endswith(restore.READING) or isinstance(outcome(each, ()), Snapshot) for each in jobs
    )


async def _stop_members(cluster: EtcdCluster, world: World, ctx: Context) -> None:
    there, places = world.stateful_set, [each for each in world.places.values() if each.pod is not None]
    if there is None and not places:
        return
    _heed(cluster, ctx)
    if there is not None:
        await delete(ctx, there)
    hanging = [f"{each.called}: {why}" for each in places if (why := each.hangs(world.now))]
    _wait(ctx, ". ".join(["the members that are left are being stopped", *hanging]))


async def _clear(cluster: EtcdCluster, which: str, world: World, ctx: Context) -> None:
    """Make room: a volume of the cluster that is given up must not be mistaken for one of the new."""
    old = _others(which, world)
    if old and not cluster.status.recovering:
        keep = "make this EtcdCluster anew without spec.restore to go on with their data, or delete them"
        _wait(ctx, f"there are volumes of an earlier cluster, {old[0].metadata.name} for one: {keep}")
    await _delete_others(which, world, ctx)
    if all(place.claim is None for place in world.places.values()):
        claim = restore.member_claim_for(cluster)
        claim.metadata.annotations[RESTORE] = which
        await ctx.client.apply(claim, force=True)


def _others(which: str, world: World) -> list[core.PersistentVolumeClaim]:
    """The members' volumes but for the one for this restore."""
    left = [place.claim for place in world.places.values() if place.claim is not None]
    return [each for each in left if each.metadata.annotations.get(RESTORE) != which]


async def _delete_others(which: str, world: World, ctx: Context) -> None:
    """Delete all members' volumes but the one for this restore."""
    old = _others(which, world)
    for claim in old:
        if claim.metadata.deletion_timestamp is None:
            await delete(ctx, claim)
    if old:
        _wait(ctx, "the volumes of the cluster that is given up are being deleted")


def _source(cluster: EtcdCluster, ctx: Context) -> tuple[str, str, int]:
    """The volume claim and the snapshot on it that the data comes from, and its revision if that is known."""
    status, asked = cluster.status, cluster.spec.restore
    source = status.recovering_from or status.last_backup
    if status.recovering and source is not None:
        return source.volume_claim, source.name, source.revision
    if asked is None:
        raise ValueError("nothing says which snapshot to restore")
    if asked.backup is None:
        return asked.volume_claim or names.backups(cluster.metadata.name), asked.snapshot or "", 0
    backup = ctx.get(EtcdBackup, asked.backup)
    if backup is None:
        _wait(ctx, f"there is no EtcdBackup {asked.backup} in this namespace")
    if backup.status.snapshot is None:
        _wait(ctx, f"the EtcdBackup {asked.backup} is not complete")
    found = backup.status.snapshot
    return found.volume_claim, found.name, found.revision
