"""What an object must be to be stored: pruned, filled in, valid. Built-in and custom kinds differ only here."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from ipaddress import IPv4Network
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from windvane.api import wording
from windvane.api.cel.rules import RuleVerdict, has_rules
from windvane.api.custom_resources.schema import Schema
from windvane.api.json_value import json_copy
from windvane.api.kind import Kind
from windvane.api.lazy_attribute import LazyAttribute
from windvane.api.openapi.structural import Structural
from windvane.api.openapi.validate import Validator
from windvane.api.status import StatusCause
from windvane.cluster.apiserver.builtin.defaults import apply_defaults
from windvane.cluster.apiserver.builtin.definitions.check import check_definition, definition_warnings
from windvane.cluster.apiserver.builtin.metadata import finalizer_warnings
from windvane.cluster.apiserver.builtin.prepare import (
    choose_families,
    prepare_create,
    prepare_status_update,
    prepare_update,
    read_back,
)
from windvane.cluster.apiserver.builtin.services import LOOPBACK
from windvane.cluster.apiserver.builtin.signing_requests import approved, reported
from windvane.cluster.apiserver.builtin.validation import (
    validate_create,
    validate_custom_metadata,
    validate_finalize,
    validate_part,
    validate_status_update,
    validate_update,
)
from windvane.cluster.apiserver.builtin.warnings import warnings_about
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.encoding.stored import revision_of
from windvane.cluster.apiserver.failure import invalid
from windvane.cluster.apiserver.metadata import tidy
from windvane.cluster.apiserver.parts import change_ephemeral_containers, resize
from windvane.cluster.apiserver.request.worker_pool import SMALL, run_costly
from windvane.cluster.apiserver.services import NETWORK, Addresses
from windvane.cluster.apiserver.storage.store import Store

Wire = dict[str, Any]
# What may be changed through subresources that are there for one thing only.
PARTS = {"approval": approved, "ephemeralcontainers": change_ephemeral_containers, "resize": resize}
SIGNING_REQUESTS = "certificatesigningrequests.certificates.k8s.io"
DEFAULT_NETWORK = IPv4Network(NETWORK)
ENDPOINTS = ("endpoints", "endpointslices.discovery.k8s.io")
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
FILLED = 256  # objects of a kind, of which it is remembered how they are read
# Kinds that hold what others define: their empty values may mean something.
FREE_FORM = frozenset({"CustomResourceDefinition", "ControllerRevision"})
# What can't be changed together with a status, of kinds that let other metadata be.
KEPT_BY_STATUS = {
    "deployments.apps": ("labels",),
    "pods": ("ownerReferences",),
    "storageversionmigrations.storagemigration.k8s.io": ("annotations", "finalizers", "labels", "ownerReferences"),
}


class _Compiled:
    """A kind's schema, made ready once."""

    def __init__(self, type_: ResourceType) -> None:
        self.structural = Structural(type_.schema)
        self._schema = type_.schema
        self._scale = ((type_.definition or {}).get("subresources") or {}).get("scale")
        self._filled: dict[bytes, bytes] = {}  # what the latest stored objects are read as; the oldest comes first

    def filled(self, value: bytes, *, since: int) -> bytes:
        """A stored object by the schema of today, which is there `since` then.

        A hundred watches that are told a change ask for the same.
        """
        if (known := self._filled.get(value)) is not None:
            return known
        is_older = revision_of(value) < since
        if not is_older and not self.structural.has_defaults:
            return value
        wire = msgspec.json.decode(value)
        changed = bool(is_older and self.structural.prune(wire))
        changed |= self.structural.drop_nulls(wire)
        changed |= self.structural.fill(wire)
        # Nearly always nothing has changed: then it is the same object, and no closer look is needed.
        filled = self._filled[value] = msgspec.json.encode(wire) if changed else value
        if len(self._filled) > FILLED:
            del self._filled[next(iter(self._filled))]
        return filled

    @cached_property
    def _may_take_long(self) -> bool:
        return has_rules(self._schema) or len(msgspec.json.encode(self._schema)) > SMALL

    @LazyAttribute
    def _validator(self) -> Validator:
        return Validator(self._schema, self._scale)

    async def verdict(self, wire: Wire, current: Wire | None, subresource: str = "") -> RuleVerdict:
        """What is wrong with an object that is to be stored in place of another, or of none."""

        def judge() -> RuleVerdict:
            if subresource == "status" and current is not None:
                return self._validator.validate_status(wire, current)
            return self._validator.validate(wire, current)

        return await run_costly(judge, wire, current) if self._may_take_long else judge()


