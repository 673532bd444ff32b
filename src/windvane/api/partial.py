"""Objects of which only the metadata is looked at: names, labels, owners, for a small part of the memory.

    PodMetadata = only_metadata(core.Pod)
    async for event in client.watch(PodMetadata): event.object.metadata.labels

The server sends nothing else, so a cache of twenty thousand Secrets holds no secret.
"""

from functools import cache
from typing import cast

from windvane.api.kind import Kind
from windvane.api.resource import Object, ObjectType, kind_of


class Metadata(Object):
    """An object's metadata, without the object."""

    def __post_init__(self) -> None:
        # The server calls it a PartialObjectMetadata, whatever it is a part of. The class knows.
        kind = kind_of(type(self))
        self.api_version, self.kind = kind.api_version, kind.name


def only_metadata(what: type[Object]) -> type[Metadata]:
    """A class for the metadata of a kind, to be passed wherever the kind's own can be."""
    return _only_metadata(kind_of(what))


@cache
def _only_metadata(kind: Kind) -> type[Metadata]:
    cls = ObjectType(f"{kind.name}Metadata", (Metadata,), {"__module__": __name__})
    cls.__kind__ = kind
    return cast(type[Metadata], cls)
