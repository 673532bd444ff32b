"""Which webhooks and policies are called a second time, because the object changed after they had seen it."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from windvane.api.json_value import Wire

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class Reinvocation(Generic[K]):
    """What one plugin keeps of a request from the first round for the second."""

    seen: set[K] = field(default_factory=set)
    """Those that want to be called again if the object changes."""
    again: set[K] = field(default_factory=set)
    last: Wire | None = None
    """The object as the first round left it."""

    def changed(self) -> None:
        """The object has changed: all that have seen it are called again."""
        self.again |= self.seen
        self.seen = set()
