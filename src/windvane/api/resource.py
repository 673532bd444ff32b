"""Resources: Python classes that stand for Kubernetes kinds.

    class Website(Resource[WebsiteSpec, WebsiteStatus], group="demo.windvane.dev", version="v1alpha1"):
        \"\"\"A website that is always up.\"\"\"

`Object` is the base of every typed kind, built-in or custom: apiVersion, kind, metadata. `Resource` adds
spec and status. A class's keyword arguments say which kind it is (`kind_of(Website)`), and how its CRD
looks (`crd(Website)`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar, cast, get_args

import msgspec

from windvane.api import codec
from windvane.api.hints import type_hints
from windvane.api.kind import Kind, is_custom, pluralize
from windvane.api.meta import ObjectMeta, OwnerReference
from windvane.api.struct import Struct, StructType, field

if TYPE_CHECKING:
    from windvane.api.status import StatusCause

Scope = Literal["Namespaced", "Cluster"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`. Its type comes from the field that `path` leads to, unless it is given."""

    name: str
    path: str
    """A JSON path such as `.spec.image`."""
    description: str = ""
    type: Literal["", "integer", "number", "string", "boolean", "date"] = ""
    format: str = ""
    priority: int = 0
    """Above 0 it is shown by `kubectl get -o wide` only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleSubresource:
    """Which fields `kubectl scale` and autoscalers read and write."""

    replicas: str = ".spec.replicas"
    current: str = ".status.replicas"
    selector: str = ""
    """The status field that holds the pods' label selector as a string; autoscalers need it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """What a class says about its CRD beyond its fields."""

    columns: tuple[Column, ...] = ()
    ready_column: bool = True
    scale: ScaleSubresource | None = None
    selectable: tuple[str, ...] = ()
    stored: bool = True
    served: bool = True
    deprecated: str | bool = False


class ObjectType(StructType):
    """The class of resource classes: reads the keyword arguments that name the kind."""

    __kind__: Kind
    __presentation__: Presentation

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        group: str | None = None,
        version: str = "",
        kind: str = "",
        plural: str = "",
        singular: str = "",
        scope: Scope = "Namespaced",
        short_names: Sequence[str] = (),
        categories: Sequence[str] = (),
        subresources: Sequence[str] | None = None,
        columns: Sequence[Column] = (),
        ready_column: bool = True,
        scale: ScaleSubresource | None = None,
        selectable: Sequence[str] = (),
        stored: bool = True,
        served: bool = True,
        deprecated: str | bool = False,
        **options: Any,
    ) -> "ObjectType":
        cls = cast(ObjectType, super().__new__(mcls, name, bases, namespace, **options))
        if group is None:
            return cls
        if not version:
            raise TypeError(f'{name}: group={group!r} needs a version too, such as version="v1alpha1"')
        if scope not in get_args(Scope):
            raise TypeError(f'{name}: scope must be "Namespaced" or "Cluster", not {scope!r}')
        for keyword, several in (("short_names", short_names), ("categories", categories), ("selectable", selectable)):
            if isinstance(several, str):
                raise TypeError(f"{name}: {keyword}={several!r} is one string; write {keyword}=[{several!r}]")
        if isinstance(columns, Column):
            raise TypeError(f"{name}: columns= is one Column; write columns=[Column(...)]")
        kind = kind or name
        if subresources is None:
            own = {"status"} if "status" in cls.__struct_fields__ else set()
            subresources = sorted(own | ({"scale"} if scale else set()))
        cls.__kind__ = Kind(
            group=group,
            version=version,
            name=kind,
            plural=plural or pluralize(kind),
            singular=singular or kind.lower(),
            namespaced=scope == "Namespaced",
            short_names=tuple(short_names),
            categories=tuple(categories),
            subresources=tuple(subresources),
        )
        cls.__presentation__ = Presentation(
            columns=tuple(columns),
            ready_column=ready_column,
            scale=scale,
            selectable=tuple(selectable),
            stored=stored,
            served=served,
            deprecated=deprecated,
        )
        if is_custom(cls.__kind__):
            _check_kind(cls)
        return cls

    @staticmethod
    def check(made: StructType) -> None:
        """For a kind, all of it is looked at, once it is known which."""


def _check_kind(cls: ObjectType) -> None:
    # Not at the top: CRDs are made of resources.
    from windvane.api.custom_resources.crd import check_version

    try:
        check_version(cast(type[Object], cls))
    except (NameError, AttributeError):  # a class further down in its module: it is known when the CRD is made
        return


