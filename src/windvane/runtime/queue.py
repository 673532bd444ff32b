"""A queue of keys for controllers: each key at most once, and never two workers on one key.

A controller does not queue events, it queues the *names* of objects that may need work. Ten changes to one object
while a worker is busy with it become one more visit, not ten.

A key is in one of four places, and moves between them only here:

    waiting ──(its time comes)──▶ ready ──take──▶ working ──done──▶ (gone)
                                    ▲                │
                                    └── again ◀──────┘   added while a worker had it

Among ready keys the most urgent comes first, and of equals the one that has been ready longest. Every eighth visit
goes to the oldest key whatever its priority, so that a stream of fresh changes delays the rest but never stops it.
"""

import asyncio
import heapq
from collections.abc import Callable, Hashable
from itertools import count
from typing import Generic, NamedTuple, TypeVar

from windvane import ambient
from windvane.backoff import DEFAULT, Backoff

FRESH = 0
"""The priority of a change that just happened."""
INITIAL = -10
"""The priority of objects that were there before: after a restart, what happens now is more urgent than they are."""

TURN_OF_THE_OLDEST = 8

Key = TypeVar("Key", bound=Hashable)


class Closed(Exception):
    """The queue gives out no more keys."""


class _Place(NamedTuple):
    """Where a ready key stands."""

    priority: int
    order: int
    since: float


class WorkQueue(Generic[Key]):
    """Keys of what may need work: each at most once, and never with two workers at a time.

        queue.add(key)                      # as often as there is a reason
        key = await queue.take()            # by one worker, until it says
        queue.done(key)

    A key that is added while a worker has it becomes ready again when that is done. Belongs to one event loop.
    `observe` is told of each key that is taken how long it was ready, `retry` says how long `retry(key)` waits.
    """

    def __init__(self, observe: Callable[[float], object] = lambda _: None, retry: Backoff = DEFAULT) -> None:
        self._retry = retry
        self._ready: dict[Key, _Place] = {}  # the one that has been ready longest comes first
        self._urgent: list[tuple[int, int, Key]] = []  # a heap of the same; places that were left are skipped
        self._working: set[Key] = set()
        self._again: dict[Key, int] = {}  # key -> the priority it was added with while a worker had it
        self._waiting: dict[Key, asyncio.TimerHandle] = {}
        self._failures: dict[Key, int] = {}  # key -> how often in a row
        self._order = count()
        self._taken = count(1)
        self._available = asyncio.Semaphore(0)  # as many as are ready
        self._closed = False
        self._observe = observe

    def __len__(self) -> int:
        """How many keys are ready."""
        return len(self._ready)

    @property
    def working(self) -> int:
        """How many keys workers have."""
        return len(self._working)

    @property
    def being_worked_on(self) -> list[Key]:
        """The keys that a worker has."""
        return list(self._working)

    @property
    def waiting(self) -> int:
        """How many keys have their time still to come."""
        return len(self._waiting)

    def add(self, key: Key, *, priority: int = FRESH, after: float = 0.0) -> None:
        """Ask for a visit to `key`, now or `after` seconds from now; the earliest request wins."""
        if self._closed:
            return
        if after > 0:
            self._add_later(key, priority, after)
            return
        if (timer := self._waiting.pop(key, None)) is not None:
            timer.cancel()  # this visit decides whether there must be a later one
        if key in self._working:
            self._again[key] = max(priority, self._again.get(key, priority))
        else:
            self._push(key, priority)

    def retry(self, key: Key) -> float:
        """Ask for a visit after a failure, the later the more there were in a row; how many seconds it will be."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay = self._retry.delay(failures)
        self.add(key, after=delay)
        return delay

    def succeeded(self, key: Key) -> None:
        """The next failure of `key` is the first again."""
        self._failures.pop(key, None)

    async def take(self) -> Key:
        """Wait for a key that no worker has, and claim it until `done`. Raises Closed."""
        await self._available.acquire()
        if self._closed:
            self._available.release()  # for the next one that waits
            raise Closed
        key = self._next()
        self._working.add(key)
        return key

    def looking(self, key: Key) -> None:
        """The worker that has `key` looks at it only now: what was asked for until now is this visit."""
        self._again.pop(key, None)

    def done(self, key: Key) -> None:
        """Release `key`. If it was added meanwhile, it becomes ready again.

        This is why `add` during work must not go straight to `ready`: a second worker would reconcile the same object
        at the same time, from an older view.
        """
        self._working.discard(key)
        if (priority := self._again.pop(key, None)) is not None and not self._closed:
            self._push(key, priority)

    def close(self) -> None:
        """Give out no more keys: a worker that waits for one gets Closed. Keys that workers have are still theirs."""
        self._closed = True
        for timer in self._waiting.values():
            timer.cancel()
        self._waiting.clear()
        self._again.clear()
        self._available.release()

    def _add_later(self, key: Key, priority: int, after: float) -> None:
        if key in self._ready or key in self._again:
            return
        loop = asyncio.get_running_loop()
        if (timer := self._waiting.get(key)) is not None:
            if timer.when() <= loop.time() + after:
                return
            timer.cancel()
        self._waiting[key] = loop.call_later(after, self._its_time_has_come, key, priority)

    def _its_time_has_come(self, key: Key, priority: int) -> None:
        del self._waiting[key]
        self.add(key, priority=priority)

    def _push(self, key: Key, priority: int) -> None:
        there = self._ready.get(key)
        if there is not None and there.priority >= priority:
            return
        order = next(self._order) if there is None else there.order
        since = ambient.monotonic() if there is None else there.since
        self._ready[key] = _Place(priority, order, since)
        heapq.heappush(self._urgent, (-priority, order, key))
        if there is None:
            self._available.release()

    def _next(self) -> Key:
        key = next(iter(self._ready)) if next(self._taken) % TURN_OF_THE_OLDEST == 0 else self._most_urgent()
        place = self._ready.pop(key)
        self._observe(ambient.monotonic() - place.since)
        if not self._ready:
            self._urgent.clear()
        return key

    def _most_urgent(self) -> Key:
        while True:
            negative, order, key = heapq.heappop(self._urgent)
            place = self._ready.get(key)
            if place is not None and (place.priority, place.order) == (-negative, order):
                return key