class Rules:
    """Applies the rules of a type to objects on their way into the store."""

    def __init__(
        self,
        store: Store,
        network: IPv4Network = DEFAULT_NETWORK,
        *,
        pods_are_here: bool = False,
    ) -> None:
        """Services have their addresses in `network`.

        If `pods_are_here`, on the machine of the API server, endpoints may be at 127.x.y.z.
        """
        self._addresses = Addresses(store, network)
        self._pods_are_here = pods_are_here
        self._compiled: WeakKeyDictionary[ResourceType, _Compiled] = WeakKeyDictionary()

    def decode(self, type_: ResourceType, wire: Wire) -> None:
        """Make an object that was written what it says to the server: unknown fields go, defaults come in."""
        structural = self._ready(type_).structural
        if type_.custom:
            structural.drop_nulls(wire)
            structural.fill(wire)
            structural.prune(wire)
            tidy(wire)
        else:
            _normalise(type_, wire, structural)
            apply_defaults(type_.kind, wire)

    def decode_merged(self, type_: ResourceType, wire: Wire) -> None:
        """The same for an object that was merged from an applied one: nothing in it is unknown, and nulls count."""
        if not type_.custom:
            self.decode(type_, wire)
            return
        self._ready(type_).structural.fill(wire)
        tidy(wire)

    def drop_status(self, type_: ResourceType, wire: Wire) -> None:
        """A new object can't bring its status along, but for nodes, which say at once what they have."""
        if type_.has_status and type_.kind.resource != "nodes":
            wire.pop("status", None)

    def keep_status(self, type_: ResourceType, wire: Wire, status: Any) -> None:
        """Nor does it get one in admission: what it had before is what it has, defaults at most."""
        self.drop_status(type_, wire)
        if type_.has_status and status is not None:
            wire["status"] = status

    def settle(self, type_: ResourceType, wire: Wire) -> None:
        """Make a new object that was not refused what it will be read as.

        What may have changed around it since `prepare_create`, while others were asked, is looked at again.
        """
        if not type_.custom:
            read_back(type_.kind, wire)
        if type_.kind.resource == "services":
            _refuse(type_.stored_kind, wire, self._addresses.assign(wire))

    async def prepare_create(self, type_: ResourceType, wire: Wire) -> None:
        """Make a new object what it will be, or raise `Failure` with all that is wrong with it."""
        kind = type_.kind
        if type_.custom:
            _check_kind(type_, wire)
            verdict = await self._ready(type_).verdict(wire, None)
            causes = validate_custom_metadata(kind, wire, None) + verdict.causes
        else:
            prepare_create(kind, wire)
            causes = self._of_this_machine(kind, await _without_haste(kind, partial(_new_causes, kind, wire), wire))
            if kind.resource == "services" and not causes:
                causes = self._addresses.assign(wire)
        _refuse(type_.stored_kind, wire, causes)

    async def prepare_update(self, type_: ResourceType, wire: Wire, current: Wire, subresource: str) -> list[str]:
        """The same for a changed object; says what to warn of: rules that are broken where nothing was changed."""
        kind = type_.kind
        warnings: list[str] = []
        if type_.custom:
            _check_kind(type_, wire)
            verdict = await self._ready(type_).verdict(wire, current, subresource)
            causes = validate_custom_metadata(kind, wire, current) + verdict.causes
            warnings = [f"{cause.field}: {cause.message}" for cause in verdict.tolerated]
        else:
            causes = await self._builtin_causes(type_, wire, current, subresource)
        _refuse(type_.stored_kind, wire, causes, warnings)
        return warnings

    async def _builtin_causes(
        self, type_: ResourceType, wire: Wire, current: Wire, subresource: str
    ) -> list[StatusCause]:
        kind = type_.kind
        if subresource == "status":
            prepare_status_update(kind, wire, current)
            return validate_status_update(kind, wire, current)
        if subresource == "finalize":
            return validate_finalize(kind, wire, current)
        if subresource in PARTS:
            return validate_part(subresource, kind, wire, current)
        causes = []
        prepare_update(kind, wire, current)
        if kind.resource == "services":
            _keep_addresses(wire, current)
            _refuse(kind, wire, choose_families(wire["spec"], current["spec"]))
            causes = self._addresses.assign(wire)
        changed = await _without_haste(kind, partial(_changed_causes, kind, wire, current), wire)
        return causes + self._of_this_machine(kind, changed)

    def _of_this_machine(self, kind: Kind, causes: list[StatusCause]) -> list[StatusCause]:
        """What is wrong with an object, here. An endpoint at 127.x.y.z is not the mistake that it is elsewhere."""
        if not self._pods_are_here or kind.resource not in ENDPOINTS:
            return causes
        return [each for each in causes if LOOPBACK not in each.message]

    def warnings(self, type_: ResourceType, wire: Wire, current: Wire | None, subresource: str = "") -> list[str]:
        """What a client that wrote a valid object should know about it."""
        if subresource:
            return []
        if type_.custom:
            before = (current or {}).get("metadata", {}).get("finalizers") or ()
            return finalizer_warnings(set(wire["metadata"].get("finalizers") or ()) - set(before))
        if type_.kind.resource == DEFINITIONS:
            return definition_warnings(wire, current)
        return warnings_about(type_.kind, wire, current)

    def unknown_fields(self, type_: ResourceType, wire: Wire) -> list[str]:
        """Complaints about fields that the type doesn't have, as `unknown field "spec.bogus"`; nothing is changed."""
        return self._ready(type_).structural.prune(json_copy(wire))

    def filled(self, type_: ResourceType, value: bytes) -> bytes:
        """A stored object as it is read: one that is older than its kind's schema loses fields, and gets defaults."""
        versions = type_.versions
        return value if versions is None else self._ready(type_).filled(value, since=versions.since)

    def coerce(self, type_: ResourceType, wire: Wire) -> None:
        """Make a custom object that comes from another version one of this version. It gets no defaults for that."""
        structural = self._ready(type_).structural
        structural.prune(wire)
        structural.drop_nulls(wire)

    def restrict(self, type_: ResourceType, wire: Wire, current: Wire, subresource: str) -> Wire:
        """The object with only those changes that may come through the door they came through.

        Status is written through its own subresource, and everything else is not.
        """
        if type_.kind.resource == SIGNING_REQUESTS and subresource == "status":
            return reported(wire, current)
        if subresource == "status":
            metadata = dict(current["metadata"] if type_.custom else wire["metadata"])
            for name in KEPT_BY_STATUS.get(type_.kind.resource, ()):
                metadata.pop(name, None)
                if name in current["metadata"]:
                    metadata[name] = current["metadata"][name]
            allowed = {**current, "metadata": metadata}
            if "status" in wire:
                allowed["status"] = wire["status"]
            else:
                allowed.pop("status", None)
            return allowed
        if subresource == "finalize":
            return {**wire, "status": current.get("status", {})}
        if subresource in PARTS:
            return PARTS[subresource](wire, current)
        if type_.kind.resource == "certificatesigningrequests.certificates.k8s.io":
            wire["spec"] = current["spec"]  # who asked for what is never changed
        if type_.has_status:
            if "status" in current:
                wire["status"] = current["status"]
            else:
                wire.pop("status", None)
        return wire

    def _ready(self, type_: ResourceType) -> _Compiled:
        if (ready := self._compiled.get(type_)) is None:
            ready = self._compiled[type_] = _Compiled(type_)
        return ready


