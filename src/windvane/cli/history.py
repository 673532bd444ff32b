"""Where the passes of operators are kept, on this machine: beside the kubeconfig of an embedded cluster."""

from collections.abc import Sequence
from pathlib import Path

from windvane.client.config import ClientConfig

CLUSTER = "cluster.jsonl"
"""What an embedded cluster keeps of its own controllers. Where it is, operators keep theirs as well."""


def file_for(operator: str, config: ClientConfig) -> Path | None:
    """The file for the passes of an operator; None if the cluster is none that keeps any."""
    directory = _directory(config)
    return directory / f"{operator}.jsonl" if directory is not None else None


def files_of(config: ClientConfig) -> Sequence[Path]:
    """The files that there are: the cluster's own first, and then those of operators."""
    directory = _directory(config)
    if directory is None:
        return ()
    return sorted(directory.glob("*.jsonl"), key=lambda each: (each.name != CLUSTER, each.name))


def _directory(config: ClientConfig) -> Path | None:
    if config.kubeconfig is None:
        return None
    directory = config.kubeconfig.parent / "history"
    return directory if (directory / CLUSTER).is_file() else None
