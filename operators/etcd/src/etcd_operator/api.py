"""The kinds: EtcdCluster, a running etcd, and EtcdBackup, a snapshot of one."""

from datetime import datetime
from typing import Annotated, Literal

from etcd_operator.schedule import SCHEDULE
from windvane import (
    Column,
    Cron,
    Duration,
    ExactlyOneOf,
    Ge,
    Le,
    ListMap,
    MaxLength,
    MinLength,
    Pattern,
    Quantity,
    Resource,
    Rule,
    ScaleSubresource,
    Spec,
    Status,
    Struct,
    field,
)
from windvane.k8s import core

GROUP, VERSION = "etcd.windvane.dev", "v1alpha1"
NAME = (MinLength(1), MaxLength(253))


def immutable(field_name: str, remedy: str) -> Rule:
    """A rule for a field that stays as it was when the cluster was made."""
    return Rule("self == oldSelf", f"{field_name} can't be changed: {remedy}")


class Recovery(Spec):
    """Consent to lose data."""

    give_up: Annotated[str, MaxLength(16), Pattern("^[0-9a-f]{1,16}$")] = field(name="giveUp")
    """The id of the cluster that may be given up, as `status.clusterID` has it. If it has lost its quorum, it is made
    anew from the data of the most advanced member that answers or, if there is none, from its last snapshot: what is
    not in there is lost. The condition Available says beforehand which it is. Until a volume is touched, consent can be
    taken back. The new cluster has another id, so it is for once."""
    source: Literal["Member", "Snapshot"] | None = None
    """What it may be made anew from: a member's data, or the last snapshot. If nothing is said: what has more."""


class Restore(Spec, rules=[ExactlyOneOf("backup", "volume_claim")]):
    """Where a new cluster's data comes from."""

    backup: Annotated[str | None, *NAME] = None
    """The EtcdBackup, in this namespace."""
    volume_claim: Annotated[str | None, *NAME] = None
    """Or the volume claim that snapshots are on, CLUSTER-backups, say."""
    snapshot: Annotated[str | None, *NAME, Pattern(r"^[A-Za-z0-9][-A-Za-z0-9._]*$")] = None
    """Which snapshot on that claim: the newest one if nothing is said."""


