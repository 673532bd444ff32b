"""The strategy of PersistentVolume."""

from collections.abc import Iterator

from windvane import ambient
from windvane.api.json_value import Wire
from windvane.api.time import format_time
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field, items, quantity, read, wide
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.defaults import block_volume
from windvane.cluster.apiserver.registry.core.pod.volumes import PERSISTENT_SOURCES, persistent_volume_spec
from windvane.cluster.apiserver.registry.core.pod.warnings import (
    DEPRECATED_VOLUMES,
    SHOWN_VOLUMES,
    selector_term_warnings,
)
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems, same
from windvane.k8s import core

OLD_OPTIONS = "volume.beta.kubernetes.io/mount-options"
USE_OPTIONS = 'deprecated since v1.31; use "mountOptions" attribute instead'
VOLUME_PLUGINS = ("cephfs", "photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "rbd")
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
USE_CLASS = 'deprecated since v1.8; use "storageClassName" attribute instead'
MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def phase(volume: Wire) -> str:
    """The phase of a volume or a claim."""
    return "Terminating" if read(volume, "metadata.deletionTimestamp") else read(volume, "status.phase") or ""


def storage_class(volume: Wire) -> str:
    """The class of a volume or a claim."""
    annotations = read(volume, "metadata.annotations") or {}
    return str(annotations.get(OLD_CLASS, read(volume, "spec.storageClassName") or ""))


def _claim(volume: Wire) -> str:
    claim = read(volume, "spec.claimRef")
    return "" if claim is None else f"{claim.get('namespace', '')}/{claim.get('name', '')}"


class PersistentVolumeStatusStrategy(StatusStrategy):
    def prepare_for_update(self, obj: Wire, old: Wire) -> None:
        """Set the time of a phase transition, unless the client did."""
        status, before = obj.setdefault("status", {}), old.get("status") or {}
        since, stated = before.get("lastPhaseTransitionTime"), status.get("lastPhaseTransitionTime")
        if status.get("phase") != before.get("phase"):
            if stated in (None, since):
                status["lastPhaseTransitionTime"] = format_time(ambient.now())
        elif stated is None and since is not None:
            status["lastPhaseTransitionTime"] = since


class PersistentVolumeStrategy(BuiltinStrategy):
    model = core.PersistentVolume
    returned_when_deleted = True
    defaults = {
        "spec.persistentVolumeReclaimPolicy": "Retain",
        "spec.volumeMode": "Filesystem",
        "status.phase": "Pending",
    }
    columns = (
        NAME,
        Column("Capacity", lambda volume: quantity(read(volume, "spec.capacity.storage"))),
        Column("Access Modes", lambda volume: modes(items(volume, "spec.accessModes"))),
        Column("Reclaim Policy", field("spec.persistentVolumeReclaimPolicy")),
        Column("Status", phase),
        Column("Claim", _claim),
        Column("StorageClass", storage_class),
        Column("VolumeAttributesClass", field("spec.volumeAttributesClassName", "<unset>")),
        Column("Reason", field("status.reason")),
        AGE,
        wide("VolumeMode", field("spec.volumeMode", "<unset>")),
    )
    column_fields = {
        "Capacity": "core.v1.PersistentVolumeSpec.capacity",
        "Access Modes": "core.v1.PersistentVolumeSpec.accessModes",
        "Reclaim Policy": "core.v1.PersistentVolumeSpec.persistentVolumeReclaimPolicy",
        "Status": "core.v1.PersistentVolumeStatus.phase",
        "Claim": "core.v1.PersistentVolumeSpec.claimRef",
        "Reason": "core.v1.PersistentVolumeStatus.reason",
        "VolumeMode": "core.v1.PersistentVolumeSpec.volumeMode",
    }
    status = PersistentVolumeStatusStrategy()

    def set_defaults(self, obj: Wire) -> None:
        if host_path := obj["spec"].get("hostPath"):
            host_path.setdefault("type", "")
        block_volume(obj["spec"])

    def prepare_for_create(self, obj: Wire) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": format_time(ambient.now())}

    def validate(self, obj: Wire, problems: Problems) -> None:
        persistent_volume_spec(obj["spec"], "spec", problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        spec, before = obj["spec"], old["spec"]
        if any(not same(spec.get(source), before.get(source)) for source in PERSISTENT_SOURCES):
            rule = "spec.persistentvolumesource is immutable after creation"
            problems.forbidden("spec.persistentvolumesource", f"{rule}\n")
        problems.immutable("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))

    def warn(self, obj: Wire, _: Wire | None) -> Iterator[str]:
        spec, annotations = obj["spec"], obj["metadata"].get("annotations") or {}
        for key, why in ((OLD_CLASS, USE_CLASS), (OLD_OPTIONS, USE_OPTIONS)):
            if key in annotations:
                yield f"metadata.annotations[{key}]: {why}"
        if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
            rule = "Instead, the recommended approach is to use dynamic provisioning."
            yield f"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. {rule}"
        required = (spec.get("nodeAffinity") or {}).get("required") or {}
        for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
            path = f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
            yield from selector_term_warnings(term, path, check_values=False)
        for plugin in VOLUME_PLUGINS:
            if spec.get(plugin) is not None:
                yield f"spec.{SHOWN_VOLUMES.get(plugin, plugin)}: {DEPRECATED_VOLUMES[plugin]}"


def modes(stated: list[str]) -> str:
    """Access modes in short."""
    return ",".join(short for mode, short in MODES.items() if mode in stated)
