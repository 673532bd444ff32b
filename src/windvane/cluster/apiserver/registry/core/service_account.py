"""The strategy of ServiceAccount."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import core

MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"


class ServiceAccountStrategy(BuiltinStrategy):
    model = core.ServiceAccount
    returned_when_deleted = True
    checks_metadata_again = True
    columns = (NAME, AGE)

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        before = (old or {}).get("metadata", {}).get("annotations") or {}
        if MOUNTABLE in (obj["metadata"].get("annotations") or {}) and MOUNTABLE not in before:
            rule = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
            yield f"metadata.annotations[{MOUNTABLE}]: {rule}"
