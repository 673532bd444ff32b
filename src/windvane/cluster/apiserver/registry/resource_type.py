"""One served version of a kind: what it is, and by which strategy it is handled."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from windvane.api.custom_resources.schema import Schema
from windvane.api.kind import Kind
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.strategy import Strategy


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

    strategy: Strategy
    definition_name: str = ""
    """The CRD's name, such as `websites.demo.windvane.dev`."""
    storage_version: str = ""
    """The version that objects are stored in; the kind's own if empty."""
    versions: Versions | None = None
    """What it shares with the other versions of its kind; None for a built-in kind."""
    served: bool = True
    deprecation: str = ""
    """The warning that goes with every answer; empty if the version is not deprecated."""
    leaving: bool = False
    """Whether its CRD is being deleted: then nothing new is taken."""
    kind: Kind = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", self.strategy.kind)

    @property
    def schema(self) -> Schema:
        """See `Strategy`."""
        return self.strategy.schema

    @cached_property
    def collection(self) -> str:
        """Where the store keeps its objects: all versions of a kind share one place."""
        stored = self.strategy.stored_kind
        return f"{stored.group}/{stored.plural}"


Convert = Callable[[ResourceType, dict[str, Any], ResourceType], Awaitable[dict[str, Any]]]
