"""What everything of a cluster is called: its children, its members, their addresses.

A member's place is its ordinal in the StatefulSet. Its name is its pod's, its peer URL has the pod's DNS name, so each
can be told from the other: who knows what etcd says of its members knows the pods that they are, and nothing has to be
remembered.
"""

from collections.abc import Mapping

CLIENT_PORT, PEER_PORT, METRICS_PORT = 2379, 2380, 2381

LABEL_CLUSTER = "etcd.windvane.dev/cluster"
LABEL_ROLE = "etcd.windvane.dev/role"
"""On pods whose member has a vote; clients are sent only there."""
VOTER = "voter"
MANAGED = {"app.kubernetes.io/managed-by": "etcd-operator"}
"""What the operator looks at; it does not see other objects at all."""
ANNOTATION_MEMBER = "etcd.windvane.dev/member"
"""On a volume claim: the id of the member whose data is on it. Without: nobody's yet."""
LABEL_BACKUP = "etcd.windvane.dev/backup"
"""On the Jobs that take snapshots, and their pods: for what."""


def labels(cluster: str) -> dict[str, str]:
    """What all objects of a cluster have."""
    return {
        "app.kubernetes.io/name": "etcd",
        "app.kubernetes.io/instance": cluster,
        **MANAGED,
        LABEL_CLUSTER: cluster,
    }


def selector(cluster: str) -> dict[str, str]:
    """By what a cluster's members are found: never changes, for a StatefulSet's selector can't."""
    return {LABEL_CLUSTER: cluster, "app.kubernetes.io/component": "member"}


def peers(cluster: str) -> str:
    """The headless Service that gives members their names."""
    return f"{cluster}-peers"


def client(cluster: str) -> str:
    """The Service for clients."""
    return f"{cluster}-client"


def configuration(cluster: str) -> str:
    """The ConfigMap that says who may join."""
    return f"{cluster}-members"


def schedule(cluster: str) -> str:
    """The CronJob that takes snapshots."""
    return f"{cluster}-backup"


def backups(cluster: str) -> str:
    """The volume claim that snapshots are kept on."""
    return f"{cluster}-backups"


def scripts(cluster: str) -> str:
    """The ConfigMap with the program that looks after snapshots."""
    return f"{cluster}-backup-script"


def member(cluster: str, ordinal: int) -> str:
    """A member, and its pod."""
    return f"{cluster}-{ordinal}"


def claim(cluster: str, ordinal: int) -> str:
    """The volume claim of a member's data, as the StatefulSet calls it."""
    return f"data-{cluster}-{ordinal}"


def ordinal_of(cluster: str, name: str) -> int | None:
    """Which place a member, its pod or its claim has; None if it is none of this cluster's."""
    tail = name.removeprefix("data-").removeprefix(f"{cluster}-")
    if not tail.isdecimal() or name not in (member(cluster, int(tail)), claim(cluster, int(tail))):
        return None
    return int(tail)


def host(cluster: str, namespace: str, ordinal: int) -> str:
    """A member's DNS name."""
    return f"{member(cluster, ordinal)}.{peers(cluster)}.{namespace}.svc"


def peer_url(cluster: str, namespace: str, ordinal: int, *, scheme: str) -> str:
    """Where the other members reach one."""
    return f"{scheme}://{host(cluster, namespace, ordinal)}:{PEER_PORT}"


def client_url(cluster: str, namespace: str, *, scheme: str) -> str:
    """Where clients reach the cluster."""
    return f"{scheme}://{client(cluster)}.{namespace}.svc:{CLIENT_PORT}"


def ordinal_at(cluster: str, namespace: str, url: str) -> int | None:
    """Which place a peer URL is of; None if it is none of this cluster's. A member that never ran has no other name."""
    name = url.partition("://")[2].partition(".")[0]
    ordinal = ordinal_of(cluster, name)
    known = ordinal is not None and any(
        url == peer_url(cluster, namespace, ordinal, scheme=scheme) for scheme in ("http", "https")
    )
    return ordinal if known else None


def initial_cluster(cluster: str, members: Mapping[int, str], joining: int | None) -> str:
    """What etcd is told with --initial-cluster: the peer URL of each place, and one name, that of who may join.

    etcd reads it only if its data directory is empty, and refuses to start if its own name isn't in it. So of all
    members only `joining` can ever begin with an empty directory: one that lost its disk can't come back as who it was,
    with its vote and without its memory.
    """
    entries = [
        f"{member(cluster, ordinal) if ordinal == joining else f'other-{ordinal}'}={url}"
        for ordinal, url in sorted(members.items())
    ]
    return ",".join(entries)
