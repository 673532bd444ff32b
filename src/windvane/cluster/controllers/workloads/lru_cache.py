"""What a controller remembers of objects between passes, all of which can be lost: only of those it saw lately."""

from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")

MOST = 4096


class LRUCache(Generic[T]):
    """Something about each object, by uid. The least recently used is forgotten first."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, T] = OrderedDict()

    def get(self, uid: str) -> T | None:
        """What is remembered, if anything."""
        return self._of.get(uid)

    def keep(self, uid: str, what: T) -> None:
        """Remember this, instead of what was before."""
        self._of[uid] = what
        self._of.move_to_end(uid)
        if len(self._of) > MOST:
            self._of.popitem(last=False)

    def forget(self, uid: str) -> T | None:
        """Remember nothing of it any more. Returns what there was."""
        return self._of.pop(uid, None)
