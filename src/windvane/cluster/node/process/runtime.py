"""Containers as processes of this machine: the runner that `windvane cluster start` uses."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

from windvane import Object, View, Watch, index
from windvane.cluster.node.container_runtime import Subscribe
from windvane.cluster.node.pod.record import Report
from windvane.cluster.node.process.cgroups import Cgroups
from windvane.cluster.node.process.images import Images
from windvane.cluster.node.process.launch import allowed_isolation
from windvane.cluster.node.process.orphans import end_leftovers
from windvane.cluster.node.process.sandbox import ProcessSandbox, RuntimeConfig
from windvane.cluster.node.sources import Sources
from windvane.cluster.node.volumes.pod_volumes import sources_of
from windvane.cluster.node.volumes.removal import remove
from windvane.k8s.core import ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Service
from windvane.k8s.discovery import EndpointSlice

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
pods_by_source = index(Pod, by=sources_of)


def _filled_from(source: ConfigMap | Secret, view: View) -> list[Pod]:
    return view.find(pods_by_source, f"{type(source).__name__}/{source.metadata.name}")


class ProcessRuntime:
    """Runs containers as processes, each with the program that stands for its image."""

    watches: Sequence[Watch[Any]] = (Watch(ConfigMap, to=_filled_from), Watch(Secret, to=_filled_from))
    reads: Sequence[type[Object]] = (Service, EndpointSlice, PersistentVolumeClaim, PersistentVolume)

    def __init__(
        self, directory: Path, images: Images, *, simulate_unknown: bool = True, host_paths: bool = False
    ) -> None:
        self._directory = directory
        self._images = images
        self._simulate_unknown = simulate_unknown
        self._host_paths = host_paths
        self._setting: RuntimeConfig | None = None
        self._sandboxes: WeakSet[ProcessSandbox] = WeakSet()

    async def begin(self, sources: Sources, subscribe: Subscribe) -> None:
        """End what was left behind, and see what this system allows."""
        if left := await end_leftovers(self._directory / "pods"):
            log.warning("%d processes were left from a node agent that was killed; they were ended", left)
        cgroups = Cgroups()
        cgroups.remove_leftovers(each.name for each in (self._directory / "pods").glob("*"))
        self._directory.mkdir(parents=True, exist_ok=True)
        isolation = await allowed_isolation(self._directory / "check")
        if isolation == "none":
            log.warning(
                "this system allows no mount namespaces: volumes are not at their paths, which are rewritten where "
                "they stand in commands, arguments and variables; and pods don't know the names of services"
            )
        else:  # there are Secrets and tokens below: containers see them through mounts, and no other user should
            self._directory.chmod(0o700)
        self._setting = RuntimeConfig(
            directory=self._directory,
            images=self._images,
            sources=sources,
            isolation=isolation,
            cgroups=cgroups,
            host=HOST,
            simulate_unknown=self._simulate_unknown,
            host_paths=self._host_paths,
        )
        for what in (Service, EndpointSlice):
            subscribe(what, self._services_changed)

    async def keep_only(self, uids: Collection[str]) -> None:
        """Remove the files of all pods but these."""
        # All is listed before the first is removed: pods that come meanwhile are not among `uids`.
        there = [each for place in ("pods", "logs") for each in (self._directory / place).glob("*")]
        for each in there:
            if each.name.rpartition("_")[2] not in uids:
                await asyncio.to_thread(remove, each)

    def sandbox(self, pod: Pod, address: str, report: Callable[[Report], None]) -> ProcessSandbox:
        """A place for the containers of a pod."""
        if self._setting is None:
            raise RuntimeError("Processes.begin comes before any sandbox")
        sandbox = ProcessSandbox(pod, address, report, self._setting)
        self._sandboxes.add(sandbox)
        return sandbox

    def _services_changed(self) -> None:
        for sandbox in self._sandboxes:
            sandbox.write_hosts()
