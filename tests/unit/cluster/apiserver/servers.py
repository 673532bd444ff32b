"""An API server in memory, asked by a function call, as one user or another."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, User
from windvane.cluster.apiserver.server import APIServer, open_server

ADMIN = User("admin", ("system:masters", "system:authenticated"), "1")
JANE = User("jane", ("system:authenticated",))


@asynccontextmanager
async def running(**options: Any) -> AsyncIterator[APIServer]:
    """A server with what every cluster has; for the options see `open_server`."""
    server = open_server(None, **options)
    await server.start()
    try:
        yield server
    finally:
        await server.close()


async def ask(server: APIServer, request: str, body: Any = None, user: User = ADMIN, **headers: str) -> Answer:
    """The answer to a request such as `GET /api/v1/pods?limit=1`; in headers, `_` stands for `-`."""
    method, _, url = request.partition(" ")
    path, _, query = url.partition("?")
    pairs = [(key, value) for key, _, value in (pair.partition("=") for pair in query.split("&")) if key]
    sent = {"Content-Type": "application/json", **{key.replace("_", "-"): value for key, value in headers.items()}}
    raw = None if body is None else json.dumps(body).encode()
    return await server.handle(Request(method, path, pairs, sent, raw), user)


async def grant(server: APIServer, user: str, *rules: dict[str, Any], name: str = "granted") -> None:
    """Give a user these rules in the whole cluster."""
    group = "rbac.authorization.k8s.io"
    place = f"POST /apis/{group}/v1"
    made = [await ask(server, f"{place}/clusterroles", {"metadata": {"name": name}, "rules": list(rules)})]
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    }
    made.append(await ask(server, f"{place}/clusterrolebindings", binding))
    assert [answer.code for answer in made] == [201, 201]
