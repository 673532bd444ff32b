"""The version that the server reports: that of `windvane.k8s`, with the suffix `+windvane`."""

import platform
import sys

MAJOR, MINOR = "1", "36"
GIT_VERSION = f"v{MAJOR}.{MINOR}.3+windvane"
"""Semantic versions ignore what follows the plus when they are compared."""

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def version() -> dict[str, str]:
    """The document at `/version`. Clients look at major and minor, and parse gitVersion."""
    machine = platform.machine().lower()
    return {
        "major": MAJOR,
        "minor": MINOR,
        "emulationMajor": MAJOR,
        "emulationMinor": MINOR,
        "minCompatibilityMajor": MAJOR,
        "minCompatibilityMinor": str(int(MINOR) - 1),
        "gitVersion": GIT_VERSION,
        "gitCommit": "unknown",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": platform.python_implementation().lower(),
        "platform": f"{sys.platform}/{_ARCHITECTURES.get(machine, machine)}",
    }
