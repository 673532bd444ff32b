"""ValidatingAdmissionPolicyBinding."""

from collections.abc import Sequence

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.admissionregistration.columns import ADMISSION_POLICY_BINDING
from windvane.cluster.apiserver.registry.admissionregistration.defaults import admission_binding
from windvane.cluster.apiserver.registry.admissionregistration.policy_validation import binding
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import admissionregistration

ACTIONS = ("Audit", "Deny", "Warn")
TWICE = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)


class ValidatingAdmissionPolicyBindingStrategy(BuiltinStrategy):
    """ValidatingAdmissionPolicyBinding."""

    model = admissionregistration.ValidatingAdmissionPolicyBinding
    has_generation = True
    allow_unconditional_update = False
    is_costly = True
    columns = ADMISSION_POLICY_BINDING

    def set_defaults(self, obj: Wire) -> None:
        """Fill in what is absent."""
        admission_binding(obj)

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check a ValidatingAdmissionPolicyBinding."""
        spec = obj.get("spec") or {}
        binding(spec, problems)
        actions: Sequence[str] = spec.get("validationActions") or []
        path = "spec.validationActions"
        for index, action in enumerate(actions):
            if action not in ACTIONS:
                problems.unsupported(f"{path}[{index}]", action, ACTIONS)
            if action in actions[:index]:
                problems.duplicate(f"{path}[{index}]", action)
        if {"Deny", "Warn"} <= set(actions):
            problems.invalid(path, actions, TWICE)
        if not actions:
            problems.required(path, "at least one validation action is required")
