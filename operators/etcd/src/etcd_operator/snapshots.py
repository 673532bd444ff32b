"""Taking snapshots: the volume that they go to, the schedule, and single ones that the operator itself wants."""

from etcd_operator import backups, names
from etcd_operator.api import EtcdCluster
from etcd_operator.backups import Purpose
from etcd_operator.decide import snapshot_before
from etcd_operator.growth import size_of
from etcd_operator.results import is_complete
from windvane import AlreadyExists, Context, owner_reference
from windvane.k8s import batch, core


async def state(cluster: EtcdCluster, ctx: Context) -> None:
    """State what snapshots need: the program for Jobs, and the schedule with its volume, if there is one."""
    await ctx.apply(backups.script_for(cluster))
    cron_job = backups.schedule_for(cluster)
    if cron_job is not None:
        await have_volume(cluster, ctx)
        await ctx.apply(cron_job)


async def have_volume(cluster: EtcdCluster, ctx: Context) -> None:
    """Have the volume for snapshots. It is nobody's, so it outlives the cluster."""
    there = ctx.get(core.PersistentVolumeClaim, names.backups(cluster.metadata.name))
    wanted = backups.claim_for(cluster, there)
    if there is None or size_of(there) != size_of(wanted):
        await ctx.client.apply(wanted, force=True)


async def take(cluster: EtcdCluster, name: str, purpose: Purpose, ctx: Context) -> batch.Job:
    """Have a snapshot taken, once. The Job goes with the cluster, or a day after its end; it is never changed."""
    there = ctx.get(batch.Job, name)
    if there is not None:
        return there
    await have_volume(cluster, ctx)
    job = backups.job_for(cluster, name=name, purpose=purpose)
    # Not its controller: what that has and no longer states is deleted at the end of a pass.
    job.metadata.owner_references = [owner_reference(cluster, controller=False)]
    try:
        return await ctx.client.create(job)
    except AlreadyExists:
        return await ctx.client.get(batch.Job, name)


def taken(cluster: EtcdCluster, ctx: Context) -> list[str]:
    """The snapshots of this upgrade that have been taken."""
    if not cluster.status.version or cluster.status.version == cluster.spec.version:
        return []
    name = snapshot_before(cluster)
    return [name] if is_complete(ctx.get(batch.Job, name)) else []
