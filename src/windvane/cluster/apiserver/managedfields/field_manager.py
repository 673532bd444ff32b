"""The field manager: keeps metadata.managedFields of every object that is written, and merges what is applied."""

from collections.abc import Callable
from functools import cache
from weakref import WeakKeyDictionary

from windvane import ambient
from windvane.api.json_value import Wire, json_copy
from windvane.api.time import format_time
from windvane.cluster.apiserver.conversion.cache import from_cache
from windvane.cluster.apiserver.failure import Failure, bad_request, failure
from windvane.cluster.apiserver.managedfields import conflicts, last_applied
from windvane.cluster.apiserver.managedfields.apply_configuration import misfit
from windvane.cluster.apiserver.managedfields.field_set import FieldSet, Path, contains, fields_at
from windvane.cluster.apiserver.managedfields.managed_fields import (
    ManagedFields,
    Manager,
    apply_manager,
    capped,
    entries_of,
    is_reset,
    stated_managed_fields,
    stored_managed_fields,
    update_manager,
)
from windvane.cluster.apiserver.managedfields.scale_handler import from_scale, to_scale
from windvane.cluster.apiserver.managedfields.shape import NoStep, Shape, shape_of
from windvane.cluster.apiserver.managedfields.updater import Applied, Conflicts, Updater, dated
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.strategy import FieldPaths
from windvane.cluster.apiserver.schema.scheme import class_for
from windvane.cluster.apiserver.schema.unstructured_converter import UnstructuredError, from_unstructured

BEFORE = "before-first-apply"
KUBE_APISERVER = "kube-apiserver"
"""The manager of what the server writes by itself."""


class FieldManager:
    """Tracks managers, for all types that are served."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._shapes: WeakKeyDictionary[ResourceType, Shape] = WeakKeyDictionary()

    def record_create(self, type_: ResourceType, wire: Wire, name: str, subresource: str = "") -> None:
        """Record `name` as the manager of a new object; `subresource` is set for kinds that are posted there."""
        managed = _initial_managed_fields(wire, {})
        manager = update_manager(name, type_.kind.api_version, subresource)
        _note(wire, _tracked(self._updater(type_, subresource), self._nothing(type_), wire, managed, manager))

    def record_update(self, type_: ResourceType, subresource: str, wire: Wire, current: Wire, name: str) -> None:
        """Record `name` as the manager of what an update changes, through a subresource or none."""
        live, managed = _apart(current)
        if subresource:
            wire["metadata"].pop("managedFields", None)
        else:
            managed = _initial_managed_fields(wire, managed)
        # A client has reset the managers: only an apply tracks them again.
        if managed:
            manager = update_manager(name, type_.kind.api_version, subresource)
            managed = _tracked(self._updater(type_, subresource), live, wire, managed, manager)
        _note(wire, managed)

    def apply(
        self, type_: ResourceType, subresource: str, config: Wire, current: Wire | None, name: str, *, force: bool
    ) -> Wire:
        """Apply `config` to `current`, or to nothing, as manager `name`; a `Failure` if it is invalid or conflicts."""
        updater = self._updater(type_, subresource)
        _check_configuration(type_, updater.shape, config)
        live, managed = _apart(current or {**self._nothing(type_), **_type_meta(type_)})
        if not managed:
            before = update_manager(BEFORE, type_.kind.api_version, subresource)
            managed = updater.update(self._nothing(type_), live, {}, before, _now())

        def merge(force: bool) -> Applied:
            return updater.apply(live, config, managed, apply_manager(name, subresource), force=force)

        result = _settled(merge, updater, live, name) if not force else merge(True)
        left = result.managed
        if result.changed:
            left = dated(left, apply_manager(name, subresource), _now())
        wire: Wire = json_copy(result.wire) if type_.strategy.is_unstructured else _restored(type_, result.wire, config)
        wire["metadata"] = wire.get("metadata") or {}
        if name == last_applied.KUBECTL:
            last_applied.remember(wire, config)
        _note(wire, left)
        return wire

    def scale_managed_fields(self, type_: ResourceType, current: Wire) -> list[Wire]:
        """The managedFields of an object's Scale."""
        return entries_of(to_scale(_apart(current)[1], self._replicas(type_)))

    def record_scale(self, type_: ResourceType, wire: Wire, current: Wire, scale: Wire) -> None:
        """Record the managers of an object's replicas from those of its Scale."""
        managed, scaled = _apart(current)[1], _apart(scale)[1]
        wire["metadata"].pop("managedFields", None)
        _note(wire, from_scale(managed, scaled, self._replicas(type_), type_.kind.api_version))

    def _replicas(self, type_: ResourceType) -> dict[str, Path | None]:
        versions = [each for each in self._catalog.types.values() if each.collection == type_.collection]
        return {each.kind.api_version: _replicas_path(each) for each in versions}

    def _updater(self, type_: ResourceType, subresource: str) -> Updater:
        group, plural = type_.kind.group, type_.kind.plural

        def find(api_version: str) -> Shape | None:
            if api_version == type_.kind.api_version:
                return self._shape(type_)
            theirs, _, version = api_version.rpartition("/")
            found = self._catalog.find(group, version, plural) if theirs == group else None
            return None if found is None else self._shape(found)

        def convert(wire: Wire, before: str, after: str) -> Wire:
            return wire if before == after else from_cache(_version(type_, before), wire, after)

        ignored = _reset_fields(type_.strategy.reset_fields(subresource))
        elsewhere = ignored if type_.strategy.is_unstructured and subresource == "status" else {}
        return Updater(type_.kind.api_version, find, ignored, elsewhere, convert)

    def _shape(self, type_: ResourceType) -> Shape:
        if (shape := self._shapes.get(type_)) is None:
            shape = self._shapes[type_] = shape_of(type_.schema, builtin=not type_.strategy.is_unstructured)
        return shape

    def _nothing(self, type_: ResourceType) -> Wire:
        """The empty object that a create starts from."""
        return type_.strategy.empty_object()


