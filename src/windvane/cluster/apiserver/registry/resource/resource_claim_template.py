"""ResourceClaimTemplate."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.resource.claim_spec import claim, default_claim
from windvane.cluster.apiserver.registry.validation.object_meta import annotations, labels
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import resource

_METADATA = {
    "name": "name",
    "generateName": "generateName",
    "namespace": "namespace",
    "selfLink": "selfLink",
    "uid": "uID",
    "resourceVersion": "resourceVersion",
    "generation": "generation",
    "creationTimestamp": "creationTimestamp",
    "deletionTimestamp": "deletionTimestamp",
    "deletionGracePeriodSeconds": "deletionGracePeriodSeconds",
    "ownerReferences": "ownerReferences",
    "finalizers": "finalizers",
    "managedFields": "managedFields",
}
"""What a claim's metadata can't have in a template, in the order in which it is told, and as it is."""


class ResourceClaimTemplateStrategy(BuiltinStrategy):
    """ResourceClaimTemplate."""

    model = resource.ResourceClaimTemplate
    returned_when_deleted = True
    is_costly = True
    defaults = {"spec.metadata": {}}
    columns = (NAME, AGE)

    def set_defaults(self, obj: Wire) -> None:
        """Fill in how many devices are asked for."""
        default_claim(obj["spec"].setdefault("spec", {}))

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check a template."""
        metadata, path = obj["spec"]["metadata"], "spec.metadata"
        annotations(metadata.get("annotations"), f"{path}.annotations", problems)
        labels(metadata.get("labels"), f"{path}.labels", problems)
        for field, told in _METADATA.items():
            if metadata.get(field):
                problems.forbidden(f"{path}.{told}", "cannot be set")
        claim(obj["spec"]["spec"], "spec.spec", problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """A template stays as it is."""
        super().validate_change(obj, old, problems)
        problems.immutable("spec", obj["spec"], old["spec"])
