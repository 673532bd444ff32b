"""What was said, and is still being said, for any number of readers, each of whom begins at the beginning."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")

MOST = 10_000
"""So many are kept; a reader that comes later begins with the oldest that is."""


class Transcript(Generic[ItemT]):
    """Items in their order, until it is closed."""

    def __init__(self, most: int = MOST) -> None:
        self._kept: deque[ItemT] = deque(maxlen=most)
        self._added = 0
        self._closed = False
        self._changed = asyncio.Event()

    def add(self, item: ItemT) -> None:
        """Say it to all readers."""
        self._kept.append(item)
        self._added += 1
        self._wake()

    def close(self) -> None:
        """Nothing more comes: readers end when they have read all."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()  # those that wait have the old one

    async def read(self) -> AsyncIterator[ItemT]:
        """Everything that is kept, and then each item as it comes."""
        position = self._added - len(self._kept)
        while True:
            changed = self._changed
            position = max(position, self._added - len(self._kept))  # a slow reader misses what is not kept any more
            while position < self._added:
                yield self._kept[position - (self._added - len(self._kept))]
                position = max(position + 1, self._added - len(self._kept))
            if self._closed:
                return
            if not changed.is_set():
                await changed.wait()
