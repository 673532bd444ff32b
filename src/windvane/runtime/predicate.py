"""Which changes count: `when=` says of which objects, and `seeing=` of what in them. Wherever a kind is declared."""

import inspect
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

from windvane.api.envelope import Item
from windvane.api.resource import Object, kind_of
from windvane.runtime.informers.cache import Change

ObjectT = TypeVar("ObjectT", bound=Object)
When: TypeAlias = Callable[[ObjectT], object]
"""Whether an object counts. It is shown what others are shown, too, and must not change it."""


def check_when(when: Any, where: str, keyword: str = "when") -> None:
    """TypeError unless it is a function of one object that does not wait; `where` is what was written, in part."""
    if when is None:
        return
    if not callable(when):
        raise TypeError(f"{where}, {keyword}={when!r}): write a function of the object: {keyword}=lambda obj: ...")
    if inspect.iscoroutinefunction(when):
        raise TypeError(f"{where}, {keyword}=...) takes a function that does not wait: write `def`, not `async def`")
    try:
        inspect.signature(when).bind(None)
    except TypeError:
        raise TypeError(
            f"{where}, {keyword}=...) is called with the object alone, which {getattr(when, '__name__', when)} can't be"
        ) from None
    except ValueError:
        return  # Python knows of no signature, as that of operator.attrgetter("spec.page")


_looked_at: deque[tuple[Item[Any], Any]] = deque(maxlen=2)


def look(item: Item[ObjectT]) -> ObjectT:
    """The typed object, to be looked at only. A change is shown to one function after the other, and decoded once."""
    found: ObjectT | None = next((decoded for known, decoded in _looked_at if known is item), None)
    if found is None:
        found = item.decode()
        _looked_at.append((item, found))
    return found


class Looked(Generic[ObjectT]):
    """A kind that is declared, and which changes of its objects count."""

    def __init__(
        self, what: type[ObjectT], when: When[ObjectT] | None, seeing: Callable[[ObjectT], Any] | None
    ) -> None:
        self.kind = kind_of(what)
        self.what = what
        self.when = when
        self.seeing = seeing
        check_when(when, f"{type(self).__name__}({what.__name__}")
        check_when(seeing, f"{type(self).__name__}({what.__name__}", "seeing")

    def concerns(self, change: Change[ObjectT]) -> bool:
        """Whether a change is one of what is looked at."""
        before, after = change.before, change.item
        # One that matches no more must be heard of, too.
        if self.when is not None and not any(self.when(look(each)) for each in (before, after) if each is not None):
            return False
        if self.seeing is None or before is None or change.gone:
            return True
        return bool(self.seeing(look(before)) != self.seeing(look(after)))
