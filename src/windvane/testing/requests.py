"""What is asked of a test's API server: every write is noted, with who wrote it and when."""

from typing import NamedTuple

import msgspec

from windvane import ambient
from windvane.api.envelope import EnvelopeMeta
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, Handler, User
from windvane.runtime.noting import VERBS, Place, in_words, place_of

BEATS = ("leases", "events")
"""Kinds whose writes are no work: they say that a component is alive, or what happened."""


def master(name: str) -> User:
    """A user who may do everything."""
    return User(name, ("system:masters", "system:authenticated"))


TEST = master("test")
"""The test itself."""


class Write(NamedTuple):
    """One write."""

    at: float
    """Seconds since the test began."""
    user: str
    words: str
    """`apply deployments.apps blog`."""
    namespace: str


class Requests:
    """An API server that notes what is written."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.writes: list[Write] = []
        """All so far, but for Leases, Events, and what nodes say of themselves."""

    @property
    def last(self) -> float:
        """When something was written last."""
        return self.writes[-1].at if self.writes else 0.0

    async def handle(self, request: Request, user: User) -> Answer:
        """Answer any request; see `answer.Handler`."""
        answer = await self._handler(request, user)
        if request.method in VERBS and answer.code < 300 and ("dryRun", "All") not in request.query:
            place = place_of(request.path)
            if place is not None and place.resource not in BEATS and not _is_beat(place, user):
                words = in_words(request, place, place.name or _name_in(answer))
                self.writes.append(Write(ambient.monotonic(), user.name, words, place.namespace))
        return answer


def _is_beat(place: Place, user: User) -> bool:
    return place.resource == "nodes" and user.name.startswith("system:node:")


class _Answered(msgspec.Struct):
    metadata: EnvelopeMeta = EnvelopeMeta()


def _name_in(answer: Answer) -> str:
    """The name that the server gave an object."""
    try:
        return msgspec.json.decode(answer.body, type=_Answered).metadata.name
    except msgspec.DecodeError:
        return ""
