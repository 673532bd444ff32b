"""What a controller may see: the informers that were declared for it, and no others.

Reading a kind from the cache starts no watch. A kind that was not declared is an error that says what to declare, so
that the operator's permissions can be derived from its declarations.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar, cast

from windvane.api.kind import Kind
from windvane.api.partial import Metadata
from windvane.api.resource import Object, kind_of
from windvane.runtime.informers.informer import Informer

ObjectT = TypeVar("ObjectT", bound=Object)


class Undeclared(Exception):
    """A controller reads or writes a kind that it did not declare; the message says what to declare."""


class InformerKey(NamedTuple):
    """A kind, and whether whole objects of it are seen or only their metadata: each has a cache of its own."""

    kind: Kind
    metadata_only: bool = False

    def __str__(self) -> str:
        return f"{self.kind.resource} (metadata)" if self.metadata_only else self.kind.resource


def informer_key(what: type[Object]) -> InformerKey:
    """How objects are seen by a controller that declares this class."""
    return InformerKey(kind_of(what), issubclass(what, Metadata))


Informers = Mapping[InformerKey, Informer[Any]]


class DeclaredInformers:
    """The informers of one controller."""

    def __init__(
        self, primary: type[Object], informers: Informers, *, declared: Iterable[InformerKey], owned: Iterable[Kind]
    ) -> None:
        self.primary = primary
        self.owned = tuple(owned)
        self._informers = {each: informers[each] for each in declared}

    def of(self, what: type[ObjectT]) -> Informer[ObjectT]:
        """The informer of that kind; `Undeclared` if the controller has none."""
        informer = self._informers.get(informer_key(what))
        if informer is None:
            raise Undeclared(self.not_declared(what))
        return cast(Informer[ObjectT], informer)

    def of_owned(self, what: type[ObjectT]) -> Informer[ObjectT]:
        """The informer of a kind that the controller owns objects of; `Undeclared` if it does not."""
        if kind_of(what) not in self.owned:
            raise Undeclared(self.not_owned(what))
        return self.of(what)

    def not_declared(self, what: type[Object]) -> str:
        """What to say of a kind that is read, and was not declared."""
        name, primary = _written(what), self.primary.__name__
        owns = "" if issubclass(what, Metadata) else f"owns=[{name}] if {primary} objects own it, "
        return (
            f"{name} was not declared by the controller of {primary}, so there is no cache of it. "
            f"Write {owns}watches=[Watch({name}, to=...)] if its changes bring passes, or reads=[{name}] if they don't"
        )

    def not_owned(self, what: type[Object]) -> str:
        """What to say of a kind that is applied, and was not declared."""
        name, primary = what.__name__, self.primary.__name__
        return (
            f"a {name} can't be applied by the controller of {primary}, which does not own any. "
            f"Write @operator.controller({primary}, owns=[{name}])"
        )

    def all_owned(self) -> list[Informer[Any]]:
        """The informers of the kinds that the controller owns objects of, and sees whole: others it can't apply."""
        return [self._informers[InformerKey(kind)] for kind in self.owned if InformerKey(kind) in self._informers]

    def all_of(self, group: str, resource: str) -> list[Informer[Any]]:
        """The informers of a kind by its names in the API: whole objects, their metadata, or none."""
        return [
            informer
            for (kind, _), informer in self._informers.items()
            if kind.group == group and resource in (kind.plural, kind.name)
        ]


def _written(what: type[Object]) -> str:
    return f"only_metadata({kind_of(what).name})" if issubclass(what, Metadata) else what.__name__
