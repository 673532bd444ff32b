"""A table of any length, of which only what is seen is drawn, and drawn again only where it has changed.

Textual's own DataTable keeps a row for each object, and can't have one put between two others. Here the rows are a list
that is computed anew, and a function that turns one into cells; two thousand cost as much as the twenty that are seen.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from windvane.cli.dev.view.wording import Tone, text

RowT = TypeVar("RowT")
GAP = 1


@dataclass(frozen=True)
class RowColumn:
    """One column: how wide it is at least, and its share of what is left over."""

    title: str
    width: int
    share: int = 0
    most: int = 1000
    right: bool = False


class Look(NamedTuple, Generic[RowT]):
    """How rows are shown."""

    columns: Sequence[RowColumn]
    key: Callable[[RowT], Hashable]
    """What a row is recognized by when the list is another one."""
    cells: Callable[[RowT], Sequence[Text]]
    empty: str = ""
    """What stands there if there are none."""
    newest: Literal["", "first", "last"] = ""
    """Where new rows come in, if they do so in one place. A cursor that is there stays there, and so follows them."""


def widths(columns: Sequence[RowColumn], total: int) -> list[int]:
    """How wide each column is, so that together with the gaps they fill the line."""
    left = total - sum(each.width for each in columns) - GAP * (len(columns) - 1)
    made = [each.width for each in columns]
    growing = {number for number, each in enumerate(columns) if each.share}
    while left > 0 and growing:
        shares = sum(columns[number].share for number in growing)
        full = set()
        given = 0
        for number in sorted(growing):
            most = columns[number].most - made[number]
            more = min(most, max(1, left * columns[number].share // shares), left - given)
            made[number] += more
            given += more
            if more == most:
                full.add(number)
        growing -= full
        left -= given
    if left < 0:  # a terminal that is too narrow for all: what grows gives up first, from the right
        for number in sorted(range(len(columns)), key=lambda number: (not columns[number].share, -number)):
            less = min(-left, max(0, made[number] - 3))
            made[number] -= less
            left += less
    return made


def in_columns(cells: Sequence[Text], columns: Sequence[RowColumn], sizes: Sequence[int]) -> Text:
    """One line: each cell cut or filled up to its width."""
    line = Text(no_wrap=True, end="")
    for number, (cell, column, size) in enumerate(zip(cells, columns, sizes, strict=True)):
        fitted = cell.copy()
        if column.right:
            fitted.truncate(size, overflow="ellipsis")
            fitted.pad_left(max(0, size - fitted.cell_len))
        else:
            fitted.truncate(size, overflow="ellipsis", pad=True)
        line.append_text(fitted)
        if number < len(columns) - 1:
            line.append(" " * GAP)
    return line


class Rows(ScrollView, Generic[RowT], can_focus=True):
    """See the module. The first line has the titles of the columns."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--titles", "rows--cursor"}
    DEFAULT_CSS = """
    Rows {
        background: $background;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        & > .rows--titles { background: $surface; color: $text-muted; text-style: bold; }
        & > .rows--cursor { background: $surface-lighten-1; }
        &:focus > .rows--titles { background: $primary-darken-2; color: $text; }
        &:focus > .rows--cursor { background: $primary 35%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "move(-1000000)", show=False),
        Binding("end,G", "move(1000000)", show=False),
        Binding("enter", "open", "open", key_display="⏎"),
    ]

    class Opened(Message):
        """A row was chosen, with Enter or a second click."""

        def __init__(self, rows: "Rows[Any]", row: Any) -> None:
            super().__init__()
            self.rows = rows
            self.row = row

        @property
        def control(self) -> "Rows[Any]":
            return self.rows

    def __init__(self, look: Look[RowT], *, id: str) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._look = look
        self._rows: Sequence[RowT] = ()
        self._cursor = 0
        self._key: Hashable = None
        self._follows = look.newest != ""
        """Whether the cursor is where new rows come in, and is to stay there."""
        self._drawn: dict[int, Text] = {}
        """The lines that are on the screen, by their place there."""

    @property
    def row(self) -> RowT | None:
        """The row that the cursor is on."""
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    @property
    def rows(self) -> Sequence[RowT]:
        """All that there are."""
        return self._rows

    def have(self, **changes: Any) -> None:
        """Show the same rows in another way: with these fields of `Look`."""
        self._look = self._look._replace(**changes)
        self.repaint()

    def show(self, rows: Sequence[RowT]) -> None:
        """Have these rows from now on. The cursor stays on the row that it was on, or where that was."""
        self._rows = rows
        if self._follows:
            self._cursor = self._newest
        else:
            self._cursor = self._find(self._key)
        self._key = self._look.key(rows[self._cursor]) if rows else None
        height = len(rows) + 1
        if self.virtual_size.height != height:
            self.virtual_size = Size(self.size.width, height)
        self._keep_in_sight()
        self.repaint()

    def go_to(self, key: Hashable) -> bool:
        """Put the cursor on the row of that key, if there is one."""
        for number, each in enumerate(self._rows):
            if self._look.key(each) == key:
                self._place(number)
                return True
        return False

    def repaint(self) -> None:
        """Draw the lines anew that are not what they were: an age has grown, say."""
        for y in range(self.size.height):
            if self._drawn.get(y) != self._line(y):
                self.refresh_line(y + self.scroll_offset.y)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        line = self._drawn[y] = self._line(y)
        style = self.rich_style
        if y == 0:
            style += self.get_component_rich_style("rows--titles")
        elif self._number(y) == self._cursor and self._rows:
            style += self.get_component_rich_style("rows--cursor")
        segments = [each for each in line.render(self.app.console) if each.text]
        strip = Strip([Segment(each.text, each.style) for each in segments])
        return strip.adjust_cell_length(self.scrollable_content_region.width).apply_style(style)

    def _line(self, y: int) -> Text:
        columns = self._look.columns
        sizes = widths(columns, self.scrollable_content_region.width)
        if y == 0:
            return in_columns([Text(each.title) for each in columns], columns, sizes)
        number = self._number(y)
        if not self._rows and y == 1:
            return text((self._look.empty, Tone.QUIET))
        if number >= len(self._rows):
            return Text("")
        return in_columns(self._look.cells(self._rows[number]), columns, sizes)

    def _number(self, y: int) -> int:
        return self.scroll_offset.y + y - 1

    @property
    def _newest(self) -> int:
        return max(0, len(self._rows) - 1) if self._look.newest == "last" else 0

    def _find(self, key: Hashable) -> int:
        there = min(self._cursor, max(0, len(self._rows) - 1))
        if self._rows and self._look.key(self._rows[there]) == key:
            return there
        return next((number for number, each in enumerate(self._rows) if self._look.key(each) == key), there)

    def _place(self, number: int) -> None:
        number = max(0, min(len(self._rows) - 1, number))
        self._cursor = number
        self._follows = self._look.newest != "" and number == self._newest
        self._key = self._look.key(self._rows[number]) if self._rows else None
        self._keep_in_sight()
        self.refresh()

    def _keep_in_sight(self) -> None:
        top, seen = self.scroll_offset.y, max(1, self.size.height - 1)
        if self._cursor < top:
            top = self._cursor
        elif self._cursor >= top + seen:
            top = self._cursor - seen + 1
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def on_resize(self, event: events.Resize) -> None:
        """Lines are cut elsewhere."""
        self.virtual_size = Size(event.size.width, len(self._rows) + 1)
        self._keep_in_sight()
        self.refresh()

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        if self._rows:
            self._place(self._cursor + by)

    def action_page(self, by: int) -> None:
        """Move it by what is seen at once."""
        self.action_move(by * max(1, self.size.height - 2))

    def action_open(self) -> None:
        """Open the row that the cursor is on."""
        if self.row is not None:
            self.post_message(self.Opened(self, self.row))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor there; a second click opens what is there."""
        number = self._number(event.y)
        if event.y == 0 or not 0 <= number < len(self._rows):
            return
        if event.chain > 1 and number == self._cursor:
            self.action_open()
        else:
            self._place(number)
