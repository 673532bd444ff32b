"""The servers that the end-to-end tests can run on: the embedded one, and the real kube-apiserver as the judge."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from reference.controlplane import BUILD, ControlPlaneError, ReferenceControlPlane

IMAGES = "registry.k8s.io/e2e-test-images/*"
AGNHOST, PAUSE = "registry.k8s.io/e2e-test-images/agnhost", "registry.k8s.io/pause"
# Stands in for an image on a node that simulates nothing: it runs, and that is all. It is told what to serve by
# arguments, and overhears them.
WAIT = ("sh", "-c", "exec sleep infinity")


@contextmanager
def embedded() -> Iterator[Path]:
    """The kubeconfig of a new embedded cluster, started as users start it, and gone afterwards."""
    with _started("simulated", {}) as kubeconfig:
        yield kubeconfig


@contextmanager
def processes() -> Iterator[Path]:
    """The same with pods that are processes: an image for which there is no program can't be pulled."""
    with _started("process", {IMAGES: WAIT}) as kubeconfig:
        yield kubeconfig


@contextmanager
def webhooks() -> Iterator[Path]:
    """The same with the suite's own program for webhooks in its pods: the real one, a process among others."""
    asked = subprocess.run([sys.executable, BUILD, "e2e", "--where"], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        raise ControlPlaneError(asked.stderr.strip())
    agnhost = Path(asked.stdout.strip()) / "agnhost"
    with _started("process", {AGNHOST: (str(agnhost),), PAUSE: WAIT}) as kubeconfig:
        yield kubeconfig


@contextmanager
def _started(pods: str, images: Mapping[str, Sequence[str]]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="windvane-e2e-cluster-") as home:
        for image, program in images.items():
            _windvane(home, "image", "add", image, "--", *program)
        _windvane(home, "cluster", "start", "--memory", "--pods", pods, "--nodes", "2", "--detach")
        try:
            yield Path(_windvane(home, "cluster", "kubeconfig"))
        finally:
            _windvane(home, "cluster", "stop")


@contextmanager
def reference() -> Iterator[Path]:
    """The kubeconfig of a real API server, without controllers and nodes, that forgets as it does by default."""
    with ReferenceControlPlane(compaction="5m") as running:
        yield running.kubeconfig


def _windvane(home: str, *arguments: str) -> str:
    command = [sys.executable, "-m", "windvane.cli", *arguments]
    there = {**os.environ, "WINDVANE_HOME": home}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=there)
    return done.stdout.strip()
