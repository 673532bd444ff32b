"""The strategy of MutatingAdmissionPolicyBinding."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.admissionregistration.policy import validate_only_mutating
from windvane.cluster.apiserver.registry.admissionregistration.policy_binding import PolicyBindingStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import admissionregistration


class MutatingAdmissionPolicyBindingStrategy(PolicyBindingStrategy):
    model = admissionregistration.MutatingAdmissionPolicyBinding

    def validate(self, obj: Wire, problems: Problems) -> None:
        super().validate(obj, problems)
        spec = obj.get("spec") or {}
        validate_only_mutating(spec.get("matchResources") or {}, "spec.matchResources", problems)
