"""What Kubernetes' own documentation says about its kinds and their fields.

It comes from the package `kubernetes-validate`, if that is installed: this project has no copy of it.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import msgspec

from windvane.cluster.apiserver.version import MAJOR, MINOR

PACKAGE = "kubernetes-validate"


class AboutField(msgspec.Struct, frozen=True):
    """What is said about one field."""

    description: str = ""


class AboutDefinition(msgspec.Struct, frozen=True):
    """What is said about one definition, such as `io.k8s.api.core.v1.ConfigMap`."""

    description: str = ""
    required: list[str] = []
    properties: dict[str, AboutField] = {}


class _File(msgspec.Struct, frozen=True):
    definitions: dict[str, AboutDefinition] = msgspec.field(name="$defs")


UNDOCUMENTED = AboutDefinition()


@cache
def documentation_version() -> str:
    """Which release of the package it is from; empty if that is not installed."""
    try:
        return distribution(PACKAGE).version
    except PackageNotFoundError:
        return ""


@cache
def documentation() -> Mapping[str, AboutDefinition]:
    """All definitions by their names; empty if there is nothing to read."""
    inside = f"kubernetes_validate/kubernetes-json-schema/v{MAJOR}.{MINOR}.0-local/_definitions.json"
    try:
        file = distribution(PACKAGE).locate_file(inside)
        return msgspec.json.decode(Path(str(file)).read_bytes(), type=_File).definitions
    except (PackageNotFoundError, OSError, msgspec.DecodeError):
        return {}  # not installed, or a release that knows another Kubernetes: nothing is described


def field_description(field: str) -> str:
    """What is said about a field such as `io.k8s.api.core.v1.ConfigMap.data`; empty if nothing is."""
    definition, _, name = field.rpartition(".")
    about = documentation().get(definition, UNDOCUMENTED).properties.get(name)
    return about.description if about else ""
