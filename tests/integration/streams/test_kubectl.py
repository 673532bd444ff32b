"""The real kubectl with `windvane cluster start`: logs, exec in a terminal, debug, resize, cp, port-forward and top."""

import os
import pty
import select
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from reference.controlplane import Programs
from windvane import ambient

pytestmark = pytest.mark.reference

PATIENCE = 120

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: python:3
    command: [sh, -c, "echo up; exec python -m http.server 8000 --bind $WINDVANE_POD_IP --directory /etc"]
    readinessProbe: {tcpSocket: {port: 8000}, periodSeconds: 1}
    resources: {requests: {cpu: 10m}}
"""


class Cluster:
    """A cluster, and kubectl for it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environ = {**os.environ, "WINDVANE_HOME": str(home), "HOME": str(home)}
        self.windvane("cluster", "start", "--detach", "--memory")
        self.environ["KUBECONFIG"] = self.windvane("cluster", "kubeconfig").strip()
        self.program = str(Programs.find().directory / "kubectl")

    def windvane(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "windvane.cli", *arguments]
        return subprocess.run(command, env=self.environ, check=True, capture_output=True, text=True).stdout

    def __call__(self, *arguments: str, input: str | None = None) -> str:  # noqa: A002 - subprocess.run's word for it
        command = [self.program, *arguments]
        ran = subprocess.run(
            command, env=self.environ, input=input, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        return (ran.stdout + ran.stderr).strip()

    def eventually(self, word: str, *arguments: str, input: str | None = None) -> str:  # noqa: A002
        deadline = ambient.monotonic() + PATIENCE
        while word not in (said := self(*arguments, input=input)):
            assert ambient.monotonic() < deadline, said
        return said


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with a pod that runs."""
    cluster = Cluster(tmp_path_factory.mktemp("home"))
    try:
        cluster.eventually("default", "get", "serviceaccount", "default")
        cluster.eventually("created", "create", "-f", "-", input=POD)
        assert "met" in cluster("wait", "--for=condition=Ready", "pod/web", f"--timeout={PATIENCE}s")
        yield cluster
    finally:
        cluster.windvane("cluster", "stop")


def test_logs(kubectl: Cluster) -> None:
    assert kubectl("logs", "web", "--limit-bytes=3") == "up"
    assert "previous terminated container" in kubectl("logs", "web", "--previous")


def test_exec(kubectl: Cluster) -> None:
    assert kubectl("exec", "web", "--", "sh", "-c", "echo hi; exit 3") == "hi\ncommand terminated with exit code 3"
    assert kubectl("exec", "-i", "web", "--", "cat", input="abc") == "abc"


def test_exec_in_a_terminal(kubectl: Cluster) -> None:
    ours, theirs = pty.openpty()
    command = [kubectl.program, "exec", "-it", "web", "--", "sh"]
    process = subprocess.Popen(command, env=kubectl.environ, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, b"test -t 0 && echo term''inal; exit 5\n")
    seen = b""
    while b"terminal" not in seen:
        assert select.select([ours], [], [], PATIENCE)[0], seen
        seen += os.read(ours, 4096)
    assert process.wait(PATIENCE) == 5
    os.close(ours)


def test_debug(kubectl: Cluster) -> None:
    code = "import os; print(os.environ['WINDVANE_POD_IP']); raise SystemExit(3)"
    kubectl("debug", "web", "--image=python:3", "--container=debugger", "--target=main", "--", "python", "-c", code)
    kubectl.eventually('"exitCode":3', "get", "pod", "web", "-o=jsonpath={.status.ephemeralContainerStatuses[0].state}")
    assert kubectl("logs", "web", "-c", "debugger") == kubectl("get", "pod", "web", "-o=jsonpath={.status.podIP}")


def test_resize(kubectl: Cluster) -> None:
    wanted = '{"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "20m"}}}]}}'
    assert kubectl("patch", "pod", "web", "--subresource=resize", "--patch", wanted) == "pod/web patched"
    kubectl.eventually('{"cpu":"20m"}', "get", "pod", "web", "-o=jsonpath={.status.containerStatuses[0].resources}")
    kubectl.eventually("ResizeCompleted", "events", "--for=pod/web")


def test_cp(kubectl: Cluster, tmp_path: Path) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    there.write_bytes(bytes(range(256)) * 4000)
    kubectl("cp", str(there), "web:/tmp/copied")
    kubectl("cp", "web:/tmp/copied", str(back))
    assert back.read_bytes() == there.read_bytes()


def test_port_forward(kubectl: Cluster) -> None:
    command = [kubectl.program, "port-forward", "pod/web", ":8000", "--address=127.0.0.1"]
    with subprocess.Popen(command, env=kubectl.environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[2]
        try:
            for _ in range(5):
                with urllib.request.urlopen(f"http://{address}/hostname", timeout=PATIENCE) as response:
                    assert response.status == 200
        finally:
            process.kill()


def test_proxy(kubectl: Cluster) -> None:
    hostname = Path("/etc/hostname").read_text().strip()
    assert kubectl("get", "--raw", "/api/v1/namespaces/default/pods/web:8000/proxy/hostname") == hostname


def test_top(kubectl: Cluster) -> None:
    assert kubectl.eventually("Mi", "top", "pod", "web", "--no-headers").startswith("web")
    assert "node-1" in kubectl("top", "node")
