"""What is filled into bindings."""

from typing import Any

from windvane.cluster.apiserver.registry.defaults import fill

Json = dict[str, Any]
RBAC = "rbac.authorization.k8s.io"


def role_binding(obj: Json) -> None:
    for subject in obj.get("subjects") or ():
        if subject.get("kind") in ("User", "Group"):
            fill(subject, "apiGroup", RBAC)
