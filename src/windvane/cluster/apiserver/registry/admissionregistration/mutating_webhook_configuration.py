"""The strategy of MutatingWebhookConfiguration."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.admissionregistration.webhook_configuration import WebhookConfigurationStrategy
from windvane.k8s import admissionregistration


class MutatingWebhookConfigurationStrategy(WebhookConfigurationStrategy):
    model = admissionregistration.MutatingWebhookConfiguration

    def set_defaults(self, obj: Wire) -> None:
        """They are not called again for what others change, unless they ask for it."""
        super().set_defaults(obj)
        for webhook in obj.get("webhooks") or ():
            webhook.setdefault("reinvocationPolicy", "Never")
