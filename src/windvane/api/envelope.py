"""An object as it arrived: its bytes, and the few facts that caches and queues need without decoding it.

A list of 20,000 objects is mostly looked at, not read. So each item keeps its bytes, about as large as on
the wire, and becomes a typed object only in `decode()`; a new one each time, so that
what a caller changes is seen by no other.
"""

from typing import Generic, TypeVar

import msgspec

from windvane.api.codec import in_words
from windvane.api.meta import OwnerReference
from windvane.api.resource import Object, kind_of, read_object

ObjectT = TypeVar("ObjectT", bound=Object)


_NOTHING = msgspec.Raw(b"null")


class EnvelopeMeta(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """The part of an object's metadata that is read at once.

    Labels and annotations stay bytes until they are looked at: as dicts they would take as much memory as all else
    here.
    """

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: str | None = None
    owner_references: list[OwnerReference] | None = None
    finalizers: list[str] | None = None
    labels_json: msgspec.Raw = msgspec.field(name="labels", default=_NOTHING)
    annotations_json: msgspec.Raw = msgspec.field(name="annotations", default=_NOTHING)

    @property
    def labels(self) -> dict[str, str] | None:
        """The object's labels; None if it has none."""
        return _pairs.decode(self.labels_json)

    @property
    def annotations(self) -> dict[str, str] | None:
        """The object's annotations; None if it has none."""
        return _pairs.decode(self.annotations_json)


class Envelope(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Kind and metadata of any object."""

    api_version: str = ""
    kind: str = ""
    metadata: EnvelopeMeta = EnvelopeMeta()


_decoder = msgspec.json.Decoder(Envelope)
_pairs: msgspec.json.Decoder[dict[str, str] | None] = msgspec.json.Decoder(dict[str, str] | None)


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
    def resource(self) -> str:
        """The kind's plural with its group: `deployments.apps`."""
        return kind_of(self._what).resource

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.meta.namespace, self.meta.name

    def decode(self) -> ObjectT:
        """The typed object, made anew on each call; msgspec.ValidationError if it is not of that type."""
        try:
            return read_object(self.raw, self._what)
        except Exception as error:  # what a class raises in its __post_init__ may be anything
            where = "/".join(filter(None, self.key))
            raise msgspec.ValidationError(f"{kind_of(self._what).name} {where}: {in_words(error)}") from error

    def bare(self) -> "Item[ObjectT]":
        """The same without bytes, labels and annotations: what it is and whose. There is nothing left to decode."""
        bare: Item[ObjectT] = object.__new__(type(self))
        bare.raw = b""
        bare.meta = msgspec.structs.replace(self.meta, labels_json=_NOTHING, annotations_json=_NOTHING)
        bare._what = self._what
        return bare

    def __repr__(self) -> str:
        return f"<Item {'/'.join(filter(None, self.key))} at {self.meta.resource_version}>"
