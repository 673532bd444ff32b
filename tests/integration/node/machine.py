"""A cluster with a node, for tests of the node agent."""

import asyncio
from collections.abc import Callable
from typing import Any

from integration.runtime.world import World
from windvane import ObjectMeta, ambient
from windvane.api import codec
from windvane.client.errors import NotFound
from windvane.cluster.node.agent import NodeAgent
from windvane.cluster.node.container_runtime import ContainerRuntime
from windvane.cluster.node.simulated.runtime import SimulatedRuntime
from windvane.k8s.core import Event, Pod, PodSpec, PodStatus

NODE = "node-1"


def pod(name: str = "web", *, annotations: dict[str, str] | None = None, **spec: Any) -> Pod:
    """A pod on the node, its spec as YAML would have it."""
    spec = {"containers": [{"name": "main", "image": "nginx"}], "nodeName": NODE, **spec}
    meta = ObjectMeta(name=name, namespace="default", annotations=annotations or {})
    return Pod(metadata=meta, spec=codec.from_wire(spec, PodSpec))


class Machine(World):
    """An API server, and a node agent at work."""

    agent: NodeAgent
    runner: ContainerRuntime

    async def begin(self) -> None:
        """Start everything."""
        await self.server.start()
        self.start_agent(SimulatedRuntime())
        await self.until(lambda: self.agent.running.synced)

    def start_agent(self, runner: ContainerRuntime) -> asyncio.Task[None]:
        """Start the agent, or another one after the first was stopped."""
        self.runner = runner
        self.agent = NodeAgent(self.client(), NODE, runner)
        return self.start(self.agent.run())

    async def create(self, name: str = "web", **spec: Any) -> Pod:
        """Make a pod on the node."""
        return await self.admin.create(pod(name, **spec))

    async def get(self, name: str = "web") -> Pod:
        """A pod as it is now."""
        return await self.admin.get(Pod, name, namespace="default")

    async def status(self, so: Callable[[Any], object], name: str = "web") -> Any:
        """The status of a pod, once something is true of it. Its type is left open: what a test looks for is there."""
        return (await self.when(lambda pod: so(pod.status), name)).status

    async def when(self, so: Callable[[Pod], object], name: str = "web") -> Pod:
        """A pod, once something is true of it."""
        deadline = ambient.monotonic() + self.patience
        while not so(there := await self.get(name)):
            assert ambient.monotonic() < deadline, f"not so: {codec.to_wire(there.status)}"
            await ambient.sleep(0.05)
        return there

    async def gone(self, name: str = "web") -> float:
        """How long it takes until a pod is gone."""
        began = ambient.monotonic()
        while ambient.monotonic() < began + self.patience:
            try:
                await self.get(name)
            except NotFound:
                return ambient.monotonic() - began
            await ambient.sleep(0.05)
        raise AssertionError(f"{name} is still there")

    async def events(self, name: str = "web") -> list[tuple[str, str]]:
        """Reason and message of what was said about a pod."""
        events = await self.admin.list(Event, namespace="default")
        return [(each.reason or "", each.message or "") for each in events if each.involved_object.name == name]

    async def told(self, reason: str, message: str, name: str = "web") -> None:
        """Wait until this was said about a pod: events are written beside its status, and may come later."""
        deadline = ambient.monotonic() + self.patience
        while (reason, message) not in (said := await self.events(name)):
            assert ambient.monotonic() < deadline, f"it was only told that {said}"
            await ambient.sleep(0.05)


def running(status: PodStatus) -> bool:
    """Whether it runs."""
    return status.phase == "Running"


def is_ready(status: PodStatus) -> bool:
    """Whether it is ready."""
    return conditions(status).get("Ready") == "True"


def conditions(status: PodStatus) -> dict[str, str]:
    """The conditions of a pod, in short."""
    return {each.type: each.status for each in status.conditions}


def reasons(status: PodStatus) -> dict[str, str | None]:
    """Why the conditions are as they are."""
    return {each.type: each.reason for each in status.conditions if each.reason}
