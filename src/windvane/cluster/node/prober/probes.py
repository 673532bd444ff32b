"""Asking a container how it is: by a request, a connection, or a command that runs in it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urljoin, urlsplit

import aiohttp

from windvane import IntOrString
from windvane.cluster.node.prober import grpc_health
from windvane.k8s.core import Container, ExecAction, GRPCAction, HTTPGetAction, LifecycleHandler, Probe, TCPSocketAction

USER_AGENT = "kube-probe/1.36"
MOST_REDIRECTS = 10
RunInside = Callable[[Sequence[str], float], Awaitable[tuple[int, str]]]
"""Runs a command in the container, for so many seconds at most: exit code and output."""


class ProbeFailure(Exception):
    """The container did not answer as it should; the message says how."""


async def ask(probe: Probe, container: Container, address: str, run: RunInside) -> None:
    """Ask once. `ProbeFailure` if the answer is not good, or does not come in time."""
    seconds = float(probe.timeout_seconds or 1)
    try:
        async with asyncio.timeout(seconds):
            if probe.exec is not None:
                await run_command(probe.exec, run, seconds)
            elif probe.http_get is not None:
                await get(probe.http_get, container, address, seconds)
            elif probe.tcp_socket is not None:
                await connect(probe.tcp_socket, container, address)
            elif probe.grpc is not None:
                await call(probe.grpc, address)
    except TimeoutError:
        raise ProbeFailure(f"no answer within {seconds:g} s") from None


async def handle(handler: LifecycleHandler, container: Container, address: str, run: RunInside, seconds: float) -> None:
    """Do what a hook asks for, but for sleeping. `ProbeFailure` if it fails; `TimeoutError` if it takes too long."""
    async with asyncio.timeout(seconds):
        if handler.exec is not None:
            await run_command(handler.exec, run, seconds)
        elif handler.http_get is not None:
            await get(handler.http_get, container, address, seconds)
        elif handler.tcp_socket is not None:
            await connect(handler.tcp_socket, container, address)


async def run_command(action: ExecAction, run: RunInside, seconds: float) -> None:
    """Run a command in the container."""
    code, said = await run(action.command, seconds)
    if code != 0:
        raise ProbeFailure(said.strip() or f"the command ended with code {code}")


async def get(action: HTTPGetAction, container: Container, address: str, seconds: float) -> None:
    """Make a request."""
    scheme = (action.scheme or "HTTP").lower()
    port = port_number(action.port, container)
    path = action.path or "/"
    url = f"{scheme}://{action.host or address}:{port}{path if path.startswith('/') else f'/{path}'}"
    headers = {"User-Agent": USER_AGENT, "Accept": "*/*", **{each.name: each.value for each in action.http_headers}}
    where = url
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=seconds)) as session:
            for _ in range(MOST_REDIRECTS):
                async with session.get(where, headers=headers, ssl=False, allow_redirects=False) as answer:
                    if not 200 <= answer.status < 400:
                        raise ProbeFailure(f"HTTP probe failed with statuscode: {answer.status}")
                    onward = _onward(answer)
                if onward is None:
                    return
                where = onward
    except TimeoutError:
        raise ProbeFailure(f'Get "{url}": context deadline exceeded') from None
    except (aiohttp.ClientError, OSError) as error:
        raise ProbeFailure(f'Get "{url}": {error}') from None
    raise ProbeFailure(f'Get "{url}": stopped after {MOST_REDIRECTS} redirects')


def _onward(answer: aiohttp.ClientResponse) -> str | None:
    """Where a redirect leads, on the same host. One that leads elsewhere is well: the other host is not asked."""
    there = urljoin(str(answer.url), answer.headers.get("Location", ""))
    is_redirect = 300 <= answer.status < 400 and "Location" in answer.headers
    return there if is_redirect and urlsplit(there).hostname == answer.url.host else None


async def connect(action: TCPSocketAction, container: Container, address: str) -> None:
    """Make a connection, and end it."""
    port = port_number(action.port, container)
    try:
        _, writer = await asyncio.open_connection(action.host or address, port)
    except OSError as error:
        raise ProbeFailure(f"dial tcp {action.host or address}:{port}: {error.strerror or error}") from None
    writer.close()


async def call(action: GRPCAction, address: str) -> None:
    """Ask over gRPC."""
    try:
        state = await grpc_health.check(address, action.port, action.service or "")
    except OSError as error:
        raise ProbeFailure(f"error: health rpc probe failed: {error.strerror or error}") from None
    if state != "SERVING":
        raise ProbeFailure(f'service unhealthy (responded with "{state}")')


def port_number(port: IntOrString, container: Container) -> int:
    """A port by its number, or by its name in the container."""
    if isinstance(port, int):
        return port
    if port.isdecimal():
        return int(port)
    for each in container.ports:
        if each.name == port:
            return each.container_port
    raise ProbeFailure(f'couldn\'t find port: "{port}"')
