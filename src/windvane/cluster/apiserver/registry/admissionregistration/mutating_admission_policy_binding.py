"""MutatingAdmissionPolicyBinding."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.admissionregistration.columns import ADMISSION_POLICY_BINDING
from windvane.cluster.apiserver.registry.admissionregistration.defaults import admission_binding
from windvane.cluster.apiserver.registry.admissionregistration.policy_validation import binding, validate_only_mutating
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import admissionregistration


class MutatingAdmissionPolicyBindingStrategy(BuiltinStrategy):
    """MutatingAdmissionPolicyBinding."""

    model = admissionregistration.MutatingAdmissionPolicyBinding
    has_generation = True
    is_costly = True
    columns = ADMISSION_POLICY_BINDING

    def set_defaults(self, obj: Wire) -> None:
        """Fill in what is absent."""
        admission_binding(obj)

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check a MutatingAdmissionPolicyBinding."""
        spec = obj.get("spec") or {}
        binding(spec, problems)
        validate_only_mutating(spec.get("matchResources") or {}, "spec.matchResources", problems)
