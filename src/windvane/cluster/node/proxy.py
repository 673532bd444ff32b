"""Services can be reached: who connects to a Service's address is connected to one of the pods behind it.

    await ServiceProxy(client).run()

For each port of each Service that has endpoints there is a listening socket, on the address that the API server gave
the Service, which is one of the loopback interface. Where there are no endpoints nobody listens, and who connects is
refused at once. A connection that was made lasts as long as its two ends want, whatever becomes of the Service.
"""

import asyncio
import errno
import logging
from collections.abc import Iterable

from windvane import ambient
from windvane.client.client import Client
from windvane.cluster.node.routes import Address, Balancer, Route, routes, unsupported_ports
from windvane.k8s.core import Service
from windvane.k8s.discovery import EndpointSlice
from windvane.runtime.context import Context
from windvane.runtime.declaration import Watch
from windvane.runtime.informers.cache import Change
from windvane.runtime.informers.declared_informers import informer_key
from windvane.runtime.informers.index import index
from windvane.runtime.manager import OperatorManager
from windvane.runtime.operator import Operator
from windvane.runtime.outcome import After

log = logging.getLogger(__name__)

NAME = "kube-proxy"
SERVICE_NAME = "kubernetes.io/service-name"
CHUNK = 65536
CONNECT_WITHIN = 3.0
"""How long, in seconds, an endpoint has to answer before the next one is tried."""
TRY_AGAIN = 30.0
FIRST_FREE_PORT = 1024


def service_of(each: EndpointSlice) -> str | None:
    """The Service whose endpoints are in a slice."""
    return each.metadata.labels.get(SERVICE_NAME)


slices_by_service = index(EndpointSlice, by=service_of)


class Listener:
    """Brings connections from one address to the endpoints behind it."""

    def __init__(self, route: Route) -> None:
        self.balancer = Balancer(route)
        self.connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self, at: Address) -> None:
        """Begin to listen. `OSError` if that can't be."""
        self._server = await asyncio.start_server(self._accept, at.host, at.port, limit=CHUNK)

    def close(self) -> None:
        """Take no more connections; those that are there go on."""
        if self._server is not None:
            self._server.close()

    def cut(self) -> None:
        """End all connections."""
        for each in self.connections:
            each.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._connect(reader, writer))
        self.connections.add(task)
        task.add_done_callback(self.connections.discard)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            client = writer.get_extra_info("peername")[0]
            for endpoint in self.balancer.choose(client, ambient.monotonic()):
                try:
                    opening = asyncio.open_connection(endpoint.host, endpoint.port, limit=CHUNK)
                    behind = await asyncio.wait_for(opening, CONNECT_WITHIN)
                except OSError as error:  # also a time-out
                    log.debug("no connection to the endpoint %s:%d: %s", *endpoint, error)
                    continue
                self.balancer.reached(client, endpoint, ambient.monotonic())
                await _join((reader, writer), behind)
                return
        finally:
            if not writer.is_closing():
                writer.transport.abort()


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _join(one: Stream, other: Stream) -> None:
    """Carry bytes both ways until both sides have said all they have to say, or one is gone."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_carry(one[0], other[1]))
            group.create_task(_carry(other[0], one[1]))
        for _, writer in (one, other):
            writer.close()
    except* OSError:
        pass  # a side hung up in the midst of it: so does the other
    finally:
        for _, writer in (one, other):
            if not writer.is_closing():
                writer.transport.abort()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


class ServiceProxy:
    """Brings traffic to the Services of a cluster, on this machine."""

    def __init__(self, client: Client) -> None:
        self.listening: dict[str, dict[Address, Listener]] = {}
        """By the uid of a Service: where it is listened for."""
        self._leaving: set[Listener] = set()
        self._said: dict[str, set[str]] = {}
        operator = Operator(NAME)
        operator.controller(Service, watches=[Watch(EndpointSlice, to=service_of)])(self._serve)
        self.running: OperatorManager = operator.run(client)

    async def run(self) -> None:
        """Bring traffic to Services until cancelled. Then nobody listens any more, and all connections are cut."""
        end = self.running.informers[informer_key(Service)].subscribe(self._service_changed)
        try:
            await self.running
        finally:
            end()
            for uid in list(self.listening):
                self._forget(uid)
            cut = list(self._leaving)
            for each in cut:
                each.cut()
            await asyncio.gather(*(task for each in cut for task in each.connections), return_exceptions=True)

    async def _serve(self, service: Service, ctx: Context) -> After | None:
        wanted = routes(service, ctx.find(slices_by_service, service.metadata.name))
        there = self.listening.setdefault(service.metadata.uid, {})
        for at in set(there) - set(wanted):
            self._leave(there.pop(at))
        problems = [f"{each} can't be reached: only TCP is supported here" for each in unsupported_ports(service)]
        again = False
        for at, route in wanted.items():
            if at in there:
                there[at].balancer.route = route
                continue
            listener = Listener(route)
            try:
                await listener.open(at)
            except OSError as error:
                problems.append(f"can't listen on {at.host}:{at.port}: {why(at, error)}")
                again = True
            else:
                there[at] = listener
                if self.listening.get(service.metadata.uid) is not there:  # it was deleted meanwhile
                    self._leave(there.pop(at))
        self._say(service, problems, ctx)
        return After(seconds=TRY_AGAIN) if again else None

    def _say(self, service: Service, problems: Iterable[str], ctx: Context) -> None:
        """Tell of problems in Events, of each once for as long as it lasts."""
        before, now = self._said.pop(service.metadata.uid, set()), set(problems)
        for each in sorted(now - before):
            ctx.event("NotReachable", each, type="Warning")
        if now:
            self._said[service.metadata.uid] = now

    def _service_changed(self, change: Change[Service]) -> None:
        if change.gone:
            self._forget(change.item.meta.uid)
        elif change.before is not None and change.before.meta.uid != change.item.meta.uid:
            self._forget(change.before.meta.uid)

    def _forget(self, uid: str) -> None:
        for each in self.listening.pop(uid, {}).values():
            self._leave(each)
        self._said.pop(uid, None)

    def _leave(self, listener: Listener) -> None:
        """Take no more connections; who has one keeps it."""
        listener.close()
        self._leaving = {each for each in self._leaving if each.connections} | {listener}


def why(at: Address, error: OSError) -> str:
    """Why nobody can listen there, and what to do about it."""
    match error.errno:
        case errno.EACCES if at.port < FIRST_FREE_PORT:
            return (
                f"ports below {FIRST_FREE_PORT} take a privilege. Allow them to all with "
                f"`sudo sysctl net.ipv4.ip_unprivileged_port_start={at.port}`, or give the Service a higher port"
            )
        case errno.EADDRINUSE:
            return "another program listens there. Stop it, or give the Service another address or port"
        case errno.EADDRNOTAVAIL:
            return (
                "this machine doesn't have that address. On Linux it has all of 127.0.0.0/8; elsewhere each must be "
                f"added to the loopback interface (macOS: `sudo ifconfig lo0 alias {at.host}`)"
            )
    return error.strerror or str(error)
