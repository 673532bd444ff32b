"""Keeps what API servers are told about an operator's webhooks right, whatever changes it.

Webhook configurations, and spec.conversion of CRDs, are watched and compared with what the operator declares and with
the certificates that it has. What differs is stated again by server-side apply, within moments. Any replica may do so:
what already is as stated is not written. Two replicas that state different things, because one is of an older version,
slow each other down, and the one that stays has the last word.
"""

import asyncio
import logging
from contextlib import suppress

from windvane import ambient
from windvane.api.resource import kind_of
from windvane.backoff import Backoff
from windvane.client.client import Client
from windvane.client.errors import ClientError, Forbidden
from windvane.k8s.admissionregistration import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from windvane.runtime.operator import Operator
from windvane.webhook import configurations
from windvane.webhook.certificate_secret import SharedCertificates
from windvane.webhook.configurations import Configuration
from windvane.webhook.endpoint import WebhookEndpoint
from windvane.webhook.registration import (
    ConfigurationRegistration,
    ConversionRegistration,
    NotOurs,
    WebhookRegistration,
)

log = logging.getLogger(__name__)

KNOWN_AFTER = 15.0
"""Seconds after which every API server has noticed a change of a configuration: each has a cache of its own."""
LOOK_EVERY = 5.0
PAUSES = Backoff(first=0.5, most=15.0)
OFTEN = 5
"""How many changes by others, one soon after the other, are worth a word."""
CALM = 60.0
"""Seconds after which a change by others is taken as the first one."""


class RegistrationController:
    """Everything that is kept right for one operator."""

    def __init__(
        self,
        client: Client,
        operator: Operator,
        endpoint: WebhookEndpoint,
        certificates: SharedCertificates,
        *,
        namespace: str,
    ) -> None:
        """`namespace` is the operator's own."""
        self._certificates = certificates
        self._again = asyncio.Event()
        self._known = b""
        self._known_at = 0.0
        self._right = asyncio.Event()

        def mutating(bundle: bytes) -> Configuration | None:
            return configurations.mutating(operator, endpoint, bundle, namespace)

        def validating(bundle: bytes) -> Configuration | None:
            return configurations.validating(operator, endpoint, bundle, namespace)

        owner = configurations.owner_of(operator, namespace)
        self._configurations = [
            ConfigurationRegistration(client, MutatingWebhookConfiguration, operator.name, owner, mutating),
            ConfigurationRegistration(client, ValidatingWebhookConfiguration, operator.name, owner, validating),
        ]
        registration: list[WebhookRegistration] = [*self._configurations]
        for kind in operator.conversions.kinds:
            (what, *_) = operator.conversions.versions(kind).values()
            registration.append(ConversionRegistration(client, operator, endpoint, kind, kind_of(what).resource))
        self._states = [_RegistrationState(each) for each in registration]
        for each in registration:
            each.informer.subscribe(lambda _: self._again.set())
        certificates.subscribe(self._again.set)

    async def run(self) -> None:
        """Keep everything right until cancelled."""
        self._states = [state for state in self._states if await state.registration.may_be_watched()]
        async with asyncio.TaskGroup() as group:
            for state in self._states:
                group.create_task(state.registration.informer.run())
                group.create_task(self._wait_synced(state))
            group.create_task(self._put_right_when_due())

    async def wait_right(self) -> None:
        """Wait until everything is as it should be for the first time. An API server may need a second to notice."""
        await self._right.wait()

    @property
    def problem(self) -> str:
        """Why API servers are not told what they should be; empty if they are, or will be in a moment."""
        return "; ".join(state.problem for state in self._states if state.problem)

    async def take_back(self) -> list[str]:
        """Have API servers ask this process no more; the kinds of the configurations that are gone for it.

        Not to be called while `run` does: that would put them right again. What a CRD says of conversion stays: without
        it, objects would lose what another version has another name for.
        """
        bundle = self._certificates.bundle
        return [kind_of(each.informer.what).name for each in self._configurations if await each.take_back(bundle)]

    def is_known(self, bundle: bytes) -> bool:
        """Whether every API server trusts these by now, wherever it is told what to trust."""
        return bool(bundle) and self._known == bundle and ambient.monotonic() >= self._known_at + KNOWN_AFTER

    async def _wait_synced(self, state: "_RegistrationState") -> None:
        await state.registration.informer.wait_synced()
        self._again.set()

    async def _put_right_when_due(self) -> None:
        while True:
            self._again.clear()
            if self._certificates.bundle:
                await self._look()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY):
                    await self._again.wait()

    async def _look(self) -> None:
        # What can't be read, because a right is missing, must not be in the way of the rest.
        seen = [state for state in self._states if state.registration.informer.synced]
        wrong = [state for state in seen if not state.look(self._certificates.bundle)]
        if wrong:
            # What is in memory may be older than what another replica has just stated: never write from that.
            try:
                await self._certificates.refresh()
            except ClientError:
                self._known = b""
                return  # the log says so where they are kept, and it is tried again in a moment
        bundle = self._certificates.bundle
        for state in wrong:
            await state.take(bundle)
        if seen != self._states or not all(state.registration.is_right(bundle) for state in seen):
            self._known = b""
        elif self._known != bundle:
            self._known, self._known_at = bundle, ambient.monotonic()
            self._right.set()
        held = self._certificates.held
        if held is not None and held.next is not None and self.is_known(bundle):
            self._certificates.look_again()


