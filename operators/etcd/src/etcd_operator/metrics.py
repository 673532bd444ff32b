"""What Prometheus is told about clusters, beside what windvane tells of every operator."""

from contextlib import suppress

from prometheus_client import Counter, Gauge

from etcd_operator.api import EtcdCluster

LABELS = ("namespace", "name")
WANTED = Gauge("etcd_operator_members_wanted", "Members that the spec asks for.", LABELS)
HEALTHY = Gauge("etcd_operator_members_healthy", "Members that are healthy.", LABELS)
AVAILABLE = Gauge("etcd_operator_available", "Whether a leader has a quorum behind it.", LABELS)
LAST_BACKUP = Gauge("etcd_operator_last_backup_timestamp_seconds", "When the last snapshot was taken.", LABELS)
STEPS = Counter("etcd_operator_steps", "Steps that were done, by what they were.", (*LABELS, "step"))
GAUGES = (WANTED, HEALTHY, AVAILABLE, LAST_BACKUP)


def tell(cluster: EtcdCluster) -> None:
    """Bring the gauges of a cluster up to date."""
    of = (cluster.metadata.namespace, cluster.metadata.name)
    WANTED.labels(*of).set(cluster.spec.replicas)
    HEALTHY.labels(*of).set(sum(each.healthy for each in cluster.status.members))
    AVAILABLE.labels(*of).set(cluster.status.leader != "")
    if cluster.status.last_backup_time is not None:
        LAST_BACKUP.labels(*of).set(cluster.status.last_backup_time.timestamp())


def count(cluster: EtcdCluster, step: str) -> None:
    """One more step of a kind."""
    STEPS.labels(cluster.metadata.namespace, cluster.metadata.name, step).inc()


def forget(cluster: EtcdCluster) -> None:
    """Say no more about a cluster that is gone."""
    of = (cluster.metadata.namespace, cluster.metadata.name)
    for gauge in GAUGES:
        with suppress(KeyError):  # this process may never have seen it alive
            gauge.remove(*of)