class EtcdClusterSpec(
    Spec,
    rules=[
        Rule(
            "has(self.restore) == has(oldSelf.restore)",
            "restore says where the data came from when the cluster was made",
        ),
        Rule("has(self.storageClass) == has(oldSelf.storageClass)", "storageClass can't be changed"),
    ],
):
    version: Annotated[
        str,
        MaxLength(20),
        Rule("self.matches('^[0-9]+[.][0-9]+[.][0-9]+$')", "version must be three numbers, such as 3.5.1"),
        Rule(
            "!self.matches('^[0-9]+[.][0-9]+[.][0-9]+$') || self.matches('^3[.]([4-9]|[1-9][0-9]+)[.]')",
            "version must be 3.4.0 or newer: members are added as learners, which older ones don't have",
        ),
    ]
    """The version of etcd. It can be raised by one minor version at a time, and not lowered."""
    replicas: Annotated[int, Ge(1), Le(9)] = 3
    """How many members there are. An even number survives no more failures than the odd one below it."""
    storage_size: Annotated[
        Quantity,
        MaxLength(20),
        Rule("quantity(string(self)).isGreaterThan(quantity('0'))", "storageSize must be more than nothing, 10Gi, say"),
        Rule(
            "quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0",
            "storageSize can't shrink: restore a snapshot into a new cluster with smaller volumes",
        ),
    ]
    """How large each member's volume is. It can grow, if its storage class allows that."""
    storage_class: Annotated[str | None, *NAME, immutable("storageClass", "restore a snapshot into a new cluster")] = (
        None
    )
    """The storage class of all volumes: the default one if nothing is said."""
    backup_schedule: Annotated[
        Cron | None,
        MaxLength(60),
        Rule(
            f"self.matches('{SCHEDULE}')",
            "backupSchedule must be a cron schedule of five "
            "fields (minute hour day month weekday), such as '0 2 * * *'",
        ),
    ] = None
    """When snapshots are taken, in UTC: "0 2 * * *" is every night at two."""
    backup_retention: Annotated[int, Ge(1), Le(1000)] = 7
    """How many scheduled snapshots are kept."""
    backup_storage_size: Quantity | None = None
    """How large the volume for snapshots is: as large as a member's if nothing is said."""
    deletion_policy: Literal["Retain", "Delete"] = "Retain"
    """What becomes of the members' volumes when the EtcdCluster is deleted. Snapshots are always kept. An EtcdCluster
    that is made again, with the same name, goes on with retained volumes."""
    final_snapshot: bool = False
    """Whether a last snapshot is taken before the EtcdCluster is deleted. Without quorum that waits."""
    paused: bool = False
    """Whether the operator only looks, and changes nothing."""
    tls: Annotated[bool, immutable("tls", "restore a snapshot into a new cluster")] = False
    """Whether clients and members talk over TLS, with certificates that the operator issues and renews."""
    auth: Annotated[bool, Rule("self || !oldSelf", "auth can't be switched off again")] = False
    """Whether clients must log in. The password of root is in the Secret NAME-root."""
    quota: Quantity = Quantity("2Gi")
    """How large the database may become before etcd refuses writes."""
    compaction: Duration = Duration(hours=1)
    """For how long etcd keeps old revisions of keys."""
    replace_after: Annotated[
        Duration,
        Rule(
            "duration(self) >= duration('10s')",
            "replaceAfter must be 10s or more: a member that is restarted is away for seconds, with all its data",
        ),
    ] = Duration(minutes=5)
    """How long a member may not follow the leader before another one takes its place. Time without a leader does not
    count, nor time in which it could not be started: it could not have followed. One whose data is lost is replaced at
    once."""
    image: Annotated[str, MaxLength(500), MinLength(1)] = "quay.io/coreos/etcd"
    """Where images come from, without a tag: that is v and the version."""
    tool_image: Annotated[str, MaxLength(500), MinLength(1)] = "python:3.13-alpine"
    """The image that looks after snapshots: any with a Python."""
    resources: core.ResourceRequirements | None = None
    """What each member may use of CPU and memory."""
    security_context: core.PodSecurityContext | None = None
    """As whom members and Jobs run. If nothing is said: as user and group 65532, to whom the volumes are given, which
    the Pod Security Standard `restricted` admits. Write it where other ids are prescribed, on OpenShift, say."""
    restore: Annotated[
        Restore | None, immutable("restore", "it says where the data came from when the cluster was made")
    ] = None
    """The snapshot that the cluster begins with."""
    recovery: Recovery | None = None
    """Consent to be given when a quorum is lost for good; the condition Available says when, and what it costs."""


class Member(Struct):
    """A member, as etcd and its pod have it."""

    name: str
    """Its name, and that of its pod."""
    id: str = ""
    """Its id in the cluster."""
    role: Literal["Leader", "Follower", "Learner", "Unknown"] = "Unknown"
    """What it does."""
    version: str = ""
    """The version that it runs."""
    healthy: bool = False
    """Whether it answers, knows a leader and keeps up."""
    database_size: str = ""
    """How large its database is, roughly: a new figure is shown when it differs by a tenth."""
    message: str = ""
    """What is wrong with it."""
    since: datetime | None = None
    """Since when it is not healthy."""
    away_since: datetime | None = None
    """Since when it could follow the leader that is there, and does not; without a leader, since when it does not
    answer. This is what `spec.replaceAfter` counts from. It begins anew with another leader, and another operator."""


