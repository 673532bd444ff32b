"""Asks webhooks about writes: first those that may change an object, one after the other, then the others at once.

A webhook that can't be asked refuses the write, unless its failurePolicy is Ignore. A patch is applied before the next
webhook is asked, and what it makes of the object is read by the rules of its kind, with defaults and all.
"""

import asyncio
from dataclasses import dataclass, field

import msgspec

from windvane.cluster.apiserver.access.authorizer import Authorizer
from windvane.cluster.apiserver.admission.conversion import converted
from windvane.cluster.apiserver.admission.matching import Meant, is_never_asked_about, matched
from windvane.cluster.apiserver.admission.request import AdmissionRequest, Wire
from windvane.cluster.apiserver.admission.webhooks.asking import Asking, in_version, is_whole
from windvane.cluster.apiserver.admission.webhooks.configuration import MUTATING, VALIDATING, Configurations, Webhook
from windvane.cluster.apiserver.admission.webhooks.counting import Counts
from windvane.cluster.apiserver.admission.webhooks.patching import Operations, patched
from windvane.cluster.apiserver.catalog import Catalog
from windvane.cluster.apiserver.failure import Failure, forbidden, not_found
from windvane.cluster.apiserver.outbound.caller import Caller
from windvane.cluster.apiserver.patience import patiently
from windvane.cluster.apiserver.rules import Rules
from windvane.cluster.apiserver.store.record import Key
from windvane.cluster.apiserver.store.store import Store
from windvane.cluster.apiserver.wire.json_copy import json_copy
from windvane.cluster.apiserver.wire.stored import labels_of

MUTATION = "mutation.webhook.admission.k8s.io/"
KEPT = "MutatingAdmissionWebhook"


@dataclass
class _Rounds:
    """Which webhooks are to be asked again, because the object was changed after they saw it."""

    seen: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)
    last: Wire | None = None
    """The object as the first round left it."""

    def changed(self) -> None:
        """Whoever saw the object before, and wants to know, is to be asked again."""
        self.again |= self.seen
        self.seen.clear()


class Webhooks:
    """Everybody whom the configurations in the store name."""

    def __init__(self, store: Store, catalog: Catalog, rules: Rules, authorizer: Authorizer, caller: Caller) -> None:
        self._store = store
        self._catalog = catalog
        self._rules = rules
        self._authorizer = authorizer
        self._mutating = Configurations(store, MUTATING)
        self._validating = Configurations(store, VALIDATING)
        self.counts = Counts()
        self._asking = Asking(caller, self.counts)

    def concerned(self, request: AdmissionRequest) -> bool:
        """Whether there are any webhooks that could be asked."""
        if not self._mutating.webhooks() and not self._validating.webhooks():
            return False
        return not is_never_asked_about(request.type)

    async def mutate(self, request: AdmissionRequest) -> None:
        """Have the object changed by those who are asked about it."""
        rounds: _Rounds = request.kept.setdefault(KEPT, _Rounds())
        if request.again and request.object != rounds.last:
            rounds.changed()
        for index, webhook in enumerate(self._mutating.webhooks()):
            meant = await self._meant(webhook, request)
            # Who was not asked in the first round is not asked in the second, whatever has become of the object.
            if meant is None or (request.again and webhook.uid not in rounds.again):
                continue
            if await self._changed_by(webhook, meant, request, f"round_{int(request.again)}_index_{index}"):
                rounds.changed()
                request.changed = True
            if webhook.stated.reinvocation_policy == "IfNeeded":
                rounds.seen.add(webhook.uid)
        rounds.last = json_copy(request.object)

    async def validate(self, request: AdmissionRequest) -> None:
        """Have it judged by all who are asked about it, at once; the first no counts."""
        asked = [
            (webhook, meant)
            for webhook in self._validating.webhooks()
            if (meant := await self._meant(webhook, request)) is not None
        ]
        refusals: list[Failure] = []

        async def ask(index: int, webhook: Webhook, meant: Meant) -> None:
            try:
                await self._asking.ask(webhook, request, "validating", f"round_0_index_{index}", meant)
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

    async def _meant(self, webhook: Webhook, request: AdmissionRequest) -> Meant | None:
        """The version in which a webhook wants to be asked about a request; None if not at all."""
        if not webhook.stated.rules:
            return None
        meant = matched(webhook.match, request, self._catalog, self._labels_of_namespace)
        if meant is None or not webhook.stated.match_conditions:
            return meant
        from windvane.cluster.apiserver.admission.expressions import ConditionError
        from windvane.cluster.apiserver.admission.inputs import inputs

        given = await inputs(request, meant, self._authorizer)
        try:
            met = await patiently(lambda: webhook.conditions.met(given), given.object, given.old)
            return meant if met else None
        except ConditionError as error:
            if webhook.ignores_failures:
                return None
            raise forbidden(request.type.kind, request.name, str(error)) from error

    async def _changed_by(self, webhook: Webhook, meant: Meant, request: AdmissionRequest, place: str) -> bool:
        """Whether a webhook changed the object."""
        changed = False
        try:
            operations = await self._asking.ask(webhook, request, "admit", place, meant)
            if operations:
                changed = await self._patch(meant, request, operations)
            return changed
        finally:
            told = {"configuration": webhook.configuration, "webhook": webhook.name, "mutated": changed}
            request.annotations[MUTATION + place] = msgspec.json.encode(told).decode()

    async def _patch(self, meant: Meant, request: AdmissionRequest, operations: Operations) -> bool:
        """Whether operations change the object, which then is another."""
        before = await in_version(request, request.object, meant)
        if before is None:
            raise RuntimeError("there is no object to patch, and nobody noticed")
        after = patched(meant.type, before, operations)
        changed = after != before
        if is_whole(meant):
            self._rules.decode(meant.type, after)
            after = await converted(meant.type, after, request.type)
        request.object = after
        return changed

    def _labels_of_namespace(self, name: str) -> dict[str, str]:
        if (entry := self._store.get(Key("/namespaces", "", name))) is None:
            raise not_found(self._catalog.types["", "v1", "namespaces"].kind, name)
        return labels_of(entry.value)
