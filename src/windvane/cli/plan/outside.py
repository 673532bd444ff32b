"""Calls to the outside, of an operator whose pass is only a trial: connections, name lookups, programs.

Python tells of each before it is made, by an audit event, whichever library makes it: that is where they are refused,
or noted. What is written in another language and opens its own sockets tells nothing (uvloop, grpc, libpq): that goes
unseen.
"""

import os
import site
import socket
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, TypeAlias

Mode: TypeAlias = Literal["refuse", "record", "allow"]

_LIBRARIES = tuple(
    f"{each}{os.sep}"
    for each in {
        *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        *site.getsitepackages(),
        str(Path(__file__).parents[2]),
    }
)
"""Where no line of an operator's author is."""


class Refused(BaseException):
    """A call to the outside was refused: the pass ends here.

    It is no Exception: a pass that took it for an unreachable server would go on and do what it does then, which is not
    what it will do.
    """


@dataclass(frozen=True)
class Call:
    """A call to the outside."""

    words: str
    """What it was: `connect to 10.0.0.7:2379`."""
    line: str
    """The author's line that made it, as far as that can be told: `reach.py line 42`; or nothing."""

    def __str__(self) -> str:
        return f"{self.words} ({self.line})" if self.line else self.words


@dataclass
class Outside:
    """What becomes of calls to the outside."""

    mode: Mode = "refuse"
    ours: frozenset[str] = frozenset()
    """The hosts that may be looked up: that of the API server, which is not outside."""
    calls: dict[Call, None] = field(default_factory=dict)
    """Those that were made, or refused, once each; an ordered set."""
    refused: Call | None = None
    """The first that was refused since `begin`."""

    def begin(self) -> None:
        """A new pass."""
        self.refused = None

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

    def meet(self, event: str, args: Sequence[Any]) -> None:
        """Refuse what is about to be done, or let it be done."""
        if event in LOOKUPS and (self.mode != "refuse" or args[0] in self.ours):
            return  # what is looked up is connected to next
        if (words := _WORDS[event](args)) is None or self.mode == "allow":
            return
        call = Call(words, _authors_line())
        self.calls[call] = None
        if self.mode == "refuse":
            self.refused = self.refused or call
            if isinstance(args[0], socket.socket):
                args[0].close()  # its owner does that after an Exception, which this is not
            raise Refused(str(call))


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


def _authors_line() -> str:
    """The innermost line that is neither Python's, nor a library's, nor windvane's."""
    frame = sys._getframe(2)
    at = frame.f_back
    while at is not None:
        file = at.f_code.co_filename
        if not file.startswith((*_LIBRARIES, "<")):
            return f"{Path(file).name} line {at.f_lineno}"
        at = at.f_back
    return ""
