"""Columns that volumes and claims share."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import read

MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def modes(modes: list[str]) -> str:
    return ",".join(short for mode, short in MODES.items() if mode in modes)


def phase(volume: Wire) -> str:
    return "Terminating" if read(volume, "metadata.deletionTimestamp") else read(volume, "status.phase") or ""


def storage_class(volume: Wire) -> str:
    annotations = read(volume, "metadata.annotations") or {}
    return str(annotations.get("volume.beta.kubernetes.io/storage-class", read(volume, "spec.storageClassName") or ""))
