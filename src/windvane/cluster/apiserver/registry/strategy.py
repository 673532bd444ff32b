"""Strategy: everything that differs between kinds.

The rest of the API server calls the strategy of a kind, and never looks at which kind it is. A built-in kind's
strategy is a subclass of `builtin.BuiltinStrategy`, in the kind's own file; that of a custom kind,
`custom.CustomStrategy`, is made from its CRD.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from windvane.api.custom_resources.schema import Schema
from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.columns.column import DEFAULT, Columns
from windvane.cluster.apiserver.registry.field_path import field_text
from windvane.cluster.apiserver.registry.scale import ScaleStrategy
from windvane.cluster.apiserver.registry.service_addresses import ServiceAddresses
from windvane.cluster.apiserver.schema.decoder import DecodedObject

FieldPaths = tuple[str, ...]
"""Such as `("spec", "metadata.labels")`."""
EVERYTHING = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class ValidationResult(NamedTuple):
    """The causes of a refusal, and the violations that are ignored."""

    causes: list[StatusCause]
    warnings: Sequence[str] = ()
    """Violations in unchanged parts, which do not refuse the object."""


class Strategy:
    """The rules of a kind. The base class has the defaults."""

    # What is served

    kind: Kind
    verbs: tuple[str, ...] = EVERYTHING
    is_routed: bool = True
    """Whether paths are behind a router, which refuses unknown paths and methods in its own words."""
    is_unstructured: bool = False
    """Whether there is no Go type for it: its objects have apiVersion and kind wherever they are."""
    has_status: bool = False
    """Whether status is written through a subresource of its own."""
    scale: ScaleStrategy | None = None
    """What its subresource scale reads and writes; None if it has none."""

    # How it is shown

    columns: Columns = DEFAULT
    column_fields: Mapping[str, str] = {}
    """The fields whose documentation describes these columns."""
    selectable_fields: FieldPaths = ()
    """What field selectors may use beside metadata.name and metadata.namespace."""
    unset_fields: Mapping[str, str] = {}
    """The values of these fields for selectors where they are absent: Go has zero values."""

    # How it is written

    allow_create_on_update: bool = False
    """Whether a PUT may create it."""
    allow_unconditional_update: bool = True
    """Whether an update need not say which resourceVersion it is based on."""
    allow_strategic_merge_patch: bool = True
    keeps_status_of_new: bool = False
    """Whether a create may set the status."""
    has_generation: bool = False
    generation_metadata: str = ""
    """A part of metadata whose change increments the generation, too."""
    generation_is_constant: bool = False

    # How it is deleted

    returned_when_deleted: bool = False
    """Whether DELETE answers with the object that is gone, and not with a Status."""
    default_propagation: Literal["", "Orphan"] = ""
    """The propagation policy if the client states none."""
    can_have_dependents: bool = True
    is_container: bool = False
    """Whether it contains other objects: it is marked first, and deleted when they are gone."""
    spec_finalizers: bool = False
    """Whether finalizers in its spec hold it, too."""

    @property
    def schema(self) -> Schema:
        """Structural, with defaults; for a built-in kind also with what strategic merge patches need."""
        raise NotImplementedError

    @property
    def stored_kind(self) -> Kind:
        """The kind that its objects are stored as: itself, unless another group has it in another form."""
        return self.kind

    @property
    def storage_prefix(self) -> str:
        """The prefix of its keys in etcd, for messages."""
        return self.kind.plural

    @property
    def go_type(self) -> str:
        """The Go type of its objects, for messages."""
        raise NotImplementedError

    @property
    def discovery_group_version(self) -> tuple[str, str]:
        """The group and version in discovery; empty for those where it is listed."""
        return "", ""

    @property
    def discovery_subresources(self) -> tuple[str, ...]:
        """Its subresources in the order in which discovery lists them."""
        return self.kind.subresources

    def to_storage(self, wire: Wire) -> Wire:
        """An object in the form of `stored_kind`."""
        return wire

    def from_storage(self, wire: Wire) -> Wire:
        """A stored object in the form of this kind."""
        return wire

    # What is stored is JSON, without apiVersion and kind: they depend on the version that is asked for.

    def encode(self, wire: Wire) -> bytes:
        """An object as it is stored."""
        return msgspec.json.encode(self.to_storage(self.list_item(wire)))

    def decode_stored(self, value: bytes) -> Wire:
        """A stored object as clients see it."""
        head = {"apiVersion": self.kind.api_version, "kind": self.kind.name}
        return head | self.from_storage(msgspec.json.decode(value))

    def show(self, value: bytes) -> bytes:
        """The same as bytes, without reading them if they are stored as they are shown."""
        head = msgspec.json.encode({"kind": self.kind.name, "apiVersion": self.kind.api_version})
        return head[:-1] + b"," + self.show_list_item(value)[1:]

    def show_list_item(self, value: bytes) -> bytes:
        """The same in a list: a real server leaves apiVersion and kind out of the items of built-in lists."""
        if self.stored_kind == self.kind:
            return value
        return msgspec.json.encode(self.from_storage(msgspec.json.decode(value)))

    def list_item(self, wire: Wire) -> Wire:
        """The same of an object that was read."""
        rest = {name: value for name, value in wire.items() if name not in ("apiVersion", "kind", "metadata")}
        return {"metadata": wire["metadata"], **rest}

    def is_shown_as_stored(self, value: bytes) -> bool:
        """Whether a stored object is in the version of this kind, and says so."""
        del value
        return self.stored_kind == self.kind

    def reset_fields(self, subresource: str) -> FieldPaths:
        """The fields that a write through that subresource, or through none, resets."""
        raise NotImplementedError

    # Tables and selectors

    def sort_rows(self, objects: Sequence[Wire]) -> Sequence[Wire]:
        """Objects in the order in which a table has them."""
        return objects

    def row_conditions(self, obj: Wire) -> list[Wire]:
        """The conditions of an object's row in a table."""
        del obj
        return []

    def field_label(self, obj: Wire, field: str) -> str:
        """The text that a field selector compares with."""
        return field_text(obj, field) or self.unset_fields.get(field, "")

    def unknown_field_label(self, field: str) -> str:
        """The refusal of a field that can't be selected by."""
        if self.selectable_fields:
            return f"field label not supported: {field}"
        return f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'

    # Writes, in the order in which they are asked for

    def read_body(self, body: bytes, sent: bytes) -> DecodedObject:
        """Decode an object in JSON. `sent` is the original body, which may be YAML."""
        raise NotImplementedError

    def decode(self, wire: Wire) -> None:
        """Prune unknown fields, and fill in defaults."""
        raise NotImplementedError

    def decode_merged(self, wire: Wire) -> None:
        """The same for the result of an apply, which has no unknown fields, and keeps nulls."""
        self.decode(wire)

    def empty_object(self) -> Wire:
        """The zero value of its Go type."""
        return {}

    def record_user(self, wire: Wire, user: User) -> None:
        """Record the user that creates an object in it."""
        del wire, user

    def reset(self, wire: Wire, current: Wire, subresource: str) -> Wire:
        """The object with only the changes that are allowed through that subresource, or through none."""
        raise NotImplementedError

    def prepare_for_create(self, wire: Wire) -> None:
        """Complete a new object; it has its name and uid, and nothing in its status but defaults."""
        del wire

    def prepare_for_update(self, wire: Wire, current: Wire, subresource: str) -> None:
        """Remove what a changed object has no use for, and what can't be changed this way."""
        del wire, current, subresource

    async def validate_create(self, wire: Wire) -> ValidationResult:
        """What is wrong with a new object."""
        raise NotImplementedError

    async def validate_update(self, wire: Wire, current: Wire, subresource: str) -> ValidationResult:
        """What is wrong with a changed object."""
        raise NotImplementedError

    def allocate(self, wire: Wire, current: Wire | None, addresses: ServiceAddresses) -> list[StatusCause]:
        """Allocate what is unique in the cluster, such as addresses; returns what is wrong with a requested one."""
        del wire, current, addresses
        return []

    def warnings(self, wire: Wire, current: Wire | None) -> list[str]:
        """Warnings about a valid object."""
        raise NotImplementedError

    def after_create(self, wire: Wire) -> None:
        """Fill in defaults that appear only when a new object is read again."""
        del wire

    # Deletions

    def deletion_warnings(self, propagation: str) -> list[str]:
        """Warnings about a deletion."""
        del propagation
        return []

    def grace_period(self, current: Wire, requested: int | None) -> int | None:
        """The grace period in seconds; None for kinds without one."""
        del current, requested
        return None

    def refuses_deletion(self, name: str) -> str:
        """Why an object of that name may not be deleted; empty if it may be."""
        del name
        return ""

    def begin_termination(self, wire: Wire) -> None:
        """Set the status of an object that contains others when its deletion begins."""
        del wire

    # Objects that were stored by earlier schemas

    def upgrade(self, value: bytes) -> bytes:
        """A stored object as it is read: pruned and defaulted if the schema changed since it was stored."""
        return value

    def coerce(self, wire: Wire) -> None:
        """Fit an object that was converted from another version to this one, without defaults."""
        del wire
