"""Indexes: objects found by something that is written in them, without looking at all of them.

    sites_by_secret = index(Website, by=lambda site: site.spec.secret)

    ctx.find(sites_by_secret, "db-password")

The index is built in the cache when it is first asked, and kept with every change from then on. What it finds is
decoded anew each time. Where there are hundreds to look at in each pass, an index can keep the little that matters of
each, and finds that:

    replicas_by_site = index(Pod, by=lambda pod: pod.metadata.labels["site"], of=Replica.of)
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar, cast, overload

from windvane.api.envelope import Item
from windvane.api.resource import Object
from windvane.runtime.informers.cache import Found, IndexEntry

log = logging.getLogger(__name__)

ObjectT = TypeVar("ObjectT", bound=Object)
FoundT = TypeVar("FoundT")
By = Callable[[ObjectT], str | Iterable[str] | None]


class Index(Generic[FoundT]):
    """What objects of a kind can be found by, and what is found then; made by `index(kind, by=function)`."""

    def __init__(self, what: type[Object], by: By[Any], of: Callable[[Any], FoundT] | None) -> None:
        self.what = what
        self._by = by
        self._of = of

    def entry(self, item: Item[Any]) -> IndexEntry:
        """What an object is found by. One that the author's functions can't take is found by nothing."""
        try:
            thing = item.decode()
            found: Any = self._by(thing)
            several = isinstance(found, Iterable) and not isinstance(found, str)
            values: tuple[Any, ...] = tuple(found) if several else () if found is None else (found,)
            if wrong := [each for each in values if not isinstance(each, str)]:
                raise TypeError(f"it returned {wrong[0]!r}; it must return a string, several strings, or None")
            return IndexEntry(values, self._of(thing) if self._of and values else None)
        except Exception:
            functions = "by=..., of=..." if self._of else "by=..."
            log.exception("the function of index(%s, %s) failed for %s", self.what.__name__, functions, item)
            return IndexEntry(())

    def show(self, found: Found[Any]) -> FoundT:
        """What is found: the object, or what is kept of it."""
        return cast(FoundT, found.kept if self._of else found.item.decode())


@overload
def index(what: type[ObjectT], *, by: By[ObjectT]) -> Index[ObjectT]: ...


@overload
def index(what: type[ObjectT], *, by: By[ObjectT], of: Callable[[ObjectT], FoundT]) -> Index[FoundT]: ...


def index(what: type[ObjectT], *, by: By[ObjectT], of: Callable[[ObjectT], Any] | None = None) -> Index[Any]:
    """Objects of a kind, to be found by what `by` says of each: a string, several, or None.

    With `of`, not they are found but what that function has made of each when it last changed. All callers get the
    same one, so none may change it.
    """
    return Index(what, by, of)
