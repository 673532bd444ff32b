"""What a field's type can't say by itself: bounds, patterns, list types, as `Annotated` metadata.

    replicas: Annotated[int, Ge(1), Le(9)] = 3
    ports: Annotated[list[Port], ListMap("name"), MaxItems(16)] = []
    host: Annotated[str, Pattern("^[a-z.]+$"), MaxLength(253)]

The API server enforces them, from the CRD that `crd()` makes; decoding does not, so that an operator can
still read an object that an older, laxer CRD let in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

NUMBERS = frozenset({"integer", "number"})
STRINGS = frozenset({"string"})
LISTS = frozenset({"array"})
OBJECTS = frozenset({"object"})
ANY = frozenset({"integer", "number", "string", "boolean", "array", "object", "int-or-string", "any"})


class Marker:
    """Something `schema()` adds to the schema of the type it annotates."""

    suits: ClassVar[frozenset[str]] = ANY
    """The schema types that it can be put on."""

    def keywords(self) -> Mapping[str, Any]:
        """The schema keywords that it stands for."""
        raise NotImplementedError


@dataclass(frozen=True)
class NumberMarker(Marker):
    """One schema keyword with a number."""

    value: int | float
    keyword: ClassVar[str]
    suits = NUMBERS

    def keywords(self) -> Mapping[str, Any]:
        return {self.keyword: self.value}


@dataclass(frozen=True)
class SizeMarker(Marker):
    """One schema keyword that counts characters, items or entries."""

    value: int
    keyword: ClassVar[str]

    def keywords(self) -> Mapping[str, Any]:
        return {self.keyword: self.value}


@dataclass(frozen=True)
class TextMarker(Marker):
    """One schema keyword with a text."""

    value: str
    keyword: ClassVar[str]

    def keywords(self) -> Mapping[str, Any]:
        return {self.keyword: self.value}


@dataclass(frozen=True)
class FlagMarker(Marker):
    """Schema keywords that never vary."""

    fixed: ClassVar[Mapping[str, Any]]

    def keywords(self) -> Mapping[str, Any]:
        return self.fixed


class Ge(NumberMarker):
    """At least this number."""

    keyword = "minimum"


class Le(NumberMarker):
    """At most this number."""

    keyword = "maximum"


class Gt(NumberMarker):
    """More than this number."""

    def keywords(self) -> Mapping[str, Any]:
        return {"minimum": self.value, "exclusiveMinimum": True}


class Lt(NumberMarker):
    """Less than this number."""

    def keywords(self) -> Mapping[str, Any]:
        return {"maximum": self.value, "exclusiveMaximum": True}


class MultipleOf(NumberMarker):
    """A whole multiple of this number."""

    keyword = "multipleOf"


class MinLength(SizeMarker):
    """A string of at least this many characters."""

    suits = STRINGS
    keyword = "minLength"


class MaxLength(SizeMarker):
    """A string of at most this many characters. CEL rules over strings need it to stay cheap."""

    suits = STRINGS | {"int-or-string"}
    keyword = "maxLength"


class MinItems(SizeMarker):
    """A list of at least this many items."""

    suits = LISTS
    keyword = "minItems"


class MaxItems(SizeMarker):
    """A list of at most this many items. CEL rules over lists need it to stay cheap."""

    suits = LISTS
    keyword = "maxItems"


class MinProperties(SizeMarker):
    """A map of at least this many entries."""

    suits = OBJECTS
    keyword = "minProperties"


class MaxProperties(SizeMarker):
    """A map of at most this many entries."""

    suits = OBJECTS
    keyword = "maxProperties"


class Pattern(TextMarker):
    """A string that this regular expression finds a match in; write ^ and $ to mean all of it."""

    suits = STRINGS
    keyword = "pattern"


class Format(TextMarker):
    """An OpenAPI format: `int32`, `uri`, `email`, `ipv4`, `cidr`, `uuid`, `date`, ..."""

    suits = NUMBERS | STRINGS
    keyword = "format"


class Nullable(FlagMarker):
    """`null` may be written, and means something else than leaving the field out."""

    fixed = {"nullable": True}


class Required(FlagMarker):
    """The wire must carry the field although Python fills in a default."""

    fixed = {}


class PreserveUnknown(FlagMarker):
    """Keep fields that the schema does not name; without it the server removes them."""

    suits = OBJECTS | {"any"}
    fixed = {"x-kubernetes-preserve-unknown-fields": True}


class EmbeddedResource(FlagMarker):
    """A whole Kubernetes object, with apiVersion, kind and metadata that the server checks."""

    suits = OBJECTS | {"any"}
    fixed = {"type": "object", "x-kubernetes-embedded-resource": True}


class ListSet(FlagMarker):
    """A list without repeats, whose items server-side apply merges one by one."""

    suits = LISTS
    fixed = {"x-kubernetes-list-type": "set"}


class ListAtomic(FlagMarker):
    """A list that server-side apply replaces as a whole."""

    suits = LISTS
    fixed = {"x-kubernetes-list-type": "atomic"}


class MapAtomic(FlagMarker):
    """A map or struct that server-side apply replaces as a whole."""

    suits = OBJECTS
    fixed = {"x-kubernetes-map-type": "atomic"}


class MapGranular(FlagMarker):
    """A map that server-side apply merges entry by entry, which is also what happens without it."""

    suits = OBJECTS
    fixed = {"x-kubernetes-map-type": "granular"}


@dataclass(frozen=True, slots=True)
class Default(Marker):
    """What the server fills in where nothing was sent, and Python doesn't: `Annotated[int | None, Default(1)] = None`.

    A plain `= 1` fills in on both sides. Use this where "not stated" must stay apart from "stated as 1", for one
    because an autoscaler may own the field.
    """

    value: Any

    def __hash__(self) -> int:
        return hash(repr(self.value))  # of a list, too: typing puts what is in a `... | None` into a set

    def keywords(self) -> Mapping[str, Any]:
        return {"default": self.value}


@dataclass(frozen=True, slots=True, init=False)
class ListMap(Marker):
    """A list that server-side apply merges item by item; these (wire) fields tell the items apart."""

    keys: tuple[str, ...]
    suits = LISTS

    def __init__(self, *keys: str) -> None:
        if not keys:
            raise TypeError('ListMap needs the fields that tell items apart: ListMap("name")')
        object.__setattr__(self, "keys", keys)

    def keywords(self) -> Mapping[str, Any]:
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(self.keys)}


@dataclass(frozen=True, slots=True)
class Patch(Marker):
    """How a strategic merge patch treats a field of a built-in kind. Custom kinds have no such patches."""

    strategy: str
    merge_key: str | None = None

    def keywords(self) -> Mapping[str, Any]:
        key = {"x-kubernetes-patch-merge-key": self.merge_key} if self.merge_key else {}
        return {**key, "x-kubernetes-patch-strategy": self.strategy}


Int32 = Annotated[int, Format("int32")]
"""A 32-bit integer; a plain `int` is 64 bits wide on the wire."""
