"""A table of any length: which lines are drawn, and where its cursor is."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text
from textual.app import App, ComposeResult

from windvane.cli.dev.view.rows import Look, RowColumn, Rows, in_columns, widths

COLUMNS = (RowColumn("name", 10, 1), RowColumn("value", 6))
Row = tuple[str, str]


class Table(App[None]):
    """An app that has nothing but the table, and notes what is asked of it."""

    def __init__(self, newest: str = "") -> None:
        super().__init__()
        self.drawn: list[int] = []
        self.newest = newest

    def compose(self) -> ComposeResult:
        yield Rows(Look(COLUMNS, lambda row: row[0], self.cells, "nothing", self.newest), id="rows")  # type: ignore[arg-type]

    def cells(self, row: Row) -> Sequence[Text]:
        return Text(row[0]), Text(row[1])

    @property
    def rows(self) -> Rows[Row]:
        return self.query_one("#rows", Rows)


def rows(*changed: int) -> list[Row]:
    return [(f"row-{number}", "new" if number in changed else "old") for number in range(2000)]


async def test_of_two_thousand_rows_the_one_is_drawn_that_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Table()
    async with app.run_test(size=(60, 20)) as pilot:
        app.rows.show(rows())
        await pilot.pause()
        drawn: list[int] = []
        refresh = app.rows.refresh_line

        def noted(y: int) -> None:
            drawn.append(y)
            refresh(y)

        monkeypatch.setattr(app.rows, "refresh_line", noted)
        app.rows.show(rows(3, 700))
        assert drawn == [4]  # the first line has the titles
        await pilot.pause()
        app.rows.show(rows(3))
        assert drawn == [4]


async def test_the_cursor_stays_on_its_row() -> None:
    app = Table()
    async with app.run_test(size=(60, 20)) as pilot:
        app.rows.show(rows())
        await pilot.press("down", "down")
        app.rows.show(rows()[1:])
        assert app.rows.row == ("row-2", "old")
        app.rows.show([("a", "b"), *rows()])
        assert app.rows.row == ("row-2", "old")
        app.rows.show([("a", "b"), *rows()[5:]])
        assert app.rows.row == ("row-7", "old"), "what is gone leaves the cursor where it was"
        app.rows.show([])
        assert app.rows.row is None


async def test_a_cursor_where_new_rows_come_in_follows_them() -> None:
    for newest, end, away in (("first", 0, "down"), ("last", -1, "up")):
        app = Table(newest)
        async with app.run_test(size=(60, 20)) as pilot:
            for count in (5, 50):
                some = rows()[1000 - count : 1000] if newest == "first" else rows()[:count]
                app.rows.show(some)
                assert app.rows.row == some[end]
            await pilot.press("tab", away)
            held = app.rows.row
            assert held != some[end]
            app.rows.show(rows()[900:1000] if newest == "first" else rows()[:80])
            assert app.rows.row == held


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 4), st.integers(0, 40)), min_size=1, max_size=8),
    st.integers(0, 200),
)
def test_columns_fill_the_line_and_never_more(given: list[tuple[int, int, int]], total: int) -> None:
    columns = [RowColumn("x", width, share, most=width + more) for width, share, more in given]
    sizes = widths(columns, total)
    least = sum(min(each.width, 3) for each in columns) + len(columns) - 1
    assert all(size <= each.most for size, each in zip(sizes, columns, strict=True))
    assert sum(sizes) + len(columns) - 1 <= max(total, least)
    full = any(each.share and size < each.most for size, each in zip(sizes, columns, strict=True))
    if full and total >= sum(each.width for each in columns) + len(columns) - 1:
        assert sum(sizes) + len(columns) - 1 == total
    line = in_columns([Text("世界" * 20) for _ in columns], columns, sizes)
    assert line.cell_len == sum(sizes) + len(columns) - 1
