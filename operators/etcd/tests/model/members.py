"""Members of the model in the pods of a test's cluster: what starts, ends and agrees while the operator works there."""

import copy
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

from etcd_operator import names
from model.operating import MODULE, Door, Luck, Work
from model.raft import Data, Process, Raft
from windvane import NotFound, ambient
from windvane.k8s import core
from windvane.testing import Cluster


@dataclass(eq=False)
class Place:
    """A pod, as far as a door needs it."""

    ordinal: int
    uid: str
    process: Process | None = None


@dataclass
class Members:
    """The members of the EtcdCluster `name`, in the namespace `default`."""

    name: str
    raft: Raft = field(default_factory=Raft)
    places: dict[int, Place] = field(default_factory=dict)
    disks: dict[int, Data] = field(default_factory=dict)

    async def live(self, cluster: Cluster) -> None:
        """Start in each pod that runs, end with each that goes, and talk; until cancelled."""
        while True:
            self.raft.now = ambient.monotonic()
            pods = await cluster.list(core.Pod, labels=names.selector(self.name))
            running = {each.metadata.uid: each for each in pods if each.status.phase == "Running"}
            for place in [each for each in self.places.values() if each.uid not in running]:
                if place.process is not None and not place.process.last_words:
                    self.raft.end(place.process, "")
                del self.places[place.ordinal]
            for pod in running.values():
                await self._start(pod, cluster)
            self.raft.turn()
            await ambient.sleep(0.5)

    async def _start(self, pod: core.Pod, cluster: Cluster) -> None:
        ordinal = names.ordinal_of(self.name, pod.metadata.name)
        assert ordinal is not None
        if ordinal in self.places:
            return
        try:
            configuration = await cluster.get(core.ConfigMap, names.configuration(self.name))
        except NotFound:
            return
        told = (configuration.data["initial-cluster-state"], configuration.data["initial-cluster"])
        url = names.peer_url(self.name, "default", ordinal, scheme="http")
        version = (pod.spec.containers[0].image or "").rpartition(":v")[2]
        begun = self.raft.start(self.disks.get(ordinal), names.member(self.name, ordinal), url, version, told)
        assert isinstance(begun, Data), begun
        self.disks[ordinal] = begun
        self.places[ordinal] = Place(ordinal, pod.metadata.uid, self.raft.up[-1])

    @contextmanager
    def reached(self) -> Iterator[None]:
        """For the length of the block, the operator reaches these members, and opens no sockets for it."""

        @asynccontextmanager
        async def access(*_: Any) -> AsyncIterator[Members]:
            yield self

        with mock.patch.object(MODULE, "access", access):
            yield

    def door(self, pod: core.Pod, _host: str) -> Door:
        """See `etcd_operator.reach.Access.door`."""
        machine = SimpleNamespace(raft=self.raft, pods=self.places)
        work = SimpleNamespace(machine=machine, luck=Luck(), writes=lambda: None)
        return Door(cast(Work, work), pod)

    def copied(self) -> "Members":
        """Others that know all that these do: what they are told changes nothing here."""
        return copy.deepcopy(self)
