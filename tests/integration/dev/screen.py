"""A person at the live view: presses keys, and looks at the screen until something is seen there."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from rich.style import Style
from textual.events import Key
from textual.pilot import Pilot

from integration.dev.live import PATIENCE, LiveSession
from windvane import ambient
from windvane.cli.dev.view.app import View


class Person:
    """Who uses the view."""

    def __init__(self, view: View, pilot: Pilot[None]) -> None:
        self.view = view
        self._pilot = pilot

    @property
    def lines(self) -> list[str]:
        """What is on the screen, line by line."""
        return [strip.text.rstrip() for strip in self._strips()]

    @property
    def screen(self) -> str:
        """All that is on the screen."""
        return "\n".join(self.lines)

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        await self._pilot.press(*keys)

    def type(self, characters: str) -> None:
        """Press keys faster than anything can be done about them."""
        for each in characters:
            self.view.post_message(Key("slash" if each == "/" else each, each))

    async def write(self, words: str) -> None:
        """Press the keys for these words."""
        await self.press(*("space" if each == " " else each for each in words))

    async def sees(self, *words: str) -> str:
        """Wait until all of these are on the screen."""
        return await self.until(lambda: all(each in self.screen for each in words), f"{words} to be there")

    async def sees_no(self, words: str) -> str:
        """Wait until this is not on the screen any more."""
        return await self.until(lambda: words not in self.screen, f"{words!r} not to be there")

    async def until(self, condition: Callable[[], object], waited_for: str) -> str:
        """Wait until something is so, and return the screen as it is then."""
        deadline = ambient.monotonic() + PATIENCE
        while not condition():
            assert ambient.monotonic() < deadline, f"waited for {waited_for}; there is\n{self.screen}"
            await self._pilot.pause(0.05)
        return self.screen

    async def goes_to(self, words: str) -> None:
        """Move the cursor of the objects down to the line that begins with this."""
        await self.sees(words)
        await self.press("home")
        for _ in range(100):
            row = self.view.selected_line
            if row is not None and str(row.entry.what).startswith(words):
                return
            await self.press("down")
        raise AssertionError(f"no line begins with {words!r}; there is\n{self.screen}")

    def line(self, words: str) -> str:
        """The line that has this in it."""
        return next(line for line in self.lines if words in line)

    def style(self, words: str) -> Style:
        """How this is written."""
        segments: list[Any] = [segment for strip in self._strips() for segment in strip]
        found: Style = next(segment.style for segment in segments if words in segment.text)
        return found

    def _strips(self) -> Any:
        return self.view.screen._compositor.render_strips()


@asynccontextmanager
async def at_view(session: LiveSession, size: tuple[int, int] = (140, 40)) -> AsyncIterator[Person]:
    """Have a person sit before the view, in a terminal of that size."""
    view = View(session)
    async with view.run_test(size=size, notifications=True) as pilot:
        yield Person(view, pilot)
