"""A scenario's stage: a cluster, the operator, an EtcdCluster, a writer, and the judgement at the end."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from etcd_operator import names
from etcd_operator.api import EtcdBackup, EtcdBackupSpec, EtcdCluster
from scenarios.machine import NAMESPACE, Machine
from scenarios.membership import Membership
from scenarios.operator_process import OperatorProcess
from scenarios.reached import Reached
from scenarios.statements import Statements
from scenarios.waiting import until
from scenarios.writer import Writer
from windvane import Condition, NotFound, ObjectMeta, ambient, find_condition, object_from_wire
from windvane.k8s import core, events

NAME = "prod"
FEWEST_KILLS = 2


@dataclass
class Scene:
    """Everything of one scenario."""

    machine: Machine
    operator: OperatorProcess
    session: aiohttp.ClientSession
    seed: str
    """By which the operator is killed."""
    figures: dict[str, float] = field(default_factory=dict)
    """What was measured."""

    def etcd_of(self, name: str) -> Reached:
        """The etcd of an EtcdCluster."""
        return Reached(self.machine.client, self.session, name)

    @property
    def etcd(self) -> Reached:
        """The one that the scenario is about."""
        return self.etcd_of(NAME)

    # What there is

    async def cluster(self, name: str = NAME) -> EtcdCluster:
        """The EtcdCluster as it is now."""
        return await self.machine.client.get(EtcdCluster, name, namespace=NAMESPACE)

    async def create(self, name: str = NAME, **spec: Any) -> None:
        """Apply an EtcdCluster, once the operator has brought the kind along."""
        spec = {"version": "3.5.1", "replicas": 3, "storageSize": "1Gi", **spec}
        kind = {"apiVersion": "etcd.windvane.dev/v1alpha1", "kind": "EtcdCluster"}
        wanted = {**kind, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}

        async def created() -> bool:
            try:
                await self.machine.client.create(object_from_wire(wanted, EtcdCluster))
            except NotFound:
                return False
            return True

        await until("the kind EtcdCluster is known", created, within=60, why=self.log())

    async def change(self, name: str = NAME, **spec: Any) -> None:
        """Change some of its spec."""
        await self.machine.client.patch(EtcdCluster, name, {"spec": spec}, namespace=NAMESPACE)

    async def until(
        self, what: str, so: Callable[[EtcdCluster], object], *, within: float = 60, name: str = NAME
    ) -> EtcdCluster:
        """The EtcdCluster, once something is so; if it never is, all that helps to see why."""

        async def look() -> EtcdCluster | None:
            there = await self.cluster(name)
            return there if so(there) else None

        try:
            return await until(what, look, within=within)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{await self.account(name)}") from None

    async def settled(self, replicas: int = 3, *, within: float = 120, name: str = NAME) -> EtcdCluster:
        """The EtcdCluster, once it has so many members, all of them well, and nothing is left to do."""
        begin = ambient.monotonic()
        what = f"{replicas} members, all is well"
        found = await self.until(what, lambda it: is_settled(it, replicas), within=within, name=name)
        # That may have been written before what happened last. The members themselves know better.
        while not await self.etcd_of(name).well(replicas):
            assert ambient.monotonic() < begin + within, f"not all members answer\n{await self.account(name)}"
            await ambient.sleep(0.1)
            found = await self.until(what, lambda it: is_settled(it, replicas), within=within, name=name)
        return found

    async def events(self) -> list[events.Event]:
        """All Events about the EtcdCluster, the oldest first."""
        found = [each async for each in self.machine.client.list(events.Event, namespace=NAMESPACE)]
        about = [each for each in found if each.regarding and each.regarding.kind == "EtcdCluster"]
        return sorted(about, key=lambda each: str(each.event_time or each.metadata.creation_timestamp))

    async def claims(self, name: str = NAME) -> dict[str, str]:
        """The members' volume claims, and the uid of each."""
        listing = self.machine.client.list(core.PersistentVolumeClaim, namespace=NAMESPACE)
        found = [each.metadata async for each in listing]
        return {each.name: each.uid for each in found if names.ordinal_of(name, each.name) is not None}

    # What happens, and what is judged

    async def replaced(self, member: str, old: str) -> EtcdCluster:
        """The EtcdCluster, once all is well, and a member has another id than it had."""
        replicas = (await self.cluster()).spec.replicas
        return await self.until(
            f"{member} is no longer {old}, and all is well",
            lambda it: is_settled(it, replicas) and identities(it).get(member) != old,
            within=180,
        )

    async def backup(self, name: str) -> EtcdBackup:
        """Take a snapshot; once it is there."""
        wanted = EtcdBackup(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=EtcdBackupSpec(cluster=NAME))
        await self.machine.client.create(wanted)

        async def complete() -> EtcdBackup | None:
            there = await self.machine.client.get(EtcdBackup, name, namespace=NAMESPACE)
            assert there.status.phase != "Failed", there.status
            return there if there.status.phase == "Complete" else None

        return await until(f"the snapshot {name} is taken", complete, within=120, why=self.log())

    async def begun_anew(self, times: int) -> None:
        """Wait until the operator was killed at random so many times more."""
        wanted = self.operator.kills + times

        async def enough() -> bool:
            return self.operator.kills >= wanted

        await until(f"the operator is killed {times} times more", enough, within=60 * max(times, 1))

    @asynccontextmanager
    async def observed(self) -> AsyncIterator["Load"]:
        """A writer writes, and everything is written down. Then all must be well, and nothing lost."""
        gateway = await self.etcd.service()
        load = Load(Writer(gateway), Membership(gateway), Statements())
        async with load.writer.writing(), load.membership.watched(), load.statements.heard(self.machine.client):
            yield load
            await self.settled((await self.cluster()).spec.replicas)
        await self.judge(load)

    @asynccontextmanager
    async def under_load(self) -> AsyncIterator["Load"]:
        """The same, while the operator is killed at random, a few times at least."""
        async with self.observed() as load, self.operator.killed_at_random(self.seed):
            already = self.operator.kills
            yield load
            await self.begun_anew(FEWEST_KILLS - (self.operator.kills - already))

    async def judge(self, load: "Load") -> None:
        """Every acknowledged key is there, and the members' hashes agree."""
        writer = load.writer
        missing = await writer.missing(await self.etcd.service(patience=10))
        assert writer.acknowledged
        assert [key for key in missing if not load.forgiven[0] <= writer.acknowledged[key] <= load.forgiven[1]] == []
        hashes = await self.etcd.hashes()
        assert len(set(hashes.values())) == 1, hashes
        self.note(keys=len(writer.acknowledged), gap=writer.longest_gap(), retries=writer.retries, lost=len(missing))

    @contextmanager
    def timed(self) -> Iterator[None]:
        """What the scenario is about: how long it takes is noted."""
        begin = ambient.monotonic()
        yield
        self.note(seconds=ambient.monotonic() - begin)

    def note(self, **figures: float) -> None:
        """Put figures into the table."""
        self.figures.update(figures)

    # For whoever has to find out why

    def log(self) -> str:
        """The last words of the operator."""
        there = self.operator.log.read_text(errors="replace") if self.operator.log.exists() else ""
        return "\n".join(["the operator's log:", *there.splitlines()[-25:]])

    async def account(self, name: str) -> str:
        """What there is to be seen."""
        there = await self.cluster(name)
        told = [f"{each.reason}: {each.note}" for each in await self.events()]
        pods = [
            f"{pod.metadata.name} {msgspec.json.encode(pod.status).decode()[:600]}"
            for pod in await self.etcd_of(name).pods()
        ]
        status = msgspec.json.format(msgspec.json.encode(there.status), indent=1).decode()
        return "\n".join([status, *told[-25:], *pods, self.log()])


