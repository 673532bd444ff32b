"""Keeps metadata.managedFields of every object that is written, and merges what is applied."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any
from weakref import WeakKeyDictionary

from windvane import ambient
from windvane.api.time import format_time
from windvane.cluster.apiserver.catalog import Catalog, ResourceType
from windvane.cluster.apiserver.failure import bad_request, failure
from windvane.cluster.apiserver.ownership import conflicts, last_applied
from windvane.cluster.apiserver.ownership.configuration import misfit
from windvane.cluster.apiserver.ownership.doors import unreachable
from windvane.cluster.apiserver.ownership.fields import contains
from windvane.cluster.apiserver.ownership.managers import (
    Shares,
    applier,
    capped,
    entries_of,
    is_reset,
    stated_shares,
    stored_shares,
    updater,
)
from windvane.cluster.apiserver.ownership.shape import Shape, shape_of
from windvane.cluster.apiserver.ownership.tracking import Applied, Conflicts, Terms, applied, dated, updated
from windvane.cluster.apiserver.ownership.zero import zero_object

Wire = dict[str, Any]
BEFORE = "before-first-apply"


class Owners:
    """Who owns which field, for all types that are served."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._shapes: WeakKeyDictionary[ResourceType, Shape] = WeakKeyDictionary()

    def created(self, type_: ResourceType, wire: Wire, name: str) -> None:
        """Note in a new object that `name` has made it."""
        shares = _asked_for(wire, {})
        manager = updater(name, type_.kind.api_version, "")
        terms = self._terms(type_, "")
        _note(wire, capped(updated(terms, self._nothing(type_), wire, shares, manager, _now())))

    def updated(self, type_: ResourceType, subresource: str, wire: Wire, current: Wire, name: str) -> None:
        """Note in an object that `name` has made it out of `current`, through that subresource or none."""
        live = {**current, "metadata": {**current["metadata"]}}
        shares = stored_shares(live["metadata"].pop("managedFields", ()))
        if subresource:
            wire["metadata"].pop("managedFields", None)
        else:
            shares = _asked_for(wire, shares)
        # Whoever made an object forget its managers wants none: only an apply begins anew.
        if shares:
            manager = updater(name, type_.kind.api_version, subresource)
            shares = capped(updated(self._terms(type_, subresource), live, wire, shares, manager, _now()))
        _note(wire, shares)

    def applied(
        self, type_: ResourceType, subresource: str, config: Wire, current: Wire | None, name: str, *, force: bool
    ) -> Wire:
        """What becomes of `current`, or of nothing, when `name` applies `config`; refuses what can't be applied."""
        terms = self._terms(type_, subresource)
        _check_configuration(type_, terms.shape, config)
        live = deepcopy(current) if current is not None else {**self._nothing(type_), **_type_meta(type_)}
        shares = stored_shares((live.get("metadata") or {}).pop("managedFields", ()))
        if not shares:
            before = updater(BEFORE, type_.kind.api_version, subresource)
            shares = updated(terms, self._nothing(type_), live, {}, before, _now())

        def merge(force: bool) -> Applied:
            return applied(terms, live, config, shares, applier(name, subresource), force=force)

        result = _settled(merge, terms, live, name) if not force else merge(True)
        left = result.shares
        if result.changed:
            left = dated(left, applier(name, subresource), _now())
        wire = deepcopy(result.wire)
        if name == last_applied.KUBECTL:
            last_applied.remember(wire, config)
        _note(wire, left)
        return wire

    def _terms(self, type_: ResourceType, subresource: str) -> Terms:
        group, plural = type_.kind.group, type_.kind.plural

        def find(api_version: str) -> Shape | None:
            theirs, _, version = api_version.rpartition("/")
            found = self._catalog.find(group, version, plural) if theirs == group else None
            return None if found is None else self._shape(found)

        return Terms(type_.kind.api_version, find, unreachable(type_, subresource))

    def _shape(self, type_: ResourceType) -> Shape:
        if (shape := self._shapes.get(type_)) is None:
            shape = self._shapes[type_] = shape_of(type_.schema, builtin=not type_.custom)
        return shape

    def _nothing(self, type_: ResourceType) -> Wire:
        """What is there before there is anything."""
        return {} if type_.custom else zero_object(type_.kind)


def _settled(merge: Callable[[bool], Applied], terms: Terms, live: Wire, name: str) -> Applied:
    """What applying leads to, unless others object; `kubectl` does not object to what it applied itself before."""
    try:
        return merge(False)
    except Conflicts as found:
        if name != last_applied.KUBECTL:
            raise conflicts.refusal(found) from None
        allowed = last_applied.applied_before(terms.shape, live, terms.api_version)
        serious = [(manager, path) for manager, path in found.found if not contains(allowed, path)]
        if serious:
            raise conflicts.refusal(Conflicts(serious)) from None
    return merge(True)


def _check_configuration(type_: ResourceType, shape: Shape, config: Wire) -> None:
    kind = type_.kind
    metadata = config.get("metadata")
    stated = f"{_group_version(config.get('apiVersion') or '')}, Kind={config.get('kind') or ''}"
    if stated != f"{_group_version(kind.api_version)}, Kind={kind.name}":
        raise bad_request(f"invalid object type: {stated}")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    if problem := misfit(shape, config):
        named = metadata if isinstance(metadata, dict) else {}
        what = f"{named.get('namespace') or ''}/{named.get('name') or ''}; {stated}"
        raise failure(500, "", f"failed to create typed patch object ({what}): {problem}")


def _group_version(api_version: str) -> str:
    return api_version if "/" in api_version else f"/{api_version}"


def _type_meta(type_: ResourceType) -> Wire:
    return {"apiVersion": type_.kind.api_version, "kind": type_.kind.name}


def _asked_for(wire: Wire, stored: Shares) -> Shares:
    """The shares to begin with: those of the request if it states any, else those that are there."""
    stated = wire["metadata"].pop("managedFields", None)
    if is_reset(stated):
        return {}
    if stated is None:
        return stored
    try:
        return stated_shares(stated) or stored
    except ValueError:
        return stored  # most likely from a client that doesn't know what they are


def _note(wire: Wire, shares: Shares) -> None:
    if shares:
        wire["metadata"]["managedFields"] = entries_of(shares)


def _now() -> str:
    return format_time(ambient.now())
