"""Metadata that every object carries: names, versions, labels, owners, finalizers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from windvane.api.markers import ListAtomic, ListMap, ListSet, Patch, PreserveUnknown
from windvane.api.names import LABEL_KEY_PATTERN, LABEL_KEY_SIZES, LABEL_VALUE_PATTERN
from windvane.api.struct import Struct


class OwnerReference(Struct, atomic=True):
    """An object that this one belongs to: when all its owners are gone, the garbage collector removes it."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(Struct):
    """Which fields one manager owns."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: datetime | None = None
    fields_type: str = ""
    fields_v1: Annotated[dict[str, Any] | None, PreserveUnknown()] = None
    subresource: str = ""


class ObjectMeta(Struct):
    """What the API server knows about any object, whatever its kind."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    self_link: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: Annotated[list[OwnerReference], ListMap("uid"), Patch("merge", "uid")] = []
    finalizers: Annotated[list[str], ListSet(), Patch("merge")] = []
    managed_fields: Annotated[list[ManagedFieldsEntry], ListAtomic()] = []


class ListMeta(Struct):
    """What the API server says about a list as a whole."""

    self_link: str = ""
    resource_version: str = ""
    continue_: str = ""
    remaining_item_count: int | None = None


class LabelSelectorRequirement(Struct):
    """One condition of a label selector."""

    key: str
    operator: str
    values: Annotated[list[str], ListAtomic()] = []

    @staticmethod
    def __narrowed__(_: bool) -> Mapping[str, Any]:
        """What a CRD asks beyond the types, so that it refuses what `Selector` can't read."""
        of_one, of_none = ["In", "NotIn"], ["Exists", "DoesNotExist"]
        return {
            "properties": {
                "key": {"maxLength": 317, "pattern": LABEL_KEY_PATTERN, "allOf": [{"pattern": LABEL_KEY_SIZES}]},
                "operator": {"enum": [*of_one, *of_none]},
                "values": {"items": {"maxLength": 63, "pattern": LABEL_VALUE_PATTERN}},
            },
            "anyOf": [
                {"properties": {"operator": {"enum": of_one}, "values": {"minItems": 1}}, "required": ["values"]},
                {"properties": {"operator": {"enum": of_none}, "values": {"maxItems": 0}}},
            ],
        }


class LabelSelector(Struct, atomic=True):
    """Which objects, by their labels; an empty one means all. `Selector` matches with it."""

    match_labels: dict[str, str] = {}
    match_expressions: Annotated[list[LabelSelectorRequirement], ListAtomic()] = []

    @staticmethod
    def __narrowed__(few: bool) -> Mapping[str, Any]:
        """What a CRD asks beyond the types, so that it refuses what `Selector` can't read.

        A schema has no pattern for the keys of a map, and the rule that takes its place is cheap enough for the server
        only where there are a `few` selectors: those in lists without a bound have none.
        """
        labels: dict[str, Any] = {
            "maxProperties": 256,
            "additionalProperties": {"maxLength": 63, "pattern": LABEL_VALUE_PATTERN},
        }
        if few:
            shape, sizes = (pattern.replace("\\", "\\\\") for pattern in (LABEL_KEY_PATTERN, LABEL_KEY_SIZES))
            labels["x-kubernetes-validations"] = [
                {
                    "rule": f"self.all(key, key.matches('{shape}') && key.matches('{sizes}'))",
                    "message": "the keys must be label keys, such as app or example.com/app",
                }
            ]
        return {"properties": {"matchLabels": labels}}


class FieldSelectorRequirement(Struct):
    """One condition on a field, as authorization reviews state it."""

    key: str
    operator: str
    values: Annotated[list[str], ListAtomic()] = []


class GroupResource(Struct):
    """A resource by its group and its plural name, whatever the version."""

    group: str
    resource: str


class GroupVersionForDiscovery(Struct):
    """One version of an API group."""

    group_version: str
    version: str
