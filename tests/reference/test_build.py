"""`reference/build.py` builds once, whole or not at all, and says what to do when it can't.

A script stands in for Go: compiling Kubernetes takes minutes, and these tests are about all the rest.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reference.controlplane import BUILD

FAKE_GO = """#!/bin/sh
case "$1" in
env) echo go{version} ;;
build) echo "$*" >>"{calls}"; {build} ;;
test) echo "$*" >>"{calls}"; while [ "$1" != -o ]; do shift; done; : >"$2" ;;
esac
"""
# The argument after -o is the directory to build into; after that come packages, and a program is called as its own.
COMPILES = (
    'while [ "$1" != -o ]; do shift; done; out="$2"; shift 2; '
    'for path; do path="${path%/v3}"; : >"$out/${path##*/}"; done'
)


@pytest.fixture
def machine(tmp_path: Path) -> "Machine":
    return Machine(tmp_path)


def test_it_builds_and_says_where(machine: "Machine") -> None:
    machine.install_go()
    assert machine.build().returncode == 0
    where = machine.build("--where").stdout.strip()
    assert sorted(file.name for file in Path(where).iterdir()) == ["etcd", "kube-apiserver", "kubectl"]


def test_it_stamps_the_version_that_go_mod_states(machine: "Machine") -> None:
    machine.install_go()
    machine.build()
    version = Path(machine.build("--where").stdout.strip()).parent.name
    assert f"-X k8s.io/component-base/version.gitVersion={version} " in machine.calls.read_text()
    assert f"\tk8s.io/kubernetes {version}\n" in (BUILD.parent / "go.mod").read_text()


def test_what_is_built_is_not_built_again(machine: "Machine") -> None:
    machine.install_go()
    machine.build()
    again = machine.build()
    assert (again.returncode, again.stdout.count("\n")) == (0, 1)
    assert "already built" in again.stdout
    assert machine.builds() == 1


def test_the_end_to_end_tests_are_built_on_demand_and_beside_the_control_plane(machine: "Machine") -> None:
    machine.install_go()
    machine.build()
    assert machine.build("e2e", "--where").returncode == 1
    assert machine.build("e2e").returncode == 0
    assert machine.build("e2e").returncode == 0
    assert machine.builds() == 3
    where = Path(machine.build("e2e", "--where").stdout.strip())
    assert sorted(file.name for file in where.iterdir()) == ["agnhost", "e2e.test"]
    assert where.parent == Path(machine.build("--where").stdout.strip()).parent


def test_two_builds_at_once_are_one_build(machine: "Machine") -> None:
    # The first holds the lock until the second has said that it waits.
    machine.install_go(build=f'read -r _ <"{machine.gate}"; {COMPILES}')
    with machine.begin_build() as first:
        assert first.stdout is not None
        assert "Building" in first.stdout.readline()
        with machine.begin_build() as second:
            assert second.stdout is not None
            assert "waiting" in second.stdout.readline()
            machine.gate.write_text("go on\n")
            second.communicate()
        first.communicate()
    assert (first.returncode, second.returncode, machine.builds()) == (0, 0, 1)


def test_a_failed_build_leaves_nothing_that_looks_built(machine: "Machine") -> None:
    machine.install_go(build=f"{COMPILES}; exit 2")
    failed = machine.build()
    assert failed.returncode == 1
    assert "`go build` failed with exit code 2" in failed.stderr
    assert machine.build("--where").returncode == 1
    assert list(machine.cache.rglob("building-*")) == []


def test_what_a_killed_build_left_is_removed(machine: "Machine") -> None:
    machine.install_go(build="exit 2")
    machine.build()
    [lock] = machine.cache.rglob("lock")
    abandoned = lock.with_name("building-and-killed")
    abandoned.mkdir()
    machine.install_go()
    assert machine.build().returncode == 0
    assert not abandoned.exists()


def test_where_nothing_is_built_the_answer_is_what_to_run(machine: "Machine") -> None:
    asked = machine.build("--where")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "isn't built; run `make reference` (needs Go " in asked.stderr


def test_without_go_it_says_what_to_install(machine: "Machine") -> None:
    failed = machine.build()
    assert failed.returncode == 1
    assert "there is no `go` on the PATH. Install Go 1." in failed.stderr


def test_an_old_go_is_named(machine: "Machine") -> None:
    machine.install_go(version="1.9.7")
    failed = machine.build()
    assert failed.returncode == 1
    assert "is Go 1.9.7, which is too old. Install Go 1." in failed.stderr
    assert machine.builds() == 0


def test_a_cache_that_can_not_be_written_is_named(machine: "Machine") -> None:
    machine.install_go()
    machine.cache.write_text("a file where the directory should be")
    failed = machine.build()
    assert failed.returncode == 1
    assert "Set WINDVANE_CACHE to a directory" in failed.stderr


class Machine:
    """A machine with an empty cache and a Go that only pretends."""

    def __init__(self, directory: Path) -> None:
        self.cache = directory / "cache"
        self.calls = directory / "calls"
        self.gate = directory / "gate"
        os.mkfifo(self.gate)
        self._path = directory / "path"
        self._path.mkdir()

    def install_go(self, version: str = "99.0", build: str = COMPILES) -> None:
        go = self._path / "go"
        go.write_text(FAKE_GO.format(version=version, calls=self.calls, build=build))
        go.chmod(0o700)

    def build(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        with self.begin_build(*arguments) as running:
            out, err = running.communicate()
        return subprocess.CompletedProcess(running.args, running.returncode, out, err)

    def begin_build(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, BUILD, *arguments],
            env={"PATH": str(self._path), "WINDVANE_CACHE": str(self.cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def builds(self) -> int:
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0
