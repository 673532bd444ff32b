"""The strategy of a custom kind: what its CRD says, applied as the API server applies it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import msgspec

from windvane.api import wording
from windvane.api.cel.rules import RuleVerdict, has_rules
from windvane.api.custom_resources.schema import Schema
from windvane.api.json_value import Wire, json_copy
from windvane.api.kind import Kind
from windvane.api.lazy_attribute import LazyAttribute
from windvane.api.openapi.structural import Structural
from windvane.api.openapi.validate import Validator
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.columns.column import Columns
from windvane.cluster.apiserver.columns.custom import custom_columns
from windvane.cluster.apiserver.failure import invalid
from windvane.cluster.apiserver.registry.field_path import field_text
from windvane.cluster.apiserver.registry.scale import CustomScaleStrategy
from windvane.cluster.apiserver.registry.storage_codec import revision_of, with_head_first, without_head
from windvane.cluster.apiserver.registry.strategy import FieldPaths, Strategy, ValidationResult
from windvane.cluster.apiserver.registry.subresource import with_status
from windvane.cluster.apiserver.registry.validation.object_meta import (
    changed_metadata,
    finalizer_warnings,
    metadata_by_itself,
    new_metadata,
)
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.apiserver.request.worker_pool import SMALL, run_costly
from windvane.cluster.apiserver.schema.decoder import DecodedObject, decode_custom

REMEMBERED = 256  # objects of a kind, of which it is remembered how they are read
# As a real server lists them.
VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
SUBRESOURCES = ("status", "scale")


class CustomStrategy(Strategy):
    """One version of a custom kind."""

    verbs = VERBS
    is_routed = False
    is_unstructured = True
    has_generation = True
    allow_unconditional_update = False
    allow_strategic_merge_patch = False

    def __init__(self, kind: Kind, schema: Schema, version: Mapping[str, Any], *, since: int = 0) -> None:
        """`version` is the entry in `spec.versions` of the CRD.

        `since` is the record since which the schemas are as they are: older objects may have fields that they lack.
        """
        self.kind = kind
        self.has_status = "status" in kind.subresources
        self.selectable_fields = tuple(each["jsonPath"].lstrip(".") for each in version.get("selectableFields", ()))
        self.structural = Structural(schema)
        self._schema = schema
        self._version = version
        self._since = since
        self._scale_paths = (version.get("subresources") or {}).get("scale")
        self.scale = CustomScaleStrategy(self._scale_paths) if self._scale_paths else None
        self._upgraded: dict[bytes, bytes] = {}  # what the latest stored objects are read as; the oldest comes first

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def storage_prefix(self) -> str:
        """With the group: custom kinds of different groups may have the same plural."""
        return f"{self.kind.group}/{self.kind.plural}"

    @property
    def go_type(self) -> str:
        """The same for all custom kinds."""
        return "*unstructured.Unstructured"

    @property
    def discovery_group_version(self) -> tuple[str, str]:
        """The real server states it for custom kinds only."""
        return self.kind.group, self.kind.version

    @property
    def discovery_subresources(self) -> tuple[str, ...]:
        return tuple(name for name in SUBRESOURCES if name in self.kind.subresources)

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        """Made when first needed: parsing the JSON paths of a CRD takes longer than following them."""
        return custom_columns(self._version)

    @cached_property
    def _may_take_long(self) -> bool:
        return has_rules(self._schema) or len(msgspec.json.encode(self._schema)) > SMALL

    @LazyAttribute
    def _validator(self) -> Validator:
        return Validator(self._schema, self._scale_paths)

    # What is stored begins with apiVersion, kind and metadata: one version may be quite another than the next.

    @cached_property
    def head(self) -> bytes:
        """How the JSON of an object in this version begins."""
        return msgspec.json.encode({"apiVersion": self.kind.api_version, "kind": self.kind.name})[:-1] + b","

    def encode(self, wire: Wire) -> bytes:
        """In the version that it says: see `conversion.conversions`."""
        return msgspec.json.encode(with_head_first(wire))

    def decode_stored(self, value: bytes) -> Wire:
        """What differs between versions in nothing but their names is of this one by that."""
        wire: Wire = msgspec.json.decode(value)
        return with_head_first({**wire, "apiVersion": self.kind.api_version, "kind": self.kind.name})

    def show(self, value: bytes) -> bytes:
        """The same as bytes."""
        return value if self.is_shown_as_stored(value) else self.head + without_head(value)

    def is_shown_as_stored(self, value: bytes) -> bool:
        """It begins as it must."""
        return value.startswith(self.head)

    def show_list_item(self, value: bytes) -> bytes:
        """Items say apiVersion and kind, too."""
        return self.show(value)

    def list_item(self, wire: Wire) -> Wire:
        """The whole object."""
        return wire

    def reset_fields(self, subresource: str) -> FieldPaths:
        """A write through status resets the rest, and any other write resets status."""
        if subresource == "status":
            return "spec", "metadata"
        return ("status",) if self.has_status else ()

    def field_label(self, obj: Wire, field: str) -> str:
        """Absent fields have no zero value."""
        return field_text(obj, field)

    def unknown_field_label(self, field: str) -> str:
        """The same for all custom kinds."""
        return f"field label not supported: {field}"

    def read_body(self, body: bytes, sent: bytes) -> DecodedObject:
        """Only the metadata has a type; the rest is checked by the schema."""
        return decode_custom(body, self.kind, lambda wire: self.structural.prune(json_copy(wire)), sent)

    def decode(self, wire: Wire) -> None:
        """Nulls that the schema does not allow are dropped."""
        self.structural.drop_nulls(wire)
        self.structural.fill(wire)
        self.structural.prune(wire)
        _tidy(wire)

    def decode_merged(self, wire: Wire) -> None:
        """It has no unknown fields, and nulls are kept."""
        self.structural.fill(wire)
        _tidy(wire)

    def reset(self, wire: Wire, current: Wire, subresource: str) -> Wire:
        """A write of the status resets even metadata."""
        if subresource == "status":
            return with_status({**current, "metadata": dict(current["metadata"])}, wire)
        return with_status(wire, current) if self.has_status else wire

    async def validate_create(self, wire: Wire) -> ValidationResult:
        self._check_kind(wire)
        verdict = await self._judge(wire, None)
        problems = Problems()
        new_metadata(self.kind, wire, problems)
        return ValidationResult(problems + verdict.causes)

    async def validate_update(self, wire: Wire, current: Wire, subresource: str) -> ValidationResult:
        """The same for a change. Unchanged violations are only warned about."""
        self._check_kind(wire)
        verdict = await self._judge(wire, current, subresource)
        problems = Problems()
        metadata_by_itself(wire, problems)
        for _ in range(2):  # the real server does, and counts what it finds each time
            changed_metadata(wire, current, problems)
        return ValidationResult(
            problems + verdict.causes, [f"{each.field}: {each.message}" for each in verdict.tolerated]
        )

    async def _judge(self, wire: Wire, current: Wire | None, subresource: str = "") -> RuleVerdict:
        def judge() -> RuleVerdict:
            if subresource == "status" and current is not None:
                return self._validator.validate_status(wire, current)
            return self._validator.validate(wire, current)

        return await run_costly(judge, wire, current) if self._may_take_long else judge()

    def warnings(self, wire: Wire, current: Wire | None) -> list[str]:
        """Warn about new finalizers without a domain."""
        before = (current or {}).get("metadata", {}).get("finalizers") or ()
        return finalizer_warnings(set(wire["metadata"].get("finalizers") or ()) - set(before))

    def upgrade(self, value: bytes) -> bytes:
        """Cached: a hundred watches upgrade the same object."""
        if (known := self._upgraded.get(value)) is not None:
            return known
        is_older = revision_of(value) < self._since
        if not is_older and not self.structural.has_defaults:
            return value
        wire = msgspec.json.decode(value)
        changed = bool(is_older and self.structural.prune(wire))
        changed |= self.structural.drop_nulls(wire)
        changed |= self.structural.fill(wire)
        # Nearly always nothing has changed: then it is the same object, and no closer look is needed.
        upgraded = self._upgraded[value] = msgspec.json.encode(wire) if changed else value
        if len(self._upgraded) > REMEMBERED:
            del self._upgraded[next(iter(self._upgraded))]
        return upgraded

    def coerce(self, wire: Wire) -> None:
        """Prune the fields that this version does not have."""
        self.structural.prune(wire)
        self.structural.drop_nulls(wire)

    def _check_kind(self, wire: Wire) -> None:
        """A custom object must be of its path's kind. If not, nothing else is checked."""
        kind, version = self.kind, wire.get("apiVersion") or ""
        causes: list[StatusCause] = []
        if wire.get("kind") != kind.name:
            causes.append(wording.invalid("kind", wire.get("kind"), f"must be {kind.name}"))
        if version != kind.api_version:
            causes.append(wording.invalid("apiVersion", version, f"must be {kind.api_version}"))
        if causes:
            stated = replace(kind, group=version.rpartition("/")[0], name=wire.get("kind") or "")
            raise invalid(stated, wire["metadata"].get("name", ""), causes)


def _tidy(wire: Wire) -> None:
    """Drop empty fields from a custom object's metadata, as Go does."""
    metadata = wire["metadata"]
    for name in [name for name, value in metadata.items() if value in (None, "", [], {})]:
        del metadata[name]
