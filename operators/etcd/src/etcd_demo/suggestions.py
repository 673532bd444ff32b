"""What to try next: commands that work as they stand, in a second terminal. No I/O."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from etcd_demo.machine import SAMPLES, shown

READY, COMPLETE = "condition=Ready", "jsonpath='{.status.phase}'=Complete"


@dataclass(frozen=True, kw_only=True)
class Running:
    """What a command must know of what runs."""

    kubeconfig: Path
    programs: Path
    """The directory with windvane, python and etcdctl."""
    environment: Mapping[str, str]
    """What must be set in the other terminal, too."""
    address: str
    """Where clients of etcd go."""
    replicas: int
    leader: str
    process: int | None
    """The leader's, if it could be found."""
    victim: str
    """A member that doesn't lead; empty if there is none."""
    volume: str
    """The directory of its volume, if it could be found."""
    operator: int
    """The operator's process."""


def first_of_all(running: Running) -> Iterator[str]:
    """What makes the other commands work, and how to look around."""
    for name, value in running.environment.items():
        yield f"export {name}={shlex.quote(value)}"
    yield f"export KUBECONFIG={shlex.quote(str(running.kubeconfig))}"
    yield "kubectl get etcdclusters,pods,services,pvc"
    yield f"{_program(running, 'etcdctl')} --endpoints {running.address} get --prefix make-run"


def suggestions(running: Running) -> Iterator[tuple[str, Sequence[str]]]:
    """What can be tried, and the commands for it."""
    windvane, samples = _program(running, "windvane"), shown(SAMPLES)
    fetch = f"{_program(running, 'python')} operators/etcd/versions.py 3.5.0"
    if running.process:
        yield (
            f"kill {running.leader}, which leads: the others go on, and it comes back with its data",
            [f"kill -9 {running.process}"],
        )
    if running.volume:
        yield (
            f"destroy the data of {running.victim}: it leaves the cluster, and joins under a new id",
            [f"rm -r {shlex.quote(running.volume)}/data; kubectl delete pod {running.victim}"],
        )
    other = 3 if running.replicas == 5 else 5
    scale = f"kubectl scale etcdcluster prod-etcd --replicas={other}"
    yield f"have {other} members: one joins or leaves at a time", [scale]
    yield "kill the operator: etcd goes on, and another takes over", [f"kill -9 {running.operator}"]
    yield (
        "take a snapshot, and begin another cluster with it",
        [
            f"kubectl apply -f {samples}/backup.yaml && {_wait('etcdbackup/first-snapshot', COMPLETE)}",
            f"kubectl apply -f {samples}/restored.yaml",
        ],
    )
    yield (
        "upgrade an etcd 3.5.0, which is fetched: a snapshot first, then member by member, the leader last",
        [
            f'{windvane} image add quay.io/coreos/etcd:v3.5.0 --programs "$({fetch})"',
            f"kubectl apply -f {samples}/older.yaml && {_wait('etcdcluster/older', READY)}",
            _patch("older", '{"version":"3.5.1"}'),
        ],
    )
    yield "work on a cluster of your own instead: how, and what it takes, is in operators/etcd/README.md", []


def _program(running: Running, name: str) -> str:
    return shown(running.programs / name)


def _patch(cluster: str, spec: str) -> str:
    return f"kubectl patch etcdcluster {cluster} --type=merge -p '{{\"spec\":{spec}}}'"


def _wait(what: str, until: str) -> str:
    return f"kubectl wait {what} --for={until} --timeout=3m"
