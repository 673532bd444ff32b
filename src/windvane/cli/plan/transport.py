"""The two doors to the cluster that a plan has: one for reads, and one for dry runs. Nothing else is sent.

Whatever goes wrong elsewhere, a plan writes nothing: no other way leads from it to the cluster.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from windvane.cli.plan.outside_calls import not_outside
from windvane.client.errors import ClientError
from windvane.client.transport import Request, Response, Transport

DRY = ("dryRun", "All")
DRY_METHODS = ("PATCH", "POST", "PUT")
"""Those that take it in the query. A deletion takes it in its body, which an older server might not read."""


class NotSent(ClientError):
    """Something was about to be written to the cluster. It was not sent."""


class Door(ABC):
    """Carries some requests to the cluster, whatever makes them, and no others. A `Transport`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @abstractmethod
    def lets(self, request: Request) -> bool:
        """Whether a request may be sent."""

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """See `Transport.open`."""
        if not self.lets(request):
            raise NotSent(f"{request}: windvane plan writes nothing, and did not send this: it is a bug of windvane's")
        with not_outside():
            async with self._transport.open(request) as response:
                yield response

    def websocket(self, request: Request, protocols: object) -> AbstractAsyncContextManager[Any]:
        """See `Transport.websocket`."""
        del protocols
        raise NotSent(f"{request}: windvane plan opens no WebSockets")

    async def close(self) -> None:  # noqa: B027 - it is no mistake
        """Nothing: the transport below is its maker's."""


class Reads(Door):
    """For reading."""

    def lets(self, request: Request) -> bool:
        """See `Door.lets`."""
        return request.method == "GET"


class DryRuns(Door):
    """For dry runs."""

    def lets(self, request: Request) -> bool:
        """See `Door.lets`."""
        return request.method in DRY_METHODS and DRY in request.query
