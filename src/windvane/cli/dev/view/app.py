"""The live view: what its keys do, to the screen, to objects and to the operator."""

from collections.abc import Awaitable
from contextlib import suppress
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import ContentSwitcher, Input

from windvane.api.resource import dynamic
from windvane.cli.dev.session import Note, State
from windvane.cli.dev.view import events
from windvane.cli.dev.view.detail import Opened
from windvane.cli.dev.view.dialogs import Confirm, TextPage, keys
from windvane.cli.dev.view.objects import POD, Line, ObjectNode
from windvane.cli.dev.view.panels import TABS, Panels
from windvane.cli.dev.view.passes import what_of
from windvane.cli.dev.view.rows import Rows
from windvane.cli.dev.view.wording import What, clock, text
from windvane.client.errors import ClientError, NotFound
from windvane.k8s.core import Event
from windvane.runtime.observability.history import Pass

SHORTLY = 2.5
"""How long, in seconds, it is said that something was done."""


class View(Panels):
    """What `windvane dev` shows in a terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # First of all: a user who types `/pod` in one go must not have paused the operator and deleted something.
        Binding("slash", "filter", "filter", key_display="/", priority=True),
        Binding("d", "delete", "delete"),
        Binding("k", "kill_pod", "kill pod"),
        Binding("p", "pause", "pause"),
        Binding("r", "restart", "restart"),
        Binding("question_mark", "keys", "keys", key_display="?"),
        Binding("q", "quit", "quit"),
        Binding("w", "drop_watches", "drop watches"),
        Binding("K", "kill", "kill", key_display="K"),
        Binding("e", "error", show=False),
        Binding("z", "zoom", "zoom"),
        Binding("escape", "unfilter", show=False),
        Binding("left", "fold(True)", show=False),
        Binding("right", "fold(False)", show=False),
        Binding("space", "fold", show=False),
        *(Binding(str(number), f"tab('{name}')", show=False) for number, name in enumerate(TABS, start=1)),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys mean something: not those for panes while one object is open, and `/` in a filter is a letter."""
        del parameters
        if action == "filter" and isinstance(self.focused, Input):
            return False
        return not (isinstance(self.screen, Opened) and action in ("filter", "unfilter", "zoom", "fold", "tab"))

    # What keys do to the screen

    @on(Rows.Opened)
    def open(self, message: Rows.Opened) -> None:
        """Open what the cursor is on."""
        match message.row:
            case Line(entry=entry):
                self._open(entry.what)
            case Pass() as done:
                self._open(what_of(done))
            case Event() as event if self._objects.find(events.what_of(event)) is not None:
                self._open(events.what_of(event))
            case Event() as event:
                self.push_screen(TextPage(str(events.what_of(event)), text(event.message or "")))
            case (_, Note() as note):
                self.push_screen(TextPage(clock(note.at), Text("\n").join([text(note.words), Text(note.detail)])))
            case (_, str(line)):
                self.push_screen(TextPage("a line of the log", text(line)))

    def _open(self, what: What) -> None:
        self.push_screen(Opened(what, self._objects, self._passes, self._session.client))

    def action_filter(self) -> None:
        """Ask which words are to be found."""
        asked = self.query_one("#filter", Input)
        asked.display = True
        self.screen.set_focus(asked)  # at once; its own `focus` waits for the next message

    def action_unfilter(self) -> None:
        """Show all again."""
        asked = self.query_one("#filter", Input)
        asked.value = self._words = ""
        asked.display = False
        self.query_one("#objects").focus()

    @on(Input.Changed, "#filter")
    def filter(self, message: Input.Changed) -> None:
        """Show what has these words in it."""
        self._words = message.value.strip()

    @on(Input.Submitted, "#filter")
    def keep_filter(self) -> None:
        """Leave the words there, and go on with what is shown."""
        self.query_one("#filter", Input).display = bool(self._words)
        self.query_one("#objects").focus()

    def action_fold(self, fold: bool | None = None) -> None:
        """Fold, unfold, or do the other one of both; to the left of what is folded is what it belongs to."""
        table = self._table("objects")
        if self.focused is not table or not isinstance(line := table.row, Line):
            return
        fold = line.uid not in self._folded if fold is None else fold
        if fold and (not line.children or line.uid in self._folded):
            owners = [owner.uid for owner in line.entry.item.meta.owner_references or ()]
            any(table.go_to(uid) for uid in owners)
        elif fold:
            self._folded.add(line.uid)
        else:
            self._folded.discard(line.uid)
        self._draw()

    def action_tab(self, name: str) -> None:
        """Show another tab, and go there."""
        self.query_one("#below", ContentSwitcher).current = name
        self.query_one(f"#{name}").focus()
        self._draw()

    def action_zoom(self) -> None:
        """Have one pane fill the screen, or all be there again."""
        screen = self.screen_stack[0]
        zoomed = not screen.has_class("zoomed")
        focused = self.focused.id if self.focused is not None else ""
        kept = {"objects": {"objects"}, "passes": {"passes"}}.get(focused or "", {"below", "tabs"})
        for name in ("objects", "passes", "below", "tabs"):
            screen.query_one(f"#{name}").set_class(zoomed and name in kept, "zoom")
        screen.set_class(zoomed, "zoomed")

    def action_keys(self) -> None:
        """Say what each key does."""
        self.push_screen(keys())

    def action_error(self) -> None:
        """Show all that is known of what is wrong."""
        if problem := self._problem:
            self.push_screen(TextPage(f"the operator is {self._session.state}", Text(problem)))
        else:
            self.notify("Nothing is wrong with the operator.")

    # What keys do to the operator and its objects

    def action_delete(self) -> None:
        """Delete the selected object, if that is meant."""
        if (entry := self._selected()) is None:
            return
        below = sum(1 for _ in self._objects.below(entry.uid))
        more = (
            f"What belongs to it goes, too: {below} object{'s' if below != 1 else ''}."
            if below
            else "It has no children."
        )

        def answered(yes: bool | None) -> None:
            if yes:
                self._do(f"{entry.what} is deleted", self._delete(entry))

        self.push_screen(Confirm(f"Delete {entry.what}?", more), answered)

    def action_kill_pod(self) -> None:
        """Have the selected pod end now."""
        entry = self._selected()
        if entry is not None and entry.kind.resource != POD.resource:
            self.notify(f"{entry.what} is no pod: select one.", severity="warning")
        elif entry is not None:
            self._do(f"{entry.what} is killed", self._delete(entry, grace_period=0))

    async def _delete(self, entry: ObjectNode, grace_period: int | None = None) -> None:
        with suppress(NotFound):
            await self._session.client.delete(
                dynamic(entry.kind), entry.name, namespace=entry.namespace, uid=entry.uid, grace_period=grace_period
            )

    def action_pause(self) -> None:
        """Have the operator stand still, or go on."""
        if self._session.state == State.PAUSED:
            self._do("The operator goes on", self._session.resume())
        else:
            self._do("The operator is paused: p has it go on", self._session.pause())

    def action_drop_watches(self) -> None:
        """Cut the operator off for a moment."""
        self._do("The operator's connections are cut", self._session.drop_watches())

    def action_restart(self) -> None:
        """Have the operator end and begin."""
        self._do("The operator is restarted", self._session.restart())

    def action_kill(self) -> None:
        """Have the operator end at once."""
        self._do("The operator is killed", self._session.kill())

    def _do(self, words: str, work: Awaitable[None]) -> None:
        """Do something that takes time, and say when it is done or why it can't be."""

        async def done() -> None:
            try:
                await work
            except (ClientError, OSError, RuntimeError, TimeoutError) as error:
                self.notify(str(error) or type(error).__name__, severity="error", markup=False)
            else:
                self.notify(f"{words}.", markup=False, timeout=SHORTLY)

        self.run_worker(done())

    def _selected(self) -> ObjectNode | None:
        """The object that is open, or that the cursor is on; if there is none, that is said."""
        row = self.focused.row if isinstance(self.focused, Rows) else None
        match self.screen, row:
            case Opened() as opened, _:
                found = opened.entry
            case _, Pass() as done:
                found = self._objects.find(what_of(done))
            case _, Event() as event:
                found = self._objects.find(events.what_of(event))
            case _ if self.selected_line is not None:
                found = self._objects.get(self.selected_line.uid)
            case _:
                found = None
        if found is None:
            self.notify("Select an object that is there.", severity="warning")
        return found
