"""`operators/etcd/versions.py` fetches a version of etcd once, whole or not at all, and says what to do if it can't.

Scripts stand in for Debian's tools: what these do with a network is their own affair.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "operators" / "etcd" / "versions.py"
APT = """\
echo "$1" >> {calls}
case "$1" in
download) {download} ;;
update) {update} ;;
esac
"""
DOWNLOAD = 'for each in "$2" "$3"; do touch "${each%%=*}.deb"; done'
UNPACK = """\
mkdir -p "$3/usr/bin"
for each in etcd etcdctl etcd-dump-db; do
  printf '#!/bin/sh\\necho "etcd Version: {version}"; echo Git SHA: 1\\n' > "$3/usr/bin/$each"
  chmod +x "$3/usr/bin/$each"
done
"""


class Machine:
    """A machine with some of Debian's tools."""

    def __init__(self, directory: Path) -> None:
        self.cache = directory / "cache"
        self._calls = directory / "calls"
        self._tools = directory / "tools"
        self._tools.mkdir()

    def install(self, *, version: str = "3.4.23", download: str = DOWNLOAD, update: str = "exit 1") -> None:
        self._tool("apt-get", APT.format(calls=self._calls, download=download, update=update))
        self._tool("dpkg-deb", UNPACK.format(version=version))

    def _tool(self, name: str, text: str) -> None:
        (self._tools / name).write_text(f"#!/bin/sh\n{text}")
        (self._tools / name).chmod(0o755)

    def fetch(self, *versions: str) -> subprocess.CompletedProcess[str]:
        shells = "/usr/bin:/bin" if any(self._tools.iterdir()) else ""
        env = {"PATH": f"{self._tools}:{shells}", "WINDVANE_CACHE": str(self.cache)}
        return subprocess.run([sys.executable, SCRIPT, *versions], env=env, capture_output=True, text=True, check=False)

    @property
    def calls(self) -> list[str]:
        return self._calls.read_text().splitlines()

    @property
    def cached(self) -> set[str]:
        return {each.name for each in (self.cache / "etcd").iterdir()} - {"lock"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_version_is_fetched_once(machine: Machine) -> None:
    machine.install()
    for _ in range(2):
        done = machine.fetch("3.4.23")
        assert done.stdout == f"{machine.cache}/etcd/3.4.23\n", done.stderr
    assert machine.calls == ["download"]
    assert machine.cached == {"3.4.23"}
    assert {each.name for each in Path(done.stdout.strip()).iterdir()} == {"etcd", "etcdctl"}


def test_two_at_once_fetch_it_once(machine: Machine) -> None:
    machine.install(download=f"sleep 0.3; {DOWNLOAD}")
    with ThreadPoolExecutor() as pool:
        assert {each.returncode for each in pool.map(machine.fetch, ["3.4.23"] * 3)} == {0}
    assert machine.calls == ["download"]


def test_another_version_than_was_asked_for_is_not_kept(machine: Machine) -> None:
    machine.install(version="3.4.30")
    done = machine.fetch("3.4.23")
    assert done.returncode == 1
    assert "etcd 3.4.23 was asked for, and what came says 'etcd Version: 3.4.30'" in done.stderr
    assert f"put the programs of etcd 3.4.23 into {machine.cache}/etcd/3.4.23" in done.stderr
    assert machine.cached == set()


def test_empty_lists_are_filled_and_it_is_tried_again(machine: Machine) -> None:
    machine.install(
        download=f"[ -f {machine.cache}/lists ] || exit 100; {DOWNLOAD}", update=f"touch {machine.cache}/lists"
    )
    assert machine.fetch("3.4.23").returncode == 0
    assert machine.calls == ["download", "update", "download"]


def test_who_may_not_fill_the_lists_is_told_what_to_do(machine: Machine) -> None:
    machine.install(download="exit 100", update="echo 'are you root?' >&2; exit 100")
    done = machine.fetch("3.4.23")
    assert done.returncode == 1
    assert "are you root?" in done.stderr
    assert "sudo apt-get update" in done.stderr


def test_without_apt_it_says_so(machine: Machine) -> None:
    done = machine.fetch("3.4.23")
    assert done.returncode == 1
    assert "etcd 3.4.23 is taken from Debian's packages, and there is no apt-get here" in done.stderr
    assert "sudo" not in done.stderr


def test_what_is_no_version_is_pointed_out(machine: Machine) -> None:
    done = machine.fetch("../3.4")
    assert done.returncode == 1
    assert "'../3.4' is no version of etcd" in done.stderr
