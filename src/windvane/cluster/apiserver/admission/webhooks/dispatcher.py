"""Finds the webhooks that match a request, and the version of the object that each gets."""

from collections.abc import Sequence

from windvane.cluster.apiserver.admission.matcher import MatchedVersion, is_excluded, match_version
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.webhooks.configuration import Configurations, Webhook
from windvane.cluster.apiserver.admission.webhooks.invocation import WebhookInvoker
from windvane.cluster.apiserver.authorization.authorizer import Authorizer
from windvane.cluster.apiserver.failure import forbidden, not_found
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.storage_codec import labels_of
from windvane.cluster.apiserver.request.worker_pool import run_costly
from windvane.cluster.apiserver.storage.record import Key
from windvane.cluster.apiserver.storage.store import Store


class WebhookDispatcher:
    """The webhooks of the stored configurations of one kind, mutating or validating."""

    def __init__(
        self, store: Store, catalog: Catalog, authorizer: Authorizer, invoker: WebhookInvoker, collection: str
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._authorizer = authorizer
        self._configurations = Configurations(store, collection)
        self.ask = invoker.ask

    @property
    def webhooks(self) -> Sequence[Webhook]:
        """All webhooks, in the order in which they are called."""
        return self._configurations.webhooks()

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether any webhook could match a request."""
        return bool(self.webhooks) and not is_excluded(request.type)

    async def match(self, webhook: Webhook, request: AdmissionRequest) -> MatchedVersion | None:
        """The version that a webhook gets for a request; None if it does not match."""
        if not webhook.stated.rules:
            return None
        matched = match_version(webhook.match, request, self._catalog, self._labels_of_namespace)
        if matched is None or not webhook.stated.match_conditions:
            return matched
        from windvane.cluster.apiserver.admission.activation import activation
        from windvane.cluster.apiserver.expressions import ConditionError

        given = await activation(request, matched, self._authorizer)
        try:
            met = await run_costly(lambda: webhook.conditions.met(given), given.object, given.old)
            return matched if met else None
        except ConditionError as error:
            if webhook.ignores_failures:
                return None
            raise forbidden(request.type.kind, request.name, str(error)) from error

    def _labels_of_namespace(self, name: str) -> dict[str, str]:
        if (entry := self._store.get(Key("/namespaces", "", name))) is None:
            raise not_found(self._catalog.types["", "v1", "namespaces"].kind, name)
        return labels_of(entry.value)
