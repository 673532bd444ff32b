"""What is shown of the sample's cluster: that it becomes available, that it keeps a key, and how it is then."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

from etcd_demo import gateway
from etcd_demo.machine import SAMPLES, Trouble, process_at, shown
from etcd_demo.page import Page
from etcd_demo.suggestions import Running, first_of_all, suggestions
from etcd_operator import names
from etcd_operator.api import EtcdCluster
from windvane import Client, NotFound, find_condition, object_from_wire
from windvane.k8s import core

SAMPLE = SAMPLES / "prod-etcd.yaml"
NAME, NAMESPACE = "prod-etcd", "default"
KEY = "make-run/last"
POLL = 0.2
PATIENCE, REACHED_WITHIN = 60.0, 30.0
"""For how many seconds it is waited without a word, and for how many the Service may be missing."""


@dataclass(frozen=True)
class Place:
    """Where things are."""

    kubeconfig: Path
    programs: Path
    """The directory of windvane, python and etcdctl."""
    address: str
    """Of the Service for clients."""
    operator: int
    """The operator's process."""


async def known(client: Client) -> None:
    """Wait until the kind is known, which the operator sees to."""
    while True:
        try:
            await client.list(EtcdCluster, namespace=NAMESPACE)
        except NotFound:
            await asyncio.sleep(POLL)
        else:
            return


async def ask_for(client: Client, page: Page) -> None:
    """Apply the sample; but not over what is there from last time, and may have been changed since."""
    with suppress(NotFound):
        there = await client.get(EtcdCluster, NAME, namespace=NAMESPACE)
        about = f"{there.spec.replicas} members of etcd {there.spec.version}"
        page.step(f"{NAME} is there from last time, {about}: it is started again")
        return
    wanted = object_from_wire(yaml.safe_load(SAMPLE.read_text()), EtcdCluster)
    await client.apply(wanted)
    page.step(f"Applied {shown(SAMPLE)}: {wanted.spec.replicas} members of etcd {wanted.spec.version}")


async def available(client: Client, page: Page, *, since: datetime) -> EtcdCluster:
    """Wait until all is as asked for, and by members that were started `since`: the status may be that of last time."""
    told = page.seconds
    while True:
        try:
            cluster = await client.get(EtcdCluster, NAME, namespace=NAMESPACE)
        except NotFound:
            raise Trouble(f"somebody has deleted the EtcdCluster {NAME}. The next `make run` makes another.") from None
        pods = await client.list(core.Pod, namespace=NAMESPACE, labels=names.selector(NAME))
        ready = find_condition(cluster.status.conditions, "Ready")
        now = ready is not None and ready.status == "True" and ready.observed_generation == cluster.metadata.generation
        all_ready = sum(_is_ready(each, since) for each in pods) == cluster.spec.replicas
        if now and all_ready and await _is_so(cluster, pods):
            return cluster
        if page.seconds - told > PATIENCE:
            told = page.seconds
            words = [f"{each.type} is {each.status}: {each.message}" for each in cluster.status.conditions]
            page.step("Still waiting. " + ("; ".join(words) or "The operator has said nothing; see its log"))
        await asyncio.sleep(POLL)


async def _is_so(cluster: EtcdCluster, pods: Sequence[core.Pod]) -> bool:
    """Whether each member itself says what the status says of it."""
    leader = next((each.id for each in cluster.status.members if each.role == "Leader"), "")
    said = {each.name: (each.id, leader) for each in cluster.status.members}
    try:
        answers = {
            each.metadata.name: await gateway.member(f"{each.status.pod_ip}:{names.CLIENT_PORT}") for each in pods
        }
    except gateway.NotReached:
        return False
    return answers == said


def _is_ready(pod: core.Pod, since: datetime) -> bool:
    """Whether its program was started since then, and answers. Kubernetes' times have no fractions of a second."""
    states = [each.state.running if each.state else None for each in pod.status.container_statuses]
    begun = all(each and each.started_at and each.started_at >= since - timedelta(seconds=1) for each in states)
    return (
        bool(states) and begun and any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    )


