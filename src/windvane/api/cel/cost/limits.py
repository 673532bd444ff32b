"""What running rules may cost, in the server's units, how long it may take, and what it may make meanwhile.

Costs are the same on each machine, and say little about how long something takes: a thousand units are mostly a
millisecond, and may be a minute. So a caller that can't wait sets a `Deadline`, and whatever goes on and on asks it
(`tick`). They say as little about memory: a list that is added to itself thirty times costs thirty units. So whatever
makes more than it costs asks for room first (`room_for`).
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
    """Reading or running expressions takes longer than the caller waits. They may be tried again with more time."""


class TooMuch(Exception):
    """An evaluation makes more than any may. No part of an expression can do without this."""

    def __init__(self) -> None:
        super().__init__(f"operation cancelled: lists and strings of more than {MOST_MADE} bytes were made")


class Deadline:
    """Until when expressions in a `with` block must have come to something, and how much they may make.

    `room` is how much may be made until then, and `most` what it is when an evaluation begins.
    """

    __slots__ = ("_before", "most", "room", "until")

    def __init__(self, seconds: float, most: float = MOST_MADE) -> None:
        self.until = stopwatch() + seconds
        self.room = self.most = most
        self._before: Token[Deadline] | None = None

    def __enter__(self) -> None:
        self._before = _deadline.set(self)

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        if self._before is not None:
            _deadline.reset(self._before)

    def end(self) -> None:
        """Wait no longer. This may be said from another thread."""
        self.until = -math.inf


_ENDLESS = Deadline(math.inf, math.inf)
_deadline: ContextVar[Deadline] = ContextVar("deadline", default=_ENDLESS)


def deadline() -> Deadline:
    """That of the block that this code runs in."""
    return _deadline.get()


def tick() -> None:
    """Raise `TakesLong` if it takes too long."""
    if stopwatch() > _deadline.get().until:
        raise TakesLong


def time_for(seconds: float) -> None:
    """Raise `TakesLong` if there is no time for what may take so long; more than a moment is enough for anything."""
    if stopwatch() + min(seconds, _MOMENT) > _deadline.get().until:
        raise TakesLong


def begin() -> None:
    """An evaluation begins, which may make as much as any; raise `TakesLong` if it takes too long already."""
    limits = _deadline.get()
    limits.room = limits.most
    if stopwatch() > limits.until:
        raise TakesLong


def room_for(size: int) -> None:
    """Raise `TooMuch` if there is no room for so many bytes more, and `TakesLong` if making them takes too long."""
    limits = _deadline.get()
    limits.room -= size
    if limits.room < 0:
        raise TooMuch
    if stopwatch() + size * _SECONDS_PER_BYTE > limits.until:
        raise TakesLong
