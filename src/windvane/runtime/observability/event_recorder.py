"""Events: what an operator says about an object, where `kubectl describe` shows it.

Saying the same again and again must not flood the server: the same words about the same object are one Event whose
count grows, and each object has a budget of 25 that refills by one in five minutes, as in Kubernetes' own components;
what another component says about it is counted apart.
What is over it is dropped. Writing happens beside the reconciles; no pass waits for it or fails because of it.
"""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

from windvane import ambient
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Object
from windvane.client.client import Client
from windvane.client.errors import ClientError, NotFound
from windvane.k8s.core import Event, EventSource, ObjectReference
from windvane.runtime.writes.children import RecordEvent

log = logging.getLogger(__name__)

BURST = 25.0
REFILL = 1 / 300.0
REMEMBERED = 4096
BACKLOG = 1000
LONGEST_MESSAGE = 1024

Words = tuple[str, str, str, str, str]
"""The component, the object's uid, type, reason, message."""


@dataclass
class _Budget:
    left: float
    at: float


class Recorder:
    """Writes the Events of one operator, each through the client that the pass has."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.host = ""
        """The node that it speaks from, if it is one that does so for a node."""
        self._said: OrderedDict[Words, Event] = OrderedDict()
        self._budgets: OrderedDict[tuple[str, str], _Budget] = OrderedDict()
        self._waiting: asyncio.Queue[tuple[Words, Object, Client]] = asyncio.Queue(BACKLOG)
        self.dropped = 0

    def about(self, obj: Object, client: Client, component: str = "") -> RecordEvent:
        """A function that says something about `obj`, through that client, as that component if not as the operator."""
        component = component or self._name

        def record_event(reason: str, message: str, type: Literal["Normal", "Warning"]) -> None:  # noqa: A002 - Kubernetes' word
            words = (component, obj.metadata.uid, type, reason, message[:LONGEST_MESSAGE])
            if self._waiting.full() or not self._afford((component, obj.metadata.uid)):
                self.dropped += 1
                return
            self._waiting.put_nowait((words, obj, client))

        return record_event

    async def run(self) -> None:
        """Write what is said, until cancelled."""
        while True:
            words, obj, client = await self._waiting.get()
            try:
                await self._write(words, obj, client)
            except ClientError as error:
                log.info("an Event was not written (%s: %s): %s", words[3], words[4], error)

    async def _write(self, words: Words, obj: Object, client: Client) -> None:
        if (event := self._said.get(words)) is not None:
            change = {"count": (event.count or 1) + 1, "lastTimestamp": ambient.now().strftime("%Y-%m-%dT%H:%M:%SZ")}
            try:
                namespace = event.metadata.namespace
                self._remember(words, await client.patch(Event, event.metadata.name, change, namespace=namespace))
                return
            except NotFound:
                pass  # Events go after an hour; say it anew
        self._remember(words, await client.create(self._event(words, obj)))

    def _event(self, words: Words, obj: Object) -> Event:
        component, _, type_, reason, message = words
        about = obj.metadata
        namespace = about.namespace or "default"
        now = ambient.now()
        return Event(
            metadata=ObjectMeta(name=f"{about.name}.{ambient.token(16)}", namespace=namespace),
            involved_object=ObjectReference(
                api_version=obj.api_version,
                kind=obj.kind,
                name=about.name,
                namespace=about.namespace or None,
                uid=about.uid,
                resource_version=about.resource_version,
            ),
            type=type_,
            reason=reason,
            message=message,
            source=EventSource(component=component, host=self.host or None),
            reporting_component=component,
            reporting_instance=self.host,
            first_timestamp=now,
            last_timestamp=now,
            count=1,
        )

    def _remember(self, words: Words, event: Event) -> None:
        self._said[words] = event
        self._said.move_to_end(words)
        if len(self._said) > REMEMBERED:
            self._said.popitem(last=False)

    def _afford(self, whom: tuple[str, str]) -> bool:
        now = ambient.monotonic()
        budget = self._budgets.setdefault(whom, _Budget(BURST, now))
        self._budgets.move_to_end(whom)
        if len(self._budgets) > REMEMBERED:
            self._budgets.popitem(last=False)
        budget.left = min(BURST, budget.left + (now - budget.at) * REFILL)
        budget.at = now
        if budget.left < 1:
            return False
        budget.left -= 1
        return True


class EventRecorder:
    """Events from outside of passes: `recorder.event(node, "Rebooted", "the kernel is another one")`.

    They come from `component`, and from `host` if it speaks for a node. They are written while `run` runs.
    """

    def __init__(self, client: Client, component: str, *, host: str = "") -> None:
        self._client = client
        self._recorder = Recorder(component)
        self._recorder.host = host

    def event(
        self,
        about: Object,
        reason: str,
        message: str,
        *,
        type: Literal["Normal", "Warning"] = "Normal",  # noqa: A002 - Kubernetes' word
    ) -> None:
        """Say that something happened to an object. It does not wait, and does not fail."""
        self._recorder.about(about, self._client)(reason, message, type)

    async def run(self) -> None:
        """Write what is said, until cancelled."""
        await self._recorder.run()
