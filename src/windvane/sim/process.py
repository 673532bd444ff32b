"""Processes of a simulated world: the tasks of one can be paused together, in the midst of whatever they do.

This is what SIGSTOP, a hypervisor or a long collection of garbage do to a real one. A paused process notices nothing
but that its next step comes late. Tasks belong to the process that they, or the tasks that made them, were started in.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class SimulatedProcess:
    """A group of tasks on a `VirtualLoop`."""

    def __init__(self) -> None:
        self.paused = False
        self._held: list[LoopStep] = []

    def start(self, work: Coroutine[Any, Any, ResultT]) -> asyncio.Task[ResultT]:
        """Let `work`, and all that it starts, be part of this process."""
        context = copy_context()
        context.run(_process.set, self)
        return asyncio.get_running_loop().create_task(work, context=context)

    def pause(self) -> None:
        """Take no further step. Called from within, the step that does so is the last."""
        self.paused = True

    def resume(self) -> None:
        """Go on, first with what was due meanwhile."""
        self.paused = False
        held, self._held = self._held, []
        loop = asyncio.get_running_loop()
        for step in held:
            loop.call_soon(step.again)

    def hold(self, step: "LoopStep") -> None:
        """Keep a step for later."""
        self._held.append(step)


class LoopStep:
    """Something that a loop was asked to call for a process."""

    handle: asyncio.Handle

    def __init__(self, process: SimulatedProcess, call: Callable[[], object], context: Context) -> None:
        self._process = process
        self._call = call
        self._context = context

    def __call__(self) -> None:
        if self._process.paused:
            self._process.hold(self)
        else:
            self._call()

    def again(self) -> None:
        """Do what was held, unless it was cancelled."""
        if not self.handle.cancelled():
            self._context.run(self)


_process: ContextVar[SimulatedProcess | None] = ContextVar("process", default=None)


def process_of(context: Context) -> SimulatedProcess | None:
    """The process that runs in that context, if it is in one."""
    return context.get(_process)
