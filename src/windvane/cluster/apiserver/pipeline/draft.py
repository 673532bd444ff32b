"""A write on its way into the store: what was asked for, the object so far, and how far it has come.

How far is the type: a stage that needs a `Valid` object can't be given a `Decoded` one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from windvane.api.json_value import Wire
from windvane.api.status import APIStatus
from windvane.cluster.apiserver.admission.admission import Admission
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.storage.record import Entry
from windvane.cluster.apiserver.storage.store import Write
from windvane.cluster.apiserver.target import Target

Merge = Callable[[Wire], Wire]
"""What makes of the object that is there the one that shall be. It may be called again if another client is faster."""
D = TypeVar("D", bound="Draft")


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What is to be written. The server's own writes need no `admission`."""

    target: Target
    merge: Merge
    by: str = ""
    """The manager, as managedFields will name it."""
    dry_run: bool = False
    admission: Admission | None = None


@dataclass(frozen=True, slots=True)
class ScaleRequest(WriteRequest):
    """A Scale to be written into an object: admission sees Scales."""

    rescale: Callable[[Wire, Wire], Wire] = lambda scale, _: scale
    """What makes of an object's Scale, and of the object, the Scale that shall be."""
    scale_admission: Admission | None = None


@dataclass(frozen=True, slots=True)
class Existing:
    """The object that is there."""

    entry: Entry
    shown: bytes
    """As it is read in the version of the request."""
    wire: Wire


@dataclass(frozen=True, slots=True)
class Draft:
    """One attempt at a write."""

    request: WriteRequest
    existing: Existing | None
    """None for an object that is new."""
    wire: Wire
    """The object so far. Stages change it in place, or put another in its place."""

    def to(self, state: type[D], wire: Wire | None = None) -> D:
        """The same, one stage further."""
        return state(self.request, self.existing, self.wire if wire is None else wire)

    @property
    def current(self) -> Wire:
        """The object that is there; only stages of changes ask."""
        if self.existing is None:
            raise ValueError("a new object has no former self")
        return self.existing.wire


class Merged(Draft):
    """As it was sent, or as a patch or an applied configuration leaves what is there."""


class Decoded(Draft):
    """With its defaults, without unknown fields, and with the managers of its fields."""


class Mutated(Draft):
    """As mutating admission plugins leave it, and of the identity that it must have."""


class Prepared(Draft):
    """With what the API server itself writes into it."""


class Valid(Draft):
    """By the rules of its kind, and with what was allocated for it."""


class Admitted(Draft):
    """Not refused by a validating admission plugin."""


@dataclass(frozen=True, slots=True)
class Converted:
    """In the version that is stored."""

    request: WriteRequest
    existing: Existing | None
    wire: Wire
    """The object in the version of the request."""
    stored: Wire
    make: Callable[[int], bytes]
    """Makes the bytes to store, once their revision is known."""
    gone: bool = False
    """Whether nothing holds the object any more: this is the last of it."""
    same: bool = False
    """Whether nothing has changed, so that there is nothing to store."""


@dataclass(frozen=True, slots=True)
class Charged:
    """Counted in the quotas of its namespace, which are written together with it."""

    converted: Converted
    quotas: list[Write]


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left behind: the object as it is now, or as it was when it went."""

    value: bytes
    gone: bool = False
    made: bool = False
    """Whether the object was not there before."""


class ObjectNotFound(Failure):
    """The object is not there. A webhook may well say 404 about one that is, and means something else."""


class NameTaken(Failure):
    """The name of a new object is taken, by the store's own account."""

    def __init__(self, status: APIStatus, name: str) -> None:
        super().__init__(status)
        self.name = name
