"""The health port: whether an operator lives, whether it is ready, its metrics, and what it did lately.

    /healthz   200 while its event loop turns
    /readyz    200 once caches are filled, it leads or could lead, and its webhooks can be called; 503 and why, if not.
               With ?verbose each of these has a line, as at /readyz of an API server
    /metrics   for Prometheus
    /passes    the last pass of each object; with ?name=&namespace=&resource= the last ones of that object

Nothing here can change anything, and nothing shows what is in an object. Still, names are told: it listens where
probes and Prometheus reach it, and nowhere else if you say so.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec

from windvane.runtime.manager import OperatorManager
from windvane.runtime.observability.metrics import Metrics


@dataclass(frozen=True)
class HealthPage:
    """An answer."""

    code: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"


def page(manager: OperatorManager, path: str, query: Mapping[str, str]) -> HealthPage:
    """What is at a path of the health port."""
    match path:
        case "/healthz":
            return HealthPage(200, b"ok\n")
        case "/readyz":
            return _ready(manager.checks, verbose="verbose" in query)
        case "/metrics":
            return _metrics(manager)
        case "/passes":
            return _passes(manager, query)
    return HealthPage(404, b"there are /healthz, /readyz, /metrics and /passes here\n")


def _ready(checks: Mapping[str, str], *, verbose: bool) -> HealthPage:
    problems = [problem for problem in checks.values() if problem]
    code = 503 if problems else 200
    if not verbose:
        return HealthPage(code, "\n".join([*problems, ""] if problems else ["ok", ""]).encode())
    lines = [f"[-]{name} failed: {problem}" if problem else f"[+]{name} ok" for name, problem in checks.items()]
    end = f"readyz check {'failed' if problems else 'passed'}"
    return HealthPage(code, "\n".join([*lines, end, ""]).encode())


def _metrics(manager: OperatorManager) -> HealthPage:
    from prometheus_client import REGISTRY, CollectorRegistry
    from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

    ours = CollectorRegistry()
    for collector in (Metrics(manager), *manager.collectors):
        ours.register(collector)
    # What authors count themselves, and what the library knows about the process, is in its own registry.
    return HealthPage(200, generate_latest(ours) + generate_latest(REGISTRY), CONTENT_TYPE_PLAIN_0_0_4)


def _passes(manager: OperatorManager, query: Mapping[str, str]) -> HealthPage:
    resource, name = query.get("resource", ""), query.get("name", "")
    controllers = [each for each in manager.controllers if resource in ("", each.declaration.name)]
    if resource and not controllers:
        known = ", ".join(each.declaration.name for each in manager.controllers) or "none"
        return HealthPage(404, f"there is no controller of {resource}; there is: {known}\n".encode())
    passes = {
        each.declaration.name: each.history.of((query.get("namespace", ""), name)) if name else each.history.all()
        for each in controllers
    }
    return HealthPage(200, msgspec.json.encode(passes) + b"\n", "application/json")


@asynccontextmanager
async def serve_health(manager: OperatorManager, *, host: str = "0.0.0.0", port: int = 8080) -> AsyncIterator[int]:  # noqa: S104
    """Listen for the length of the block; gives the port, which is a free one if 0 was asked for."""
    from aiohttp import web

    from windvane.http_server import HTTPServer, listen

    async def answer(request: web.BaseRequest) -> web.Response:
        found = page(manager, request.path, request.query)
        return web.Response(status=found.code, body=found.body, headers={"Content-Type": found.content_type})

    async with listen(HTTPServer(answer), host, port, shutdown=1) as bound:
        yield bound
