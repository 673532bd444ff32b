"""`when=`: which objects of a kind count. One function of the object, wherever a kind is declared."""

import inspect
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from windvane.api.envelope import Item
from windvane.api.resource import Object

ObjectT = TypeVar("ObjectT", bound=Object)
When: TypeAlias = Callable[[ObjectT], object]
"""Whether an object counts. It is shown what others are shown, too, and must not change it."""


def check_when(when: Any, where: str) -> None:
    """TypeError unless it is a function of one object that does not wait; `where` is what was written, in part."""
    if when is None:
        return
    if not callable(when):
        raise TypeError(f"{where}, when={when!r}): write a function of the object: when=lambda obj: ...")
    if inspect.iscoroutinefunction(when):
        raise TypeError(f"{where}, when=...) takes a function that does not wait: write `def`, not `async def`")
    try:
        inspect.signature(when).bind(None)
    except TypeError:
        raise TypeError(
            f"{where}, when=...) is called with the object alone, which {getattr(when, '__name__', when)} can't be"
        ) from None


_looked_at: deque[tuple[Item[Any], Any]] = deque(maxlen=2)


def look(item: Item[ObjectT]) -> ObjectT:
    """The typed object, to be looked at only. A change is shown to one function after the other, and decoded once."""
    found: ObjectT | None = next((decoded for known, decoded in _looked_at if known is item), None)
    if found is None:
        found = item.decode()
        _looked_at.append((item, found))
    return found
