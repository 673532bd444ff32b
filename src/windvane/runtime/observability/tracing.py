"""Spans for OpenTelemetry, if it is installed: one for each pass, and below it one for each request of that pass.

`pip install windvane[traces]` brings the API; where spans go is for the person who runs the operator to set up with an
SDK. Without the package nothing is imported, and passes and requests go their way as if this module were not there.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from windvane.api.kind import Kind
from windvane.client.transport import Request, Response, Transport, WebSocket
from windvane.runtime.observability.current_pass import CurrentPass, current_pass
from windvane.runtime.observability.history import Pass

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


def tracer() -> "Tracer | None":
    """What makes spans; None if OpenTelemetry is not installed."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("windvane")


@contextmanager
def of_pass(tracer: "Tracer | None", kind: Kind, this: CurrentPass, done: Pass) -> Iterator[None]:
    """Have what happens in this block be the span of a pass."""
    if tracer is None:
        yield
        return
    from opentelemetry.trace import StatusCode

    attributes = {
        "windvane.controller": this.controller,
        "windvane.object.name": done.name,
        "windvane.reconcile": this.reconcile,
        "windvane.trigger": this.trigger,
    }
    if done.namespace:
        attributes["k8s.namespace.name"] = done.namespace
    with tracer.start_as_current_span(f"reconcile {kind.name}", attributes=attributes) as span:
        result = "cancelled"
        try:
            yield
            result = done.result
            if result == "fatal":
                span.set_status(StatusCode.ERROR, done.message)
        except Exception:  # which the span notes as well, on its way out
            result = "failed"
            raise
        finally:
            span.set_attribute("windvane.result", result)


class TracedTransport:
    """Carries requests over another transport, with a span for each that belongs to a pass."""

    def __init__(self, transport: Transport, tracer: "Tracer") -> None:
        self._transport = transport
        self._tracer = tracer

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        """See `Transport.open`."""
        if current_pass() is None:  # a watch, which may last for days, or the renewal of a lease
            async with self._transport.open(request) as response:
                yield response
            return
        from opentelemetry.trace import SpanKind, StatusCode

        # Names and attributes are those of OpenTelemetry's conventions for HTTP clients.
        attributes = {"http.request.method": request.method, "url.path": request.path}
        span = self._tracer.start_span(request.method, kind=SpanKind.CLIENT, attributes=attributes)
        try:
            async with self._transport.open(request) as response:
                span.set_attribute("http.response.status_code", response.code)
                if response.code >= 400:
                    span.set_attribute("error.type", str(response.code))
                    span.set_status(StatusCode.ERROR)
                yield response
        except Exception as error:
            span.set_attribute("error.type", type(error).__qualname__)
            span.set_status(StatusCode.ERROR, str(error))
            raise
        finally:
            span.end()

    def websocket(self, request: Request, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        """See `Transport.websocket`."""
        return self._transport.websocket(request, protocols)

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()
