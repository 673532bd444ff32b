"""Columns of storage classes, CSI drivers, volume attachments and what is stored anew."""

from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, JSONObject, count, field, items, read

DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _class_name(storage_class: JSONObject) -> str:
    annotations = read(storage_class, "metadata.annotations") or {}
    default = any(annotations.get(key) == "true" for key in DEFAULT_CLASS)
    return str(read(storage_class, "metadata.name")) + (" (default)" if default else "")


STORAGE_CLASS = (
    Column("Name", _class_name, format="name"),
    Column("Provisioner", field("provisioner")),
    Column("ReclaimPolicy", field("reclaimPolicy", "Delete")),
    Column("VolumeBindingMode", field("volumeBindingMode", "Immediate")),
    Column("AllowVolumeExpansion", field("allowVolumeExpansion", False)),
    AGE,
)

VOLUME_ATTRIBUTES_CLASS = (NAME, Column("DriverName", field("driverName")), AGE)

VOLUME_ATTACHMENT = (
    NAME,
    Column("Attacher", field("spec.attacher"), format="name"),
    Column("PV", field("spec.source.persistentVolumeName")),
    Column("Node", field("spec.nodeName")),
    Column("Attached", field("status.attached", False), "boolean"),
    AGE,
)

CSI_NODE = (NAME, Column("Drivers", count("spec.drivers"), "integer"), AGE)


def _token_requests(driver: JSONObject) -> str:
    requests = read(driver, "spec.tokenRequests")
    return "<unset>" if requests is None else ",".join(each.get("audience", "") for each in requests)


CSI_DRIVER = (
    NAME,
    Column("AttachRequired", field("spec.attachRequired", True), "boolean"),
    Column("PodInfoOnMount", field("spec.podInfoOnMount", False), "boolean"),
    Column("StorageCapacity", field("spec.storageCapacity", False), "boolean"),
    Column("TokenRequests", _token_requests),
    Column("RequiresRepublish", field("spec.requiresRepublish", False), "boolean"),
    Column("Modes", lambda driver: ",".join(items(driver, "spec.volumeLifecycleModes")) or "<none>"),
    AGE,
)


def _resource(migration: JSONObject) -> str:
    resource = read(migration, "spec.resource") or {}
    return ".".join(filter(None, (resource.get("resource"), resource.get("group"))))


def _end(migration: JSONObject) -> str:
    reached = [each["type"] for each in items(migration, "status.conditions") if each.get("status") == "True"]
    return next((each for each in reversed(reached) if each in ("Running", "Failed", "Succeeded")), "Unknown")


STORAGE_VERSION_MIGRATION = (NAME, Column("Resource", _resource), Column("Status", _end))
