"""The strategy of MutatingWebhookConfiguration."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.admissionregistration.webhook_configuration import WebhookConfigurationStrategy
from windvane.k8s import admissionregistration


class MutatingWebhookConfigurationStrategy(WebhookConfigurationStrategy):
    model = admissionregistration.MutatingWebhookConfiguration

    def set_defaults(self, obj: Wire) -> None:
        """The same, and webhooks are not reinvoked by default."""
        super().set_defaults(obj)
        for webhook in obj.get("webhooks") or ():
            webhook.setdefault("reinvocationPolicy", "Never")
