"""What a controller may see: the informers that were declared for it, and no others.

Reading a kind from the cache starts no watch. A kind that was not declared is an error that says what to declare, so
that the operator's permissions can be derived from its declarations.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from windvane.api.kind import Kind
from windvane.api.resource import Object, kind_of
from windvane.runtime.informer import Informer

ObjectT = TypeVar("ObjectT", bound=Object)


class Undeclared(Exception):
    """A controller reads or writes a kind that it did not declare; the message says what to declare."""


class Sight:
    """The informers of one controller, by kind."""

    def __init__(self, primary: type[Object], informers: Mapping[Kind, Informer[Any]], owned: Iterable[Kind]) -> None:
        self.primary = primary
        self._informers = informers
        self.owned = tuple(owned)

    def of(self, what: type[ObjectT]) -> Informer[ObjectT]:
        """The informer of that kind; `Undeclared` if the controller has none."""
        informer = self._informers.get(kind_of(what))
        if informer is None:
            name, primary = what.__name__, self.primary.__name__
            raise Undeclared(
                f"{name} was not declared, so there is no cache of it. Write owns=[{name}] if {primary} objects own "
                f"it, or watches=[Watch({name}, to=...)] if it is somebody else's"
            )
        return cast(Informer[ObjectT], informer)

    def of_owned(self, what: type[ObjectT]) -> Informer[ObjectT]:
        """The informer of a kind that the controller owns objects of; `Undeclared` if it does not."""
        if kind_of(what) not in self.owned:
            name, primary = what.__name__, self.primary.__name__
            raise Undeclared(
                f"a {name} can't be applied by the controller of {primary}, which does not own any. "
                f"Write @operator.controller({primary}, owns=[{name}])"
            )
        return self.of(what)

    def all_owned(self) -> list[Informer[Any]]:
        """The informers of the kinds that the controller owns objects of."""
        return [self._informers[kind] for kind in self.owned]
