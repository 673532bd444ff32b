"""What the server serves: every kind by its place in the API. Custom kinds come and go with their CRDs."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from windvane.cluster.apiserver.registry.resource_type import ResourceType


@dataclass
class Catalog:
    """All served types, by group, version and plural."""

    types: dict[tuple[str, str, str], ResourceType] = field(default_factory=dict)
    generation: int = 0
    """Moves with every change, so that documents made from the catalog can be kept until then."""
    _grouped: dict[str, tuple[ResourceType, ...]] = field(default_factory=dict, repr=False)
    _grouped_at: int = -1

    def find(self, group: str, version: str, plural: str) -> ResourceType | None:
        """The type served at that place, if any."""
        return self.types.get((group, version, plural))

    def versions_of(self, type_: ResourceType) -> tuple[ResourceType, ...]:
        """All that is served of the objects of a type: itself, in other versions, and maybe in another group."""
        if self._grouped_at != self.generation:
            grouped: dict[str, tuple[ResourceType, ...]] = {}
            for each in self.types.values():
                grouped[each.collection] = (*grouped.get(each.collection, ()), each)
            self._grouped, self._grouped_at = grouped, self.generation
        return self._grouped.get(type_.collection, ())

    def is_routed(self, group: str) -> bool:
        """Whether the group is one of the server's own, which has a router; CRDs may add kinds to it."""
        return any(each.strategy.is_routed for each in self.types.values() if each.kind.group == group)

    def add(self, types: Iterable[ResourceType]) -> None:
        """Serve these, in place of what was served there before."""
        for each in types:
            self.types[each.kind.group, each.kind.version, each.kind.plural] = each
        self.generation += 1

    def remove(self, group: str, plural: str) -> None:
        """Serve that kind no more, in any version."""
        self.types = {key: each for key, each in self.types.items() if (key[0], key[2]) != (group, plural)}
        self.generation += 1
