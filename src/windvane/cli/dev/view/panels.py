"""What is on the screen of the live view, and how it is kept true. What it shows is kept by the modules beside it.

Nothing here waits: all that takes time is a task of its own, and ten times a second what has changed is drawn.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any

from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult
from textual.css.query import NoMatches
from textual.widgets import ContentSwitcher, Footer, Input, Static

from windvane import ambient
from windvane.cli.dev.session import Described, Note, Session, State
from windvane.cli.dev.view import events, lines
from windvane.cli.dev.view import passes as of_passes
from windvane.cli.dev.view.heading import banner, heading
from windvane.cli.dev.view.health import Health
from windvane.cli.dev.view.objects import Line, ObjectNode, Objects
from windvane.cli.dev.view.passes import Passes, what_of
from windvane.cli.dev.view.pod_log import PodLog
from windvane.cli.dev.view.rows import Look, Rows
from windvane.cli.dev.view.wording import Tone
from windvane.client.errors import ClientError
from windvane.k8s.core import Event
from windvane.runtime.observability.history import Pass

EVERY = 0.1
"""How often, in seconds, what has changed is drawn; less often where that takes long."""
ASKED_EVERY = 1.0
"""How often the API server is asked whether it is there."""
TIMEOUT = 3.0
"""How long it may take for an answer."""
KEPT = 5000
NOTHING_YET = "No pass has ended yet."
TABS = {"events": "Events", "log": "operator's log", "pod": "pod log", "notes": "notes"}


class Panels(App[None]):
    """What is on the screen. What keys do to it is said in `View`."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #heading { height: auto; max-height: 2; background: $surface; padding: 0 1; }
    #banner { height: auto; max-height: 5; padding: 0 1; display: none; background: $error-muted; }
    #banner.shown { display: block; }
    #objects { height: 2fr; }
    #passes { height: 1fr; }
    #below { height: 1fr; }
    #tabs { height: 1; background: $surface; text-wrap: nowrap; link-style: none; link-color: $text-muted; }
    ContentSwitcher { height: 1fr; }
    ContentSwitcher Rows { height: 1fr; }
    .zoomed #objects, .zoomed #passes, .zoomed #below, .zoomed #tabs { display: none; }
    .zoomed #objects.zoom, .zoomed #passes.zoom, .zoomed #below.zoom { display: block; height: 1fr; }
    .zoomed #tabs.zoom { display: block; }
    #filter { display: none; height: 1; border: none; padding: 0 1; background: $surface-lighten-1; }
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._objects = Objects()
        self._passes = Passes()
        self._events = events.Events()
        self._pod_log = PodLog(self._objects.get)
        self._notes: deque[tuple[int, Note]] = deque(maxlen=KEPT)
        self._lines: deque[tuple[int, str]] = deque(maxlen=KEPT)
        self._count = 0
        self._seen = 0
        """The number of the last note that was on the screen."""
        self._lost = ""
        """Why the API server can't be reached; empty if it can."""
        self._described: Described | None = None
        self._folded: set[str] = set()
        self._words = ""
        """What is filtered by."""
        self._drawn: dict[str, object] = {}
        """Of each part, what it was drawn from."""
        self._tones: list[Tone] = []
        """How the operator's own objects are."""
        self._rest_until = 0.0

    def compose(self) -> ComposeResult:
        yield Static(id="heading")
        yield Static(id="banner")
        yield Rows(Look(lines.OBJECTS, _uid, self._object_cells), id="objects")
        yield Rows(Look(of_passes.columns(80), _id, self._pass_cells, NOTHING_YET, "first"), id="passes")
        yield Static(id="tabs")
        with ContentSwitcher(id="below", initial="events"):
            yield Rows(Look(events.COLUMNS, _event, events.cells, "There are no Events.", "first"), id="events")
            yield Rows(Look(lines.LOG, _number, lines.log_cells, "It has logged nothing.", "last"), id="log")
            yield Rows(Look(lines.LOG, _number, lines.pod_cells, "Select a pod, or what has one.", "last"), id="pod")
            yield Rows(Look(lines.NOTES, _number, lines.note_cells, "Nothing to note yet.", "last"), id="notes")
        yield Input(id="filter", placeholder="words to be found; Enter keeps the filter, Esc ends it", compact=True)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Begin to follow everything."""
        self._take_in(self._session.notes(), self._note)
        self._take_in(self._session.passes(), self._passes.add)
        self._take_in(self._session.log(), self._logged)
        self.run_worker(self._ask(), exit_on_error=True)
        self._draw()
        self.set_interval(EVERY, self._draw_if_due)
        self.query_one("#objects").focus()

    async def on_unmount(self) -> None:
        """End what runs beside the screen."""
        self._pod_log.stop()
        self._events.stop()
        await self._objects.close()

    # What comes in

    def _take_in(self, coming: AsyncIterator[Any], take: Callable[[Any], None]) -> None:
        async def follow() -> None:
            async for each in coming:
                take(each)

        self.run_worker(follow())

    def _note(self, note: Note) -> None:
        self._count += 1
        self._notes.append((self._count, note))

    def _logged(self, line: str) -> None:
        self._count += 1
        self._lines.append((self._count, line))

    async def _ask(self) -> None:
        """Ask the API server again and again whether it is there, and connect to it anew when it is back."""
        while True:
            words = await self._answer()
            back = self._lost and not words
            self._lost = words
            if not words:
                self._objects.begin_anew(all_of_them=bool(back))
                if back:
                    self._events.begin_anew()
            await ambient.sleep(ASKED_EVERY)

    async def _answer(self) -> str:
        """Why the API server does not answer; nothing if it does."""
        try:
            async with asyncio.timeout(TIMEOUT):
                await self._session.client.version()
        except TimeoutError:
            return f"no answer within {TIMEOUT:g} s"
        except ClientError as error:
            return str(error) or type(error).__name__
        return ""

    # What is drawn

    def _draw_if_due(self) -> None:
        if ambient.monotonic() >= self._rest_until:
            began = ambient.stopwatch()
            with suppress(NoMatches):  # the screen is being taken down
                self._draw()
            # Thousands of objects that change all the time must leave time for keys.
            self._rest_until = ambient.monotonic() + 4 * (ambient.stopwatch() - began)

    def _draw(self) -> None:
        self._follow_session()
        self._draw_heading()
        wanted = self._wanted if self._words else None
        if self._differs("objects", (self._objects.version, self._words, frozenset(self._folded))):
            self._table("objects").show(self._objects.tree(self._folded, wanted))
        elif self._differs("failures", self._passes.version):  # which may know worse than conditions
            self._table("objects").repaint()
        if self._differs("nothing", words := self._nothing()):
            self._table("objects").have(empty=words)
        if self._differs("passes", (self._passes.version, self._words)):
            self._table("passes").have(empty=self._not_found() or NOTHING_YET)
            found = [each for each in self._passes.newest_first() if self._has_pass(each)]
            self._table("passes").show(found)
        self._draw_below()
        if self._differs("second", int(ambient.monotonic())):  # ages, and when passes come
            self._table("objects").repaint()
            self._table("passes").repaint()

    def _follow_session(self) -> None:
        """Watch what the operator declares now, by the client that there is now."""
        described, client = self._session.described, self._session.client
        if self._differs("client", id(client)):
            self._events.watch(client)
        if described is not None and (described != self._described or client is not self._objects.client):
            self._described = described
            self._objects.watch(described, client)

    def _draw_heading(self) -> None:
        width = max(20, self.size.width - 2)
        if self._differs("tones", (self._objects.version, self._passes.version, self._objects.synced)):
            self._tones = [self._health(each).tone for each in self._objects.roots()] if self._objects.synced else []
        name = self._described.name if self._described else ""
        first = heading(width, name, self._session.state, self._tones, self._session.kubeconfig)
        if self._differs("heading", first):
            self.query_one("#heading", Static).update(first)
        alive = self._session.alive
        wrong = banner(self._session.state, self._problem, self._lost, self._objects.problems, alive=alive)
        if self._differs("banner", wrong):
            shown = self.query_one("#banner", Static)
            shown.update(wrong or "")
            shown.set_class(wrong is not None, "shown")

    def _draw_below(self) -> None:
        tab = self._tab
        selected = self.selected_line
        pod = self._objects.pod_of(selected.entry) if selected is not None else None
        if tab == "pod" and selected is not None:  # what a pod said last stays there when nothing else is
            self._pod_log.follow(pod, self._session.client)
        unseen = self._unseen(tab)
        if self._differs("tabs", (tab, self._pod_log.pod, unseen)):
            self.query_one("#tabs", Static).update(_tabs(tab, self._pod_log.pod, unseen))
        match tab:
            case "events":
                if self._differs(tab, (self._events.version, self._words)):
                    found = self._events.newest_first()
                    self._table(tab).show([each for each in found if self._has(events.what_of(each), each.message)])
            case "log":
                if self._differs(tab, (self._count, self._words)):
                    self._table(tab).show([each for each in self._lines if self._has(each[1])])
            case "pod":
                if self._differs(tab, (self._pod_log.version, self._words)):
                    self._table(tab).show([each for each in self._pod_log.lines if self._has(each[1])])
            case "notes":
                if self._differs(tab, self._count):
                    self._table(tab).show([*self._notes])

    def _unseen(self, tab: str) -> str:
        """The last note, if it tells of a problem, such as a sample that is refused, and nothing on the screen does."""
        number, note = self._notes[-1] if self._notes else (0, None)
        if tab == "notes":
            self._seen = number
        hidden = note is not None and note.problem and number > self._seen and not self._problem
        return note.words if hidden and note is not None else ""

    def on_resize(self) -> None:
        """Wider lines say more."""
        self._table("passes").have(columns=of_passes.columns(self.size.width))

    def _differs(self, part: str, drawn_from: object) -> bool:
        """Whether a part of the screen is to be drawn anew."""
        if part in self._drawn and self._drawn[part] == drawn_from:
            return False
        self._drawn[part] = drawn_from
        return True

    def _nothing(self) -> str:
        """Why there are no objects to be seen."""
        if self._described is None:
            return "No operator is loaded yet."
        if self._objects.problems:
            return "They can't be watched: see above."
        if not self._objects.synced:
            return "Reading what there is."
        if self._words:
            return self._not_found()
        kinds = " or ".join(each.name for each in self._described.primaries)
        return f"There is no {kinds} yet. To make one: kubectl apply -f FILE"

    def _not_found(self) -> str:
        return f"Nothing here has {self._words!r} in it; Esc shows all again." if self._words else ""

    def _has_pass(self, done: Pass) -> bool:
        return not self._words or self._has(what_of(done), of_passes.because(done.triggers), done.result, done.message)

    def _wanted(self, entry: ObjectNode) -> bool:
        return self._has(entry.what, entry.read.health.words)

    def _has(self, *said: object) -> bool:
        """Whether all words of the filter are in this."""
        whole = " ".join(map(str, said)).lower()
        return all(word in whole for word in self._words.lower().split())

    def _health(self, entry: ObjectNode) -> Health:
        return lines.health_after(entry.read.health, self._passes.last(entry.what))

    def _object_cells(self, line: Line) -> Sequence[Text]:
        return lines.object_cells(line, self._passes.last(line.entry.what), ambient.now())

    def _pass_cells(self, done: Pass) -> Sequence[Text]:
        return self._passes.cells(done, self.size.width)

    def _table(self, name: str) -> Rows[Any]:
        # Of the screen that is below all others: this is drawn on while another one is open.
        return self.screen_stack[0].query_one(f"#{name}", Rows)

    @property
    def _problem(self) -> str:
        """What is wrong with the operator; of one that said nothing before it crashed, what was noted of that."""
        if self._session.problem or self._session.state != State.CRASHED:
            return self._session.problem
        return next((note.words for _, note in reversed(self._notes) if note.problem), "")

    @property
    def selected_line(self) -> Line | None:
        """The line of the tree that the cursor is on."""
        line = self._table("objects").row
        return line if isinstance(line, Line) else None

    @property
    def _tab(self) -> str:
        return self.screen_stack[0].query_one("#below", ContentSwitcher).current or "events"


def _tabs(shown: str, pod: ObjectNode | None, unseen: str) -> Text:
    """What can be shown below; a click shows it. `unseen` is a problem that was noted, and not looked at."""
    made = Text()
    for number, name in enumerate(TABS, start=1):
        click = Style(meta={"@click": f"app.tab('{name}')"})
        made.append(f" {number} {TABS[name]} ", Tone.STRONG.value if name == shown else click)
    if pod is not None and shown == "pod":
        made.append(f"  {pod.name}", Tone.ACCENT.value)
    if unseen:
        made.append(f"✗ {unseen}", Tone.BAD.value)
    return made


def _uid(line: Line) -> str:
    return line.uid


def _id(done: Pass) -> str:
    return done.id


def _event(event: Event) -> str:
    return event.metadata.uid


def _number(line: tuple[int, object]) -> int:
    return line[0]
