"""The node's side of what the API server asks about pods: see `windvane.cluster.kubelet` for the questions."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

from windvane import ambient
from windvane.cluster.kubelet import LogOptions, Unavailable, Usage, Use, Wiring
from windvane.cluster.node.agent import HOST, ManagedPod, NodeAgent
from windvane.cluster.node.logs.reader import read_log
from windvane.cluster.node.logs.writer import log_file, pod_directory
from windvane.cluster.node.pod.status import every_status, status_of
from windvane.cluster.node.process.container import ContainerInstance
from windvane.cluster.node.process.launch import Launched
from windvane.cluster.node.process.sandbox import ProcessSandbox
from windvane.cluster.node.simulated.runtime import ANNOTATION, SIMULATED, behaviour_of
from windvane.cluster.node.simulated.runtime import SCHEME as SIMULATED_SCHEME
from windvane.cluster.node.streams.attach import AttachSession
from windvane.cluster.node.streams.exec import Command, run_command
from windvane.cluster.node.usage import EVERY, Meter
from windvane.k8s.core import ContainerState, ContainerStatus, Pod

WAITING_FOR_IMAGE = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


class KubeletServer:
    """Answers for one node agent. Its pods have their files in `directory`."""

    def __init__(self, agent: NodeAgent, directory: Path) -> None:
        self.meter = Meter(self._launchers)
        self._agent = agent
        self._logs = directory / "logs"

    async def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncGenerator[bytes]:
        """See `Kubelet.logs`."""
        told = self._told(pod, container)
        if told is not None and (told.container_id or "").startswith(SIMULATED_SCHEME):
            return _only(f"{SIMULATED}\n".encode())
        attempt = attempt_to_read(pod.metadata.name, container, told, previous=options.previous)
        meta = pod.metadata
        file = log_file(pod_directory(self._logs, meta.namespace, meta.name, meta.uid), container, attempt)
        return read_log(file, options, lambda: not self._runs(pod, container, attempt))

    async def exec(self, pod: Pod, container: str, command: Sequence[str], wiring: Wiring) -> Command:
        """See `Kubelet.exec`."""
        return await run_command(_launched(self._instance(pod, container)), command, wiring)

    async def attach(self, pod: Pod, container: str, wiring: Wiring) -> AttachSession:
        """See `Kubelet.attach`."""
        instance = self._instance(pod, container)
        return AttachSession(instance, _launched(instance), wiring)

    def address(self, pod: Pod) -> str:
        """See `Kubelet.address`."""
        managed = self._agent.pods.get(pod.metadata.uid)
        if managed is None or not isinstance(managed.sandbox, ProcessSandbox) or not managed.sandbox.instances:
            raise Unavailable(f"{self._why_not(pod)}: nothing listens there")
        return HOST if pod.spec.host_network else managed.record.address

    def usage(self) -> Usage | None:
        """See `Kubelet.usage`: what was measured, and of simulated containers what their annotation says."""
        imagined = {uid: uses for uid, managed in self._agent.pods.items() if (uses := _imagined(managed))}
        last = self.meter.last
        if not imagined:
            return last
        last = last or Usage(ambient.now(), EVERY, Use(0.0, 0), {})
        pods = {uid: {**last.pods.get(uid, {}), **uses} for uid, uses in imagined.items()}
        return replace(last, pods={**last.pods, **pods})

    def _launchers(self) -> dict[str, dict[str, int]]:
        return {
            uid: {
                name: instance.launched.pid
                for name, instance in managed.sandbox.instances.items()
                if instance.launched is not None
            }
            for uid, managed in self._agent.pods.items()
            if isinstance(managed.sandbox, ProcessSandbox)
        }

    def _told(self, pod: Pod, container: str) -> ContainerStatus | None:
        managed = self._agent.pods.get(pod.metadata.uid)
        status = pod.status if managed is None else status_of(managed.pod, managed.record, HOST, ambient.now())
        return next((each for each in every_status(status) if each.name == container), None)

    def _runs(self, pod: Pod, container: str, attempt: int) -> bool:
        managed = self._agent.pods.get(pod.metadata.uid)
        if managed is None:
            return False
        run = managed.record.of(container).run
        return run is not None and run.running and run.attempt == attempt

    def _instance(self, pod: Pod, container: str) -> ContainerInstance:
        managed = self._agent.pods.get(pod.metadata.uid)
        sandbox = managed.sandbox if managed is not None else None
        if isinstance(sandbox, ProcessSandbox) and container in sandbox.instances:
            return sandbox.instances[container]
        told = self._told(pod, container)
        if told is not None and _seems_to_run(told):
            raise Unavailable(
                f"No program runs in container {container}: windvane simulates it "
                f"(name a program for its image: windvane image add {told.image} -- PROGRAM)"
            )
        raise Unavailable(f'container not found ("{container}")')

    def _why_not(self, pod: Pod) -> str:
        if any((each.container_id or "").startswith(SIMULATED_SCHEME) for each in every_status(pod.status)):
            return f"{SIMULATED} (name a program for its image: windvane image add IMAGE -- PROGRAM)"
        return f"pod {pod.metadata.name} does not run"


def _imagined(managed: ManagedPod) -> dict[str, Use]:
    """What the simulated containers of a pod seem to use, as far as its annotation says."""
    if ANNOTATION not in managed.pod.metadata.annotations:
        return {}
    try:
        use = behaviour_of(managed.pod).use
    except ValueError:
        return {}
    if use is None:
        return {}
    statuses = status_of(managed.pod, managed.record, HOST, ambient.now()).container_statuses
    return {each.name: use for each in statuses if _seems_to_run(each)}


def _seems_to_run(status: ContainerStatus) -> bool:
    simulated = (status.container_id or "").startswith(SIMULATED_SCHEME)
    return simulated and status.state is not None and status.state.running is not None


def attempt_to_read(pod: str, container: str, told: ContainerStatus | None, *, previous: bool) -> int:
    """Which instance of a container to read; `Unavailable`, in the kubelet's words, if there is none."""
    if told is None:
        raise Unavailable(f'container "{container}" in pod "{pod}" is not available')
    state, last = told.state or ContainerState(), told.last_state or ContainerState()
    waits = state.running is None and state.terminated is None
    if previous:
        if last.terminated is None or not last.terminated.container_id:
            raise Unavailable(f'previous terminated container "{container}" in pod "{pod}" not found')
        return told.restart_count if waits else told.restart_count - 1
    if waits and last.terminated is None:
        reason = state.waiting.reason if state.waiting is not None else None
        if not reason:
            raise Unavailable(f'container "{container}" in pod "{pod}" is waiting to start - no logs yet')
        why = WAITING_FOR_IMAGE.get(reason, reason)
        raise Unavailable(f'container "{container}" in pod "{pod}" is waiting to start: {why}')
    return told.restart_count


def _launched(instance: ContainerInstance) -> Launched:
    """Its processes, which there are none of before it has started."""
    if instance.launched is None:
        raise Unavailable(f'container not found ("{instance.container.name}")')
    return instance.launched


async def _only(text: bytes) -> AsyncGenerator[bytes]:
    yield text