def _version(type_: ResourceType, api_version: str) -> ResourceType:
    """The type of the same kind in another version."""
    others = type_.versions.types if type_.versions is not None else {}
    return others.get(api_version.rpartition("/")[2], type_)


def _replicas_path(type_: ResourceType) -> Path | None:
    """The path of a type's replicas; None if it can't be scaled."""
    scale = type_.strategy.scale
    return None if scale is None else tuple(f"f:{name}" for name in scale.replicas_path.strip(".").split("."))


def _tracked(updater: Updater, live: Wire, wire: Wire, managed: ManagedFields, manager: Manager) -> ManagedFields:
    """The managed fields after an update.

    They are empty if list items can't be told apart, or the object can't be converted to a manager's version: an update
    is not refused for that.
    """
    try:
        return capped(updater.update(live, wire, managed, manager, _now()))
    except (NoStep, Failure):
        return {}


def _settled(merge: Callable[[bool], Applied], updater: Updater, live: Wire, name: str) -> Applied:
    """The result of an apply; conflicts with kubectl's own client-side apply are overridden."""
    try:
        return merge(False)
    except Conflicts as found:
        if name != last_applied.KUBECTL:
            raise conflicts.refusal(found) from None
        allowed = last_applied.applied_before(updater.shape, live, updater.api_version)
        serious = [(manager, path) for manager, path in found.found if not contains(allowed, path)]
        if serious:
            raise conflicts.refusal(Conflicts(serious)) from None
    return merge(True)


def _check_configuration(type_: ResourceType, shape: Shape, config: Wire) -> None:
    kind, metadata = type_.kind, config.get("metadata")
    stated = _kind_words(_text(config, "apiVersion"), _text(config, "kind"))
    if stated != _kind_words(kind.api_version, kind.name):
        raise bad_request(f"invalid object type: {stated}")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    if problem := misfit(shape, config):
        raise failure(500, "", f"failed to create typed patch object ({_named(type_, config)}): {problem}")


def _restored(type_: ResourceType, merged: Wire, config: Wire) -> Wire:
    """A merged object of a built-in kind, converted to its Go type."""
    kind = type_.kind
    try:
        return from_unstructured(class_for(kind.group, kind.api_version, kind.name), merged, kind.version)[0]
    except UnstructuredError as problem:
        why = f"unable to convert unstructured object to {_kind_words(kind.api_version, kind.name)}: {problem}"
        what = f"failed to convert new object ({_named(type_, config)}) to proper version: {why}"
        raise failure(500, "", what) from problem


def _named(type_: ResourceType, config: Wire) -> str:
    """The applied object, as errors call it."""
    metadata = config["metadata"] if isinstance(config.get("metadata"), dict) else {}
    words = _kind_words(type_.kind.api_version, type_.kind.name)
    return f"{_text(metadata, 'namespace')}/{_text(metadata, 'name')}; {words}"


def _kind_words(api_version: str, name: str) -> str:
    """A kind as Go prints it, such as `/v1, Kind=Pod`."""
    if api_version.count("/") > 1:
        return "/, Kind="
    return f"{api_version if '/' in api_version else f'/{api_version}'}, Kind={name}"


def _text(value: Wire, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _type_meta(type_: ResourceType) -> Wire:
    return {"apiVersion": type_.kind.api_version, "kind": type_.kind.name}


def _apart(current: Wire) -> tuple[Wire, ManagedFields]:
    """An object without its managedFields, and those decoded."""
    metadata = {**(current.get("metadata") or {})}
    entries = metadata.pop("managedFields", ())
    return {**current, "metadata": metadata}, stored_managed_fields(entries)


def _initial_managed_fields(wire: Wire, stored: ManagedFields) -> ManagedFields:
    """The managed fields to start from: those of the request if it states any, else the stored ones."""
    stated = wire["metadata"].pop("managedFields", None)
    if is_reset(stated):
        return {}
    if stated is None:
        return stored
    try:
        return stated_managed_fields(stated) or stored
    except ValueError:
        return stored  # most likely from a client that doesn't know managedFields


def _note(wire: Wire, managed: ManagedFields) -> None:
    if managed:
        wire["metadata"]["managedFields"] = entries_of(managed)


def _now() -> str:
    return format_time(ambient.now())


@cache
def _reset_fields(paths: FieldPaths) -> FieldSet:
    """The fields that a write through a subresource, or none, resets: no manager comes to own them."""
    return fields_at(*(tuple(f"f:{name}" for name in path.split(".")) for path in paths))
