"""What can be read from the caches: one object, those of a namespace, those that an index finds."""

import builtins
from collections.abc import Mapping
from typing import TypeVar

from windvane.api.resource import Object, kind_of
from windvane.api.selector import Selector
from windvane.runtime.informers.declared_informers import DeclaredInformers
from windvane.runtime.informers.index import Index

ObjectT = TypeVar("ObjectT", bound=Object)
FoundT = TypeVar("FoundT")


class View:
    """The declared kinds, as the caches have them, seen from one namespace. Nothing is asked of the server."""

    def __init__(self, informers: DeclaredInformers, namespace: str) -> None:
        self._informers = informers
        self._home = namespace
        self.reads: dict[str, None] = {}  # an ordered set
        """What was looked at so far."""

    def get(self, what: type[ObjectT], name: str, *, namespace: str = "") -> ObjectT | None:
        """An object, in the namespace of this one unless told otherwise; None if it is not there."""
        informer = self._informers.of(what)
        self.reads[f"{informer.kind.resource} {name}"] = None
        item = informer.cache.get((self._namespace(what, namespace), name))
        return item.decode() if item is not None else None

    def list(
        self,
        what: type[ObjectT],
        *,
        labels: Mapping[str, str] | Selector | None = None,
        namespace: str = "",
        all_namespaces: bool = False,
    ) -> list[ObjectT]:
        """Objects, in the namespace of this one unless told otherwise, ordered by name."""
        selector = Selector.of(labels) if isinstance(labels, Mapping) else labels
        informer = self._informers.of(what)
        self.reads[informer.kind.resource] = None
        where = "" if all_namespaces else self._namespace(what, namespace)
        return [item.decode() for item in informer.cache.items(where, selector)]

    def find(
        self, index: Index[FoundT], value: str, *, namespace: str = "", all_namespaces: bool = False
    ) -> "builtins.list[FoundT]":
        """What an index has of the objects under `value`, in the namespace of this one unless told otherwise."""
        informer = self._informers.of(index.what)
        self.reads[f"{informer.kind.resource} by index"] = None
        where = "" if all_namespaces else self._namespace(index.what, namespace)
        found = informer.cache.by(index, index.entry, value)
        return [index.show(each) for each in found if where in ("", each.item.meta.namespace)]

    def _namespace(self, what: type[Object], namespace: str) -> str:
        return (namespace or self._home) if kind_of(what).namespaced else ""
