"""The strategy of Lease."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import coordination


class LeaseStrategy(BuiltinStrategy):
    model = coordination.Lease
    allow_create_on_update = True
    allow_unconditional_update = False
    any_finalizer = True
    defaults = {"spec": {}}
    columns = (NAME, Column("Holder", field("spec.holderIdentity")), AGE)
    column_fields = {"Holder": "coordination.v1.LeaseSpec.holderIdentity"}

    def validate(self, obj: Wire, problems: Problems) -> None:
        spec = obj["spec"]
        seconds = spec.get("leaseDurationSeconds")
        if seconds is not None and seconds <= 0:
            problems.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
        problems.not_negative("spec.leaseTransitions", spec.get("leaseTransitions"))
