"""What a cluster consists of in Kubernetes: its StatefulSet, Services, ConfigMap and disruption budget. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from etcd_operator import names
from etcd_operator.api import EtcdCluster
from etcd_operator.versions import Version
from windvane import LabelSelector, ObjectMeta, Quantity
from windvane.k8s import apps, core, policy

DATA = "/var/lib/etcd"
DIRECTORY = f"{DATA}/data"
"""Not the volume's root, which may have a lost+found."""
INITIAL_CLUSTER, INITIAL_STATE = "initial-cluster", "initial-cluster-state"
NEW, EXISTING = "new", "existing"
NOBODY = "nobody=http://127.0.0.1:1"
"""An --initial-cluster in which no member finds its own name: who has lost its data can't start."""
TRUSTS = "etcd.windvane.dev/trusts"
"""On pods: a digest of the CAs that a member has trusted since it started."""
NODE_NAME = "kubernetes.io/hostname"
NOT_ROOT = 65532
"""The user and the group that pods run as; images without a shell call it nonroot."""


@dataclass(frozen=True)
class Joining:
    """Who may begin with an empty data directory at this time, and what it is told of the others."""

    state: str = EXISTING
    initial_cluster: str = NOBODY


@dataclass(frozen=True)
class Security:
    """What TLS adds to a member's pod; nothing without."""

    scheme: str = "http"
    flags: list[str] = field(default_factory=list)
    volumes: list[core.Volume] = field(default_factory=list)
    mounts: list[core.VolumeMount] = field(default_factory=list)
    digest: str = ""
    """Changes when members must be started again to trust another CA."""
    rotating: bool = False
    """Whether another CA is taking the place of the one before."""


def _meta(cluster: EtcdCluster, name: str) -> ObjectMeta:
    mine = cluster.metadata
    return ObjectMeta(name=name, namespace=mine.namespace, labels=names.labels(mine.name))


def peers_service(cluster: EtcdCluster) -> core.Service:
    """Gives each member a DNS name, also before it is ready: members must find each other to become so."""
    name = cluster.metadata.name
    spec = core.ServiceSpec(
        cluster_ip="None",
        publish_not_ready_addresses=True,
        selector=names.selector(name),
        ports=[
            core.ServicePort(name="peer", port=names.PEER_PORT),
            core.ServicePort(name="client", port=names.CLIENT_PORT),
        ],
    )
    return core.Service(metadata=_meta(cluster, names.peers(name)), spec=spec)


def client_service(cluster: EtcdCluster) -> core.Service:
    """Leads clients to members that have a vote: a learner refuses to read."""
    name = cluster.metadata.name
    spec = core.ServiceSpec(
        selector={**names.selector(name), names.LABEL_ROLE: names.VOTER},
        ports=[core.ServicePort(name="client", port=names.CLIENT_PORT)],
    )
    return core.Service(metadata=_meta(cluster, names.client(name)), spec=spec)


def configuration(cluster: EtcdCluster, joining: Joining) -> core.ConfigMap:
    """What a member reads if its data directory is empty. `names.initial_cluster` says why these are never just all."""
    data = {INITIAL_STATE: joining.state, INITIAL_CLUSTER: joining.initial_cluster}
    return core.ConfigMap(metadata=_meta(cluster, names.configuration(cluster.metadata.name)), data=data)


def disruption_budget(cluster: EtcdCluster) -> policy.PodDisruptionBudget:
    """One member at a time, whoever drains nodes."""
    name = cluster.metadata.name
    spec = policy.PodDisruptionBudgetSpec(max_unavailable=1, selector=LabelSelector(match_labels=names.selector(name)))
    return policy.PodDisruptionBudget(metadata=_meta(cluster, name), spec=spec)