async def _without_haste(kind: Kind, check: Callable[[], list[StatusCause]], wire: Wire) -> list[StatusCause]:
    """What a check finds, which takes long if there are expressions to be read."""
    holds_expressions = kind.resource == DEFINITIONS or kind.group == "admissionregistration.k8s.io"
    return await run_costly(check, wire) if holds_expressions else check()


def _new_causes(kind: Kind, wire: Wire) -> list[StatusCause]:
    return validate_create(kind, wire) + (check_definition(wire) if kind.resource == DEFINITIONS else [])


def _changed_causes(kind: Kind, wire: Wire, current: Wire) -> list[StatusCause]:
    causes = validate_update(kind, wire, current)
    return causes + (check_definition(wire, current) if kind.resource == DEFINITIONS else [])


def _check_kind(type_: ResourceType, wire: Wire) -> None:
    """A custom object must be of its path's kind. That is looked at first, and what else is wrong is not told."""
    kind, version = type_.kind, wire.get("apiVersion") or ""
    if wire.get("kind") == kind.name and version == kind.api_version:
        return
    causes = []
    if wire.get("kind") != kind.name:
        causes.append(wording.invalid("kind", wire.get("kind"), f"must be {kind.name}"))
    if version != kind.api_version:
        causes.append(wording.invalid("apiVersion", version, f"must be {kind.api_version}"))
    group = version.rpartition("/")[0]
    _refuse(replace(kind, group=group, name=wire.get("kind") or ""), wire, causes)


