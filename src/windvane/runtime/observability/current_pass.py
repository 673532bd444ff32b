"""The pass that is going on: what every log line, span and warning that comes of it says about it.

It is a context variable, so that it holds for whatever a pass calls and for the tasks that it starts, libraries' too,
and for no other pass that is under way at the same time.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CurrentPass:
    """Which pass of which controller over which object, and why."""

    controller: str
    """Its name, as in metrics: by default the resource that it is for, `websites.demo.windvane.dev`."""
    object: str
    """Its namespace and name: `default/blog`."""
    reconcile: str
    """The id of the pass, as in its history."""
    trigger: str
    """What brought it on: `ConfigMap blog changed`."""

    def facts(self) -> dict[str, str]:
        """The same, as fields of a log line."""
        return {
            "controller": self.controller,
            "object": self.object,
            "reconcile": self.reconcile,
            "trigger": self.trigger,
        }


_current: ContextVar[CurrentPass | None] = ContextVar("pass", default=None)
_of_tasks: dict[
    asyncio.Task[Any] | None, CurrentPass
] = {}  # the same for other threads, which can't look into a context


def current_pass() -> CurrentPass | None:
    """The pass that this code runs in; None outside of any."""
    return _current.get()


@contextmanager
def during(this: CurrentPass) -> Iterator[None]:
    """Have everything in this block be part of a pass."""
    reset = _current.set(this)
    task = asyncio.current_task()
    _of_tasks[task] = this
    try:
        yield
    finally:
        del _of_tasks[task]
        _current.reset(reset)


def of_task(task: asyncio.Task[Any] | None) -> CurrentPass | None:
    """The pass that a task is in; None for one that is in none, or that was started by one that is."""
    return _of_tasks.get(task)


class PassLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger for one pass. Its lines have the facts with them, whatever formats them, and in every thread."""

    def __init__(self, name: str) -> None:
        this = current_pass()
        super().__init__(logging.getLogger(name), this.facts() if this is not None else {})

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Add the facts to what the author gives as `extra=`, which the standard adapter would drop."""
        given: Mapping[str, Any] = kwargs.get("extra") or {}
        return msg, {**kwargs, "extra": {**given, **(self.extra or {})}}
