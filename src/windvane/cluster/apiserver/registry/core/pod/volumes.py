"""Rules for the volumes of pods, and for claims and persistent volumes."""

from windvane.api.json_value import Wire
from windvane.api.names import label_problems, subdomain_problems
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.registry.core.pod.downward_api import IN_VOLUMES, field_ref, resource_ref
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems

FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")


def pod_volumes(volumes: list[Wire], path: str, problems: Problems) -> dict[str, Wire]:
    """Check a pod's volumes; the good ones, by name, are what containers may mount."""
    good: dict[str, Wire] = {}
    for index, volume in enumerate(volumes):
        here, found = f"{path}[{index}]", Problems()
        _sources(volume, here, found)
        name = volume.get("name", "")
        if not name:
            found.required(f"{here}.name")
        else:
            found.all_invalid(f"{here}.name", name, label_problems(name))
        if name in good:
            found.duplicate(f"{here}.name", name)
        if not found:
            good[name] = volume
        problems.extend(found)
    return good


def relative_path(value: str, path: str, problems: Problems) -> None:
    """Check a path that must lead downwards."""
    if value.startswith("/"):
        problems.invalid(path, value, "must be a relative path")
    no_backsteps(value, path, problems)


def no_backsteps(value: str, path: str, problems: Problems) -> None:
    """Check a path that must not lead upwards."""
    if ".." in value.split("/"):
        problems.invalid(path, value, "must not contain '..'")


def claim_spec(spec: Wire, path: str, problems: Problems) -> None:
    """Check what a claim asks for."""
    _access_modes(spec.get("accessModes") or [], path, problems, "at least 1 access mode is required")
    label_selector(spec.get("selector"), f"{path}.selector", problems)
    requested = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if requested is None:
        problems.required(f"{path}.resources[storage]")
    elif Quantity(requested) <= Quantity(0):
        problems.invalid(f"{path}.resources[storage]", requested, "must be greater than zero")
    if name := spec.get("storageClassName"):
        problems.all_invalid(f"{path}.storageClassName", name, subdomain_problems(name))
    if (mode := spec.get("volumeMode")) is not None and mode not in VOLUME_MODES:
        problems.unsupported(f"{path}.volumeMode", mode, VOLUME_MODES)


def persistent_volume_spec(spec: Wire, path: str, problems: Problems) -> None:
    """Check a persistent volume."""
    _access_modes(spec.get("accessModes") or [], path, problems, "")
    capacity = spec.get("capacity") or {}
    if not capacity:
        problems.required(f"{path}.capacity")
    if "storage" not in capacity or len(capacity) > 1:
        problems.unsupported(f"{path}.capacity", capacity or None, ["storage"])
    for name, amount in capacity.items():
        if Quantity(amount) < Quantity(0):
            problems.invalid(f"{path}.capacity[{name}]", amount, "must be greater than or equal to 0")
        if Quantity(amount) <= Quantity(0):
            problems.invalid(f"{path}.capacity[{name}]", amount, "must be greater than zero")
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy not in ("Delete", "Recycle", "Retain"):
        problems.unsupported(f"{path}.persistentVolumeReclaimPolicy", policy, ("Delete", "Recycle", "Retain"))
    sources = {name: source for name, source in spec.items() if name in PERSISTENT_SOURCES}
    if not sources:
        problems.required(path, "must specify a volume type")
    for index, (name, source) in enumerate(sources.items()):
        if index:
            problems.forbidden(f"{path}.{name}", "may not specify more than 1 volume type")
        else:
            _source(name, source, f"{path}.{name}", problems)
    if name := spec.get("storageClassName"):
        problems.all_invalid(f"{path}.storageClassName", name, subdomain_problems(name))
    if (mode := spec.get("volumeMode")) is not None and mode not in VOLUME_MODES:
        problems.unsupported(f"{path}.volumeMode", mode, VOLUME_MODES)


PERSISTENT_SOURCES = frozenset(
    {
        "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker",
        "gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk",
        "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
    }
)  # fmt: skip


