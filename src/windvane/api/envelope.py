"""An object as it arrived: its bytes, and the few facts that caches and queues need without decoding it.

A list of 20,000 objects is mostly looked at, not read. So each item keeps its bytes, about as large as on
the wire, and becomes a typed object only when somebody calls `decode()`; a new one each time, so that
nobody's changes are seen by anybody else.
"""

from typing import Generic, TypeVar

import msgspec

from windvane.api.meta import OwnerReference
from windvane.api.resource import Object, kind_of, read_object

ObjectT = TypeVar("ObjectT", bound=Object)


class EnvelopeMeta(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """The part of an object's metadata that is read at once."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class Envelope(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Kind and metadata of any object."""

    api_version: str = ""
    kind: str = ""
    metadata: EnvelopeMeta = EnvelopeMeta()


_decoder = msgspec.json.Decoder(Envelope)


class Item(Generic[ObjectT]):
    """One object of a list or a watch, not yet decoded."""

    __slots__ = ("_what", "meta", "raw")

    def __init__(self, raw: bytes, what: type[ObjectT]) -> None:
        self.raw = raw
        """The JSON bytes as the server sent them."""
        self.meta = _decoder.decode(raw).metadata
        self._what = what

    @property
    def kind(self) -> str:
        """The kind's name."""
        return kind_of(self._what).name

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.meta.namespace, self.meta.name

    def decode(self) -> ObjectT:
        """The typed object, made anew on each call; msgspec.ValidationError if it is not of that type."""
        try:
            return read_object(self.raw, self._what)
        except msgspec.ValidationError as error:
            where = "/".join(filter(None, self.key))
            raise msgspec.ValidationError(f"{kind_of(self._what).name} {where}: {error}") from error

    def __repr__(self) -> str:
        return f"<Item {'/'.join(filter(None, self.key))} at {self.meta.resource_version}>"
