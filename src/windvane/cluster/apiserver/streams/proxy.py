"""HTTP requests that go through the API server to a pod, or to one of the pods behind a service.

/api/v1/namespaces/default/pods/web:8080/proxy/some/path
/api/v1/namespaces/default/services/https:web:admin/proxy/some/path
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack
from typing import NamedTuple
from urllib.parse import urlencode

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from windvane import ambient
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.encoding.media_types import header
from windvane.cluster.apiserver.failure import Failure, bad_request, failure
from windvane.k8s.core import Pod, Service
from windvane.k8s.discovery import EndpointSlice

PIECE = 64 * 1024
TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=10.0, sock_read=600.0)
SCHEMES = {"": "http", "http": "http", "https": "https"}
# Headers of one connection only, or for the API server and not for the pod.
NOT_PASSED_ON = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer"),
        *("transfer-encoding", "upgrade", "host", "content-length", "authorization"),
    }
)


class ProxyTarget(NamedTuple):
    """The parts of `https:web:admin`; the scheme and the port may be left out."""

    scheme: str
    name: str
    port: str


class Endpoint(NamedTuple):
    """A pod behind a service, and the port there."""

    pod: str
    port: int


def read_name(text: str, what: str) -> ProxyTarget:
    """The scheme, name and port in a path; a `Failure` 400 if they are malformed."""
    match text.split(":"):
        case [name]:
            return ProxyTarget("http", name, "")
        case [name, port] if name:
            return ProxyTarget("http", name, port)
        case [scheme, name, port] if scheme in SCHEMES and name:
            return ProxyTarget(SCHEMES[scheme], name, port)
    raise bad_request(f'invalid {what} request "{text}"')


def port_of_pod(pod: Pod, named: ProxyTarget) -> int:
    """The port to dial: if none is named, the first of the pod's containers."""
    if named.port:
        return _number(named.port)
    told = [port.container_port for each in pod.spec.containers for port in each.ports]
    return told[0] if told else (443 if named.scheme == "https" else 80)


def endpoint_of(service: Service, named: ProxyTarget, slices: Iterable[EndpointSlice]) -> Endpoint:
    """A random ready endpoint of a Service; a `Failure` 503 if there is none."""
    ports = service.spec.ports
    asked = named.port or (str(ports[0].port) if len(ports) == 1 else "")
    found = next((each for each in ports if asked in (each.name, str(each.port))), None)
    if found is None:
        raise unavailable(f'no service port "{named.port}" found for service "{named.name}"')
    behind = [
        Endpoint(endpoint.target_ref.name or "", port.port)
        for each in slices
        for port in each.ports
        if (port.name or "") == (found.name or "") and port.port
        for endpoint in each.endpoints
        if endpoint.target_ref is not None and endpoint.target_ref.kind == "Pod"
        if endpoint.conditions is None or endpoint.conditions.ready is not False
    ]
    if not behind:
        raise unavailable(f'no endpoints available for service "{named.name}"')
    ambient.shuffle(behind)
    return behind[0]


async def forward(request: Request, scheme: str, host: str, port: int, path: str) -> Answer:
    """Forward a request, and stream the response."""
    query = f"?{urlencode(request.query)}" if request.query else ""
    url = URL(f"{scheme}://{host}:{port}{path}{query}", encoded=True)
    headers = CIMultiDict((name, value) for name, value in request.headers.items() if _is_passed_on(name))
    headers["X-Forwarded-Host"] = header(request, "Host")
    headers["X-Forwarded-Proto"] = "https"
    headers["X-Forwarded-Uri"] = request.path
    stack = AsyncExitStack()
    try:
        session = await stack.enter_async_context(aiohttp.ClientSession(auto_decompress=False, timeout=TIMEOUT))
        # There is no name to check a pod's certificate against; a real server does not verify it either.
        sent = session.request(
            request.method, url, headers=headers, data=request.body, allow_redirects=False, ssl=False
        )
        response = await stack.enter_async_context(sent)
    except BaseException as error:
        await stack.aclose()
        if isinstance(error, aiohttp.ClientError | TimeoutError):
            raise unavailable(f"error trying to reach service: {error}") from None
        raise
    kind = response.headers.get("Content-Type", "")
    passed = [
        (name, value)
        for name, value in response.headers.items()
        if _is_passed_on(name) and name.lower() != "content-type"
    ]
    stream = _body(response, stack)
    await anext(stream)  # from now on, closing the stream closes the connection
    return Answer(response.status, content_type=kind, headers=passed, stream=stream, unhurried=True)


async def _body(response: aiohttp.ClientResponse, stack: AsyncExitStack) -> AsyncGenerator[bytes]:
    async with stack:
        yield b""
        async for part in response.content.iter_chunked(PIECE):
            yield part


def unavailable(why: str) -> Failure:
    """The 503 of a Service or pod that can't be reached."""
    return failure(503, "ServiceUnavailable", why)


def _is_passed_on(name: str) -> bool:
    return name.lower() not in NOT_PASSED_ON and not name.lower().startswith(("impersonate-", "sec-websocket-"))


def _number(port: str) -> int:
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise bad_request(f'"{port}" is no port')
    return int(port)