def stateful_set(cluster: EtcdCluster, replicas: int, version: str, security: Security) -> apps.StatefulSet:
    """The members. All start at once, and none is replaced because of a new template: the operator sees to that."""
    name = cluster.metadata.name
    annotations = {TRUSTS: security.digest} if security.digest else {}
    template = core.PodTemplateSpec(
        metadata=ObjectMeta(labels={**names.labels(name), **names.selector(name)}, annotations=annotations),
        spec=_pod(cluster, version, security),
    )
    spec = apps.StatefulSetSpec(
        replicas=replicas,
        service_name=names.peers(name),
        pod_management_policy="Parallel",
        update_strategy=apps.StatefulSetUpdateStrategy(type="OnDelete"),
        selector=LabelSelector(match_labels=names.selector(name)),
        template=template,
        volume_claim_templates=[_claim_template(cluster)],
    )
    return apps.StatefulSet(metadata=_meta(cluster, name), spec=spec)


def claim_spec(cluster: EtcdCluster, size: Quantity) -> core.PersistentVolumeClaimSpec:
    """A volume for one pod at a time."""
    return core.PersistentVolumeClaimSpec(
        access_modes=["ReadWriteOnce"],
        storage_class_name=cluster.spec.storage_class,
        resources=core.VolumeResourceRequirements(requests={"storage": size}),
    )


def _claim_template(cluster: EtcdCluster) -> core.PersistentVolumeClaim:
    name = cluster.metadata.name
    labels = {**names.labels(name), **names.selector(name)}
    spec = claim_spec(cluster, cluster.spec.storage_size)
    return core.PersistentVolumeClaim(metadata=ObjectMeta(name="data", labels=labels), spec=spec)


def image(cluster: EtcdCluster, version: str) -> str:
    """The image of etcd in a version."""
    return f"{cluster.spec.image}:v{version}"


def token(cluster: EtcdCluster) -> str:
    """Keeps members of different clusters apart, also of two that had the same name one after the other."""
    mine = cluster.metadata
    return f"{mine.namespace}-{mine.name}-{mine.uid}"


def pod_security(cluster: EtcdCluster) -> core.PodSecurityContext:
    """As whom pods run: not as root, as the Pod Security Standard `restricted` wants. Their group gets the volumes."""
    return cluster.spec.security_context or core.PodSecurityContext(
        run_as_non_root=True,
        run_as_user=NOT_ROOT,
        run_as_group=NOT_ROOT,
        fs_group=NOT_ROOT,
        fs_group_change_policy="OnRootMismatch",
        seccomp_profile=core.SeccompProfile(type="RuntimeDefault"),
    )


def container_security() -> core.SecurityContext:
    """What a container may do beyond that: nothing."""
    return core.SecurityContext(allow_privilege_escalation=False, capabilities=core.Capabilities(drop=["ALL"]))


def _pod(cluster: EtcdCluster, version: str, security: Security) -> core.PodSpec:
    mine = cluster.metadata
    spread = core.WeightedPodAffinityTerm(
        weight=100,
        pod_affinity_term=core.PodAffinityTerm(
            topology_key=NODE_NAME, label_selector=LabelSelector(match_labels=names.selector(mine.name))
        ),
    )
    return core.PodSpec(
        automount_service_account_token=False,
        enable_service_links=False,
        termination_grace_period_seconds=30,
        security_context=pod_security(cluster),
        affinity=core.Affinity(
            pod_anti_affinity=core.PodAntiAffinity(preferred_during_scheduling_ignored_during_execution=[spread])
        ),
        containers=[
            core.Container(
                name="etcd",
                image=image(cluster, version),
                command=["etcd"],
                args=_flags(cluster, version, security),
                env=_environment(cluster),
                ports=[
                    core.ContainerPort(name="client", container_port=names.CLIENT_PORT),
                    core.ContainerPort(name="peer", container_port=names.PEER_PORT),
                    core.ContainerPort(name="metrics", container_port=names.METRICS_PORT),
                ],
                # Ready means that it takes part: it knows a leader. Alive means only that it answers at all: a cluster
                # without quorum is not helped by starting its members again.
                readiness_probe=_probe(_readiness(version), period=2, failures=3),
                liveness_probe=_probe("/metrics", period=10, failures=12),
                startup_probe=_probe("/metrics", period=1, failures=600),
                resources=cluster.spec.resources,
                # What a member says last is how the operator learns that its data is gone or broken.
                termination_message_policy="FallbackToLogsOnError",
                security_context=container_security(),
                volume_mounts=[core.VolumeMount(name="data", mount_path=DATA), *security.mounts],
            )
        ],
        volumes=[*security.volumes],
    )


