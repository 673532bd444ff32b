"""A write on its way into the store: the request, the object so far, and how many stages it has passed.

Its class says which stage it has reached: a stage that needs a `Valid` object can't be given a `Decoded` one.
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
"""Makes the new object from the current one. It is called again if another client was faster."""
D = TypeVar("D", bound="Draft")


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """The write that was requested. The server's own writes have no `admission`."""

    target: Target
    merge: Merge
    by: str = ""
    """The field manager."""
    dry_run: bool = False
    admission: Admission | None = None


@dataclass(frozen=True, slots=True)
class ScaleRequest(WriteRequest):
    """A write of a Scale into an object: admission sees the Scale."""

    rescale: Callable[[Wire, Wire], Wire] = lambda scale, _: scale
    """Makes the new Scale from the current one and the object."""
    scale_admission: Admission | None = None


@dataclass(frozen=True, slots=True)
class Existing:
    """The current object."""

    entry: Entry
    shown: bytes
    """The object in the version of the request."""
    wire: Wire


@dataclass(frozen=True, slots=True)
class Draft:
    """One attempt at a write."""

    request: WriteRequest
    existing: Existing | None
    """None for a new object."""
    wire: Wire
    """The object so far. Stages change it in place, or replace it."""

    def to(self, state: type[D], wire: Wire | None = None) -> D:
        """The same draft at another stage."""
        return state(self.request, self.existing, self.wire if wire is None else wire)

    @property
    def current(self) -> Wire:
        """The current object; only for stages of changes."""
        if self.existing is None:
            raise ValueError("a new object has no former self")
        return self.existing.wire


class Merged(Draft):
    """The object as it was sent, or the current object after a patch or an apply."""


class Decoded(Draft):
    """With its defaults, without unknown fields, and with the managers of its fields."""


class Mutated(Draft):
    """After mutating admission, and with the identity of the current object."""


class Prepared(Draft):
    """With the fields that the API server sets."""


class Valid(Draft):
    """After validation, and with allocated addresses."""


class Admitted(Draft):
    """After validating admission."""


@dataclass(frozen=True, slots=True)
class Converted:
    """Converted to the storage version."""

    request: WriteRequest
    existing: Existing | None
    wire: Wire
    """The object in the version of the request."""
    stored: Wire
    make: Callable[[int], bytes]
    """Makes the bytes to store at a revision."""
    gone: bool = False
    """Whether nothing holds the object any more, so that it is deleted."""
    same: bool = False
    """Whether nothing has changed, so that nothing is stored."""


@dataclass(frozen=True, slots=True)
class Charged:
    """With the changes of the quotas that count the object, which are written together with it."""

    converted: Converted
    quotas: list[Write]


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write: the object as it is now, or as it was when it was deleted."""

    value: bytes
    gone: bool = False
    made: bool = False
    """Whether the object was created."""


class ObjectNotFound(Failure):
    """The object does not exist. A 404 from a webhook is another `Failure`: it means something else."""


class NameTaken(Failure):
    """The store has an object of that name already."""

    def __init__(self, status: APIStatus, name: str) -> None:
        super().__init__(status)
        self.name = name
