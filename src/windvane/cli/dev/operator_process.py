"""The operator while `windvane dev` runs: a process that is started, and started again whenever it has ended.

    (good code) ──▶ STARTING ──ready──▶ RUNNING ◀──▶ PAUSED
                       ▲                   │
                       └──── a while ──── CRASHED      it ended, and was not asked to

Code that can't be loaded never comes here: `code_is` says whether a new process may be started.
"""

import asyncio
import re
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import aiohttp

from windvane import ambient
from windvane.cli.command_error import PREFIX
from windvane.cli.dev.log_lines import LogLine, read_line
from windvane.cli.dev.process import KILLED, Child
from windvane.cli.dev.session import State
from windvane.runtime.manager import FINISH_WITHIN
from windvane.runtime.observability import watchdog

FIRST, MOST = 1.0, 30.0
"""Seconds until an operator that has crashed is started again: at first, and when it does so again and again."""
CALM = 30.0
"""Seconds after which it has worked so long that a crash is the first one again."""
STOP_WITHIN = FINISH_WITHIN + 5
SOON = 2.0
"""Seconds after which a person is told what is waited for. An operator whose event loop is blocked gets no more."""
UNREADY = 5.0
"""Seconds after which a person is told why it is not ready yet."""
POLL = 0.1
OK = 200
ASKED_WITHIN = aiohttp.ClientTimeout(total=2)
LAST = 30
"""So many of its last lines tell why it has crashed."""
HEALTH = re.compile(r"health and metrics are at (http://\S+)")

Noted = Callable[..., None]
"""Takes words, and as keywords `problem` and `detail`."""


