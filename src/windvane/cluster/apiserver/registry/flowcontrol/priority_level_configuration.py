"""The strategy of PriorityLevelConfiguration."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill_zero
from windvane.cluster.apiserver.registry.subresource import StatusOnlyStrategy
from windvane.k8s import flowcontrol


class PriorityLevelConfigurationStrategy(BuiltinStrategy):
    model = flowcontrol.PriorityLevelConfiguration
    has_generation = True
    columns = (
        NAME,
        Column("Type", field("spec.type")),
        Column("NominalConcurrencyShares", field("spec.limited.nominalConcurrencyShares", "<none>")),
        Column("Queues", field("spec.limited.limitResponse.queuing.queues", "<none>")),
        Column("HandSize", field("spec.limited.limitResponse.queuing.handSize", "<none>")),
        Column("QueueLengthLimit", field("spec.limited.limitResponse.queuing.queueLengthLimit", "<none>")),
        AGE,
    )
    column_fields = {
        "Type": "flowcontrol.v1.PriorityLevelConfigurationSpec.type",
        "NominalConcurrencyShares": "flowcontrol.v1.LimitedPriorityLevelConfiguration.nominalConcurrencyShares",
        "Queues": "flowcontrol.v1.QueuingConfiguration.queues",
        "HandSize": "flowcontrol.v1.QueuingConfiguration.handSize",
        "QueueLengthLimit": "flowcontrol.v1.QueuingConfiguration.queueLengthLimit",
    }
    status = StatusOnlyStrategy()

    def set_defaults(self, obj: Wire) -> None:
        spec = obj.setdefault("spec", {})
        if exempt := spec.get("exempt"):
            exempt.setdefault("nominalConcurrencyShares", 0)
            exempt.setdefault("lendablePercent", 0)
        if limited := spec.get("limited"):
            limited.setdefault("nominalConcurrencyShares", 30)
            limited.setdefault("lendablePercent", 0)
            if queuing := limited.get("limitResponse", {}).get("queuing"):
                for field, value in {"queues": 64, "handSize": 8, "queueLengthLimit": 50}.items():
                    fill_zero(queuing, field, value)
        obj.setdefault("status", {})
