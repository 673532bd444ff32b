"""Label and field selectors of lists and watches, parsed once and matched against stored bytes."""

from collections.abc import Mapping
from dataclasses import dataclass

from windvane.api.field_selector import FieldSelector, UnreadableTerm
from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems, label_value_problems
from windvane.api.selector import BadRequirement, Place, Selector, UnexpectedToken, as_integer
from windvane.api.status import StatusCause
from windvane.api.wording import NOWHERE, invalid
from windvane.cluster.apiserver.failure import bad_request
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.storage_codec import labels_of, unpack


@dataclass(frozen=True, slots=True)
class Selection:
    """Matches stored objects of one type."""

    type: ResourceType
    labels: Selector
    fields: FieldSelector

    @property
    def everything(self) -> bool:
        """Whether every object matches."""
        return not self.labels.requirements and not self.fields.requirements

    def matches(self, value: bytes) -> bool:
        """Whether a stored object matches."""
        if self.labels.requirements and not self.labels.matches(labels_of(value)):
            return False
        if not self.fields.requirements:
            return True
        wire = unpack(self.type, value)
        return self.fields.matches({each.field: self._value(wire, each.field) for each in self.fields.requirements})

    def _value(self, wire: Wire, field: str) -> str:
        return self.type.strategy.field_label(wire, field)


def read_selection(type_: ResourceType, query: dict[str, str]) -> Selection:
    """The selectors of a request; 400 if one is malformed or names an unsupported field."""
    try:
        labels = Selector.parse(query.get("labelSelector", ""))
        fields = FieldSelector.parse(query.get("fieldSelector", ""))
    except (UnexpectedToken, BadRequirement, UnreadableTerm) as error:
        raise bad_request(in_go_words(error, query)) from error
    for each in fields.requirements:
        if each.field not in selectable_fields(type_):
            raise bad_request(type_.strategy.unknown_field_label(each.field))
    return Selection(type_, labels, fields)


def selectable_fields(type_: ResourceType) -> tuple[str, ...]:
    """The fields that field selectors of a type support."""
    # A cluster-scoped kind that lists its own fields does not support metadata.namespace. The others do, by a rule for
    # all kinds, though it selects nothing or everything.
    fields = type_.strategy.selectable_fields
    if not type_.kind.namespaced and (fields or not type_.strategy.is_routed):
        return "metadata.name", *fields
    return "metadata.name", "metadata.namespace", *fields


# What Go says about an unexpected token, in three places outside of a requirement.
UNEXPECTED: Mapping[Place, str] = {
    "start": "found '{}', expected: !, identifier, or 'end of string'",
    "after a comma": "found '{}', expected: identifier after ','",
    "after a requirement": "found '{}', expected: ',' or 'end of string'",
    "key": "unable to parse requirement: found '{}', expected: identifier",
    "operator": "unable to parse requirement: found '{}', expected: in, notin, =, ==, !=, gt, lt",
    "value": "unable to parse requirement: found '{}', expected: identifier",
    "values": "unable to parse requirement: found '{}' expected: '('",
    "first of values": "unable to parse requirement: found '{}', expected: ',', ')' or identifier",
    "next of values": "unable to parse requirement: found '{}', expected: ',', or identifier",
    "after one of values": "unable to parse requirement: found '{}', expected: ',' or ')'",
}


def in_go_words(error: UnexpectedToken | BadRequirement | UnreadableTerm, query: dict[str, str]) -> str:
    """The real server's error for a malformed selector."""
    if isinstance(error, UnexpectedToken):
        return UNEXPECTED[error.place].format(error.found)
    if isinstance(error, BadRequirement):
        problems = [f"{cause.field}: {cause.message}" for cause in _requirement_problems(error)]
        listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        return f"unable to parse requirement: {listed}"
    if not error.unescaped:
        return f"invalid selector: '{query['fieldSelector']}'; can't understand '{error.term}'"
    if error.unescaped.startswith("\\"):
        return f"invalid field selector: invalid escape sequence: {error.unescaped}"
    return f"invalid field selector: unescaped character in value: {ord(error.unescaped)}"


def _requirement_problems(bad: BadRequirement) -> list[StatusCause]:
    if problems := label_key_problems(bad.key):
        return [invalid(NOWHERE, bad.key, "; ".join(problems))]
    causes = []
    for number, value in enumerate(bad.values):
        if bad.operator in ("<", ">") and as_integer(value) is None:
            causes.append(invalid(f"values[{number}]", value, "for 'Gt', 'Lt' operators, the value must be an integer"))
        if problems := label_value_problems(value):
            causes.append(invalid(f"values[{number}][{bad.key}]", value, "; ".join(problems)))
    return causes
