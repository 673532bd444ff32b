"""One object, opened: its passes with all that is known of them, and its YAML; both as they change."""

import re
from typing import ClassVar

import msgspec
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static

from windvane import ambient
from windvane.api.resource import dynamic, object_to_wire
from windvane.cli.dev.view.manifest import as_yaml
from windvane.cli.dev.view.objects import SECRET, ObjectNode, Objects
from windvane.cli.dev.view.passes import Passes, in_full
from windvane.cli.dev.view.wording import Tone, What, text
from windvane.client.client import Client
from windvane.client.errors import ClientError

WIDE = 110
"""From this width on, history and YAML stand side by side."""
EVERY = 0.25
SHOWN = 100
"""So many passes are."""
KEY = re.compile(r"\s*(- )*[^\s:'\"][^\s:]*:(?=\s|$)")


class Opened(Screen[None]):
    """See the module."""

    DEFAULT_CSS = """
    Opened #title { height: 1; background: $surface-lighten-1; padding: 0 1;
                    text-overflow: ellipsis; text-wrap: nowrap; }
    Opened VerticalScroll { width: 1fr; padding: 0 1; border-top: solid $surface-lighten-2;
                            border-title-color: $text-muted; scrollbar-size-vertical: 1; }
    Opened VerticalScroll:focus { border-top: solid $primary; border-title-color: $text; }
    Opened.narrow VerticalScroll { display: none; }
    Opened.narrow VerticalScroll.shown { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,backspace", "back", "back", key_display="Esc"),
        Binding("tab", "other", "history/YAML", priority=True),
    ]

    def __init__(self, what: What, objects: Objects, passes: Passes, client: Client) -> None:
        super().__init__()
        self.what = what
        self._objects = objects
        self._passes = passes
        self._client = client
        self._entry: ObjectNode | None = None
        self._drawn = (-1, -1)

    @property
    def entry(self) -> ObjectNode | None:
        """The object, if it is there."""
        return self._objects.find(self.what)

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        with Horizontal():
            with VerticalScroll(id="history", classes="shown") as history:
                history.border_title = "passes, the newest first"
                yield Static(id="passes")
            with VerticalScroll(id="manifest") as manifest:
                manifest.border_title = "YAML"
                yield Static(id="yaml")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Begin to follow it."""
        self.look()
        self.set_interval(EVERY, self.look)
        self.query_one("#history").focus()

    def on_resize(self, event: events.Resize) -> None:
        """Both fit beside each other, or do not."""
        self.set_class(event.size.width < WIDE, "narrow")

    def look(self) -> None:
        """Show how it is now."""
        entry = self.entry
        title = text((str(self.what), Tone.STRONG), "   ")
        gone = ("it is not there" if self._entry is None else "it is gone: this is how it was", Tone.WAITING)
        title += entry.read.health.text if entry is not None else text(gone)
        self.query_one("#title", Static).update(title)
        now = self._passes.version, int(ambient.monotonic())  # the second, for when passes come
        if now != self._drawn:
            self._drawn = now
            known = entry or self._entry
            passes = self._passes.about(self.what, known.kind.resource if known is not None else "")
            self.query_one("#passes", Static).update(in_full(self.what, passes[:SHOWN], self._passes))
        if entry is not None and (self._entry is None or entry.item is not self._entry.item):
            self._entry = entry
            if entry.kind.resource == SECRET.resource:  # of which only the metadata is watched
                self.run_worker(self._read(entry), exclusive=True)
            else:
                self._show(msgspec.json.decode(entry.item.raw))

    async def _read(self, entry: ObjectNode) -> None:
        try:
            found = await self._client.get(dynamic(entry.kind), entry.name, namespace=entry.namespace)
        except ClientError as error:
            self.query_one("#yaml", Static).update(text((str(error), Tone.BAD)))
        else:
            self._show(object_to_wire(found))

    def _show(self, wire: dict[str, object]) -> None:
        lines = [text((key, Tone.ACCENT), rest) for key, rest in map(_split, as_yaml(wire).splitlines())]
        words = Text("\n").join(lines)
        words.no_wrap, words.overflow = False, "fold"
        self.query_one("#yaml", Static).update(words)

    def action_other(self) -> None:
        """From the history to the YAML, and back."""
        panes = [self.query_one("#history"), self.query_one("#manifest")]
        to = panes[1] if panes[0].has_class("shown") else panes[0]
        for pane in panes:
            pane.set_class(pane is to, "shown")
        to.focus()

    def action_back(self) -> None:
        """Back to all objects."""
        self.dismiss(None)


def _split(line: str) -> tuple[str, str]:
    """A line of YAML as its key, with what is before it, and the rest."""
    found = KEY.match(line)
    return (found[0], line[found.end() :]) if found is not None else ("", line)
