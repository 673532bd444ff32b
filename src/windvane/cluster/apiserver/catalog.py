"""What the server serves: every kind with its schema, built-in ones from `windvane.k8s`, custom ones from CRDs.

Built-in and custom kinds are described by the same `ResourceType`, and go through the same code.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import msgspec

from windvane.api.custom_resources.schema import Schema
from windvane.api.kind import Kind
from windvane.api.resource import Object
from windvane.cluster.apiserver.failure import Failure

GROUPS = (
    "core", "apps", "batch", "autoscaling", "policy", "networking", "rbac", "storage", "coordination", "discovery",
    "events", "scheduling", "node", "certificates", "admissionregistration", "apiextensions", "apiregistration",
    "flowcontrol", "storagemigration",
)  # fmt: skip


@dataclass(eq=False)
class Versions:
    """What the versions of one custom kind share: which of them is stored, and what makes one of another."""

    storage: str
    """The version that objects are written in."""
    first: str
    """The version of objects that don't say theirs: they are older than this server's noting it."""
    webhook: Mapping[str, Any] | None = None
    """`spec.conversion.webhook` of the CRD; None if versions differ in nothing but their names."""
    convert: "Convert | None" = None
    """Makes an object of one version one of another, with the help of the webhook if there is one."""
    since: int = 0
    """The record since which the schemas are as they are: objects that are older may have fields that they lack."""
    types: dict[str, "ResourceType"] = field(default_factory=dict)
    """All of them by name, whether they are served or not."""
    converted: dict[tuple[bytes, str], bytes | Failure] = field(default_factory=dict)
    """What the webhook has made of objects, by what they were and the version that was wanted. The oldest come first,
    and it is all forgotten when the CRD changes, which makes new `Versions`."""
    converted_bytes: int = 0
    """How large all that is, with what it was."""
    _alike: dict[tuple[str, str], bool] = field(default_factory=dict)

    def alike(self, one: "ResourceType", other: "ResourceType") -> bool:
        """Whether an object of one version is as good an object of the other."""
        pair = (one.kind.version, other.kind.version)
        if pair not in self._alike:
            self._alike[pair] = one.schema == other.schema
        return self._alike[pair]


@dataclass(frozen=True, eq=False)
class ResourceType:
    """One served version of a kind, with all that the server must know about it."""

    kind: Kind
    schema: Schema
    """Structural, with defaults; for a built-in kind also with what strategic merge patches need."""
    definition: Mapping[str, Any] | None = None
    """The entry in `spec.versions` of the CRD; None for a built-in kind."""
    definition_name: str = ""
    """The CRD's name, such as `websites.demo.windvane.dev`."""
    storage_version: str = ""
    """The version that objects are stored in; the kind's own if empty."""
    versions: Versions | None = None
    """What it shares with the other versions of its kind; None for a built-in kind."""
    selectable: tuple[str, ...] = ()
    """Paths such as `spec.nodeName` that field selectors may use beside metadata.name and metadata.namespace."""
    verbs: tuple[str, ...] = (
        "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
    )  # fmt: skip
    deprecation: str = ""
    """The warning that goes with every answer; empty if the version is not deprecated."""
    leaving: bool = False
    """Whether its CRD is being deleted: then nothing new is taken."""

    @property
    def custom(self) -> bool:
        """Whether a CRD defines it."""
        return self.definition is not None

    @cached_property
    def head(self) -> bytes:
        """How the JSON of a custom object in this version begins."""
        return msgspec.json.encode({"apiVersion": self.kind.api_version, "kind": self.kind.name})[:-1] + b","

    @property
    def stored_kind(self) -> Kind:
        """The kind that its objects are stored as: itself, unless they are also in another group, in another form."""
        return self.kind

    @property
    def collection(self) -> str:
        """Where the store keeps its objects: all versions of a kind share one place."""
        return f"{self.stored_kind.group}/{self.stored_kind.plural}"

    def to_storage(self, wire: dict[str, Any]) -> dict[str, Any]:
        """An object in the form of `stored_kind`."""
        return wire

    def from_storage(self, wire: dict[str, Any]) -> dict[str, Any]:
        """A stored object in the form of this kind."""
        return wire

    @property
    def returned_when_deleted(self) -> bool:
        """Whether a deletion is answered with the object, instead of with a Status."""
        return False

    @property
    def has_status(self) -> bool:
        """Whether status is written through a subresource of its own."""
        return "status" in self.kind.subresources


Convert = Callable[[ResourceType, dict[str, Any], ResourceType], Awaitable[dict[str, Any]]]


@dataclass
class Catalog:
    """All served types, by group, version and plural. Changes when CRDs come and go."""

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

    def has_builtin(self, group: str) -> bool:
        """Whether the group is one of the server's own; CRDs may add kinds to it."""
        return any(not each.custom for each in self.types.values() if each.kind.group == group)

    def add(self, types: Iterable[ResourceType]) -> None:
        """Serve these, in place of what was served there before."""
        for each in types:
            self.types[each.kind.group, each.kind.version, each.kind.plural] = each
        self.generation += 1

    def remove(self, group: str, plural: str) -> None:
        """Serve that kind no more, in any version."""
        self.types = {key: each for key, each in self.types.items() if (key[0], key[2]) != (group, plural)}
        self.generation += 1


@cache
def builtin_kinds() -> tuple[type[Object], ...]:
    """The classes of all built-in kinds that have a place of their own in the API."""
    found: list[type[Object]] = []
    for group in GROUPS:
        module = import_module(f"windvane.k8s.{group}")
        found += [
            thing
            for thing in vars(module).values()
            if isinstance(thing, type) and issubclass(thing, Object) and thing.__module__ == module.__name__
        ]
    return tuple(found)
