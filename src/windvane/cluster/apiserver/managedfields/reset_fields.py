"""The fields that a write through a subresource, or past it, leaves as they are: no manager comes to own them."""

from functools import cache

from windvane.cluster.apiserver.managedfields.field_set import FieldSet, fields_at
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.strategy import FieldPaths


def reset_fields(type_: ResourceType, subresource: str) -> FieldSet:
    """What the strategy of a type says, as a set of fields."""
    return _fields(type_.strategy.reset_fields(subresource))


@cache
def _fields(paths: FieldPaths) -> FieldSet:
    return fields_at(*(tuple(f"f:{name}" for name in path.split(".")) for path in paths))
