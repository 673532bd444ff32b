"""Taking snapshots: the volume that they go to, the schedule, and single ones that the operator itself wants."""

from datetime import datetime

from etcd_operator import backups, names
from etcd_operator.api import EtcdCluster, Snapshot
from etcd_operator.backup_controller import revision_of
from etcd_operator.backup_health import backup_status
from etcd_operator.backups import Purpose
from etcd_operator.results import Failure, Running, outcome
from etcd_operator.volumes import have_backup_volume, size_of
from windvane import AlreadyExists, Context, owner_reference
from windvane.k8s import batch, core


async def state(cluster: EtcdCluster, ctx: Context) -> None:
    """State what snapshots need: the program for Jobs, and the schedule with its volume, if there is one."""
    await ctx.apply(backups.script_for(cluster))
    cron_job = backups.schedule_for(cluster)
    if cron_job is not None:
        there = ctx.get(core.PersistentVolumeClaim, names.backups(cluster.metadata.name))
        if there is None or size_of(there) != size_of(backups.claim_for(cluster, there)):
            await have_backup_volume(cluster, ctx.client)
        await ctx.apply(cron_job)


async def take(cluster: EtcdCluster, name: str, purpose: Purpose, ctx: Context) -> batch.Job:
    """Have a snapshot taken, once. The Job goes with the cluster, or a day after its end; it is never changed."""
    there = ctx.get(batch.Job, name)
    if there is not None:
        return there
    await have_backup_volume(cluster, ctx.client)
    job = backups.job_for(cluster, name=name, purpose=purpose)
    # Created, not applied: it is not stated in later passes, and must not be pruned by them.
    job.metadata.owner_references = [owner_reference(cluster, controller=False)]
    try:
        return await ctx.client.create(job)
    except AlreadyExists:
        return await ctx.client.get(batch.Job, name)


def failure(cluster: EtcdCluster, job: batch.Job, ctx: Context) -> str:
    """Why a snapshot could not be taken, and what to do; nothing if it was, or is being taken."""
    came = outcome(job, ctx.list(core.Pod, labels={names.LABEL_CLUSTER: cluster.metadata.name}))
    if not isinstance(came, Failure):
        return ""
    again = f"kubectl delete job {job.metadata.name} -n {job.metadata.namespace}"
    return f"no snapshot could be taken: {came.message}. To have it tried again: {again}"


async def take_final(cluster: EtcdCluster, ctx: Context) -> None:
    """Have a last snapshot taken before a cluster goes. Until it is there, the pass ends here."""
    job = await take(cluster, f"{cluster.metadata.name}-final-{cluster.metadata.uid[:8]}", "final", ctx)
    if why := failure(cluster, job, ctx):
        patch = """--type=merge -p '{"spec":{"finalSnapshot":false}}'"""
        where = f"{cluster.metadata.name} -n {cluster.metadata.namespace}"
        ctx.wait(f"{why}. To do without: kubectl patch etcdcluster {where} {patch}", after=10)
    came = outcome(job, ctx.list(core.Pod, labels={names.LABEL_CLUSTER: cluster.metadata.name}))
    if isinstance(came, Running):
        ctx.wait(f"a last snapshot is taken before it is deleted: {came.message}", after=2)


def jobs_of(cluster: EtcdCluster, ctx: Context) -> list[batch.Job]:
    """All Jobs that take snapshots of a cluster, whoever wants them."""
    labels = {names.LABEL_CLUSTER: cluster.metadata.name}
    return [each for each in ctx.list(batch.Job, labels=labels) if names.LABEL_BACKUP in each.metadata.labels]


def taken(cluster: EtcdCluster, ctx: Context) -> list[str]:
    """The snapshots before an upgrade that have been taken."""
    every = [each for each in jobs_of(cluster, ctx) if each.metadata.labels[names.LABEL_BACKUP] == "upgrade"]
    return [each.metadata.name for each in every if isinstance(outcome(each, ()), Snapshot)]


async def report(cluster: EtcdCluster, ctx: Context, now: datetime) -> None:
    """Say in the status how backups stand."""
    pods = ctx.list(core.Pod, labels={names.LABEL_CLUSTER: cluster.metadata.name})
    jobs = jobs_of(cluster, ctx)
    schedule = ctx.get(batch.CronJob, names.schedule(cluster.metadata.name))
    health = backup_status(cluster, jobs, pods, now, since=schedule.metadata.creation_timestamp if schedule else None)
    status, last = cluster.status, health.last
    if last is not None and last.revision == 0 and (status.last_backup is None or status.last_backup.name != last.name):
        job = next((each for each in jobs if each.metadata.name == last.name), None)
        last.revision = await revision_of(ctx.client, job, pods) if job is not None else 0
    status.last_backup, status.last_backup_time = last, last.taken if last else None
    ctx.condition("BackupReady", health.ready, health.message, reason=health.reason)