class OperatorProcess:
    """Keeps one process of the operator."""

    def __init__(
        self,
        command: Callable[[], Sequence[str]],
        *,
        directory: Path,
        environment: Mapping[str, str],
        log: Callable[[LogLine, str], None],
        note: Noted,
        settled: Callable[[], None],
    ) -> None:
        """`settled` is called whenever it has become ready, has crashed, or is told not to get ready."""
        self._command = command
        self._directory = directory
        self._environment = environment
        self._log = log
        self._note = note
        self._settled = settled
        self._child: Child | None = None
        self._may_start = asyncio.Event()
        self._poked = asyncio.Event()
        self._delay = FIRST
        self._asked_to_end = False
        self._stopping = False
        self._health = ""
        self._last: deque[LogLine] = deque(maxlen=LAST)
        self._blocked = asyncio.Event()
        """Its event loop is at the author's code, and does nothing else."""
        self._looking: asyncio.Task[None] | None = None
        self.state = State.STARTING
        self.problem = ""
        """Why it has crashed, or what blocks it; empty if nothing is wrong."""
        self.unready = ""
        """Why it has been starting for so long."""

    @property
    def runs(self) -> bool:
        """Whether there is a process."""
        return self._child is not None

    def code_is(self, good: bool) -> None:
        """Whether the code that is there can be run. If it can't, a process that runs goes on with what it has."""
        if good:
            self._may_start.set()
            # The code is another one: what is to be started again after a while need not wait, and is as good as new.
            self._poked.set()
            self._delay = FIRST
        else:
            self._may_start.clear()

    async def keep(self) -> None:
        """Have it run, until `stop`."""
        while not self._stopping:
            await self._may_start.wait()
            began = ambient.monotonic()
            how = await self._run()
            if self._stopping:
                return
            if self._asked_to_end:
                continue
            if ambient.monotonic() - began > CALM:
                self._delay = FIRST
            self._tell_crash(how, self._delay)
            self._poked.clear()
            try:
                async with asyncio.timeout(self._delay):
                    await self._poked.wait()
            except TimeoutError:
                self._delay = min(2 * self._delay, MOST)

    async def _run(self) -> str:
        self._asked_to_end = False
        self._health = ""
        self._last.clear()
        self.state = State.STARTING
        child = self._child = await Child.start(
            "windvane.cli",
            *self._command(),
            heard=self._heard,
            directory=self._directory,
            environment=self._environment,
        )
        self._note(f"the operator is starting, with pid {child.pid}")
        getting_ready = asyncio.get_running_loop().create_task(self._until_ready(child))
        try:
            how = await child.ended()
        finally:
            getting_ready.cancel()
            self.unready = ""
            self._is_free()
        self._child = None  # not if we are cancelled: then it is still to be stopped
        return how

    def _heard(self, text: str) -> None:
        line = read_line(text)
        self._last.append(line)
        if found := HEALTH.search(line.message):
            self._health = found[1]
        self._log(line, text)
        if line.logger == watchdog.__name__ and not self._blocked.is_set():
            self._is_blocked(line)

    def _is_blocked(self, line: LogLine) -> None:
        self._blocked.set()
        self.problem = f"{line.exception}\n{line.message}"
        self._looking = asyncio.get_running_loop().create_task(self._until_free())

    def _is_free(self) -> None:
        if self._blocked.is_set():
            self._blocked.clear()
            self.problem = ""
        if self._looking is not None:
            self._looking.cancel()

    async def _until_free(self) -> None:
        async with aiohttp.ClientSession(timeout=ASKED_WITHIN) as http:
            while not (await self._look(http))[0]:
                await ambient.sleep(POLL)
        self._is_free()

    async def _look(self, http: aiohttp.ClientSession) -> tuple[int, str]:
        """The status with which it says whether it is ready, 0 if it doesn't, and a line why it is not."""
        if not self._health:
            return 0, ""
        try:
            async with http.get(f"{self._health}/readyz") as response:
                return response.status, "; ".join((await response.text()).splitlines())
        except (aiohttp.ClientError, TimeoutError):
            return 0, ""

    async def _until_ready(self, child: Child) -> None:
        began = ambient.monotonic()
        async with aiohttp.ClientSession(timeout=ASKED_WITHIN) as http:
            while (found := await self._look(http))[0] != OK:
                await ambient.sleep(POLL)
                if ambient.monotonic() - began > UNREADY and found[1] and not self.unready:
                    self.unready = f"the operator is not ready: {found[1]}"
                    self._note(self.unready, problem=True)
                    self._settled()
        if child is self._child:
            self.problem = self.unready = ""
            if self.state == State.STARTING:
                self.state = State.RUNNING
            self._note("the operator is ready")
            self._settled()

    def _tell_crash(self, how: str, delay: float) -> None:
        printed = [line.message for line in self._last if not line.level and line.message]
        failed = [line.message for line in self._last if line.is_loud]
        # What it says for a person comes last; before that are tracebacks, and before these is its log.
        own = next((each for each in reversed(printed) if each.startswith(PREFIX)), "")
        why = own.removeprefix(PREFIX) or (printed or failed or ["it said nothing"])[-1]
        self.state = State.CRASHED
        self.problem = "\n".join(printed or failed)
        said = "" if how.startswith(KILLED) else f": {why}"
        self._note(
            f"the operator has ended ({how}){said}. It is started again in {delay:g} s, or when its code changes",
            problem=True,
            detail=self.problem if len(printed) > 1 else "",
        )
        self._settled()

    async def restart(self) -> None:
        """End it as SIGTERM does, and have it started again; at once, if it waits for that."""
        if not self._may_start.is_set():
            self._note("the operator is not started again, since its code can't be loaded", problem=True)
            return
        self._poked.set()
        if self._child is not None:
            self._asked_to_end = True
            await self._stop(self._child)
            self.state = State.STARTING

    async def kill(self) -> None:
        """End it as SIGKILL does; it is started again."""
        if (child := self._child) is not None:
            self._asked_to_end = True
            self._note("the operator is killed")
            child.signal(signal.SIGKILL)
            await child.ended()

    def pause(self) -> None:
        """Have its process stand still."""
        if self._child is not None:
            self._child.signal(signal.SIGSTOP)
            self.state = State.PAUSED
            self._note("the operator stands still")

    def resume(self) -> None:
        """Have it go on."""
        if self._child is not None and self.state == State.PAUSED:
            self._child.signal(signal.SIGCONT)
            self.state = State.RUNNING
            self._note("the operator goes on")

    async def stop(self) -> None:
        """End it for good."""
        self._stopping = True
        if self._child is not None:
            await self._stop(self._child)
        self.state = State.STOPPED

    async def _stop(self, child: Child) -> None:
        loop = asyncio.get_running_loop()
        slow_end = loop.create_task(self._tell_slow_end(child))
        try:
            if not await child.stop(STOP_WITHIN):
                self._note(f"the operator had not stopped after {STOP_WITHIN:g} s, and was killed", problem=True)
        finally:
            slow_end.cancel()

    async def _tell_slow_end(self, child: Child) -> None:
        """Say what is waited for; and wait no longer for a loop that is blocked, which doesn't even hear of it."""
        await ambient.sleep(SOON)
        self._note(f"the operator is still at work: it has {STOP_WITHIN:g} s in all to end its passes")
        await self._blocked.wait()
        self._note("the operator can't end, as its event loop is blocked, and is killed", problem=True)
        child.signal(signal.SIGKILL)
