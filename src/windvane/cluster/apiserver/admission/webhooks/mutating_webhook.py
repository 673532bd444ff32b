"""The admission plugin MutatingAdmissionWebhook: asks webhooks elsewhere that may change an object, one by one.

A webhook that can't be asked refuses the write, unless its failurePolicy is Ignore. A patch is applied before the next
webhook is asked, and what it makes of the object is read by the rules of its kind, with defaults and all.
"""

import msgspec

from windvane.api.json_value import json_copy
from windvane.cluster.apiserver.admission.conversion import converted
from windvane.cluster.apiserver.admission.matcher import MatchedVersion
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.reinvocation import Reinvocation
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.webhooks.configuration import Webhook
from windvane.cluster.apiserver.admission.webhooks.dispatcher import Dispatcher
from windvane.cluster.apiserver.admission.webhooks.invocation import in_version, is_whole
from windvane.cluster.apiserver.admission.webhooks.patch import Operations, patched

MUTATION = "mutation.webhook.admission.k8s.io/"


class MutatingAdmissionWebhook(AdmissionPlugin):
    """Asks all that MutatingWebhookConfigurations name."""

    name = "MutatingAdmissionWebhook"

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether there are any webhooks that could be asked."""
        return self._dispatcher.handles(request)

    async def mutate(self, request: AdmissionRequest) -> None:
        """Have the object changed by those that are asked about it."""
        reinvocation: Reinvocation[str] = request.kept.setdefault(self.name, Reinvocation())
        if request.again and request.object != reinvocation.last:
            reinvocation.changed()
        for index, webhook in enumerate(self._dispatcher.webhooks):
            matched = await self._dispatcher.match(webhook, request)
            # What was not asked in the first round is not asked in the second, whatever has become of the object.
            if matched is None or (request.again and webhook.uid not in reinvocation.again):
                continue
            if await self._call(webhook, matched, request, f"round_{int(request.again)}_index_{index}"):
                reinvocation.changed()
                request.changed = True
            if webhook.stated.reinvocation_policy == "IfNeeded":
                reinvocation.seen.add(webhook.uid)
        reinvocation.last = json_copy(request.object)

    async def _call(self, webhook: Webhook, matched: MatchedVersion, request: AdmissionRequest, place: str) -> bool:
        """Whether a webhook changed the object."""
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
        """Whether operations change the object, which then is another."""
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
