"""The strategy of ControllerRevision."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import apps


def _controller(revision: Wire) -> str:
    for owner in items(revision, "metadata.ownerReferences"):
        if owner.get("controller"):
            group, slash, _ = owner.get("apiVersion", "").partition("/")
            kind = f"{owner.get('kind', '')}.{group}" if slash and group else owner.get("kind", "")
            return f"{kind.lower()}/{owner.get('name', '')}"
    return "<none>"


class ControllerRevisionStrategy(BuiltinStrategy):
    model = apps.ControllerRevision
    free_form = True
    columns = (NAME, Column("Controller", _controller), Column("Revision", field("revision", 0)), AGE)
    column_fields = {"Revision": "apps.v1.ControllerRevision.revision"}

    def validate(self, obj: Wire, problems: Problems) -> None:
        if obj.get("data") is None:
            problems.required("data", "data is mandatory")
        problems.not_negative("revision", obj.get("revision"))

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        if obj.get("data") != old.get("data"):
            problems.immutable("data", obj.get("data"), old.get("data"))
