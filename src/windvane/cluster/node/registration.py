"""The Node object: what this machine is, that it is alive, and the Lease that says so every ten seconds."""

import os
import platform
import shutil
import sys
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime

from windvane import (
    AlreadyExists,
    Client,
    MicroTime,
    NotFound,
    ObjectMeta,
    Quantity,
    ambient,
    object_to_wire,
    owner_reference,
)
from windvane.k8s.coordination import Lease, LeaseSpec
from windvane.k8s.core import (
    DaemonEndpoint,
    Node,
    NodeAddress,
    NodeCondition,
    NodeDaemonEndpoints,
    NodeStatus,
    NodeSystemInfo,
)

LEASES = "kube-node-lease"
LEASE_DURATION = 40
"""Seconds that a node's Lease lasts. It is renewed four times as often."""
STATUS_EVERY = 300.0
PODS = 1100
"""How many pods a node takes. A kubelet's default is 110, but a simulated pod costs next to nothing."""
RUNTIME = "windvane://"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_HEALTHY = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def describe(name: str, address: str, version: str, now: datetime) -> Node:
    """The Node object of this machine."""
    machine = platform.machine().lower()
    system, architecture = sys.platform, _ARCHITECTURES.get(machine, machine)
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": system,
        "kubernetes.io/arch": architecture,
        "beta.kubernetes.io/os": system,
        "beta.kubernetes.io/arch": architecture,
    }
    status = NodeStatus(
        addresses=[NodeAddress(type="InternalIP", address=address), NodeAddress(type="Hostname", address=name)],
        capacity=resources(),
        allocatable=resources(),
        conditions=conditions(now),
        daemon_endpoints=NodeDaemonEndpoints(kubelet_endpoint=DaemonEndpoint(port=10250)),
        node_info=NodeSystemInfo(
            architecture=architecture,
            boot_id="",
            container_runtime_version=f"{RUNTIME}{platform.python_version()}",
            kernel_version=platform.release(),
            kube_proxy_version="",
            kubelet_version=version,
            machine_id="",
            operating_system=system,
            os_image=f"{platform.system()} with Python {platform.python_version()}",
            system_uuid="",
        ),
    )
    return Node(metadata=ObjectMeta(name=name, labels=labels), status=status)


def resources() -> dict[str, Quantity]:
    """What this machine has."""
    return {
        "cpu": Quantity(os.cpu_count() or 1),
        "memory": Quantity(f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 1024}Ki"),
        "ephemeral-storage": Quantity(f"{shutil.disk_usage('/').total // 1024}Ki"),
        "pods": Quantity(PODS),
    }


def conditions(now: datetime, before: NodeStatus | None = None) -> list[NodeCondition]:
    """What an agent that is alive says of itself."""
    since = {(each.type, each.status): each.last_transition_time for each in (before.conditions if before else ())}
    return [
        NodeCondition(
            type=type_,
            status=status,
            reason=reason,
            message=message,
            last_heartbeat_time=now,
            last_transition_time=since.get((type_, status)) or now,
        )
        for type_, status, reason, message in _HEALTHY
    ]


def says_healthy(status: NodeStatus) -> bool:
    """Whether a status says what an agent that is alive does. If it was silent for too long, others spoke for it."""
    said = {(each.type, each.status) for each in status.conditions}
    return said >= {(type_, healthy) for type_, healthy, _, _ in _HEALTHY}


async def retire_others(client: Client, names: Collection[str]) -> None:
    """Delete the Nodes that windvane had when it was last started with more of them: no agent runs their pods now."""
    for node in await client.list(Node):
        info = node.status.node_info
        if info is not None and info.container_runtime_version.startswith(RUNTIME) and node.metadata.name not in names:
            with suppress(NotFound):
                await client.delete(Node, node.metadata.name, uid=node.metadata.uid)


class Registration:
    """Keeps one Node and its Lease."""

    def __init__(self, client: Client, name: str, address: str, lease_duration: int = LEASE_DURATION) -> None:
        self._client = client
        self._lease_duration = lease_duration
        self._name = name
        self._address = address
        self._node: Node | None = None
        self.resources = resources()
        """What the node has."""

    async def run(self) -> None:
        """Say again and again that the node is alive, until cancelled. `register` comes first."""
        last = ambient.monotonic()
        while True:
            await ambient.sleep(self._lease_duration / 4)
            try:
                await self._renew()
                self._node = await self._client.get(Node, self._name)
                if ambient.monotonic() - last >= STATUS_EVERY or not says_healthy(self._node.status):
                    await self._tell()
                    last = ambient.monotonic()
            except NotFound:
                await self.register()

    async def register(self) -> None:
        """Have the Node and its Lease be there. One that was there keeps its labels, taints and all."""
        version = (await self._client.version()).git_version
        node = describe(self._name, self._address, version, ambient.now())
        try:
            self._node = await self._client.create(node)
        except AlreadyExists:
            self._node = await self._client.patch(Node, self._name, {"metadata": {"labels": node.metadata.labels}})
        await self._tell(node.status)
        await self._renew()

    async def _tell(self, status: NodeStatus | None = None) -> None:
        there = self._node.status if self._node is not None else NodeStatus()
        told = status or NodeStatus()
        told.conditions = conditions(ambient.now(), there)
        wire = {"status": object_to_wire(Node(metadata=ObjectMeta(name=self._name), status=told))["status"]}
        self._node = await self._client.patch(Node, self._name, wire, subresource="status", type="strategic")

    async def _renew(self) -> None:
        now = MicroTime.of(ambient.now())
        try:
            renewed = {"spec": {"renewTime": now.to_wire()}}
            await self._client.patch(Lease, self._name, renewed, namespace=LEASES)
        except NotFound:
            if self._node is None:
                raise
            owner = owner_reference(self._node)
            owner.controller, owner.block_owner_deletion = None, None
            spec = LeaseSpec(holder_identity=self._name, lease_duration_seconds=self._lease_duration, renew_time=now)
            meta = ObjectMeta(name=self._name, namespace=LEASES, owner_references=[owner])
            await self._client.create(Lease(metadata=meta, spec=spec))