async def use_key(client: Client, page: Page) -> str:
    """Read the key of last time, write another and read that. Returns where: the address of the Service."""
    service = await client.get(core.Service, names.client(NAME), namespace=NAMESPACE)
    address = f"{service.spec.cluster_ip}:{names.CLIENT_PORT}"
    last = await _reached(address)
    if last is not None:
        page.done(f"The key of last time is still there: {KEY} = {last!r}")
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    try:
        revision = await gateway.put(address, KEY, now)
        value = await gateway.get(address, KEY)
    except gateway.NotReached as error:
        raise Trouble(f"a key could not be written and read: {error}") from error
    if value != now:
        raise Trouble(f"{KEY} was set to {now!r} at revision {revision}, and it is {value!r}: that must not be.")
    page.done(f"Wrote and read a key through {names.client(NAME)}, {address}: {KEY} = {value!r}")
    return address


async def _reached(address: str) -> str | None:
    try:
        async with asyncio.timeout(REACHED_WITHIN):
            while True:
                try:
                    return await gateway.get(address, KEY)
                except gateway.NotReached as error:
                    why = error
                    await asyncio.sleep(POLL)
    except TimeoutError:
        raise Trouble(
            f"the members are there, and the Service that leads to them is not: {why}.\nAnother cluster of windvane "
            "may have its address: stop that, or have this one elsewhere: make run WINDVANE_HOME=DIRECTORY"
        ) from None


async def conclude(client: Client, page: Page, cluster: EtcdCluster, place: Place) -> None:
    """Show how it is now, and what to try."""
    status = cluster.status
    pods = await client.list(core.Pod, namespace=NAMESPACE, labels=names.selector(NAME))
    addresses = {each.metadata.name: each.status.pod_ip or "" for each in pods}
    processes = {name: process_at(address) for name, address in addresses.items()}
    page.title("What `kubectl get etcdclusters` shows")
    page.table(
        [
            ("NAME", "VERSION", "READY", "LEADER", "QUORUM", "LAST BACKUP", "AGE"),
            (
                *(NAME, status.version, status.ready, status.leader, status.quorum),
                *(_ago(status.last_backup_time), _ago(cluster.metadata.creation_timestamp)),
            ),
        ]
    )
    page.title("Its members")
    page.table(
        [
            ("NAME", "ROLE", "ID", "VERSION", "DATABASE", "ADDRESS", "PROCESS"),
            *(
                (
                    *(each.name, each.role, each.id, each.version, each.database_size),
                    *(addresses.get(each.name, ""), str(processes.get(each.name) or "")),
                )
                for each in status.members
            ),
        ]
    )
    victim = next((each.name for each in reversed(status.members) if each.name != status.leader), "")
    running = Running(
        kubeconfig=place.kubeconfig,
        programs=place.programs,
        environment={key: value for key, value in os.environ.items() if key == "WINDVANE_HOME"},
        address=place.address,
        replicas=cluster.spec.replicas,
        leader=status.leader,
        process=processes.get(status.leader),
        victim=victim,
        volume=await _directory(client, victim),
        operator=place.operator,
    )
    page.title("What to try, in a second terminal, in this directory")
    page.text(*(f"  {each}" for each in first_of_all(running)))
    for about, commands in suggestions(running):
        page.text("", f"  # {about}", *(f"  {each}" for each in commands))
    if shutil.which("kubectl") is None:
        page.text(
            "", "  kubectl is not installed here. It is one file: see Install Tools in Kubernetes' documentation."
        )
    page.title("What happens is told here as it does. Ctrl-C stops everything, and the data stays.")


async def _directory(client: Client, member: str) -> str:
    """Where a member's data is on this machine; empty if that can't be told."""
    try:
        claim = await client.get(core.PersistentVolumeClaim, f"data-{member}", namespace=NAMESPACE)
        volume = await client.get(core.PersistentVolume, claim.spec.volume_name or "")
    except NotFound:
        return ""
    return volume.spec.host_path.path if volume.spec.host_path else ""


def _ago(when: datetime | None) -> str:
    """As kubectl says it."""
    if when is None:
        return "<none>"
    seconds = int((datetime.now(UTC) - when).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
