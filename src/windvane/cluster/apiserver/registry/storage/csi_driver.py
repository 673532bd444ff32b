"""The strategy of CSIDriver."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill_zero
from windvane.k8s import storage


def _token_requests(driver: Wire) -> str:
    requests = read(driver, "spec.tokenRequests")
    return "<unset>" if requests is None else ",".join(each.get("audience", "") for each in requests)


class CSIDriverStrategy(BuiltinStrategy):
    model = storage.CSIDriver
    allow_unconditional_update = False
    returned_when_deleted = True
    defaults = {
        "spec.attachRequired": True,
        "spec.fsGroupPolicy": "ReadWriteOnceWithFSType",
        "spec.podInfoOnMount": False,
        "spec.requiresRepublish": False,
        "spec.seLinuxMount": False,
        "spec.storageCapacity": False,
    }
    columns = (
        NAME,
        Column("AttachRequired", field("spec.attachRequired", True), "boolean"),
        Column("PodInfoOnMount", field("spec.podInfoOnMount", False), "boolean"),
        Column("StorageCapacity", field("spec.storageCapacity", False), "boolean"),
        Column("TokenRequests", _token_requests),
        Column("RequiresRepublish", field("spec.requiresRepublish", False), "boolean"),
        Column("Modes", lambda driver: ",".join(items(driver, "spec.volumeLifecycleModes")) or "<none>"),
        AGE,
    )
    column_fields = {
        "AttachRequired": "storage.v1.CSIDriverSpec.attachRequired",
        "PodInfoOnMount": "storage.v1.CSIDriverSpec.podInfoOnMount",
        "StorageCapacity": "storage.v1.CSIDriverSpec.storageCapacity",
        "TokenRequests": "storage.v1.CSIDriverSpec.tokenRequests",
        "RequiresRepublish": "storage.v1.CSIDriverSpec.requiresRepublish",
        "Modes": "storage.v1.CSIDriverSpec.volumeLifecycleModes",
    }

    def set_defaults(self, obj: Wire) -> None:
        fill_zero(obj["spec"], "volumeLifecycleModes", ["Persistent"])
