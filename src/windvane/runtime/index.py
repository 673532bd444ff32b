"""Indexes: objects found by something that is written in them, without looking at all of them.

    sites_by_secret = index(Website, by=lambda site: site.spec.secret)

    ctx.find(sites_by_secret, "db-password")

The index is built in the cache when it is first asked, and kept with every change from then on.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from windvane.api.envelope import Item
from windvane.api.resource import Object

log = logging.getLogger(__name__)

ObjectT = TypeVar("ObjectT", bound=Object)
By = Callable[[ObjectT], str | Iterable[str] | None]


class Index(Generic[ObjectT]):
    """What objects of a kind can be found by; made by `index(kind, by=function)`."""

    def __init__(self, what: type[ObjectT], by: By[ObjectT]) -> None:
        self.what = what
        self._by = by

    def values(self, item: Item[ObjectT]) -> tuple[str, ...]:
        """What an object is found by. One that the author's function can't take is found by nothing."""
        try:
            found: Any = self._by(item.decode())
            several = isinstance(found, Iterable) and not isinstance(found, str)
            values: tuple[Any, ...] = tuple(found) if several else () if found is None else (found,)
            if wrong := [each for each in values if not isinstance(each, str)]:
                raise TypeError(f"it returned {wrong[0]!r}; it must return a string, several strings, or None")
        except Exception:
            log.exception("the function of index(%s, by=...) failed for %s", self.what.__name__, item)
            return ()
        return values


def index(what: type[ObjectT], *, by: By[ObjectT]) -> Index[ObjectT]:
    """Objects of a kind, to be found by what `by` says of each: a string, several, or None."""
    return Index(what, by)