def _readiness(version: str) -> str:
    """Where a member says whether it takes part; that it has no space for writes does not matter, it can be read.

    Older ones, asked to leave an alarm out, warn in their log each time that there is none: it is rather noisy than
    cut off by a full database.
    """
    number = Version.of(version)
    has_readyz = number >= (3, 5, 11) or (3, 4, 29) <= number < (3, 5, 0)
    return "/readyz" if has_readyz else "/health?exclude=NOSPACE"


def _probe(path: str, *, period: int, failures: int) -> core.Probe:
    return core.Probe(
        http_get=core.HTTPGetAction(path=path, port=names.METRICS_PORT),
        period_seconds=period,
        timeout_seconds=5,
        failure_threshold=failures,
    )


def _environment(cluster: EtcdCluster) -> list[core.EnvVar]:
    def of_pod(name: str, path: str) -> core.EnvVar:
        return core.EnvVar(name=name, value_from=core.EnvVarSource(field_ref=core.ObjectFieldSelector(field_path=path)))

    def of_cluster(name: str, key: str) -> core.EnvVar:
        where = core.ConfigMapKeySelector(name=names.configuration(cluster.metadata.name), key=key)
        return core.EnvVar(name=name, value_from=core.EnvVarSource(config_map_key_ref=where))

    return [
        of_pod("POD_NAME", "metadata.name"),
        of_pod("POD_IP", "status.podIP"),
        of_cluster("INITIAL_CLUSTER", INITIAL_CLUSTER),
        of_cluster("INITIAL_STATE", INITIAL_STATE),
    ]


def _flags(cluster: EtcdCluster, version: str, security: Security) -> list[str]:
    mine, scheme = cluster.metadata, security.scheme
    host = f"$(POD_NAME).{names.peers(mine.name)}.{mine.namespace}.svc"
    flags: Mapping[str, str] = {
        "name": "$(POD_NAME)",
        "data-dir": DIRECTORY,
        "listen-client-urls": f"{scheme}://$(POD_IP):{names.CLIENT_PORT}",
        "listen-peer-urls": f"{scheme}://$(POD_IP):{names.PEER_PORT}",
        "listen-metrics-urls": f"http://$(POD_IP):{names.METRICS_PORT}",
        "advertise-client-urls": f"{scheme}://{host}:{names.CLIENT_PORT}",
        "initial-advertise-peer-urls": f"{scheme}://{host}:{names.PEER_PORT}",
        "initial-cluster": "$(INITIAL_CLUSTER)",
        "initial-cluster-state": "$(INITIAL_STATE)",
        "initial-cluster-token": token(cluster),
        "auto-compaction-mode": "periodic",
        "auto-compaction-retention": f"{int(cluster.spec.compaction.total_seconds())}s",
        "quota-backend-bytes": str(int(cluster.spec.quota)),
        "logger": "zap",
    }
    return [*(f"--{name}={value}" for name, value in flags.items()), _corruption_check(version), *security.flags]


def _corruption_check(version: str) -> str:
    """Have a member compare its data with the others' before it takes part: 3.5.0 to 3.5.2 can differ after a crash."""
    if Version.of(version) >= (3, 6, 0):
        return "--feature-gates=InitialCorruptCheck=true"
    return "--experimental-initial-corrupt-check=true"
