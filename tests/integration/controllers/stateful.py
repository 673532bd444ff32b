"""A StatefulSet for tests, and hands to play the node that its pods are on: they stay until the node lets them go."""

from typing import Any

from integration.controllers.cluster import Cluster
from integration.controllers.workloads import LABELS
from windvane.api import codec
from windvane.k8s.apps import ControllerRevision, StatefulSet
from windvane.k8s.core import Event, PersistentVolumeClaim, Pod

NODE = "here"


def template(image: str = "db:1", **spec: Any) -> dict[str, Any]:
    """A pod template whose pods are on a node from the start, so that deleting them takes its consent."""
    spec = {"containers": [{"name": "db", "image": image}], "nodeName": NODE} | spec
    return {"metadata": {"labels": LABELS}, "spec": spec}


def statefulset(replicas: int, **spec: Any) -> StatefulSet:
    """A StatefulSet `db`."""
    stated = {
        "replicas": replicas,
        "selector": {"matchLabels": LABELS},
        "serviceName": "db",
        "template": template(),
    } | spec
    return codec.from_wire({"metadata": {"name": "db"}, "spec": stated}, StatefulSet)


def claim_template(name: str = "data") -> dict[str, Any]:
    """A template of a claim."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name, "labels": {"what": name}}, "spec": spec}


class Db:
    """The StatefulSet `db` in a cluster, and its node."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    async def create(self, replicas: int, **spec: Any) -> StatefulSet:
        """Make it, and wait until the controllers have nothing to do but wait."""
        await self.cluster.have_node(NODE)
        made = await self.cluster.admin.create(statefulset(replicas, **spec))
        await self.cluster.settled()
        return made

    async def started(self, replicas: int, **spec: Any) -> None:
        """Make it, and have all of its pods become ready one after the other."""
        await self.create(replicas, **spec)
        await self.all_ready()

    async def all_ready(self) -> None:
        """Play a node on which everything works, until there is nothing left to do."""
        while True:
            pods = await self.pods()
            going = [each for each in pods if each.metadata.deletion_timestamp is not None]
            pending = [each for each in pods if each not in going and each.status.phase == "Pending"]
            if not going and not pending:
                return
            await self.let_go(*(each.metadata.name for each in going))
            await self.cluster.make_ready(*pending)
            await self.cluster.settled()

    async def let_go(self, *names: str) -> None:
        """The node has stopped these pods: they are gone."""
        for name in names:
            await self.cluster.admin.delete(Pod, name, grace_period=0)
        await self.cluster.settled()

    async def ready(self, *names: str) -> None:
        """The node has these pods run."""
        await self.cluster.make_ready(*[await self.pod(each) for each in names])
        await self.cluster.settled()

    async def phase(self, name: str, phase: str) -> None:
        """The node says that a pod is in this phase, and not ready."""
        status = {"phase": phase, "conditions": [{"type": "Ready", "status": "False"}]}
        await self.cluster.admin.patch(Pod, name, {"status": status}, subresource="status")
        await self.cluster.settled()

    async def delete(self, name: str) -> None:
        """Somebody deletes a pod."""
        await self.cluster.admin.delete(Pod, name)
        await self.cluster.settled()

    async def scale(self, replicas: int) -> None:
        """Somebody scales it."""
        await self.cluster.admin.scale(StatefulSet, "db", replicas)
        await self.cluster.settled()

    async def patch(self, spec: dict[str, Any]) -> None:
        """Somebody changes its spec."""
        await self.cluster.admin.patch(StatefulSet, "db", {"spec": spec})
        await self.cluster.settled()

    async def image(self, image: str) -> None:
        """Somebody changes its image."""
        await self.patch({"template": template(image)})

    async def the(self) -> StatefulSet:
        """The set as it is."""
        return await self.cluster.admin.get(StatefulSet, "db")

    async def pod(self, name: str) -> Pod:
        """One pod."""
        return await self.cluster.admin.get(Pod, name)

    async def pods(self) -> list[Pod]:
        """All pods, by name."""
        return await self.cluster.list(Pod)

    async def names(self) -> list[str]:
        """The names of all pods; with a minus if they are going."""
        return [
            each.metadata.name + ("-" if each.metadata.deletion_timestamp is not None else "")
            for each in await self.pods()
        ]

    async def images(self) -> dict[str, str]:
        """The last letter of each pod's image: its version."""
        return {each.metadata.name: (each.spec.containers[0].image or "")[-1] for each in await self.pods()}

    async def claims(self) -> list[PersistentVolumeClaim]:
        """All claims."""
        return await self.cluster.list(PersistentVolumeClaim)

    async def revisions(self) -> list[ControllerRevision]:
        """All revisions, with the newest last."""
        return sorted(await self.cluster.list(ControllerRevision), key=lambda each: each.revision)

    async def events(self, reason: str) -> list[str]:
        """What was said with this reason."""
        return [each.message or "" for each in await self.cluster.list(Event) if each.reason == reason]
