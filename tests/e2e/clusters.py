"""The servers that the end-to-end tests can run on: the embedded one, and the real kube-apiserver as the judge."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reference.controlplane import ReferenceControlPlane


@contextmanager
def embedded() -> Iterator[Path]:
    """The kubeconfig of a new embedded cluster, started as users start it, and gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="windvane-e2e-cluster-") as directory:
        data = Path(directory) / "cluster"
        _windvane("start", "--data", str(data), "--memory", "--detach")
        try:
            yield Path(_windvane("kubeconfig", "--data", str(data)))
        finally:
            _windvane("stop", "--data", str(data))


@contextmanager
def reference() -> Iterator[Path]:
    """The kubeconfig of a real API server, without controllers and nodes, that forgets as it does by default."""
    with ReferenceControlPlane(compaction="5m") as running:
        yield running.kubeconfig


def _windvane(*arguments: str) -> str:
    command = [sys.executable, "-m", "windvane.cli", "cluster", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()