class Snapshot(Struct):
    """A snapshot on a volume."""

    name: str
    """The name of its file, without .db."""
    taken: datetime
    """When."""
    volume_claim: str
    """Where it is."""
    size: int = 0
    """How many bytes."""
    sha256: str = ""
    """The checksum of the file."""
    revision: int = 0
    """The revision of the data in it."""
    version: str = ""
    """The version of etcd that it was taken from."""


class EtcdClusterStatus(Status):
    cluster_id: str = field(name="clusterID", default="")
    """The id that etcd has given the cluster."""
    version: Annotated[str, MaxLength(20)] = ""
    """The version that all members have reached."""
    replicas: int = 0
    """How many members there are."""
    ready: str = ""
    """How many members are healthy, of how many are asked for."""
    leader: str = ""
    """The member that leads."""
    quorum: str = ""
    """Healthy, AtRisk if one more failure would be one too many, or Lost."""
    members: Annotated[list[Member], ListMap("name")] = []
    """Each member."""
    last_backup: Snapshot | None = None
    """The last snapshot that was taken and verified."""
    last_backup_time: datetime | None = None
    """When that was."""
    restored_from: Snapshot | None = None
    """The snapshot that the cluster began with, or was recovered from: what was written after it is not there. One
    that was recovered from a member's data has that member's name here, and its volume claim."""
    recovering: str = ""
    """The id of the cluster that is being given up, while a recovery is under way."""
    recovering_from: Snapshot | None = None
    """What it is made anew from: a snapshot, or a member's data, which has the member's name and volume claim."""


GOES_UP = (
    "!has(self.status) || !has(self.status.version) || !{valid} || ({new}[0] == {old}[0] && ("
    "({new}[1] == {old}[1] && {new}[2] >= {old}[2]) || {new}[1] == {old}[1] + 1))"
).format(
    valid="self.spec.version.matches('^[0-9]{1,4}[.][0-9]{1,4}[.][0-9]{1,4}$')",
    new="self.spec.version.split('.').map(n, int(n))",
    old="self.status.version.split('.').map(n, int(n))",
)


class EtcdCluster(
    Resource[EtcdClusterSpec, EtcdClusterStatus],
    group=GROUP,
    version=VERSION,
    short_names=["etcd"],
    scale=ScaleSubresource(),
    rules=[
        Rule("size(self.metadata.name) <= 40", "the name must have 40 characters at most: those of pods are longer"),
        Rule(
            "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            "the name must be one of a Service, too: small letters, digits and '-', beginning with a letter",
        ),
        Rule(
            GOES_UP,
            message_expression="'version ' + self.spec.version + ' can not follow ' + self.status.version + "
            "', which runs: upgrade by one minor version at a time, and do not downgrade'",
            message="upgrade by one minor version at a time, and do not downgrade",
            field_path=".spec.version",
        ),
    ],
    columns=[
        Column("Version", ".status.version"),
        Column("Ready", ".status.ready"),
        Column("Leader", ".status.leader"),
        Column("Quorum", ".status.quorum"),
        Column("Last Backup", ".status.lastBackupTime"),
    ],
):
    """An etcd cluster: its members, the Services that lead to them, its volumes and its backups."""


class EtcdBackupSpec(Spec, rules=[Rule("self == oldSelf", "a snapshot is taken once: make another EtcdBackup")]):
    cluster: Annotated[str, *NAME]
    """The EtcdCluster, in the same namespace."""


class EtcdBackupStatus(Status):
    snapshot: Snapshot | None = None
    """What was taken."""
    phase: Literal["", "Running", "Complete", "Failed"] = ""
    """How far it is."""


class EtcdBackup(
    Resource[EtcdBackupSpec, EtcdBackupStatus],
    group=GROUP,
    version=VERSION,
    columns=[
        Column("Cluster", ".spec.cluster"),
        Column("Phase", ".status.phase"),
        Column("Revision", ".status.snapshot.revision"),
        Column("Size", ".status.snapshot.size"),
    ],
):
    """A snapshot of an EtcdCluster, taken once. The file stays when this object is deleted."""
