"""The policies in the store with their bindings: compiled once, and again when they have changed.

A policy without a binding has no effect, nor has a binding without a policy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Generic, TypeVar

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.matcher import REGISTRATION, MatchResources
from windvane.cluster.apiserver.storage.store import Store

Compiled = TypeVar("Compiled")


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding of a policy: for which objects, and with which params."""

    name: str
    spec: Wire
    match: MatchResources | None


@dataclass(frozen=True, slots=True)
class Bound(Generic[Compiled]):
    """A policy with at least one binding."""

    name: str
    spec: Wire
    match: MatchResources
    compiled: Callable[[], Compiled]
    """Its compiled expressions. That may take long, so it is done when they are first needed."""
    bindings: Sequence[Binding]

    @property
    def ignores_errors(self) -> bool:
        """Whether errors don't refuse the request."""
        return self.spec.get("failurePolicy") == "Ignore"


class BoundPolicies(Generic[Compiled]):
    """All policies of one kind that have bindings."""

    def __init__(self, store: Store, policies: str, compile_: Callable[[Wire], Compiled]) -> None:
        """`policies` is the plural of the kind; `compile_` compiles the spec of one."""
        self._store = store
        self._policies = f"{REGISTRATION}/{policies}"
        self._bindings = f"{REGISTRATION}/{policies.removesuffix('policies')}policybindings"
        self._compile = compile_
        self._read: tuple[tuple[int, int], list[Bound[Compiled]]] = ((-1, -1), [])
        self._compiled: dict[str, tuple[int, Callable[[], Compiled]]] = {}  # by name, with the revision that it is of

    def all(self) -> list[Bound[Compiled]]:
        """All of them, by name. Called for every write: if nothing has changed, it costs two look-ups."""
        revisions = self._store.changed(self._policies), self._store.changed(self._bindings)
        if self._read[0] != revisions:
            self._read = revisions, self._read_all()
        return self._read[1]

    def _read_all(self) -> list[Bound[Compiled]]:
        bindings: dict[str, list[Binding]] = {}
        for entry in self._store.entries(self._bindings):
            spec = msgspec.json.decode(entry.value).get("spec") or {}
            match = msgspec.convert(spec["matchResources"], MatchResources) if spec.get("matchResources") else None
            bindings.setdefault(spec.get("policyName", ""), []).append(Binding(entry.key.name, spec, match))
        found: list[Bound[Compiled]] = []
        compiled: dict[str, tuple[int, Callable[[], Compiled]]] = {}
        for entry in self._store.entries(self._policies):
            name = entry.key.name
            if name not in bindings:
                continue
            spec = msgspec.json.decode(entry.value).get("spec") or {}
            known = self._compiled.get(name)
            if known is None or known[0] != entry.revision:
                known = entry.revision, cache(partial(self._compile, spec))
            compiled[name] = known
            match = msgspec.convert(spec.get("matchConstraints") or {}, MatchResources)
            found.append(Bound(name, spec, match, known[1], bindings[name]))
        self._compiled = compiled
        return found
