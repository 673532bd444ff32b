"""The managers of an object's replicas, as its Scale tells them, and back.

A Scale is another view of one field of an object. While it is written, that field has the Scale's name for it; the
managers that come out of it own the field of the object.
"""

from collections.abc import Mapping

from windvane.cluster.apiserver.managedfields.field_set import Path, contains, difference, fields_at
from windvane.cluster.apiserver.managedfields.managed_fields import UPDATE, ManagedFields, VersionedSet

AUTOSCALING = "autoscaling/v1"
REPLICAS: Path = ("f:spec", "f:replicas")

Paths = Mapping[str, Path | None]
"""Where each version of a kind has its replicas; None where it has no scale."""


def to_scale(managed: ManagedFields, paths: Paths) -> ManagedFields:
    """The managed fields of an object's Scale."""
    scaled = {}
    for manager, versioned in managed.items():
        path = paths.get(versioned.api_version)
        if path and contains(versioned.fields, path):
            known = manager._replace(api_version=AUTOSCALING) if manager.operation == UPDATE else manager
            scaled[known] = VersionedSet(fields_at(REPLICAS), AUTOSCALING, versioned.time)
    return scaled


def from_scale(managed: ManagedFields, scaled: ManagedFields, paths: Paths, api_version: str) -> ManagedFields:
    """The managed fields of an object, of which that version was scaled, after its Scale has got these."""
    left: ManagedFields = {}
    new = dict(scaled)
    for manager, versioned in managed.items():
        if versioned.api_version not in paths:
            continue
        path = paths[versioned.api_version]
        if path is None or not contains(versioned.fields, path):
            left[manager] = versioned
        elif manager in new:
            left[manager] = versioned
            del new[manager]
        elif fields := difference(versioned.fields, fields_at(path)):
            left[manager] = versioned.with_fields(fields)
    place = paths[api_version]
    for manager, versioned in new.items():
        if place and contains(versioned.fields, REPLICAS):
            # As on a real server, the time is not noted.
            left[manager] = VersionedSet(fields_at(place), api_version)
    return left