class Object(Struct, metaclass=ObjectType):
    """Any Kubernetes object: it has an apiVersion, a kind and metadata."""

    # Empty here so that __post_init__ fills them in and they differ from the default: they are always sent.
    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = field(default_factory=ObjectMeta)

    def __post_init__(self) -> None:
        kind = getattr(type(self), "__kind__", None)
        if kind is None:
            return
        # Items of a list come without either. Anything else than our own kind is a mix-up that would
        # otherwise pass silently, since unknown fields are ignored.
        self.api_version = self.api_version or kind.api_version
        self.kind = self.kind or kind.name
        if (self.api_version, self.kind) != (kind.api_version, kind.name):
            raise ValueError(f"a {self.kind} ({self.api_version}) can't be read as {kind}")

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name: what tells it from other objects of its kind."""
        return self.metadata.namespace, self.metadata.name

    def validate(self, old: Self | None = None) -> "list[StatusCause]":
        """What the API server would refuse by the schema of this class, as a new object or as what replaces `old`.

        Types, bounds, patterns, list types and rules, in the server's words; an empty list means that all is well. Not
        looked at are metadata, what webhooks and policies say, and the built-in kinds, which have no schema here.
        """
        # The engine takes longer to import than all else here, and most programs leave this to the server.
        from windvane.api.custom_resources.validation import causes

        return causes(self, old)


SpecT = TypeVar("SpecT", bound=Struct)
StatusT = TypeVar("StatusT", bound=Struct)


class Resource(Object, Generic[SpecT, StatusT]):
    """A kind with a spec, which users write, and a status, which its operator writes."""

    # None only until __post_init__, which knows the classes.
    spec: SpecT = field(default_factory=lambda: None)  # type: ignore[assignment]
    status: StatusT = field(default_factory=lambda: None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        super().__post_init__()
        types = type_hints(type(self))
        if self.spec is None:
            self.spec = _without_arguments(self, types["spec"], "spec")
        if self.status is None:
            self.status = _without_arguments(self, types["status"], "status")


def _without_arguments(thing: Object, part: type[Struct], name: str) -> Any:
    try:
        return part()
    except TypeError as error:
        needed = ", ".join(f.encode_name for f in msgspec.structs.fields(part) if f.required)
        raise ValueError(f"{thing.kind} needs a {name} with {needed}") from error


class Dynamic(Object):
    """An object of a kind known only at run time: metadata is typed, the rest are plain JSON values.

    Widget = dynamic(Kind(group="acme.io", version="v1", name="Widget", plural="widgets"))
    widget = Widget(metadata=ObjectMeta(name="a"), content={"spec": {"size": 3}})
    widget["spec"]["size"] += 1
    """

    content: dict[str, Any] = {}
    """The top-level fields beside apiVersion, kind and metadata."""

    def __getitem__(self, field_name: str) -> Any:
        return self.content[field_name]

    def __setitem__(self, field_name: str, value: Any) -> None:
        self.content[field_name] = value


@cache
def dynamic(kind: Kind) -> type[Dynamic]:
    """A class for `kind`, to be passed wherever a typed class can be; the same kind gives the same class."""
    cls = ObjectType(kind.name, (Dynamic,), {"__module__": __name__})
    cls.__kind__ = kind
    return cast(type[Dynamic], cls)


def kind_of(what: type[Object] | Object) -> Kind:
    """The kind that a class, or an object of it, stands for."""
    cls = what if isinstance(what, type) else type(what)
    kind = getattr(cls, "__kind__", None)
    if not isinstance(kind, Kind):
        name = cls.__name__
        raise TypeError(f'{name} names no kind: write class {name}(..., group="...", version="...")')
    return kind


def owner_reference(owner: Object, *, controller: bool = True) -> OwnerReference:
    """A reference that makes its holder belong to `owner` and go away with it."""
    if not owner.metadata.uid:
        who = f"{owner.kind} {owner.metadata.name!r}"
        raise ValueError(f"{who} has no uid yet: own things with the object that the server returned")
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=controller or None,
        block_owner_deletion=controller or None,
    )


def object_to_wire(thing: Object) -> dict[str, Any]:
    """The plain JSON values of an object, as they are sent: what was never set is left out."""
    wire: dict[str, Any]
    if isinstance(thing, Dynamic):
        wire = {"apiVersion": thing.api_version, "kind": thing.kind, "metadata": codec.to_wire(thing.metadata)}
        wire.update(thing.content)
    else:
        wire = codec.to_wire(thing)
        _drop_empty_status(wire)
    return wire


def _drop_empty_status(wire: Any) -> None:
    """Python gives every object a status to read from; one with nothing in it was never set.

    Objects can be in objects: a StatefulSet has claims in it.
    """
    if isinstance(wire, list):
        for item in wire:
            _drop_empty_status(item)
    elif isinstance(wire, dict):
        if wire.get("status") == {} and "apiVersion" in wire and "kind" in wire:
            del wire["status"]
        for value in wire.values():
            _drop_empty_status(value)


ObjectT = TypeVar("ObjectT", bound=Object)


def object_from_wire(wire: Mapping[str, Any], what: type[ObjectT]) -> ObjectT:
    """The object of class `what` that plain JSON values describe."""
    if not issubclass(what, Dynamic):
        return codec.from_wire(wire, what)
    return what(
        api_version=wire.get("apiVersion", ""),
        kind=wire.get("kind", ""),
        metadata=codec.from_wire(wire.get("metadata") or {}, ObjectMeta),
        content={key: value for key, value in wire.items() if key not in ("apiVersion", "kind", "metadata")},
    )


def read_object(raw: bytes, what: type[ObjectT]) -> ObjectT:
    """The object of class `what` that JSON bytes describe; msgspec.ValidationError if they don't."""
    if issubclass(what, Dynamic):
        return object_from_wire(codec.decode(raw, dict[str, Any]), what)
    return codec.decode(raw, what)
