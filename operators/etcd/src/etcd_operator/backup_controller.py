"""Takes a snapshot for each EtcdBackup: one Job, once, and how it went is told for as long as the EtcdBackup is there.

The Job is created and then left as it is, not stated in each pass: a Job can't be changed, and what it would look like
today may differ, as the cluster was upgraded meanwhile. It belongs to the EtcdBackup and goes with it; the file stays.
"""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from typing import Any

from etcd_operator import backups
from etcd_operator.api import EtcdBackup, EtcdCluster, Snapshot
from etcd_operator.observe import LOG_TIMEOUT
from etcd_operator.refusals import refusal
from etcd_operator.results import NO_POD, Failure, Running, outcome, pods_of, revision_in
from etcd_operator.volumes import have_backup_volume
from windvane import Client, ClientError, Context, View, Watch, find_condition, owned_by, owner_reference
from windvane.k8s import batch, core

LOOK_AGAIN = 15.0
"""After how many seconds a Job that runs is looked at, to tell what its pods wait for."""


def backups_of(cluster: EtcdCluster, view: View) -> list[EtcdBackup]:
    """The EtcdBackups that wait for a cluster."""
    every = view.list(EtcdBackup)
    return [each for each in every if each.spec.cluster == cluster.metadata.name and not each.status.phase]


WATCHES: list[Watch[Any]] = [
    Watch(batch.Job, to=owned_by(EtcdBackup)),
    Watch(EtcdCluster, to=backups_of, seeing=lambda cluster: bool(cluster.status.cluster_id)),
]
"""What the controller must be declared with."""


async def reconcile_backup(backup: EtcdBackup, ctx: Context) -> None:
    """Have one snapshot taken."""
    if backup.status.phase in ("Complete", "Failed"):
        _say_again(backup, ctx)
        return
    job = ctx.get(batch.Job, job_name(backup)) or await _begin(backup, ctx)
    backup.status.phase = "Running"
    # Asked for, not from a cache: it may know that the Job is done and not yet what its pod has said.
    labels = {"batch.kubernetes.io/job-name": job.metadata.name}
    pods = await ctx.client.list(core.Pod, namespace=job.metadata.namespace, labels=labels)
    match outcome(job, pods):
        case Running(message):
            why = await refusal(ctx.client, job) if message.startswith(NO_POD) else ""
            ctx.wait(f"{message}: {why}" if why else message, after=LOOK_AGAIN)
        case Failure(message):
            backup.status.phase = "Failed"
            ctx.ready(False, message, reason="BackupFailed")
            ctx.event("BackupFailed", message, type="Warning")
        case Snapshot() as snapshot:
            snapshot.revision = await revision_of(ctx.client, job, pods)
            backup.status.phase, backup.status.snapshot = "Complete", snapshot
            ctx.ready(True, _kept(snapshot), reason="Complete")
            ctx.event("BackupComplete", _kept(snapshot))


async def revision_of(client: Client, job: batch.Job, pods: Iterable[core.Pod]) -> int:
    """The revision of the data in the snapshot that a Job took, from the log of its pod; 0 if that can't be read."""
    for pod in pods_of(job, pods):
        if pod.status.phase == "Succeeded":
            try:
                logs = client.pod(pod.metadata.name, namespace=pod.metadata.namespace).logs(container="check", tail=20)
                async with asyncio.timeout(LOG_TIMEOUT), aclosing(logs) as lines:
                    return revision_in([line async for line in lines])
            except (ClientError, TimeoutError):
                return 0  # it is good to know, and not worth a failure, nor a long wait for a node that is lost
    return 0


def job_name(backup: EtcdBackup) -> str:
    """The Job, and the snapshot. With a part of the uid: another EtcdBackup of that name is another snapshot."""
    return f"{backup.metadata.name.replace('.', '-')[:54].rstrip('-')}-{backup.metadata.uid[:8]}"


async def _begin(backup: EtcdBackup, ctx: Context) -> batch.Job:
    cluster = ctx.get(EtcdCluster, backup.spec.cluster)
    if cluster is None:
        ctx.wait(f"there is no EtcdCluster {backup.spec.cluster!r} in namespace {backup.metadata.namespace!r}")
    if not cluster.status.cluster_id:
        ctx.wait(f"EtcdCluster {backup.spec.cluster!r} has no members yet")
    await have_backup_volume(cluster, ctx.client)
    job = backups.job_for(cluster, name=job_name(backup), purpose="ondemand")
    job.metadata.owner_references = [owner_reference(backup)]
    job = await ctx.client.create(job)
    ctx.event("BackupStarted", f"Job {job.metadata.name} takes a snapshot of {backup.spec.cluster}")
    return job


def _say_again(backup: EtcdBackup, ctx: Context) -> None:
    """What was said when it was done; to say nothing would mean that all is well."""
    if (said := find_condition(backup.status.conditions, "Ready")) is not None:
        ctx.ready(said.status == "True", said.message, reason=said.reason)


def _kept(snapshot: Snapshot) -> str:
    return f"snapshot {snapshot.name}, {snapshot.size} bytes, is on volume claim {snapshot.volume_claim}"
