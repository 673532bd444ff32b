"""What is filled into bindings."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.defaults import fill

RBAC = "rbac.authorization.k8s.io"


def role_binding(obj: Wire) -> None:
    for subject in obj.get("subjects") or ():
        if subject.get("kind") in ("User", "Group"):
            fill(subject, "apiGroup", RBAC)
