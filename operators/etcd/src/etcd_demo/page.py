"""What the demo writes: one line for each thing that happens, with the seconds since the beginning."""

import os
import time
from collections.abc import Callable, Sequence
from typing import TextIO

BOLD, DIM, GREEN, RED, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[0m"


class Page:
    """Writes to a terminal with a little colour, and plain lines to everything else."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._coloured = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._began = time.monotonic()
        self.when_closed: Callable[[], None] = lambda: None
        """Called when nobody reads any more, as in `make run | head`."""

    @property
    def seconds(self) -> float:
        """How long it has been."""
        return time.monotonic() - self._began

    def step(self, text: str) -> None:
        """Something that the demo does."""
        self._line(text)

    def done(self, text: str) -> None:
        """Something that was to be shown, and was."""
        self._line(self._in(GREEN, text))

    def told(self, name: str, text: str) -> None:
        """Something that the operator tells of one of its objects."""
        self._line(f"{self._in(BOLD, name)}  {text}")

    def trouble(self, text: str) -> None:
        """Something that went wrong, and what to do."""
        self._write(f"\n{self._in(RED, 'make run: ')}{text}\n")

    def text(self, *lines: str) -> None:
        """Anything else."""
        self._write("".join(f"{each}\n" for each in lines))

    def title(self, text: str) -> None:
        """What the next lines are about."""
        self._write(f"\n{self._in(BOLD, text)}\n")

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Rows, of which the first says what the columns are."""
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for index, row in enumerate(rows):
            line = "   ".join(f"{cell:{width}}" for cell, width in zip(row, wide, strict=True)).rstrip()
            self._write(f"  {self._in(DIM, line) if index == 0 else line}\n")

    def _line(self, text: str) -> None:
        self._write(f"{self._in(DIM, f'{self.seconds:6.1f}s')}  {text}\n")

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{PLAIN}" if self._coloured else text

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            # What Python still has of it would fail once more when it ends: that goes nowhere, too.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())
            self.when_closed()
