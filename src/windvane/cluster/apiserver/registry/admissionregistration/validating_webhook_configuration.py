"""The strategy of ValidatingWebhookConfiguration."""

from windvane.cluster.apiserver.registry.admissionregistration.webhook_configuration import WebhookConfigurationStrategy
from windvane.k8s import admissionregistration


class ValidatingWebhookConfigurationStrategy(WebhookConfigurationStrategy):
    model = admissionregistration.ValidatingWebhookConfiguration
