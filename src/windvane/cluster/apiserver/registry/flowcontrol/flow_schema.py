"""The strategy of FlowSchema."""

from collections.abc import Sequence

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill_zero
from windvane.cluster.apiserver.registry.subresource import StatusOnlyStrategy
from windvane.k8s import flowcontrol


def _dangling(schema: Wire) -> str:
    for condition in items(schema, "status.conditions"):
        if condition.get("type") == "Dangling":
            return str(condition.get("status", ""))
    return "?"


class FlowSchemaStrategy(BuiltinStrategy):
    model = flowcontrol.FlowSchema
    has_generation = True
    columns = (
        NAME,
        Column("PriorityLevel", field("spec.priorityLevelConfiguration.name")),
        Column("MatchingPrecedence", field("spec.matchingPrecedence", 0)),
        Column("DistinguisherMethod", field("spec.distinguisherMethod.type", "<none>")),
        AGE,
        Column("MissingPL", _dangling),
    )
    column_fields = {
        "PriorityLevel": "flowcontrol.v1.PriorityLevelConfigurationReference.name",
        "MatchingPrecedence": "flowcontrol.v1.FlowSchemaSpec.matchingPrecedence",
        "DistinguisherMethod": "flowcontrol.v1.FlowSchemaSpec.distinguisherMethod",
    }
    status = StatusOnlyStrategy()

    def set_defaults(self, obj: Wire) -> None:
        fill_zero(obj.setdefault("spec", {}), "matchingPrecedence", 1000)
        obj.setdefault("status", {})

    def sort_rows(self, objects: Sequence[Wire]) -> Sequence[Wire]:
        """By matching precedence."""
        return sorted(
            objects, key=lambda schema: (read(schema, "spec.matchingPrecedence") or 0, read(schema, "metadata.name"))
        )
