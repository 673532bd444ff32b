"""The OpenAPI definitions of Kubernetes' built-in kinds, as the package kubernetes-validate carries them."""

import json
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

KUBERNETES = "1.36"
LOCATION = f"kubernetes_validate/kubernetes-json-schema/v{KUBERNETES}.0-local/_definitions.json"
REFERENCE = "#/$defs/"

Definition = Mapping[str, Any]


def load() -> Mapping[str, Definition]:
    """All definitions by their full name, such as `io.k8s.api.apps.v1.Deployment`."""
    # Located, not imported: the package would load a whole JSON schema validator.
    text = Path(str(distribution("kubernetes-validate").locate_file(LOCATION))).read_text(encoding="utf-8")
    definitions: Mapping[str, Definition] = json.loads(text)["$defs"]
    return definitions


def referenced(schema: Definition) -> str | None:
    """The full name of the definition that a schema refers to, if it does."""
    reference: str | None = schema.get("$ref")
    return reference.removeprefix(REFERENCE) if reference else None


def type_of(schema: Definition) -> str:
    """The one type of a schema: the definitions write `["string", "null"]` for what may be left out."""
    names = schema.get("type", [])
    alone: str
    (alone,) = [names] if isinstance(names, str) else [name for name in names if name != "null"]
    return alone
