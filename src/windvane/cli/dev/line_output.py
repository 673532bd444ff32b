"""What happens in a session, told in lines: for terminals without the live view, for pipes and files."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from datetime import datetime, timedelta
from typing import Any, TextIO

from windvane import ambient
from windvane.api.kind import Kind
from windvane.api.resource import dynamic
from windvane.cli.command_error import PREFIX
from windvane.cli.dev.live_session import LiveSession
from windvane.cli.dev.log_lines import LogLine
from windvane.cli.dev.session import Note
from windvane.client.client import Client
from windvane.client.errors import ClientError
from windvane.k8s.events import Event
from windvane.runtime.observability.history import Pass

PAUSE = 0.5
NEW_KINDS = 1.0
"""How often it is looked whether the operator has other kinds."""
TRACE = 12
"""So many of the last lines of a traceback are told."""
NOTEWORTHY = frozenset({"BackOff"})
"""Reasons of Events that are no warnings, and yet say why nothing happens: no program for a pod's image, say."""
SHOWN = 6
"""So many writes of a pass are told."""


class Lines:
    """Writes lines, each with the time of day and what it is about."""

    def __init__(self, out: TextIO, *, closed: Callable[[], None]) -> None:
        """`closed` is called when the reader has gone, as in `windvane dev | head`."""
        self._out = out
        self._closed = closed
        self._held = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """For the length of the block nothing is written: another program has the terminal."""
        self._held = True
        try:
            yield
        finally:
            self._held = False

    async def tell_notes(self, session: LiveSession) -> None:
        """Tell what `windvane dev` notes, until the session has stopped."""
        async for note in session.notes():
            self.note(note)

    async def tell_all(self, session: LiveSession) -> None:
        """Tell all the rest, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._tell_passes(session))
            tasks.create_task(self._tell_log(session))
            tasks.create_task(self._tell_events(session))
            tasks.create_task(self._tell_conditions(session))

    def note(self, note: Note) -> None:
        """Write a note."""
        below = note.detail.splitlines()[-TRACE:]
        self._write("problem" if note.problem else "dev", note.words, *below, at=note.at)

    def _write(self, about: str, words: str, *below: str, at: datetime | None = None) -> None:
        if self._held:
            return
        time = (at or ambient.now()).astimezone()
        lines = [f"{time:%H:%M:%S}  {about:9}  {_one_line(words)}", *(f"{'':21}{each}" for each in below)]
        try:
            self._out.write("".join(f"{each}\n" for each in lines))
            self._out.flush()
        except UnicodeEncodeError:
            encoding = self._out.encoding or "ascii"
            told = "".join(f"{each}\n" for each in lines).encode(encoding, "backslashreplace").decode(encoding)
            self._out.write(told)
            self._out.flush()
        except BrokenPipeError:
            self._held = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())  # Python would complain when it flushes
            self._closed()

    async def _tell_passes(self, session: LiveSession) -> None:
        last: dict[tuple[str, str], Pass] = {}
        async for done in session.passes():
            before, last[done.controller, done.where] = last.get((done.controller, done.where)), done
            if not is_repetition(before, done):
                self._write("pass", pass_line(done), at=done.began + timedelta(seconds=done.seconds))

    async def _tell_log(self, session: LiveSession) -> None:
        async for line in session.log_lines.read():
            if line.is_loud or not line.level:
                self._tell_log_line(line)

    def _tell_log_line(self, line: LogLine) -> None:
        if line.level:
            self._write("log", f"{line.level} {line.message}", *line.exception.splitlines()[-TRACE:])
        elif line.message and not line.message.startswith(PREFIX):  # which a note tells
            self._write("printed", line.message)

    async def _tell_events(self, session: LiveSession) -> None:
        async for _, event in _changes(session.client, Event):
            if event is None or event.regarding is None:
                continue
            described = session.described
            is_ours = described is not None and event.reporting_controller == described.name
            if is_ours or event.type == "Warning" or event.reason in NOTEWORTHY:
                about = event.regarding
                where = "/".join(filter(None, (about.namespace, about.name)))
                self._write("event", f"{about.kind} {where}  {event.reason}: {event.note or ''}")

    async def _tell_conditions(self, session: LiveSession) -> None:
        watching: dict[Kind, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as tasks:
            while True:
                wanted = session.described.primaries if session.described else ()
                for kind in wanted:
                    if kind not in watching:
                        watching[kind] = tasks.create_task(self._tell_kind(session.client, kind))
                for kind in set(watching) - set(wanted):
                    watching.pop(kind).cancel()
                await ambient.sleep(NEW_KINDS)

    async def _tell_kind(self, client: Client, kind: Kind) -> None:
        async for before, after in _changes(client, dynamic(kind), initial=True):
            there = after or before
            if there is None:
                continue
            where = "/".join(filter(None, (there.metadata.namespace, there.metadata.name)))
            if after is None:
                self._write("object", f"{kind.name} {where} is gone")
                continue
            if before is None:
                self._write("object", f"{kind.name} {where} is there")
            for words in condition_changes(before.content if before else {}, after.content):
                self._write("condition", f"{kind.name} {where}  {words}")


def is_repetition(before: Pass | None, done: Pass) -> bool:
    """Whether a pass that only time has brought did nothing, and ended as the one before it: not worth a line."""
    return (
        before is not None
        and not any(each.resource for each in [*before.triggers, *done.triggers])
        and not (before.writes or done.writes)
        and (before.result, before.message, before.again) == (done.result, done.message, done.again)
    )


def pass_line(done: Pass) -> str:
    """A pass in a line: its object, why it ran, what it wrote, what came of it, and when the next one comes."""
    parts = [f"→ {done.result}{f': {done.message}' if done.message else ''} in {_time(done.seconds)}"]
    if done.writes:
        more = f" and {len(done.writes) - SHOWN} more" if len(done.writes) > SHOWN else ""
        parts.append(f"wrote {', '.join(map(str, done.writes[:SHOWN]))}{more}")
    if done.again is not None:
        parts.append(f"again in {_time(done.again)}")
    if done.slowed:
        parts.append(f"put off by {_time(done.slowed)}, since it never settles")
    why = ", ".join(dict.fromkeys(map(str, done.triggers)))
    return f"{done.kind} {done.where}  because {why}  {'; '.join(parts)}"


def condition_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Which conditions of an object say something else: `Ready is False (Waiting): 1 of 2 copies are ready`."""
    was, is_now = _conditions(before), _conditions(after)
    for name, condition in is_now.items():
        if was.get(name) != condition:
            status, reason, message = condition
            yield f"{name} is {status} ({reason}){f': {message}' if message else ''}"


def _conditions(content: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    status = content.get("status")
    found = status.get("conditions") if isinstance(status, dict) else None
    return {
        str(each.get("type")): (str(each.get("status")), str(each.get("reason", "")), str(each.get("message", "")))
        for each in found or []
        if isinstance(each, dict)
    }


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _one_line(words: str) -> str:
    return " ".join(words.split("\n"))


ObjectChange = tuple[Any, Any]


async def _changes(client: Client, what: type[Any], *, initial: bool = False) -> AsyncIterator[ObjectChange]:
    """Each change of a kind, as what was before and what is after; with `initial`, also what is there at first."""
    known: dict[str, Any] = {}
    while True:
        beginning = True
        try:
            async with aclosing(client.watch(what, initial=True)) as events:
                async for event in events:
                    if event.type == "BOOKMARK":
                        beginning = beginning and not event.initial_end
                        continue
                    uid = event.item.meta.uid
                    before = known.pop(uid, None)
                    after = None if event.type == "DELETED" else event.object
                    if after is not None:
                        known[uid] = after
                    if before != after and (initial or before is not None or not beginning):
                        yield before, after
        except ClientError:  # the cluster is away, or its CRD is
            await ambient.sleep(PAUSE)
