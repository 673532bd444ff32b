"""Containers that are only imagined: they run and are ready after a moment, and end when they are asked to.

The pods of a Job end by themselves, well, unless it is known what their containers do: see `durations`. An annotation
says if one should behave otherwise:

    windvane.dev/simulate: "exit=1 after=5s"        ends after five seconds, with code 1
    windvane.dev/simulate: "ready-after=20s"        its probes pass after twenty seconds
    windvane.dev/simulate: "ready-after=never"
    windvane.dev/simulate: "run"                    does not end, even if it is a Job's
    windvane.dev/simulate: "init-exit=1"            its init containers end with code 1, rather than well
    windvane.dev/simulate: "cpu=200m memory=64Mi"   each container seems to use that much
"""

import asyncio
import signal
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from windvane import Duration, Object, Quantity, Watch, ambient
from windvane.cluster.kubelet import Use
from windvane.cluster.node.container_runtime import Subscribe
from windvane.cluster.node.pod.record import Exited, PodEvent, Probed, Report, Resized, RunProbe, Started
from windvane.cluster.node.simulated.durations import NEVER, lasts
from windvane.cluster.node.sources import Sources
from windvane.k8s.core import Container, Pod, ResourceRequirements

ANNOTATION = "windvane.dev/simulate"
MOMENT = 0.5
"""How long a simulated container takes to start, in seconds."""
WORK = 1.0
"""How long those run that end by themselves, unless told otherwise."""
SCHEME = "simulated"
SIMULATED = "No program runs in this pod: windvane simulates it"
UNREADY = f"simulated: not ready, as the annotation {ANNOTATION} says"
TOLD = "simulated: not ready, as was said of this pod"


@dataclass(frozen=True)
class Behaviour:
    """What a simulated container does."""

    exit: int | None = None
    """The code that it ends with by itself; None if it runs until it is stopped."""
    after: float = WORK
    ready_after: float = 0.0
    init_exit: int = 0
    told: bool = False
    """Whether the annotation says how it ends; else what is known of its program does."""
    use: Use | None = None
    """What it seems to use of the machine; None if the annotation does not say."""


def annotation_of(pod: Pod) -> str:
    """What a pod's annotation says of its containers."""
    return pod.metadata.annotations.get(ANNOTATION, "")


def behaviour_of(pod: Pod, said: str | None = None) -> Behaviour:
    """What the containers of a pod do, as its annotation says, or `said` instead. `ValueError` if that can't be."""
    of_job = any(each.controller and each.kind == "Job" for each in pod.metadata.owner_references)
    code: int | None = 0 if of_job else None
    after, ready_after, init_exit, told = WORK, 0.0, 0, False
    use: Use | None = None
    for word in (annotation_of(pod) if said is None else said).split():
        match word.partition("="):
            case ("run", "", ""):
                code, told = None, True
            case ("exit", _, value) if value.isdecimal():
                code, told = int(value), True
            case ("init-exit", _, value) if value.isdecimal():
                init_exit = int(value)
            case ("after", _, value):
                after = _seconds(value)
                code, told = 0 if code is None else code, True
            case ("ready-after", _, value):
                ready_after = NEVER if value == "never" else _seconds(value)
            case ("cpu", _, value):
                use = Use(float(Quantity(value)), use.memory if use is not None else 0)
            case ("memory", _, value):
                use = Use(use.cpu if use is not None else 0.0, int(Quantity(value)))
            case _:
                raise ValueError(
                    f"the annotation {ANNOTATION} says {word!r}: write exit=CODE, init-exit=CODE, after=TIME, "
                    "ready-after=TIME, ready-after=never, cpu=AMOUNT, memory=AMOUNT or run, with spaces between them"
                )
    return Behaviour(code, after, ready_after, init_exit, told, use)


def _seconds(text: str) -> float:
    return Duration.parse(text).total_seconds()


class SimulatedRuntime:
    """Runs containers by imagining them. `says` is how those of a pod behave: its annotation, unless told otherwise."""

    watches: Sequence[Watch[Any]] = ()
    reads: Sequence[type[Object]] = ()

    def __init__(self, says: Callable[[Pod], str] = annotation_of) -> None:
        self._says = says
        self.sandboxes: WeakValueDictionary[str, SimulatedSandbox] = WeakValueDictionary()
        """Those of the pods that there are, by uid."""

    async def begin(self, sources: Sources, subscribe: Subscribe) -> None:
        """Nothing is left of what was only imagined."""

    async def keep_only(self, uids: Collection[str]) -> None:
        """Nothing is left."""

    def sandbox(self, pod: Pod, address: str, report: Callable[[Report], None]) -> "SimulatedSandbox":
        """Where the containers of a pod run."""
        del address
        sandbox = self.sandboxes[pod.metadata.uid] = SimulatedSandbox(pod, report, self._says(pod))
        return sandbox


