"""The strategy of RuntimeClass."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.warnings import DEPRECATED_LABELS
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import node


class RuntimeClassStrategy(BuiltinStrategy):
    model = node.RuntimeClass
    allow_create_on_update = True
    allow_unconditional_update = False
    columns = (NAME, Column("Handler", field("handler")), AGE)

    def validate(self, obj: Wire, problems: Problems) -> None:
        if not obj.get("handler"):
            problems.required("handler")

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        problems.immutable("handler", obj.get("handler"), old.get("handler"))

    def warn(self, obj: Wire, _: Wire | None) -> Iterator[str]:
        selected = (obj.get("scheduling") or {}).get("nodeSelector") or {}
        for label in sorted(DEPRECATED_LABELS.keys() & selected.keys()):
            yield f"scheduling.nodeSelector: {DEPRECATED_LABELS[label]}"
