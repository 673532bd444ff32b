"""The health port over a real socket."""

import aiohttp

from windvane import Client, Resource, Spec, Status
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.runtime.context import Context
from windvane.runtime.observability.health import serve_health
from windvane.runtime.operator import Operator

operator = Operator("port")


class Thing(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    """Anything."""


@operator.controller(Thing)
async def reconcile(thing: Thing, ctx: Context) -> None:
    """Nothing to do."""


async def test_probes_reach_it() -> None:
    server = APIServer(Store.open())
    client = Client(InProcessTransport(server.handle, User("admin", ("system:masters",))))
    async with (
        serve_health(operator.run(client), host="127.0.0.1", port=0) as port,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session,
    ):
        assert (await session.get("/healthz")).status == 200
        assert (await session.get("/readyz")).status == 503
        metrics = await session.get("/metrics")
        assert metrics.content_type == "text/plain"
        assert "windvane_leading 1.0" in await metrics.text()
    await client.close()
    await server.close()
