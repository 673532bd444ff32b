"""The admission plugin MutatingAdmissionWebhook: calls webhooks that may change an object, one by one.

A failed call refuses the write, unless the webhook's failurePolicy is Ignore. A patch is applied, and the object
decoded and defaulted again, before the next webhook is called.
"""

import msgspec

from windvane.api.json_value import json_copy
from windvane.cluster.apiserver.admission.conversion import converted
from windvane.cluster.apiserver.admission.matcher import MatchedVersion
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.reinvocation import Reinvocation
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.webhooks.configuration import Webhook
from windvane.cluster.apiserver.admission.webhooks.dispatcher import WebhookDispatcher
from windvane.cluster.apiserver.admission.webhooks.invocation import in_version, is_whole
from windvane.cluster.apiserver.admission.webhooks.patch import Operations, patched

MUTATION = "mutation.webhook.admission.k8s.io/"


class MutatingAdmissionWebhook(AdmissionPlugin):
    """Calls the webhooks of MutatingWebhookConfigurations."""

    name = "MutatingAdmissionWebhook"

    def __init__(self, dispatcher: WebhookDispatcher) -> None:
        self._dispatcher = dispatcher

    def handles(self, request: AdmissionRequest) -> bool:
        return self._dispatcher.handles(request)

    async def mutate(self, request: AdmissionRequest) -> None:
        """Call the webhooks, and apply their patches."""
        reinvocation: Reinvocation[str] = request.kept.setdefault(self.name, Reinvocation())
        if request.again and request.object != reinvocation.last:
            reinvocation.changed()
        for index, webhook in enumerate(self._dispatcher.webhooks):
            matched = await self._dispatcher.match(webhook, request)
            # A webhook that was not called in the first round is not called in the second.
            if matched is None or (request.again and webhook.uid not in reinvocation.again):
                continue
            if await self._call(webhook, matched, request, f"round_{int(request.again)}_index_{index}"):
                reinvocation.changed()
                request.changed = True
            if webhook.stated.reinvocation_policy == "IfNeeded":
                reinvocation.seen.add(webhook.uid)
        reinvocation.last = json_copy(request.object)

    async def _call(self, webhook: Webhook, matched: MatchedVersion, request: AdmissionRequest, place: str) -> bool:
        """Call a webhook; returns whether it changed the object."""
        changed = False
        try:
            operations = await self._dispatcher.ask(webhook, request, "admit", place, matched)
            if operations:
                changed = await self._patch(matched, request, operations)
            return changed
        finally:
            told = {"configuration": webhook.configuration, "webhook": webhook.name, "mutated": changed}
            request.annotations[MUTATION + place] = msgspec.json.encode(told).decode()

    async def _patch(self, matched: MatchedVersion, request: AdmissionRequest, operations: Operations) -> bool:
        """Apply a patch; returns whether it changed the object."""
        before = await in_version(request, request.object, matched)
        if before is None:
            raise RuntimeError("there is no object to patch, which went unnoticed")
        after = patched(matched.type, before, operations)
        changed = after != before
        if is_whole(matched):
            matched.type.strategy.decode(after)
            after = await converted(matched.type, after, request.type)
        request.object = after
        return changed
