"""Writes down the roles and bindings that every cluster has from the start: `python tools/generate/rbac.py`.

They are asked of a real kube-apiserver (`make reference`), which makes them when it first starts.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from reference.controlplane import ReferenceControlPlane

BOOTSTRAP = Path(__file__).parents[2] / "src" / "windvane" / "cluster" / "apiserver" / "bootstrap"
TARGET = BOOTSTRAP / "rbac_policy.json"
KINDS = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
KEPT = ("name", "namespace", "labels", "annotations")

Objects = Mapping[str, Sequence[Mapping[str, Any]]]


def recorded(server: ReferenceControlPlane) -> Objects:
    """The objects of each kind, without what a server adds to whatever is stored."""
    found = {}
    for kind in KINDS:
        items = server.get(f"/apis/rbac.authorization.k8s.io/v1/{kind}").json()["items"]
        found[kind] = [_bare(item) for item in items]
    return found


def written(objects: Objects) -> str:
    """One object on each line, so that differences can be read."""
    kinds = []
    for kind, items in objects.items():
        lines = ",\n".join(json.dumps(item, sort_keys=True) for item in items)
        kinds.append(f'"{kind}": [\n{lines}\n]')
    return "{\n" + ",\n".join(kinds) + "\n}\n"


def _bare(item: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: item["metadata"][key] for key in KEPT if key in item["metadata"]}
    rest = {key: value for key, value in item.items() if key not in ("metadata", "apiVersion", "kind") and value}
    return {"metadata": metadata, **rest}


if __name__ == "__main__":
    with ReferenceControlPlane() as reference:
        TARGET.write_text(written(recorded(reference)), encoding="utf-8")
