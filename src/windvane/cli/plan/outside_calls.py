"""Calls to the outside, of an operator whose pass is only a trial: connections, name lookups, programs.

Python tells of each before it is made, by an audit event, whichever library makes it: that is where they are refused,
or noted. What is written in another language and opens its own sockets tells nothing (uvloop, grpc, libpq): that goes
unseen.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Literal, TypeAlias

from windvane.cli.plan.author_lines import line_here, line_of

Mode: TypeAlias = Literal["refuse", "record", "allow"]


class OutsideCallRefused(BaseException):
    """A call to the outside was refused: the pass ends here.

    It is no Exception: a pass that took it for an unreachable server would go on and do what it does then, which is not
    what it will do.
    """


@dataclass(frozen=True)
class OutsideCall:
    """A call to the outside."""

    words: str
    """What it was: `connect to 10.0.0.7:2379`."""
    line: str
    """The author's line that made it, as far as that can be told: `reach.py line 42`; or nothing."""
    announced: bool = False
    """Whether it is a change that the author's code has announced."""
    made: bool = False

    def __str__(self) -> str:
        return f"{self.words} ({self.line})" if self.line else self.words


@dataclass
class Outside:
    """What becomes of calls to the outside."""

    mode: Mode = "refuse"
    ours: frozenset[str] = frozenset()
    """The hosts that may be looked up: that of the API server, which is not outside."""
    calls: dict[OutsideCall, None] = field(default_factory=dict)
    """Those that were made, or refused, once each; an ordered set."""
    refused: OutsideCall | None = None
    """The first that was refused since `begin`."""
    _task: "asyncio.Task[Any] | None" = None

    def begin(self) -> None:
        """A new pass, in the task that this is called in."""
        self.refused = None
        with suppress(RuntimeError):  # where there is no loop, there is no pass either
            self._task = asyncio.current_task()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """For the length of the block, calls of this process to the outside are refused, or noted."""
        global _guard  # noqa: PLW0603 - an audit hook is the process's, and can't be taken out again
        _install()
        before, _guard = _guard, self
        try:
            yield
        finally:
            _guard = before

    def change(self, words: str) -> None:
        """Refuse a change of the outside that the author's code announces, with `ctx.outside`."""
        if self.mode == "allow":
            return
        self.refused = OutsideCall(words, line_here(), announced=True)
        self.calls[self.refused] = None
        raise OutsideCallRefused(words)

    def meet(self, event: str, args: Sequence[Any]) -> None:
        """Refuse what is about to be done, or let it be done."""
        if event in LOOKUPS and args[0] in self.ours:
            return
        if (words := _WORDS[event](args)) is None or self.mode == "allow":
            return
        call = OutsideCall(words, line_here() or self._line_of_the_pass(), made=self.mode != "refuse")
        self.calls[call] = None
        if self.mode == "refuse":
            self.refused = self.refused or call
            if isinstance(args[0], socket.socket):
                args[0].close()  # its owner does that after an Exception, which this is not
            raise OutsideCallRefused(str(call))

    def _line_of_the_pass(self) -> str:
        """The author's line that the pass waits in, while another thread looks up a name for it, say."""
        line = ""
        coroutine: Any = self._task.get_coro() if self._task is not None else None
        while (frame := getattr(coroutine, "cr_frame", None)) is not None:
            line = line_of(frame.f_code.co_filename, frame.f_lineno) or line
            coroutine = coroutine.cr_await
        return line


@contextmanager
def not_outside() -> Iterator[None]:
    """For the length of the block, and in the tasks that are begun in it, calls are ours and not the operator's."""
    token = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(token)


_guard: Outside | None = None
_ours: ContextVar[bool] = ContextVar("_ours", default=False)
_installed = False


def _install() -> None:
    global _installed  # noqa: PLW0603 - once in a process
    if not _installed:
        sys.addaudithook(_hook)
        _installed = True


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _guard is not None and event in _WORDS and not _ours.get():
        _guard.meet(event, args)


def _address(args: Sequence[Any]) -> str | None:
    address = args[1]
    if address is None:  # it is connected already, and that was met
        return None
    if isinstance(address, tuple):
        host, port = address[:2]
        return f"connect to [{host}]:{port}" if ":" in str(host) else f"connect to {host}:{port}"
    return f"connect to {address.decode(errors='replace') if isinstance(address, bytes) else address}"


def _sent(args: Sequence[Any]) -> str | None:
    words = _address(args)
    return words and words.replace("connect", "send", 1)


def _lookup(args: Sequence[Any]) -> str | None:
    host = args[0].decode(errors="replace") if isinstance(args[0], bytes) else args[0]
    if not host or host == socket.gethostname():
        return None
    try:
        ip_address(host)
    except ValueError:
        return f"look up {host}"
    return None  # nothing is asked for that


def _program(args: Sequence[Any]) -> str:
    command = args[1] if len(args) > 1 and args[1] else args[0]
    words = [command] if isinstance(command, str | bytes | os.PathLike) else list(command)
    return f"run {os.fsdecode(words[0]) if words else args[0]}"  # not its arguments, which may be secret


def _fork(_: Sequence[Any]) -> str:
    return "begin another process"


LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyname_ex")
_WORDS: dict[str, Callable[[Sequence[Any]], str | None]] = {
    "socket.connect": _address,
    "socket.sendto": _sent,
    "socket.sendmsg": _sent,
    **dict.fromkeys(LOOKUPS, _lookup),
    "subprocess.Popen": _program,
    "os.system": _program,
    "os.exec": _program,
    "os.posix_spawn": _program,
    "os.fork": _fork,
    "os.forkpty": _fork,
}
"""The audit events of calls to the outside, and what each is in words; None if it is none."""
