"""What makes a cluster's first member out of a snapshot: a Job that fills its volume before etcd is started on it.

The Job's pod runs, one after the other:

    prepare    finds the snapshot, verifies its checksum, links it to a fixed path      keeper.py
    restore    etcdutl snapshot restore into /var/lib/etcd/restoring                    etcd's image, which has no shell
    finish     renames that to /var/lib/etcd/data                                       keeper.py

Before volumes go to make room for that, another Job reads the snapshot to its end, and does nothing else: find.

Of what a member has left of a cluster that is given up, on its own volume, another Job makes the first member of the
new one: salvage finds the database, and replace puts the new data into the place of the old.

etcdutl gives the member a new identity, in a new cluster of which it is the only member: the others are added to it as
to any cluster. Killed at any moment, and begun again, the Job comes to the same end; data that it did not put there is
never touched.
"""

import hashlib

from etcd_operator import names
from etcd_operator.api import EtcdCluster
from etcd_operator.children import DATA, claim_spec
from etcd_operator.jobs import (
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

SOURCE = "/source"
MOUNTS = {"data": DATA, "source": SOURCE}
READING = "-read"
"""The end of the name of the Job that only reads."""


def member_claim_for(cluster: EtcdCluster) -> core.PersistentVolumeClaim:
    """The volume claim of the first member, as the StatefulSet would make it. Nobody owns it, here or there."""
    name = cluster.metadata.name
    return core.PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=names.claim(name, 0),
            namespace=cluster.metadata.namespace,
            labels=names.labels(name) | names.selector(name),
        ),
        spec=claim_spec(cluster, cluster.spec.storage_size),
    )


def job_for(cluster: EtcdCluster, *, restore: str, volume_claim: str, snapshot: str = "") -> batch.Job:
    """The Job that puts a snapshot into the first member's volume.

    `restore` says which restore this is: the uid of the EtcdCluster that begins with a snapshot, say, or the id of the
    cluster that is given up. The same one is done once; the id that etcd gives the new cluster depends on it.
    `snapshot` is one on `volume_claim`: the newest one if nothing is said.
    """
    mounts = MOUNTS | {"backups": DIRECTORY}
    found = [f"--directory={DIRECTORY}", f"--version={running_version(cluster)}"]
    if snapshot:
        found.append(f"--snapshot={snapshot}")
    prepare = keeper(cluster, "prepare", *_which(restore), *found, mounts=mounts)
    fill = _etcdutl(cluster, restore, 0, mounts)
    finish = keeper(cluster, "finish", *_which(restore), mounts=MOUNTS)
    return _job(cluster, restore, 0, [prepare, fill], finish, [claimed("backups", volume_claim)])


def reading_job_for(cluster: EtcdCluster, *, restore: str, volume_claim: str, snapshot: str) -> batch.Job:
    """The Job that sees whether a snapshot could be restored. It needs its volume alone."""
    words = [f"--directory={DIRECTORY}", f"--version={running_version(cluster)}", f"--snapshot={snapshot}"]
    find = keeper(cluster, "find", *words, mounts={"backups": DIRECTORY})
    spec = job_spec(cluster, labels(cluster), [], find, [claimed("backups", volume_claim), scripts_volume(cluster)])
    name = job_name(cluster, restore) + READING
    meta = ObjectMeta(name=name, namespace=cluster.metadata.namespace, labels=labels(cluster))
    return batch.Job(metadata=meta, spec=spec)


def salvage_job_for(cluster: EtcdCluster, *, restore: str, ordinal: int) -> batch.Job:
    """The Job that makes a new cluster's first member of what the member at a place has left, in that same place.

    A database that is not a snapshot has no checksum at its end; that it is whole, the member has seen to all along.
    """
    found = [f"--member={names.member(cluster.metadata.name, ordinal)}", f"--version={running_version(cluster)}"]
    salvage = keeper(cluster, "salvage", *_which(restore), *found, mounts=MOUNTS)
    fill = _etcdutl(cluster, restore, ordinal, MOUNTS)
    fill.command.append("--skip-hash-check=true")
    replace = keeper(cluster, "replace", *_which(restore), mounts=MOUNTS)
    return _job(cluster, restore, ordinal, [salvage, fill], replace, [])


def _which(restore: str) -> list[str]:
    return [f"--data={DATA}", f"--source={SOURCE}", f"--id={restore}"]


def _etcdutl(cluster: EtcdCluster, restore: str, ordinal: int, mounts: dict[str, str]) -> core.Container:
    """Makes the data of the only member of a new cluster, at a place."""
    mine, version = cluster.metadata, running_version(cluster)
    name = names.member(mine.name, ordinal)
    url = names.peer_url(mine.name, mine.namespace, ordinal, scheme="https" if cluster.spec.tls else "http")
    options = {
        "name": name,
        "initial-cluster": f"{name}={url}",
        "initial-advertise-peer-urls": url,
        "initial-cluster-token": token(cluster, restore),
        "data-dir": f"{DATA}/restoring",
    }
    command = [tool(version), "snapshot", "restore", f"{SOURCE}/snapshot.db"]
    command += [f"--{option}={value}" for option, value in options.items()]
    return container("restore", f"{cluster.spec.image}:v{version}", command, mounts)


def _job(
    cluster: EtcdCluster,
    restore: str,
    ordinal: int,
    init: list[core.Container],
    last: core.Container,
    more: list[core.Volume],
) -> batch.Job:
    name, namespace = cluster.metadata.name, cluster.metadata.namespace
    volumes = [
        claimed("data", names.claim(name, ordinal)),
        *more,
        core.Volume(name="source", empty_dir=core.EmptyDirVolumeSource()),
        scripts_volume(cluster),
    ]
    spec = job_spec(cluster, labels(cluster), init, last, volumes)
    # etcdutl compares the two peer URLs by the addresses behind them, and there is no member yet that has one.
    here = core.HostAlias(ip="127.0.0.1", hostnames=[names.host(name, namespace, ordinal)])
    spec.template.spec.host_aliases = [here]
    meta = ObjectMeta(name=job_name(cluster, restore), namespace=namespace, labels=labels(cluster))
    return batch.Job(metadata=meta, spec=spec)


def labels(cluster: EtcdCluster) -> dict[str, str]:
    """What these Jobs have."""
    return names.labels(cluster.metadata.name) | {"app.kubernetes.io/component": "restore"}


def job_name(cluster: EtcdCluster, restore: str) -> str:
    """The Job of one restore."""
    return f"{cluster.metadata.name}-restore-{hashlib.sha256(restore.encode()).hexdigest()[:8]}"


def token(cluster: EtcdCluster, restore: str) -> str:
    """What keeps the new cluster from being mistaken for the one before, whose first member had the same address."""
    return f"{cluster.metadata.namespace}-{cluster.metadata.name}-{cluster.metadata.uid}-{restore}"
