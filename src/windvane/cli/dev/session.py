"""What `windvane dev` has running, as the live view and the lines see it: a cluster, an operator, and what they say.

`Session` is what they are written against. What starts processes, reloads code and applies samples implements it.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from windvane.api.kind import Kind
from windvane.client.client import Client
from windvane.runtime.observability.history import Pass


class State(StrEnum):
    """How the operator is."""

    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    """Its process stands still, as a machine under load may have it do."""
    BROKEN = "broken"
    """The code that was saved last can't be loaded; what was loaded before goes on, if there was any."""
    CRASHED = "crashed"
    """It ended by itself, and is started again after a while."""
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something that `windvane dev` did or saw, for a person: `CRD websites.example.com is installed`."""

    at: datetime
    words: str
    """One line."""
    problem: bool = False
    detail: str = ""
    """A traceback, say; of several lines."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """What the operator declares."""

    name: str
    primaries: Sequence[Kind]
    """The kinds that it has controllers for."""
    owned: Sequence[Kind]
    """The kinds of their children."""
    watched: Sequence[Kind]
    """The other kinds that it watches."""


class Session(Protocol):
    """A cluster with an operator in it, while `windvane dev` runs."""

    @property
    def client(self) -> Client:
        """A client that may do everything."""

    @property
    def kubeconfig(self) -> Path:
        """For kubectl in another terminal."""

    @property
    def described(self) -> Described | None:
        """What the operator that runs declares; None as long as none was loaded."""

    @property
    def state(self) -> State:
        """How the operator is."""

    @property
    def alive(self) -> bool:
        """Whether a process of it is there, also one with code that was saved before."""

    @property
    def problem(self) -> str:
        """Why it is broken or has crashed: a traceback, or its last words. Empty if all is well."""

    def notes(self) -> AsyncIterator[Note]:
        """The notes so far, and then each note as it is made. Each caller has all of them."""

    def passes(self) -> AsyncIterator[Pass]:
        """The passes of the operator from the beginning, and then each as it ends, across reloads."""

    def log(self) -> AsyncIterator[str]:
        """The lines that the operator has logged, and then each as it comes."""

    async def restart(self) -> None:
        """End the operator as SIGTERM does, and start it anew."""

    async def kill(self) -> None:
        """End it as SIGKILL does; it is started again."""

    async def pause(self) -> None:
        """Have its process stand still (SIGSTOP)."""

    async def resume(self) -> None:
        """Have it go on (SIGCONT)."""

    async def drop_watches(self) -> None:
        """Cut all its connections to the API server, as a network would."""
