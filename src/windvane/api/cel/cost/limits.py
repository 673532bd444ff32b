"""What running rules may cost, in the server's units, how long somebody waits for it, and what it may make meanwhile.

Costs are the same on each machine, and say little about how long something takes: a thousand units are mostly a
millisecond, and may be a minute. So whoever can't wait has a `Patience`, and whatever goes on and on asks it (`tick`).
They say as little about memory: a list that is added to itself thirty times costs thirty units. So whatever makes more
than it costs asks for room first (`room_for`).
"""

import math
from contextvars import ContextVar, Token
from types import TracebackType

from windvane.ambient import stopwatch

PER_CALL_LIMIT = 1_000_000
"""What one evaluation of one rule may cost."""
OBJECT_BUDGET = 10_000_000
"""What all rules may cost for one object."""
MOST_MADE = 32 * 1024 * 1024
"""The bytes of what one evaluation may make, with all variables that it asks for."""
ITEM = 8
"""The bytes of an item of a list; what it is itself was made before, or is counted on its own."""
_SECONDS_PER_BYTE = 1e-9
_MOMENT = 0.3  # seconds


class TooExpensive(Exception):
    """One evaluation costs more than any may. No part of an expression can do without this."""

    def __init__(self, cost: int) -> None:
        super().__init__(f"it would cost {cost}, and may cost {PER_CALL_LIMIT}")
        self.cost = cost


class TakesLong(Exception):
    """Reading or running expressions takes longer than somebody will wait. They may be tried again with more time."""


class TooMuch(Exception):
    """An evaluation makes more than any may. No part of an expression can do without this."""

    def __init__(self) -> None:
        super().__init__(f"operation cancelled: lists and strings of more than {MOST_MADE} bytes were made")


class Patience:
    """How long somebody waits for what expressions come to; for the length of a `with` block, it is that one's.

    `room` is how much may be made until then, and `most` what it is when an evaluation begins.
    """

    __slots__ = ("_before", "most", "room", "until")

    def __init__(self, seconds: float, most: float = MOST_MADE) -> None:
        self.until = stopwatch() + seconds
        self.room = self.most = most
        self._before: Token[Patience] | None = None

    def __enter__(self) -> None:
        self._before = _patience.set(self)

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        if self._before is not None:
            _patience.reset(self._before)

    def end(self) -> None:
        """Wait no longer. This may be said from another thread."""
        self.until = -math.inf


_ENDLESS = Patience(math.inf, math.inf)
_patience: ContextVar[Patience] = ContextVar("patience", default=_ENDLESS)


def patience() -> Patience:
    """That of whoever waits for what is being done."""
    return _patience.get()


def tick() -> None:
    """Raise `TakesLong` if it takes too long."""
    if stopwatch() > _patience.get().until:
        raise TakesLong


def time_for(seconds: float) -> None:
    """Raise `TakesLong` if there is no time for what may take so long. Whoever has more time than a moment has it."""
    if stopwatch() + min(seconds, _MOMENT) > _patience.get().until:
        raise TakesLong


def begin() -> None:
    """An evaluation begins, which may make as much as any; raise `TakesLong` if it takes too long already."""
    waiting = _patience.get()
    waiting.room = waiting.most
    if stopwatch() > waiting.until:
        raise TakesLong


def room_for(size: int) -> None:
    """Raise `TooMuch` if there is no room for so many bytes more, and `TakesLong` if making them takes too long."""
    waiting = _patience.get()
    waiting.room -= size
    if waiting.room < 0:
        raise TooMuch
    if stopwatch() + size * _SECONDS_PER_BYTE > waiting.until:
        raise TakesLong
