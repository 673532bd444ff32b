"""A step of the build: what Kubernetes' documentation says, from the package `kubernetes-validate`, compressed.

The file is no part of the repository. It comes into wheels and sdists, and into the checkout that is installed.
"""

import json
import os
import zlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KUBERNETES = "1.36"
PACKAGE = "kubernetes-validate"
LOCATION = f"kubernetes_validate/kubernetes-json-schema/v{KUBERNETES}.0-local/_definitions.json"
TARGET = "src/windvane/cluster/apiserver/documentation.json.z"


def documentation(definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Of each definition, what it says of itself and its fields, and which fields must be there."""
    return {name: _said(about) for name, about in sorted(definitions.items())}


def _said(about: Mapping[str, Any]) -> dict[str, Any]:
    fields = about.get("properties", {}).items()
    properties = {name: {"description": field["description"]} for name, field in fields if field.get("description")}
    said = {"description": about.get("description"), "required": about.get("required"), "properties": properties}
    return {key: value for key, value in said.items() if value}


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling calls before it builds."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        target = Path(self.root) / TARGET
        try:
            source = Path(str(distribution(PACKAGE).locate_file(LOCATION)))
        except PackageNotFoundError:
            if target.exists():  # an sdist has it
                return
            raise RuntimeError(f"{PACKAGE} is not installed: pip install it, or build with isolation") from None
        text = json.dumps(documentation(json.loads(source.read_bytes())["$defs"]), separators=(",", ":"))
        written = zlib.compress(text.encode(), 9)
        if not target.exists() or target.read_bytes() != written:
            # In one step: tests that build at the same time never see half of it.
            half = target.with_suffix(f".{os.getpid()}")
            half.write_bytes(written)
            half.replace(target)
