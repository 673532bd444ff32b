"""Which objects a list or a watch is about: label and field selectors, read once and matched against stored bytes."""

from dataclasses import dataclass
from typing import Any

import msgspec

from windvane.api.field_selector import FieldSelector
from windvane.api.selector import Selector
from windvane.cluster.apiserver.catalog import ResourceType
from windvane.cluster.apiserver.failure import bad_request
from windvane.cluster.apiserver.wire.stored import labels_of

EVERYWHERE = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Selection:
    """Matches stored objects of one type."""

    labels: Selector
    fields: FieldSelector

    @property
    def everything(self) -> bool:
        """Whether nothing is filtered out."""
        return not self.labels.requirements and not self.fields.requirements

    def matches(self, value: bytes) -> bool:
        """Whether a stored object is meant."""
        if self.labels.requirements and not self.labels.matches(labels_of(value)):
            return False
        if not self.fields.requirements:
            return True
        wire = msgspec.json.decode(value)
        return self.fields.matches({each.field: field_value(wire, each.field) for each in self.fields.requirements})


def read_selection(type_: ResourceType, query: dict[str, str]) -> Selection:
    """The selectors of a request; 400 if they can't be read or name a field that can't be selected by."""
    try:
        labels = Selector.parse(query.get("labelSelector", ""))
    except ValueError as error:
        raise bad_request(f"unable to parse requirement: {error}") from error
    try:
        fields = FieldSelector.parse(query.get("fieldSelector", ""))
    except ValueError as error:
        raise bad_request(str(error)) from error
    for each in fields.requirements:
        if each.field not in (*EVERYWHERE, *type_.selectable):
            raise bad_request(_unknown_field(type_, each.field))
    return Selection(labels, fields)


def _unknown_field(type_: ResourceType, field: str) -> str:
    if type_.custom:
        return f"field label not supported: {field}"
    if not type_.selectable:
        return f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    return f"field label not supported: {field}"


def field_value(wire: Any, path: str) -> str:
    """The text that a field selector compares with; empty for what is absent."""
    here = wire
    for name in path.split("."):
        here = here.get(name) if isinstance(here, dict) else None
    if isinstance(here, bool):
        return "true" if here else "false"
    return "" if here is None else str(here)
