"""The clock of a test: the event loop's virtual time, which `datetime.now()` and `time.time()` show as well.

An operator that asks the standard library for the time of day must see the hours pass that a test lets pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import time_machine

from windvane import ambient
from windvane.sim.time import BEGINNING, VirtualLoop, VirtualTime


class Clock:
    """Virtual time, for the length of a test."""

    def __init__(self) -> None:
        self._travel: Any = None  # what `time_machine.travel` gives, whose class it does not name

    def loop(self) -> VirtualLoop:
        """An event loop that moves this clock."""
        return _Loop(self)

    def advance(self, seconds: float) -> None:
        """Show that much time to have passed."""
        if self._travel is not None:
            self._travel.shift(seconds)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show it to all code that asks for the time."""
        with time_machine.travel(BEGINNING, tick=False) as travel, ambient.use(VirtualTime()):
            self._travel = travel
            try:
                yield
            finally:
                self._travel = None


class _Loop(VirtualLoop):
    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        self._clock.advance(seconds)
