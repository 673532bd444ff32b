"""What `windvane doctor` looks at on this machine: Python, the packages, kubectl."""

import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata

from windvane.cli.doctor.finding import Finding, fail, ok, warn

OLDEST_PYTHON = (3, 11)
OLDEST_KUBECTL = (1, 31)
NEEDED = ("aiohttp", "cryptography", "google-re2", "msgspec", "prometheus-client", "pyyaml")
OPTIONAL = {
    "uvloop": "windvane[uvloop]",
    "opentelemetry-api": "windvane[traces]",
    "pytest-asyncio": "windvane[test]",
    "time-machine": "windvane[test]",
    "shtab": "windvane[dev]",
    "textual": "windvane[dev]",
    "watchfiles": "windvane[dev]",
}
KUBECTL_WITHIN = 10.0


def check_machine() -> Iterator[Finding]:
    """Everything here that needs no cluster."""
    yield _python()
    yield _packages()
    yield _extras()
    yield _kubectl()


def _python() -> Finding:
    words = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return fail("Python", words, "windvane needs Python 3.11 or newer")
    return ok("Python", words)


def _packages() -> Finding:
    versions, missing = [], []
    for name in ("windvane", *NEEDED):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        return fail("packages", f"not installed: {', '.join(missing)}", "pip install --force-reinstall windvane")
    return ok("packages", ", ".join(versions))


def _extras() -> Finding:
    there, absent = [], []
    for name, extra in OPTIONAL.items():
        try:
            there.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            absent.append(f"{name} (pip install '{extra}')")
    words = ", ".join(there) or "none"
    return ok("extras", f"{words}; not installed: {', '.join(absent)}" if absent else words)


def _kubectl() -> Finding:
    path = shutil.which("kubectl")
    remedy = "windvane does not need it, but you will want it: https://kubernetes.io/docs/tasks/tools"
    if path is None:
        return warn("kubectl", "not on PATH", remedy)
    try:
        said = subprocess.run(
            [path, "version", "--client", "-o", "json"], capture_output=True, timeout=KUBECTL_WITHIN, check=True
        )
        version = json.loads(said.stdout)["clientVersion"]
        number = int(version["major"]), int("".join(filter(str.isdigit, version["minor"])))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        return warn("kubectl", f"{path} does not say its version: {error}", remedy)
    if number < OLDEST_KUBECTL:
        return warn("kubectl", f"{version['gitVersion']} at {path}", "the manual needs 1.31 or newer")
    return ok("kubectl", f"{version['gitVersion']} at {path}")
