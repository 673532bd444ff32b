"""The Jobs that work on snapshots: one pod, whose containers run one after the other, etcd's tools between ours."""

from etcd_operator import names
from etcd_operator.api import EtcdCluster
from etcd_operator.children import container_security, pod_security
from etcd_operator.versions import Version
from windvane import ObjectMeta
from windvane.k8s import batch, core

DEADLINE = 3600
"""After how many seconds a Job is given up, whatever it waits for."""
TRIES = 3
DIRECTORY = "/backups"
"""Where the volume with snapshots is."""
SCRIPTS = "/scripts"


def running_version(cluster: EtcdCluster) -> str:
    """The version that runs, whose tools can read what it writes."""
    return cluster.status.version or cluster.spec.version


def tool(version: str) -> str:
    """The program that works on files of snapshots: since 3.5 that is etcdutl."""
    return "etcdctl" if Version.of(version) < (3, 5, 0) else "etcdutl"


def job_spec(
    cluster: EtcdCluster,
    labels: dict[str, str],
    init: list[core.Container],
    last: core.Container,
    volumes: list[core.Volume],
) -> batch.JobSpec:
    """A Job whose one pod runs containers in turn, to be tried a few times."""
    pod = core.PodSpec(
        security_context=pod_security(cluster),
        init_containers=init,
        containers=[last],
        volumes=volumes,
        restart_policy="Never",
        automount_service_account_token=False,
        enable_service_links=False,
    )
    return batch.JobSpec(
        backoff_limit=TRIES - 1,
        active_deadline_seconds=DEADLINE,
        pod_replacement_policy="Failed",  # never two at once: they would write to the same volume
        template=core.PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod),
    )


def container(name: str, image: str, command: list[str], mounts: dict[str, str]) -> core.Container:
    """One step of such a pod. Its last words are told in its status, if it fails."""
    return core.Container(
        name=name,
        image=image,
        command=command,
        volume_mounts=[core.VolumeMount(name=volume, mount_path=path) for volume, path in mounts.items()],
        termination_message_policy="FallbackToLogsOnError",
        security_context=container_security(),
    )


def claimed(name: str, claim: str) -> core.Volume:
    """A volume that is on a claim."""
    return core.Volume(name=name, persistent_volume_claim=core.PersistentVolumeClaimVolumeSource(claim_name=claim))


def scripts_volume(cluster: EtcdCluster) -> core.Volume:
    """The volume with keeper.py."""
    script = names.scripts(cluster.metadata.name)
    return core.Volume(name="scripts", config_map=core.ConfigMapVolumeSource(name=script))


def keeper(cluster: EtcdCluster, command: str, *args: str, mounts: dict[str, str]) -> core.Container:
    """A container in which keeper.py does something."""
    words = ["python", f"{SCRIPTS}/keeper.py", command, *args]
    return container(command, cluster.spec.tool_image, words, {"scripts": SCRIPTS, **mounts})