@dataclass
class Load:
    """What goes on during a scenario."""

    writer: Writer
    membership: Membership
    statements: Statements
    forgiven: tuple[float, float] = (0, 0)
    """Between which moments acknowledged keys may be lost: with the consent of whoever had them written."""


def condition(cluster: EtcdCluster, type: str) -> Condition:  # noqa: A002 - its name
    """A condition, which may not be there yet."""
    found = find_condition(cluster.status.conditions, type)
    return found or Condition(type=type, status="Unknown", reason="Missing")


def is_settled(cluster: EtcdCluster, replicas: int) -> bool:
    """Whether so many members are well, and nothing is left to do."""
    return (
        cluster.status.observed_generation == cluster.metadata.generation
        and [condition(cluster, each).status for each in ("Available", "Progressing", "Degraded")]
        == ["True", "False", "False"]
        and condition(cluster, "Progressing").reason == "Settled"
        and len(cluster.status.members) == replicas
        and all(each.healthy and each.role in ("Leader", "Follower") for each in cluster.status.members)
    )


def identities(cluster: EtcdCluster) -> dict[str, str]:
    """The members by name, and the id of each."""
    return {each.name: each.id for each in cluster.status.members}


@asynccontextmanager
async def scene(home: Path, seed: str) -> AsyncIterator[Scene]:
    """A cluster with the operator; no process of it is left afterwards."""
    async with Machine.open(home) as machine, aiohttp.ClientSession() as session:
        operator = OperatorProcess(machine.kubeconfig, home / "operator.log")
        await operator.start()
        try:
            yield Scene(machine, operator, session, seed)
        finally:
            kills = operator.kills
            await operator.kill()
            operator.kills = kills