def _normalise(type_: ResourceType, wire: Wire, structural: Structural) -> None:
    """Make a built-in object what decoding it into Go's types would: unknown and empty fields go."""
    if type_.kind.name not in FREE_FORM:
        structural.prune(wire)
        drop_empty(wire, type_.schema)


def drop_empty(value: Any, schema: Schema) -> None:
    """Remove lists and maps with nothing in them: Go doesn't write those. An empty struct says something, and stays."""
    if isinstance(value, list):
        for item in value:
            drop_empty(item, schema.get("items", {}))
        return
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    values = schema.get("additionalProperties", {})
    for key, inner in list(value.items()):
        part = properties.get(key, values)
        if inner is None and part is values and part.get("type") == "string":
            value[key] = ""
        elif (inner == [] and part.get("type") == "array") or (inner == {} and "additionalProperties" in part):
            del value[key]
        elif isinstance(inner, (dict, list)):
            drop_empty(inner, part)


def _refuse(kind: Kind, wire: Wire, causes: list[StatusCause], warnings: Sequence[str] = ()) -> None:
    if causes:
        refusal = invalid(kind, wire["metadata"].get("name", ""), causes)
        refusal.warnings += warnings
        raise refusal


def _keep_addresses(wire: Wire, current: Wire) -> None:
    """An update that says nothing about a Service's addresses keeps them."""
    spec, before = wire.get("spec", {}), current.get("spec", {})
    if spec.get("type") == "ExternalName" or before.get("type") == "ExternalName":
        return
    for field in ("clusterIP", "clusterIPs"):
        if not spec.get(field) and field in before:
            spec[field] = before[field]
    ports = {(port.get("port"), port.get("protocol")): port for port in before.get("ports", ())}
    for port in spec.get("ports", ()):
        known = ports.get((port.get("port"), port.get("protocol")), {})
        if not port.get("nodePort") and known.get("nodePort") and spec.get("type") in ("NodePort", "LoadBalancer"):
            port["nodePort"] = known["nodePort"]
