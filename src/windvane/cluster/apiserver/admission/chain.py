"""Everybody who is asked before an object is stored, in the order in which a real API server asks them.

First those who may change an object, then, when it is what its kind makes of it and valid, those who may only refuse
it. Each says no by raising a `Failure`.

What somebody changed is news to those who were asked before. So they are asked a second time, all of them, and there is
no third: an object that they can't agree about would never be stored.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from windvane.cluster.apiserver.admission.request import AdmissionRequest, Wire


class Admitter(Protocol):
    """Somebody who is asked."""

    def concerned(self, request: AdmissionRequest) -> bool:
        """Whether there is anything to ask: cheap, because nearly always nobody cares, and a write should not wait."""
        ...

    async def mutate(self, request: AdmissionRequest) -> None:
        """Change `request.object`, or put another in its place. Who says `request.changed` is heard `again`."""
        ...

    async def validate(self, request: AdmissionRequest) -> None:
        """Only look."""
        ...


class Chain:
    """All of them."""

    def __init__(self, admitters: Sequence[Admitter] = ()) -> None:
        self._admitters = admitters

    def concerned(self, request: AdmissionRequest) -> bool:
        """Whether anybody is to be asked at all."""
        return any(each.concerned(request) for each in self._admitters)

    async def mutate(self, request: AdmissionRequest, between: Callable[[Wire], None] | None = None) -> None:
        """Have the object changed by those who may; `between` does what is to be done before a second round."""
        await self._round(request)
        if not request.changed:
            return
        request.again = True
        if between is not None and request.object is not None:
            between(request.object)
        await self._round(request)

    async def validate(self, request: AdmissionRequest) -> None:
        """Have it looked at by everybody."""
        for each in self._admitters:
            if each.concerned(request):
                await each.validate(request)

    async def _round(self, request: AdmissionRequest) -> None:
        for each in self._admitters:
            if each.concerned(request):
                await each.mutate(request)
