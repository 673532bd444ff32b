"""The Events of a cluster: what controllers and nodes say of its objects, the newest first."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from rich.text import Text

from windvane.cli.dev.view.rows import RowColumn
from windvane.cli.dev.view.wording import Tone, What, clock, text
from windvane.client.client import Client
from windvane.k8s.core import Event
from windvane.runtime.informers.cache import Change
from windvane.runtime.informers.informer import Informer

SHOWN = 1000
BEGINNING = datetime.min.replace(tzinfo=UTC)
COLUMNS = (
    RowColumn("EVENTS", 8),
    RowColumn("object", 16, 2, most=40),
    RowColumn("reason", 12, 1, most=26),
    RowColumn("message", 16, 6),
    RowColumn("times", 5, right=True),
)


class Events:
    """The Events that there are."""

    def __init__(self) -> None:
        self.version = 0
        """Another one whenever there are others."""
        self._events: dict[str, Event] = {}
        self._informer: Informer[Any] | None = None
        self._task: asyncio.Task[None] | None = None

    def watch(self, client: Client) -> None:
        """Watch them from now on."""
        self._informer = Informer(client, Event)
        self._informer.subscribe(self._take_in)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Connect again now."""
        if self._informer is not None:
            self.stop()
            self._task = asyncio.get_running_loop().create_task(self._informer.run())

    def stop(self) -> None:
        """End the watch."""
        if self._task is not None:
            self._task.cancel()

    def newest_first(self) -> list[Event]:
        """The last of them."""
        return sorted(self._events.values(), key=at, reverse=True)[:SHOWN]

    def _take_in(self, change: Change[Any]) -> None:
        self.version += 1
        uid = change.item.meta.uid
        self._events.pop(uid, None)
        if not change.gone:
            try:
                self._events[uid] = change.item.decode()
            except msgspec.ValidationError:
                return  # some other client's idea of an Event


def at(event: Event) -> datetime:
    """When it was last said."""
    return event.last_timestamp or event.event_time or event.metadata.creation_timestamp or BEGINNING


def what_of(event: Event) -> What:
    """The object that it is about."""
    about = event.involved_object
    group = (about.api_version or "").rpartition("/")[0]
    return What(group, about.kind or "", about.namespace or "", about.name or "")


def cells(event: Event) -> Sequence[Text]:
    """One of them in a line."""
    tone = Tone.WAITING if event.type == "Warning" else Tone.PLAIN
    count = event.count or 1
    return (
        text((clock(at(event)), Tone.QUIET)),
        text(str(what_of(event))),
        text((event.reason or "", tone)),
        text((event.message or "", tone)),
        text((f"×{count}" if count > 1 else "", Tone.QUIET)),
    )
