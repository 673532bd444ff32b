"""One instance of a container as a process of this machine, from its start to its end."""

import asyncio
import math
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from windvane import ambient
from windvane.cluster.node.logs.writer import Log, Stream, tail
from windvane.cluster.node.pod.record import Exited, PodEvent, Report, Started
from windvane.cluster.node.prober import probes
from windvane.cluster.node.process.launch import Launched, LaunchSpec, StartError, launch, run_inside
from windvane.cluster.node.streams.output import OutputSubscriber
from windvane.k8s.core import Container, LifecycleHandler, Pod

SCHEME = "windvane"
HOOK_TIME = 600.0
LAST_CHANCE = 2.0
"""How many seconds a container has at least, however little was granted or its preStop hook has left."""
SAME = 0.5
"""Grace periods are whole seconds: what is sooner by less than this is the same wish again."""
LONGEST_MESSAGE, LONGEST_FROM_LOG, LINES_FROM_LOG = 4096, 2048, 80

ResultT = TypeVar("ResultT")


class ContainerInstance:
    """A container that starts, runs and ends, and reports that it does."""

    def __init__(
        self, pod: Pod, container: Container, spec: LaunchSpec, log: Log, report: Callable[[Report], None]
    ) -> None:
        self.container = container
        self.id = f"{SCHEME}://{ambient.uid()}"
        self.launched: Launched | None = None
        """Its processes, while there are any."""
        self.listeners: set[OutputSubscriber] = set()
        """Clients that are attached to it."""
        self._pod = pod
        self._spec = spec
        self._log = log
        self._report = report
        self._stopping: asyncio.Task[None] | None = None
        self._beside: list[asyncio.Task[Any]] = []
        """What is done while it runs, and ends with it."""
        self._end_by = math.inf
        self._hook_done = False

    async def live(
        self, address: str, termination: Path, *, launched: Callable[[int], None], out_of_memory: Callable[[], bool]
    ) -> None:
        """Run it to its end. Whatever happens, nothing of it runs afterwards."""
        name = self.container.name
        try:
            self.launched = await launch(self._spec, self._take_down, stdin=bool(self.container.stdin))
        except StartError as error:
            self._say("Failed", f"Error: {error}", warning=True)
            self._report(Started(name, self.id, ambient.now()))
            self._report(Exited(name, 128, ambient.now(), reason="StartError", message=str(error)))
            return
        finally:
            if self.launched is None:
                self._log.close()
        try:
            launched(self.launched.pid)
            self._say("Created", "Container created")
            if self._end_by < math.inf:
                self._begin_to_stop(self.launched, address)
            ending = self._begin(self.launched.ended())
            failed = await self._post_start(address, ending)
            self._say("Started", "Container started")
            self._report(Started(name, self.id, ambient.now()))
            if failed:
                self.stop(address, float(self._pod.spec.termination_grace_period_seconds or 0))
            code = await ending
        finally:
            for task in self._beside:
                task.cancel()
            await self.launched.close()
            await asyncio.gather(*self._beside, return_exceptions=True)  # a hook may take a moment to be ended
            self._log.close()
            for listener in self.listeners:
                listener.over()
        reason = "OOMKilled" if out_of_memory() else ""
        self._report(Exited(name, code, ambient.now(), reason, self._message(termination, code)))

    def stop(self, address: str, grace: float) -> None:
        """Have it end within so many seconds, by itself if it can. Told again, it hurries only if that is sooner.

        One that is being launched is asked as soon as it is there: it may not be said again, and until its
        postStart hook has ended, it would not be.
        """
        deadline = ambient.monotonic() + grace
        if deadline > self._end_by - SAME:
            return
        self._end_by = deadline
        if self._stopping is not None:
            self._stopping.cancel()
        if self.launched is not None:
            self._begin_to_stop(self.launched, address)

    def _begin_to_stop(self, launched: Launched, address: str) -> None:
        grace = max(self._end_by - ambient.monotonic(), 0)
        self._stopping = self._begin(self._stop(launched, address, grace))

    async def _stop(self, launched: Launched, address: str, grace: float) -> None:
        launched.send(0)  # which does nothing, but from now on it does not end by itself
        hooks = self.container.lifecycle
        if hooks is not None and hooks.pre_stop is not None and not self._hook_done and grace > 0:
            self._hook_done = True
            try:
                await self._handle(hooks.pre_stop, address, grace)
            except Exception:  # noqa: BLE001 - whatever is wrong with the hook, the container has to end
                self._say("FailedPreStopHook", "PreStopHook failed", warning=True)
        asked = (hooks.stop_signal if hooks is not None else None) or "SIGTERM"
        launched.send(getattr(signal, asked, signal.SIGTERM))
        await ambient.sleep(max(self._end_by - ambient.monotonic(), LAST_CHANCE))
        launched.send(signal.SIGKILL)

    async def _post_start(self, address: str, ending: asyncio.Task[int]) -> bool:
        """Do what is to be done after the start; whether it failed."""
        hooks = self.container.lifecycle
        if hooks is None or hooks.post_start is None:
            return False
        hook = self._begin(self._handle(hooks.post_start, address, HOOK_TIME))
        await asyncio.wait((hook, ending), return_when=asyncio.FIRST_COMPLETED)
        if not hook.done():
            hook.cancel()
            await asyncio.wait((hook,))
            return False
        if hook.exception() is not None:
            self._say("FailedPostStartHook", "PostStartHook failed", warning=True)
            return True
        return False

    def _begin(self, work: Coroutine[Any, Any, ResultT]) -> asyncio.Task[ResultT]:
        task = asyncio.get_running_loop().create_task(work)
        self._beside.append(task)
        return task

    async def _handle(self, handler: LifecycleHandler, address: str, seconds: float) -> None:
        if handler.sleep is not None:
            await ambient.sleep(min(handler.sleep.seconds, seconds))
        else:
            await probes.handle(handler, self.container, address, self.run, seconds)

    async def run(self, command: Sequence[str], seconds: float) -> tuple[int, str]:
        """Run a command in it: exit code and output."""
        if self.launched is None:
            raise probes.ProbeFailure("the container does not run")
        return await run_inside(self.launched, command, seconds)

    def _message(self, termination: Path, code: int) -> str:
        """What it left as its last words."""
        with suppress(OSError), termination.open("rb") as file:
            file.seek(max(termination.stat().st_size - LONGEST_MESSAGE, 0))  # it may be larger than our memory
            if said := file.read(LONGEST_MESSAGE):
                return said.decode(errors="replace")
        if code != 0 and self.container.termination_message_policy == "FallbackToLogsOnError":
            return tail(self._log.file, LINES_FROM_LOG, LONGEST_FROM_LOG)
        return ""

    def _take_down(self, stream: Stream, data: bytes) -> None:
        self._log.write(stream, data)
        for listener in self.listeners:
            listener.hear(stream, data)

    def _say(self, reason: str, message: str, *, warning: bool = False) -> None:
        self._report(PodEvent(self.container.name, reason, message, "Warning" if warning else "Normal"))