class SimulatedSandbox:
    """The containers of one pod."""

    def __init__(self, pod: Pod, report: Callable[[Report], None], said: str | None = None) -> None:
        self._report = report
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._said = False
        self._problem = ""
        self._ready: bool | None = None  # what `set_ready` said last
        try:
            self._behaviour = behaviour_of(pod, said)
        except ValueError as error:
            self._behaviour, self._problem = Behaviour(), str(error)

    def resume(self, pod: Pod, container: Container, age: float) -> bool:
        """Go on with a container that has been running for `age` seconds before the agent was restarted."""
        self._begin(container, self._live(pod, container, age))
        return True

    def start(self, pod: Pod, container: Container, attempt: int) -> None:
        """Begin an instance of a container."""
        del attempt
        if not self._said:
            self._said = True
            self._report(PodEvent(container.name, "Simulated", SIMULATED))
            if self._problem:
                self._report(PodEvent(container.name, "Simulated", self._problem, "Warning"))
        self._begin(container, self._start(pod, container))

    def recall(self, container: Container, attempts: int) -> Iterable[Started | Exited]:
        """What was imagined is imagined again."""
        del container, attempts
        return ()

    def stop(self, pod: Pod, container: Container, grace: float) -> None:
        """End a container. One that serves ends well, as if it had been asked; work that is broken off does not."""
        del grace
        if (task := self._tasks.pop(container.name, None)) is not None:
            task.cancel()
        code = 0 if pod.spec.restart_policy == "Always" else 128 + signal.SIGTERM
        self._report(Exited(container.name, code, ambient.now()))

    def resize(self, pod: Pod, container: Container) -> None:
        """Let a container have other resources."""
        del pod
        self._report(Resized(container.name, container.resources or ResourceRequirements()))

    def probe(self, pod: Pod, container: Container, probe: RunProbe, age: float) -> None:
        """Say how a container is."""
        del pod
        well = age >= self._behaviour.ready_after or probe.kind == "liveness"
        if probe.kind == "readiness" and self._ready is not None:
            well = self._ready
        # What never changes need not be asked about; else a thousand pods would be asked every ten seconds.
        lasting = well and probe.kind != "startup"
        self._report(Probed(container.name, probe.kind, well, ambient.now(), "" if well else UNREADY, lasting))

    def exit(self, container: str, code: int) -> None:
        """Have a container that runs end now, by itself."""
        if (task := self._tasks.pop(container, None)) is not None:
            task.cancel()
            self._report(Exited(container, code, ambient.now()))

    def set_ready(self, ready: bool) -> None:
        """Have the containers be ready, or not, from now on."""
        self._ready = ready
        for name in self._tasks:
            self._report(Probed(name, "readiness", ready, ambient.now(), "" if ready else TOLD))

    def refresh(self, pod: Pod) -> None:
        """Nothing is seen of the cluster."""

    async def remove(self) -> None:
        """Nothing is left."""

    async def close(self) -> None:
        """End everything."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _begin(self, container: Container, life: Coroutine[Any, Any, None]) -> None:
        self._tasks[container.name] = asyncio.get_running_loop().create_task(life)

    async def _start(self, pod: Pod, container: Container) -> None:
        await ambient.sleep(MOMENT)
        self._report(Started(container.name, f"{SCHEME}://{ambient.uid()}", ambient.now()))
        await self._live(pod, container, 0)

    async def _live(self, pod: Pod, container: Container, age: float) -> None:
        name, does = container.name, self._behaviour
        if any(each.name == name for each in pod.spec.ephemeral_containers):
            does = Behaviour()  # the annotation is about what the pod is for
        sidecar = {each.name: each.restart_policy == "Always" for each in pod.spec.init_containers}
        end, code = does.after if does.exit is not None else NEVER, does.exit or 0
        if not does.told and (known := lasts(container)) is not None:
            end = known
        if name in sidecar:
            end, code = (NEVER, 0) if sidecar[name] else (WORK, does.init_exit)
        if container.readiness_probe is None and age < min(does.ready_after, end) and name not in sidecar:
            self._report(Probed(name, "readiness", False, ambient.now(), UNREADY))
            if does.ready_after < end:
                await ambient.sleep(does.ready_after - age)
                self._report(Probed(name, "readiness", True, ambient.now()))
                age = does.ready_after
        if end != NEVER:
            await ambient.sleep(max(end - age, 0))
            self._report(Exited(name, code, ambient.now()))