def _access_modes(modes: list[str], path: str, problems: Problems, why: str) -> None:
    if not modes:
        problems.required(f"{path}.accessModes", why)
    for mode in modes:
        if mode not in ACCESS_MODES:
            problems.unsupported(f"{path}.accessModes", mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        problems.forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")


def _sources(volume: Wire, path: str, problems: Problems) -> None:
    sources = {name: source for name, source in volume.items() if name != "name"}
    # The server looks at them in an order of its own; only the first that it sees counts.
    ordered = sorted(sources, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
    for index, name in enumerate(ordered):
        if index:
            problems.forbidden(f"{path}.{name}", "may not specify more than 1 volume type")
        else:
            _source(name, sources[name], f"{path}.{name}", problems)
    if not sources:
        problems.required(path, "must specify a volume type")


_ORDER = (
    "emptyDir",
    "hostPath",
    "secret",
    "nfs",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
    "csi",
)


def _source(name: str, source: Wire, path: str, problems: Problems) -> None:
    match name:
        case "emptyDir":
            if (size := source.get("sizeLimit")) is not None and Quantity(size) < Quantity(0):
                problems.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")
        case "hostPath":
            if not source.get("path"):
                problems.required(f"{path}.path")
                return
            no_backsteps(source["path"], f"{path}.path", problems)
            if source.get("type", "") not in HOST_PATH_TYPES:
                problems.unsupported(f"{path}.type", source["type"], HOST_PATH_TYPES)
        case "secret":
            _files(source, "secretName", path, problems)
        case "configMap":
            _files(source, "name", path, problems)
        case "persistentVolumeClaim":
            if not source.get("claimName"):
                problems.required(f"{path}.claimName")
        case "nfs":
            for field in ("server", "path"):
                if not source.get(field):
                    problems.required(f"{path}.{field}")
            if not source.get("path", "").startswith("/"):
                problems.invalid(f"{path}.path", source.get("path", ""), "must be an absolute path")
        case "downwardAPI":
            _mode(source, "defaultMode", path, problems)
            for item in source.get("items") or ():
                _downward_file(item, path, problems)
        case "projected":
            _projected(source, path, problems)
        case "csi":
            if not source.get("driver"):
                problems.required(f"{path}.driver")
        case "ephemeral":
            if "volumeClaimTemplate" not in source:
                problems.required(f"{path}.volumeClaimTemplate")
            else:
                claim_spec(source["volumeClaimTemplate"]["spec"], f"{path}.volumeClaimTemplate.spec", problems)


def _files(source: Wire, name: str, path: str, problems: Problems) -> None:
    if not source.get(name):
        problems.required(f"{path}.{name}")
    _mode(source, "defaultMode", path, problems)
    _items(source.get("items") or [], f"{path}.items", problems)


def _items(items: list[Wire], path: str, problems: Problems) -> None:
    for index, item in enumerate(items):
        here = f"{path}[{index}]"
        for field in ("key", "path"):
            if not item.get(field):
                problems.required(f"{here}.{field}")
        _file_path(item.get("path", ""), f"{here}.path", problems)
        _mode(item, "mode", here, problems)


def _file_path(value: str, path: str, problems: Problems) -> None:
    relative_path(value, path, problems)
    if value.startswith("..") and not value.startswith("../"):
        problems.invalid(path, value, "must not start with '..'")


def _mode(source: Wire, field: str, path: str, problems: Problems) -> None:
    if (mode := source.get(field)) is not None and not 0 <= mode <= 0o777:
        problems.invalid(f"{path}.{field}", mode, FILE_MODE)


def _downward_file(item: Wire, path: str, problems: Problems) -> None:
    if not item.get("path"):
        problems.required(f"{path}.path")
    _file_path(item.get("path", ""), f"{path}.path", problems)
    if field := item.get("fieldRef"):
        field_ref(field, IN_VOLUMES, f"{path}.fieldRef", problems)
        if item.get("resourceFieldRef"):
            problems.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif resource := item.get("resourceFieldRef"):
        if not resource.get("containerName"):
            problems.required(f"{path}.resourceFieldRef.containerName")
        else:
            resource_ref(resource, f"{path}.resourceFieldRef", problems)
    else:
        problems.required(path, "one of fieldRef and resourceFieldRef is required")
    _mode(item, "mode", path, problems)


def _projected(source: Wire, path: str, problems: Problems) -> None:
    _mode(source, "defaultMode", path, problems)
    seen: set[str] = set()
    for index, part in enumerate(source.get("sources") or ()):
        here = f"{path}.sources[{index}]"
        for name in ("secret", "configMap"):
            if name in part:
                if not part[name].get("name"):
                    problems.required(f"{here}.{name}.name")
                _items(part[name].get("items") or [], f"{here}.{name}.items", problems)
        for item in part.get("downwardAPI", {}).get("items") or ():
            _downward_file(item, f"{here}.downwardAPI", problems)
        for name in ("secret", "configMap", "downwardAPI"):
            for item in part.get(name, {}).get("items") or ():
                file = item.get("path", "")
                if file and file in seen:
                    problems.invalid(path, part[name].get("name", file), "conflicting duplicate paths")
                seen.add(file)
        if token := part.get("serviceAccountToken"):
            lasts, where = token.get("expirationSeconds", 0), f"{here}.serviceAccountToken.expirationSeconds"
            if lasts < 600:
                problems.invalid(where, lasts, "may not specify a duration less than 10 minutes")
            if lasts > 2**32:
                problems.invalid(where, lasts, "may not specify a duration larger than 2^32 seconds")
            if not token.get("path"):
                problems.required(f"{path}.path")
            else:
                _file_path(token["path"], f"{path}.path", problems)
        if len(part) > 1:
            problems.forbidden(here, "may not specify more than 1 volume type per source")
