"""The admission plugin ValidatingAdmissionWebhook: calls webhooks that may refuse a write, all at once.

A failed call refuses the write, unless the webhook's failurePolicy is Ignore.
"""

import asyncio

from windvane.cluster.apiserver.admission.matcher import MatchedVersion
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.webhooks.configuration import Webhook
from windvane.cluster.apiserver.admission.webhooks.dispatcher import WebhookDispatcher
from windvane.cluster.apiserver.failure import Failure


class ValidatingAdmissionWebhook(AdmissionPlugin):
    """Calls the webhooks of ValidatingWebhookConfigurations."""

    name = "ValidatingAdmissionWebhook"

    def __init__(self, dispatcher: WebhookDispatcher) -> None:
        self._dispatcher = dispatcher

    def handles(self, request: AdmissionRequest) -> bool:
        return self._dispatcher.handles(request)

    async def validate(self, request: AdmissionRequest) -> None:
        """Call all matching webhooks at once; the first refusal counts."""
        asked = [
            (webhook, matched)
            for webhook in self._dispatcher.webhooks
            if (matched := await self._dispatcher.match(webhook, request)) is not None
        ]
        refusals: list[Failure] = []

        async def ask(index: int, webhook: Webhook, matched: MatchedVersion) -> None:
            try:
                await self._dispatcher.ask(webhook, request, "validating", f"round_0_index_{index}", matched)
            except Failure as refusal:
                refusals.append(refusal)

        if len(asked) == 1:
            await ask(0, *asked[0])
        elif asked:
            async with asyncio.TaskGroup() as group:
                for index, each in enumerate(asked):
                    group.create_task(ask(index, *each))
        if refusals:
            raise refusals[0]
