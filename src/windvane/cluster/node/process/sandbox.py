"""The processes of one pod: which of its containers run, and what is told of them."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from windvane import ClientError, ambient
from windvane.cluster.node.logs.writer import Log, pod_directory
from windvane.cluster.node.pod.record import (
    LONGEST_BACKOFF,
    Exited,
    NotResized,
    PodEvent,
    Probed,
    Refused,
    Report,
    Resized,
    RunProbe,
    Started,
)
from windvane.cluster.node.prober import probes
from windvane.cluster.node.process import checkpoint
from windvane.cluster.node.process.cgroups import Cgroups, Group, InUse
from windvane.cluster.node.process.container import ContainerInstance
from windvane.cluster.node.process.environment import environment
from windvane.cluster.node.process.hosts_file import hosts_file
from windvane.cluster.node.process.images import Images, Program
from windvane.cluster.node.process.launch import Isolation, LaunchSpec
from windvane.cluster.node.process.orphans import descendants, forget, record
from windvane.cluster.node.process.spec import ContainerFiles, spec_of, surroundings
from windvane.cluster.node.simulated.runtime import SimulatedSandbox
from windvane.cluster.node.sources import MissingSource, Sources
from windvane.cluster.node.volumes.pod_volumes import Volumes
from windvane.cluster.node.volumes.removal import remove
from windvane.k8s.core import Container, Pod, ResourceRequirements

log = logging.getLogger(__name__)

AGAIN = timedelta(seconds=2)
"""After how long it is tried again to start what lacked something."""
PULL_AGAIN = timedelta(seconds=10)
RESIZE_AGAIN = timedelta(seconds=10)
RENEW_AGAIN = 10.0
"""After how many seconds it is tried again to renew a token."""


@dataclass(frozen=True)
class RuntimeConfig:
    """What all pods of a node have in common."""

    directory: Path
    images: Images
    sources: Sources
    isolation: Isolation
    cgroups: Cgroups
    host: str
    simulate_unknown: bool
    host_paths: bool


class ProcessSandbox:
    """The containers of one pod."""

    def __init__(self, pod: Pod, address: str, report: Callable[[Report], None], setting: RuntimeConfig) -> None:
        self.instances: dict[str, ContainerInstance] = {}
        """The containers that run."""
        self._pod = pod
        self._address = setting.host if pod.spec.host_network else address
        self._report = report
        self._setting = setting
        meta = pod.metadata
        self._directory = setting.directory / "pods" / meta.uid
        self._logs = pod_directory(setting.directory / "logs", meta.namespace, meta.name, meta.uid)
        self._volumes = Volumes(
            self._directory / "volumes", setting.sources, self._address, setting.host, host_paths=setting.host_paths
        )
        self._imagined = SimulatedSandbox(pod, report)
        self._simulated: set[str] = set()
        self._groups: dict[str, Group] = {}
        """The control groups of the containers that run."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._refusals: dict[str, int] = {}
        self._end_by: dict[str, float] = {}
        """When containers have to end that were asked to while all that they need was made ready."""
        self._renewing: asyncio.Task[None] | None = None

    # What the agent asks for

    def start(self, pod: Pod, container: Container, attempt: int) -> None:
        """Begin an instance of a container."""
        try:
            program, tags = self._known_of(container)
        except ValueError as error:
            self._refuse(container, "ErrImagePull", str(error))
            return
        self._simulated.discard(container.name)
        self._end_by.pop(container.name, None)
        if program is not None:
            self._begin(self._live(pod, container, program, attempt))
        elif self._setting.simulate_unknown and not tags:
            self._simulated.add(container.name)
            self._imagined.start(pod, container, attempt)
        else:
            self._refuse_image(container, tags)

    def resume(self, pod: Pod, container: Container, age: float) -> bool:
        """Only imagined ones go on: processes end with the agent that started them."""
        try:
            program, tags = self._known_of(container)
        except ValueError:
            return False  # it is started anew, which tells what is wrong
        if program is not None or tags or not self._setting.simulate_unknown:
            return False
        self._simulated.add(container.name)
        return self._imagined.resume(pod, container, age)

    def recall(self, container: Container, attempts: int) -> Iterable[Started | Exited]:
        """What was written down of a process."""
        return checkpoint.recall(container.name, self._place(container.name), attempts)

    def stop(self, pod: Pod, container: Container, grace: float) -> None:
        """End a container."""
        if container.name in self._simulated:
            self._imagined.stop(pod, container, grace)
        elif (instance := self.instances.get(container.name)) is not None:
            instance.stop(self._address, grace)
        else:
            self._end_by[container.name] = ambient.monotonic() + grace

    def resize(self, pod: Pod, container: Container) -> None:
        """Let a container have other resources: its limits are changed, where they are enforced."""
        if container.name in self._simulated:
            self._imagined.resize(pod, container)
        elif (instance := self.instances.get(container.name)) is not None:
            self._report(self._resize(instance, container))

    def _resize(self, instance: ContainerInstance, container: Container) -> Resized | NotResized:
        wanted = container.resources or ResourceRequirements()

        def processes() -> list[int]:
            return [instance.launched.pid, *descendants(instance.launched.pid)] if instance.launched is not None else []

        try:
            self._setting.cgroups.resize(self._groups[container.name], wanted.limits, processes)
        except InUse as error:
            problem = f'cannot decrease memory limits: attempting to set container "{container.name}" {error}'
        except OSError as error:
            problem = f'the limits of container "{container.name}" can\'t be changed: {error}'
        else:
            return Resized(container.name, wanted)
        return NotResized(container.name, problem, ambient.now() + RESIZE_AGAIN)

    def probe(self, pod: Pod, container: Container, probe: RunProbe, age: float) -> None:
        """Ask a container how it is."""
        if container.name in self._simulated:
            self._imagined.probe(pod, container, probe, age)
        else:
            self._begin(self._probe(container, probe))

    def refresh(self, pod: Pod) -> None:
        """Bring the volumes up to date, and the file of hosts."""
        self._pod = pod
        if self._volumes.places:
            self._begin(self._refresh())
        self.write_hosts()

    def write_hosts(self) -> None:
        """Write the file of hosts anew, if it should say something else."""
        if not self.instances:
            return
        file = self._directory / "hosts"
        sources = self._setting.sources
        text = hosts_file(self._pod, self._address, sources.services(), sources.slices())
        try:
            if not file.exists() or file.read_text() != text:
                file.write_text(text)  # into the same file: containers see it through a mount
        except OSError as error:
            log.warning("pod %s is not told of the names that changed: %s", self._pod.metadata.name, error)

    async def close(self) -> None:
        """End everything, at once."""
        tasks = [*self._tasks, *([self._renewing] if self._renewing is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._imagined.close()

    async def remove(self) -> None:
        """Remove the pod's files. What is in its PersistentVolumes stays: they are elsewhere."""
        for directory in (self._directory, self._logs):
            await asyncio.to_thread(remove, directory)

    def _place(self, container: str) -> Path:
        return self._directory / "containers" / container

    # A container

    def _known_of(self, container: Container) -> tuple[Program | None, list[str]]:
        """What runs for a container's image; or if nothing does, for which other tags of it something would."""
        images, image = self._setting.images, container.image or ""
        program = images.find(image)
        return program, images.tags(image) if program is None else []

    async def _live(self, pod: Pod, container: Container, program: Program, attempt: int) -> None:
        place = self._place(container.name)
        termination = place / "termination-log"
        try:
            await asyncio.to_thread(remove, place)  # each instance begins afresh
            place.mkdir(parents=True)
            termination.touch()
            termination.chmod(0o666)
            spec = await self._spec(pod, container, program, place, termination)
            instance = ContainerInstance(pod, container, spec, Log(self._logs, container.name, attempt), self._report)
            checkpoint.write(place, attempt, instance.id)
        except MissingSource as missing:
            self._refuse(container, missing.reason, str(missing))
            return
        except Exception as error:  # unless something is told, the pod would wait for it for ever
            if not isinstance(error, OSError | ClientError):
                log.exception("container %s of pod %s", container.name, pod.metadata.name)
            self._refuse(container, "CreateContainerError", str(error))
            return
        self._say(container, "Pulled", f'Container image "{container.image}" is {spec.argv[0]} on this machine')
        self._refusals.pop(container.name, None)
        limits = container.resources.limits if container.resources is not None else {}
        group = self._setting.cgroups.make(f"{pod.metadata.uid}-{container.name}", limits)
        spec.cgroups = [str(each) for each in group.places]
        self.instances[container.name], self._groups[container.name] = instance, group
        if (end_by := self._end_by.pop(container.name, None)) is not None:
            instance.stop(self._address, max(end_by - ambient.monotonic(), 0))
        self.write_hosts()
        self._renew()
        try:
            await instance.live(
                self._address,
                termination,
                launched=lambda pid: record(self._directory, container.name, pid),
                out_of_memory=group.was_out_of_memory,
            )
        except Exception as error:
            # Nothing of it runs any more. Unless that is told, the pod would wait for it for ever.
            log.exception("container %s of pod %s", container.name, pod.metadata.name)
            if instance.launched is None:
                self._refuse(container, "CreateContainerError", str(error))
            else:
                self._report(Exited(container.name, 255, ambient.now(), "ContainerStatusUnknown", str(error)))
        finally:
            del self.instances[container.name], self._groups[container.name]
            forget(self._directory, container.name)
            group.remove()

    async def _spec(
        self, pod: Pod, container: Container, program: Program, place: Path, termination: Path
    ) -> LaunchSpec:
        setting = self._setting
        await self._volumes.prepare(pod)
        hosts = self._directory / "hosts"
        hosts.touch()
        beneath = surroundings(pod, container, program, self._address)
        variables = environment(pod, container, self._address, setting.host, setting.sources, beneath)
        return spec_of(
            pod,
            container,
            program,
            variables=variables,
            volumes=self._volumes,
            files=ContainerFiles(place, hosts, termination),
            isolation=setting.isolation,
            among=self._target(pod, container),
        )

    def _target(self, pod: Pod, container: Container) -> int:
        """A process of the container that an ephemeral one is to look at; 0 if there is none."""
        names = {each.name: each.target_container_name for each in pod.spec.ephemeral_containers}
        if not (target := names.get(container.name)) or target in self._simulated:
            return 0
        instance = self.instances.get(target)
        if instance is None or instance.launched is None:
            raise MissingSource("CreateContainerConfigError", f"unable to find target container {target}")
        return instance.launched.inner

    async def _probe(self, container: Container, probe: RunProbe) -> None:
        spec = {
            "startup": container.startup_probe,
            "readiness": container.readiness_probe,
            "liveness": container.liveness_probe,
        }[probe.kind]
        instance = self.instances.get(container.name)
        if spec is None or instance is None:
            return
        problem = ""
        try:
            await probes.ask(spec, container, self._address, instance.run)
        except Exception as error:  # noqa: BLE001 - unless a question is answered, none is asked again
            problem = str(error) or type(error).__name__
        if self.instances.get(container.name) is not instance:
            return  # it has ended meanwhile, and that is all there is to say
        if problem:
            self._say(container, "Unhealthy", f"{probe.kind.capitalize()} probe failed: {problem}", warning=True)
        self._report(Probed(container.name, probe.kind, not problem, ambient.now(), problem))

    # Telling

    def _refuse(self, container: Container, reason: str, message: str) -> None:
        event = "FailedMount" if reason == "ContainerCreating" else "Failed"
        self._say(container, event, message if event == "FailedMount" else f"Error: {message}", warning=True)
        self._report(Refused(container.name, reason, message, ambient.now() + AGAIN))

    def _refuse_image(self, container: Container, tags: Sequence[str]) -> None:
        times = self._refusals[container.name] = self._refusals.get(container.name, 0) + 1
        only = f", only for the tags {', '.join(tags)}" if tags else ""
        words = (
            f'Back-off pulling image "{container.image}": windvane pulls no images, and knows no program of this '
            f"machine for it{only}. Name one: windvane image add {container.image} -- PROGRAM "
            "(or --programs DIRECTORY, if it has several)"
        )
        self._say(container, "BackOff", words)
        delay: timedelta = PULL_AGAIN * (1 << min(times - 1, 10))
        self._report(Refused(container.name, "ImagePullBackOff", words, ambient.now() + min(delay, LONGEST_BACKOFF)))

    def _say(self, container: Container, reason: str, message: str, *, warning: bool = False) -> None:
        self._report(PodEvent(container.name, reason, message, "Warning" if warning else "Normal"))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _renew(self) -> None:
        """Renew tokens before they expire, for as long as the pod is there."""
        if self._renewing is None and self._volumes.next_refresh() is not None:
            self._renewing = asyncio.get_running_loop().create_task(self._keep_renewing())

    async def _keep_renewing(self) -> None:
        while (due := self._volumes.next_refresh()) is not None:
            await ambient.sleep(max((due - ambient.now()).total_seconds(), RENEW_AGAIN))
            await self._refresh()

    async def _refresh(self) -> None:
        try:
            await self._volumes.refresh(self._pod)
        except (OSError, ClientError) as error:
            log.warning("volumes of pod %s can't be brought up to date: %s", self._pod.metadata.name, error)
