"""Strategy: all that a kind says of itself.

The API server asks a kind's strategy wherever kinds differ, and nowhere looks at which kind it is. A built-in kind's
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
    """What is wrong with an object."""

    causes: list[StatusCause]
    warnings: Sequence[str] = ()
    """Rules that were broken before, too, where nothing has changed: the object may be stored all the same."""


class Strategy:
    """What the API server asks of a kind. The attributes here are what most kinds say."""

    # What is served

    kind: Kind
    verbs: tuple[str, ...] = EVERYTHING
    is_routed: bool = True
    """Whether each path is known to a router, which refuses others and other methods in its own words."""
    is_unstructured: bool = False
    """Whether the server knows no type for it: its objects say their apiVersion and kind wherever they are."""
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
    """What selectors compare with where one of these is not set: Go knows no difference to zero."""

    # How it is written

    allow_create_on_update: bool = False
    """Whether a PUT may create it."""
    allow_unconditional_update: bool = True
    """Whether an update need not say which resourceVersion it is based on."""
    allow_strategic_merge_patch: bool = True
    keeps_status_of_new: bool = False
    """Whether a new object brings its status along."""
    has_generation: bool = False
    generation_metadata: str = ""
    """A part of metadata whose change counts as one of the spec does."""
    generation_is_constant: bool = False

    # How it is deleted

    returned_when_deleted: bool = False
    """Whether DELETE answers with the object that is gone, and not with a Status."""
    default_propagation: Literal["", "Orphan"] = ""
    """What becomes of dependents if the client does not say."""
    can_have_dependents: bool = True
    is_container: bool = False
    """Whether other objects are in it: it is marked first, and goes when they are gone."""
    spec_finalizers: bool = False
    """Whether finalizers in its spec hold it, too."""

    @property
    def schema(self) -> Schema:
        """Structural, with defaults; for a built-in kind also with what strategic merge patches need."""
        raise NotImplementedError

    @property
    def stored_kind(self) -> Kind:
        """The kind that its objects are stored as: itself, unless they are also in another group, in another form."""
        return self.kind

    @property
    def storage_prefix(self) -> str:
        """Where a real server's etcd has its objects, as some messages say."""
        return self.kind.plural

    @property
    def go_type(self) -> str:
        """What a Go server holds an object in, as some messages say."""
        raise NotImplementedError

    @property
    def discovery_group_version(self) -> tuple[str, str]:
        """The group and version that discovery states for it. Empty means the same as where it is listed."""
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
        """The fields that a write through that subresource, or through none, leaves as they are."""
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
        """The object in a body of JSON, and what is to be said about it. `sent` is what came, which may be YAML."""
        raise NotImplementedError

    def decode(self, wire: Wire) -> None:
        """Make an object that was written what it says to the server: unknown fields go, defaults come in."""
        raise NotImplementedError

    def decode_merged(self, wire: Wire) -> None:
        """The same for what was merged from an applied configuration: nothing in it is unknown, and nulls count."""
        self.decode(wire)

    def empty_object(self) -> Wire:
        """What is there before anything is written: the zero value of a Go type."""
        return {}

    def record_user(self, wire: Wire, user: User) -> None:
        """Write into a new object which user made it."""
        del wire, user

    def reset(self, wire: Wire, current: Wire, subresource: str) -> Wire:
        """The object with only those changes that may come through that subresource, or through none."""
        raise NotImplementedError

    def prepare_for_create(self, wire: Wire) -> None:
        """Complete a new object; it has its name and uid, and nothing in its status but defaults."""
        del wire

    def prepare_for_update(self, wire: Wire, current: Wire, subresource: str) -> None:
        """Take away what an object's new form has no use for, and what can't be changed this way."""
        del wire, current, subresource

    async def validate_create(self, wire: Wire) -> ValidationResult:
        """What is wrong with a new object."""
        raise NotImplementedError

    async def validate_update(self, wire: Wire, current: Wire, subresource: str) -> ValidationResult:
        """What is wrong with a changed object."""
        raise NotImplementedError

    def allocate(self, wire: Wire, current: Wire | None, addresses: ServiceAddresses) -> list[StatusCause]:
        """Give an object what there is only one of in the cluster; what is wrong with what it asks for."""
        del wire, current, addresses
        return []

    def warnings(self, wire: Wire, current: Wire | None) -> list[str]:
        """What a client that wrote a valid object should know about it."""
        raise NotImplementedError

    def after_create(self, wire: Wire) -> None:
        """Give a new object that was not refused those defaults that it has only once it is read again."""
        del wire

    # Deletions

    def deletion_warnings(self, propagation: str) -> list[str]:
        """What a client that deletes should know."""
        del propagation
        return []

    def grace_period(self, current: Wire, asked: int | None) -> int | None:
        """How many seconds an object has to end; None for kinds that need no time."""
        del current, asked
        return None

    def refuses_deletion(self, name: str) -> str:
        """Why an object of that name may not be deleted; empty if it may be."""
        del name
        return ""

    def begin_termination(self, wire: Wire) -> None:
        """Note in the status of a container that it will go."""
        del wire

    # Objects that were stored by earlier schemas

    def upgrade(self, value: bytes) -> bytes:
        """A stored object as it is read: one that is older than its kind's schema loses fields, and gets defaults."""
        return value

    def coerce(self, wire: Wire) -> None:
        """Make what comes from another version of the kind an object of this one. It gets no defaults for that."""
        del wire
