"""A cluster for tests of the built-in controllers: their API server, all of them, and hands to play the node with."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from integration.runtime.world import World
from windvane import Object, ambient
from windvane.api.meta import ObjectMeta
from windvane.api.time import MicroTime
from windvane.certificates import Authority
from windvane.client.errors import AlreadyExists
from windvane.cluster.controllers.autoscaler.metrics import MetricsSource, from_metrics_api
from windvane.cluster.controllers.garbage_collector.controller import GarbageCollector
from windvane.cluster.controllers.manager import controllers
from windvane.k8s.coordination import Lease, LeaseSpec
from windvane.k8s.core import Node, NodeCondition, NodeStatus, Pod
from windvane.runtime.manager import OperatorManager

ObjectT = TypeVar("ObjectT", bound=Object)
ROOT_CA = "-----BEGIN CERTIFICATE-----\n(a certificate)\n-----END CERTIFICATE-----\n"


class Cluster(World):
    """An API server with the built-in controllers at work."""

    running: OperatorManager
    collector: GarbageCollector
    volumes: Path | None = None
    """Where directories for claims are made, if they are."""
    metrics: MetricsSource = staticmethod(from_metrics_api)
    """What autoscalers go by."""
    authority: Callable[[], Authority] | None = None
    """Who signs certificates, if anybody does."""
    _work: asyncio.Task[None]
    _beats = 0

    async def begin(self) -> None:
        """Start everything, and wait until the controllers see what there is."""
        await self.server.start()
        await self._start_controllers()
        self.collector = GarbageCollector(self.client())
        self.start(self.collector.run())
        await self.until(lambda: self.collector.kinds.synced)

    async def _start_controllers(self) -> None:
        manager = controllers(
            root_ca=ROOT_CA,
            authority=self.authority,
            migrations=self.migrations,
            volumes=self.volumes,
            metrics=self.metrics,
        )
        self.running = manager.run(self.client())

        async def work() -> None:
            await self.running

        self._work = self.start(work())
        await self.until(lambda: self.running.synced)

    async def settled(self) -> None:
        """Wait until nothing is to be done any more, but for what is to be done later."""
        quiet = 0
        while quiet < 10:
            collecting = len(self.collector.queue) or self.collector.queue.working
            busy = collecting or any(len(each.queue) or each.queue.working for each in self.running.controllers)
            quiet = 0 if busy else quiet + 1
            await ambient.sleep(0.1)

    async def until_async(self, condition: Callable[[], Awaitable[object]]) -> None:
        """Wait until something is so that only the server can tell; an error if it is not within an hour."""
        deadline = ambient.monotonic() + 3600
        while not await condition():
            if ambient.monotonic() > deadline:
                raise AssertionError("not so within an hour")
            await ambient.sleep(1)

    async def list(self, what: type[ObjectT], labels: Mapping[str, str] | None = None) -> list[ObjectT]:
        """What there is in the default namespace."""
        return list(await self.admin.list(what, namespace="default", labels=labels))

    async def have_node(self, name: str) -> None:
        """Play a node that is ready, and says every 40 seconds that it is alive."""
        lease = Lease(metadata=ObjectMeta(name=name, namespace="kube-node-lease"), spec=LeaseSpec(holder_identity=name))
        ready = NodeCondition(type="Ready", status="True")
        try:
            await self.admin.create(Node(metadata=ObjectMeta(name=name), status=NodeStatus(conditions=[ready])))
        except AlreadyExists:
            return
        await self.admin.create(lease)

        async def live() -> None:
            while True:
                await ambient.sleep(40)
                renewed = {"spec": {"renewTime": MicroTime.of(ambient.now()).to_wire()}}
                await self.admin.patch(Lease, name, renewed, namespace="kube-node-lease")
                self._beats += 1

        self.start(live())

    @property
    def writes(self) -> int:
        """How often something was written, but for nodes saying that they are alive."""
        return self.server.store.revision - self._beats

    async def make_ready(self, *pods: Pod) -> None:
        """Play the node: the pods run, and are ready since now."""
        now = ambient.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": now}
        for pod in pods:
            status = {"phase": "Running", "conditions": [ready], "startTime": now}
            await self.admin.patch(Pod, pod.metadata.name, {"status": status}, subresource="status")

    async def finish(self, *pods: Pod, code: int = 0, conditions: Sequence[str] = ()) -> None:
        """Play the node: the pods have ended, their first container with that exit code."""
        now = ambient.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        ended = {"terminated": {"exitCode": code, "finishedAt": now, "startedAt": now}}
        for pod in pods:
            container = {"name": pod.spec.containers[0].name, "image": "web:1", "imageID": "", "state": ended}
            status = {
                "phase": "Failed" if code else "Succeeded",
                "containerStatuses": [{**container, "ready": False, "restartCount": 0}],
                "conditions": [{"type": each, "status": "True", "lastTransitionTime": now} for each in conditions],
            }
            await self.admin.patch(Pod, pod.metadata.name, {"status": status}, subresource="status")

    async def restart_controllers(self) -> None:
        """End the controllers in the middle of whatever they do, and start others, which remember nothing."""
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)
        await self._start_controllers()
