"""The strategy of ValidatingAdmissionPolicyBinding."""

from collections.abc import Sequence

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.admissionregistration.policy_binding import PolicyBindingStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import admissionregistration

ACTIONS = ("Audit", "Deny", "Warn")
TWICE = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)


class ValidatingAdmissionPolicyBindingStrategy(PolicyBindingStrategy):
    model = admissionregistration.ValidatingAdmissionPolicyBinding
    allow_unconditional_update = False

    def validate(self, obj: Wire, problems: Problems) -> None:
        super().validate(obj, problems)
        spec = obj.get("spec") or {}
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
