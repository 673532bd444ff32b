"""MutatingWebhookConfiguration."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.admissionregistration.columns import WEBHOOK_CONFIGURATION
from windvane.cluster.apiserver.registry.admissionregistration.defaults import webhooks
from windvane.cluster.apiserver.registry.admissionregistration.webhook_validation import changed_webhooks, new_webhooks
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import admissionregistration


class MutatingWebhookConfigurationStrategy(BuiltinStrategy):
    """MutatingWebhookConfiguration."""

    model = admissionregistration.MutatingWebhookConfiguration
    has_generation = True
    allow_unconditional_update = False
    is_costly = True
    columns = WEBHOOK_CONFIGURATION

    def set_defaults(self, obj: Wire) -> None:
        webhooks(obj, reinvocationPolicy="Never")

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        """Check a new object."""
        new_webhooks(obj, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check a changed object."""
        super().validate_change(obj, old, problems)
        changed_webhooks(obj, old, problems)
