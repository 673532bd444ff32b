"""An object as YAML, to be looked at: without the books of field managers, and without what is secret."""

from collections.abc import Mapping
from typing import Any

import yaml

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""All of an object, as `kubectl apply` had it: of a Secret as well."""
HIDDEN = "(hidden)"


def as_yaml(wire: Mapping[str, Any]) -> str:
    """The object as YAML, its values in the order that the server gave them."""
    shown = dict(wire)
    meta = {name: value for name, value in (shown.pop("metadata", None) or {}).items() if name != "managedFields"}
    annotations = meta.pop("annotations", None) or {}
    if kept := {name: value for name, value in annotations.items() if name != APPLIED}:
        meta["annotations"] = kept
    if wire.get("kind") == "Secret":
        for name in ("data", "stringData"):
            if shown.get(name):
                shown[name] = {key: HIDDEN for key in shown[name]}  # noqa: C420 - whose keys mypy can't infer
    ordered = {"apiVersion": shown.pop("apiVersion", ""), "kind": shown.pop("kind", ""), "metadata": meta, **shown}
    return yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True, width=100)
