"""What takes snapshots: a volume claim, the program for its files, a CronJob, and Jobs for single ones.

Each snapshot is taken by one pod, whose containers run one after the other:

    begin      makes room on the volume, sees that etcd answers                 keeper.py
    snapshot   etcdctl snapshot save                                            etcd's image, which has no shell
    check      etcdutl snapshot status: it opens as a database; its revision    etcd's image
    keep       verifies the checksum, keeps the file, prunes                    keeper.py

A snapshot has the name of its Job, so a pod that is tried again takes the place of the one before.
"""

from importlib.resources import files
from typing import Literal

from etcd_operator import names
from etcd_operator.api import EtcdCluster
from etcd_operator.children import claim_spec
from etcd_operator.jobs import (
    DEADLINE,
    DIRECTORY,
    claimed,
    container,
    job_spec,
    keeper,
    running_version,
    scripts_volume,
    tool,
)
from windvane import ObjectMeta
from windvane.k8s import batch, core

Purpose = Literal["scheduled", "ondemand", "upgrade", "final"]
"""What a snapshot is taken for. Only scheduled ones are pruned."""

REMEMBERED = 24 * 3600
"""For how many seconds a finished Job, and its logs, can be looked at."""

TLS = "/tls/client"
COMPONENT = "app.kubernetes.io/component"


def claim_for(cluster: EtcdCluster, there: core.PersistentVolumeClaim | None = None) -> core.PersistentVolumeClaim:
    """The volume claim that all snapshots of a cluster are on. Nobody may own it: it outlives the cluster.

    Like any claim, it can't shrink, so a smaller size than that of the one that is `there` means nothing.
    """
    size = cluster.spec.backup_storage_size or cluster.spec.storage_size
    if there is not None and there.spec.resources is not None:
        size = max(size, there.spec.resources.requests.get("storage", size))
    return core.PersistentVolumeClaim(
        metadata=_meta(cluster, names.backups(cluster.metadata.name), {COMPONENT: "backups"}),
        spec=claim_spec(cluster, size),
    )


def script_for(cluster: EtcdCluster) -> core.ConfigMap:
    """The ConfigMap with the program that looks after the files."""
    return core.ConfigMap(
        metadata=_meta(cluster, names.scripts(cluster.metadata.name), {COMPONENT: "backups"}),
        data={"keeper.py": files("etcd_operator").joinpath("keeper.py").read_text()},
    )


def schedule_for(cluster: EtcdCluster) -> batch.CronJob | None:
    """What takes snapshots on schedule; None if there is no schedule."""
    if cluster.spec.backup_schedule is None:
        return None
    spec = _job_spec(cluster, "scheduled")
    return batch.CronJob(
        metadata=_meta(cluster, f"{cluster.metadata.name}-backup", {COMPONENT: "backups"}),
        spec=batch.CronJobSpec(
            schedule=str(cluster.spec.backup_schedule),
            time_zone="Etc/UTC",
            concurrency_policy="Forbid",
            starting_deadline_seconds=DEADLINE,
            successful_jobs_history_limit=2,
            failed_jobs_history_limit=2,
            job_template=batch.JobTemplateSpec(metadata=ObjectMeta(labels=_labels(cluster, "scheduled")), spec=spec),
        ),
    )


def job_for(cluster: EtcdCluster, *, name: str, purpose: Purpose) -> batch.Job:
    """A Job that takes one snapshot, which has the Job's name.

    A Job can't be changed, and this one depends on the version that runs: create it, and leave it as it is. A snapshot
    that another Job of the same name took would be replaced, so the name should have something unique in it.
    """
    spec = _job_spec(cluster, purpose)
    spec.ttl_seconds_after_finished = REMEMBERED
    meta = _meta(cluster, name, {})
    meta.labels = _labels(cluster, purpose)
    return batch.Job(metadata=meta, spec=spec)


def _job_spec(cluster: EtcdCluster, purpose: Purpose) -> batch.JobSpec:
    name, namespace, version = cluster.metadata.name, cluster.metadata.namespace, running_version(cluster)
    image, mounts = f"{cluster.spec.image}:v{version}", {"backups": DIRECTORY}
    url = names.client_url(name, namespace, scheme="https" if cluster.spec.tls else "http")
    volumes = [claimed("backups", names.backups(name)), scripts_volume(cluster)]
    file = f"{DIRECTORY}/incoming/$(JOB_NAME).db"

    which = [f"--directory={DIRECTORY}", "--name=$(JOB_NAME)", f"--retain={cluster.spec.backup_retention}"]
    begin = keeper(cluster, "begin", *which, f"--deadline={DEADLINE}", f"--url={url}", mounts=mounts)
    # Without a limit, etcdctl would wait for a member that does not answer until the whole Job is given up.
    save = ["etcdctl", f"--endpoints={url}", f"--command-timeout={DEADLINE // 2}s", "snapshot", "save", file]
    snapshot = container("snapshot", image, save, mounts)
    check = container("check", image, [tool(version), "snapshot", "status", file, "--write-out=json"], mounts)
    facts = [f"--cluster={name}", f"--version={version}", f"--purpose={purpose}"]
    keep = keeper(cluster, "keep", *which, "--id=$(JOB_UID)", *facts, mounts=mounts)
    for each in (begin, snapshot, check, keep):
        each.env = _job_identity()
    if cluster.spec.auth:
        snapshot.env += _credentials(f"{name}-root")
    if cluster.spec.tls:
        begin.command.append(f"--tls={TLS}")
        snapshot.env += [
            core.EnvVar(name=f"ETCDCTL_{what}", value=f"{TLS}/{file}")
            for what, file in (("CACERT", "ca.crt"), ("CERT", "tls.crt"), ("KEY", "tls.key"))
        ]
        for each in (begin, snapshot):
            each.volume_mounts.append(core.VolumeMount(name="tls", mount_path=TLS, read_only=True))
        volumes.append(core.Volume(name="tls", secret=core.SecretVolumeSource(secret_name=f"{name}-client-tls")))
    return job_spec(cluster, _labels(cluster, purpose), [begin, snapshot, check], keep, volumes)


def _job_identity() -> list[core.EnvVar]:
    """Which Job a pod is of: by labels that every cluster since 1.27 puts there."""
    where = {"JOB_NAME": "batch.kubernetes.io/job-name", "JOB_UID": "batch.kubernetes.io/controller-uid"}
    return [
        core.EnvVar(
            name=name,
            value_from=core.EnvVarSource(field_ref=core.ObjectFieldSelector(field_path=f"metadata.labels['{label}']")),
        )
        for name, label in where.items()
    ]


def _credentials(secret: str) -> list[core.EnvVar]:
    password = core.SecretKeySelector(name=secret, key="password")
    return [
        core.EnvVar(name="ETCDCTL_USER", value="root"),
        core.EnvVar(name="ETCDCTL_PASSWORD", value_from=core.EnvVarSource(secret_key_ref=password)),
    ]


def _labels(cluster: EtcdCluster, purpose: Purpose) -> dict[str, str]:
    return names.labels(cluster.metadata.name) | {COMPONENT: "backup", names.LABEL_BACKUP: purpose}


def _meta(cluster: EtcdCluster, name: str, more: dict[str, str]) -> ObjectMeta:
    labels = names.labels(cluster.metadata.name) | more
    return ObjectMeta(name=name, namespace=cluster.metadata.namespace, labels=labels)
