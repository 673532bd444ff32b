"""The strategy of StorageClass."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, Column, field, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.warnings import DEPRECATED_LABELS
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import storage

DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _class_name(storage_class: Wire) -> str:
    annotations = read(storage_class, "metadata.annotations") or {}
    default = any(annotations.get(key) == "true" for key in DEFAULT_CLASS)
    return str(read(storage_class, "metadata.name")) + (" (default)" if default else "")


class StorageClassStrategy(BuiltinStrategy):
    model = storage.StorageClass
    returned_when_deleted = True
    defaults = {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}
    columns = (
        Column("Name", _class_name, format="name"),
        Column("Provisioner", field("provisioner")),
        Column("ReclaimPolicy", field("reclaimPolicy", "Delete")),
        Column("VolumeBindingMode", field("volumeBindingMode", "Immediate")),
        Column("AllowVolumeExpansion", field("allowVolumeExpansion", False)),
        AGE,
    )
    column_fields = {
        "Provisioner": "storage.v1.StorageClass.provisioner",
        "ReclaimPolicy": "storage.v1.StorageClass.reclaimPolicy",
        "VolumeBindingMode": "storage.v1.StorageClass.volumeBindingMode",
        "AllowVolumeExpansion": "storage.v1.StorageClass.allowVolumeExpansion",
    }

    def validate(self, obj: Wire, problems: Problems) -> None:
        if not obj.get("provisioner"):
            problems.required("provisioner")
        if obj["reclaimPolicy"] not in ("Delete", "Retain"):
            problems.unsupported("reclaimPolicy", obj["reclaimPolicy"], ("Delete", "Retain"))
        modes = ("Immediate", "WaitForFirstConsumer")
        if obj["volumeBindingMode"] not in modes:
            problems.unsupported("volumeBindingMode", obj["volumeBindingMode"], modes)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            problems.immutable(name, obj.get(name), old.get(name))

    def warn(self, obj: Wire, _: Wire | None) -> Iterator[str]:
        for index, topology in enumerate(obj.get("allowedTopologies") or ()):
            for place, expression in enumerate(topology.get("matchLabelExpressions") or ()):
                if why := DEPRECATED_LABELS.get(expression.get("key", "")):
                    yield f"allowedTopologies[{index}].matchLabelExpressions[{place}].key: {why}"