class _RegistrationState:
    """When one object is written again: at once, and ever later if others keep changing it."""

    def __init__(self, registration: WebhookRegistration) -> None:
        self.registration = registration
        self._resource = registration.informer.kind.resource
        self._problem = f"{self._resource}: waiting for a first look at what API servers are told about webhooks"
        self._said = ""  # of that, in the log
        self._times = 0
        self._written = 0  # of these times
        self._last = float("-inf")
        self._right_with = b""  # the bundle that it was right with when we last looked

    @property
    def problem(self) -> str:
        """Why the object can't be put right; empty if it can.

        What is wrong only for a moment is no problem: while two versions of an operator are rolled out, each changes
        what the other stated. Nor is a watch that is broken after all was read: an API server that restarts must not
        make all replicas unready, for it has to ask them when it is back.
        """
        informer = self.registration.informer
        if informer.synced:
            return self._problem
        return informer.problem or f"waiting for the first list of {self._resource}"

    def look(self, bundle: bytes) -> bool:
        """Whether the object is right."""
        right = self.registration.is_right(bundle)
        if right:
            self._right_with = bundle
            self._set_problem("")
        return right

    async def take(self, bundle: bytes) -> None:
        """Put the object right, unless it was just a moment ago."""
        now = ambient.monotonic()
        if now >= self._last + CALM:
            self._times = self._written = 0
        pause = PAUSES.longest(self._times) if self._times > 1 else 0.0
        if now < self._last + pause or self.registration.is_right(bundle):
            return
        self._times += 1
        self._last = now
        if self._right_with == bundle:
            log.info("%s: what API servers are told about webhooks was changed or deleted", self._resource)
            self._right_with = b""
        problem, matters = "", True
        try:
            version = await self.registration.put_right(bundle)
            self._count_write()
            await self._wait_seen(version)
        except NotOurs as error:
            # Of two copies of an operator, which work in different namespaces, one answers for both.
            problem, matters = str(error), not error.answered
        except ClientError as error:
            problem = _explained(self.registration, error)
        self._set_problem(problem, matters=matters)

    def _set_problem(self, problem: str, *, matters: bool = True) -> None:
        if problem and problem != self._said:
            log.warning("%s", problem)
        self._said = problem
        self._problem = problem if matters else ""

    def _count_write(self) -> None:
        self._written += 1
        if self._written == OFTEN:
            log.warning(
                "%s are changed by somebody else again and again, and put right ever later. Does another version of "
                "this operator run, or one that is reached elsewhere?",
                self._resource,
            )

    async def _wait_seen(self, version: str) -> None:
        """Wait until the watch has told it, too: until then it would look as if it were still wrong."""
        informer = self.registration.informer
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY):
                await informer.until(lambda: not version.isdecimal() or informer.version >= int(version))


def _explained(registration: WebhookRegistration, error: ClientError) -> str:
    resource = registration.informer.kind.resource
    words = f"{resource}: what API servers are told about webhooks can't be kept right: {error}"
    if isinstance(error, Forbidden):
        words += f". Grant the verbs {registration.verbs} on {resource} to the operator"
    return words
