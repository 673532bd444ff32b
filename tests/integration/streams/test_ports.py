"""Connections to the ports of pods, as windvane's own client and as kubectl make them."""

import asyncio

import pytest

from integration.node.machine import is_ready, running
from integration.processes.machine import python
from integration.streams.machine import StreamingMachine
from windvane.client.errors import APIError
from windvane.client.pod_client import PodClient
from windvane.client.pod_exec import V4
from windvane.client.transport import Request, WebSocket
from windvane.cluster.apiserver.streams.port_forward_tunnel import PROTOCOL
from windvane.cluster.apiserver.streams.spdy import Data, Decoder, Encoder, Frame, Ping, Reset
from windvane.cluster.kubelet import Unavailable
from windvane.k8s.core import Pod as CorePod

ECHO = """
import os, socketserver
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)
        self.request.sendall(b"bye")
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True  # a pod of another test may have had this address until a moment ago
    request_queue_size = 100
server = Server((os.environ["WINDVANE_POD_IP"], 7777), Handler)
print("up")
server.serve_forever()
"""


async def echo(machine: StreamingMachine) -> PodClient:
    """A pod that says what it hears on port 7777, and bye when that ends."""
    await machine.create(containers=[python(ECHO)])
    await machine.said("up")
    await machine.status(is_ready)
    return machine.admin.pod("web", namespace="default")


async def test_bytes_go_to_a_port_and_come_back(machine: StreamingMachine) -> None:
    async with (await echo(machine)).port_forward(7777) as connection:
        await connection.send(b"hello")
        assert await anext(connection.received()) == b"hello"


async def test_much_goes_through(machine: StreamingMachine) -> None:
    data, seen = bytes(range(256)) * 8000, bytearray()
    async with (await echo(machine)).port_forward(7777) as connection:
        sending = asyncio.create_task(connection.send(data))
        async for piece in connection.received():
            seen += piece
            if len(seen) == len(data):
                break
        await sending
    assert seen == data


async def test_a_port_that_nobody_listens_on(machine: StreamingMachine) -> None:
    async with (await echo(machine)).port_forward(7778) as connection:
        with pytest.raises(APIError, match=r"error forwarding port 7778 to pod web, .* connection refused"):
            await anext(connection.received())


async def test_a_pod_that_ends_while_it_is_dialed(machine: StreamingMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    there = iter([machine.kubelet.address])

    def then_nowhere(pod: CorePod) -> str:
        if (address := next(there, None)) is None:
            raise Unavailable("pod web does not run: nothing listens there")
        return address(pod)

    monkeypatch.setattr(machine.kubelet, "address", then_nowhere)
    async with (await echo(machine)).port_forward(7778) as connection:
        with pytest.raises(APIError, match=r"error forwarding port 7778 to pod web, .* connection refused"):
            await anext(connection.received())


async def test_whoever_admits_a_connection_may_change_its_port(machine: StreamingMachine) -> None:
    await machine.change_connections("pods/portforward", 'op: "replace", path: "/ports", value: [7777]')
    async with (await echo(machine)).port_forward(7778) as connection:
        await connection.send(b"hello")
        assert await anext(connection.received()) == b"hello"


async def test_a_port_that_has_closed_does_not_hold_up_another(machine: StreamingMachine) -> None:
    await echo(machine)
    request = Request("GET", "/api/v1/namespaces/default/pods/web/portforward", [("ports", "7778,7777")])
    async with asyncio.timeout(60), machine.transport.websocket(request, [V4]) as socket:
        for number in range(50):
            await socket.send(b"\x00%d" % number)
        await socket.send(b"\x02hello")
        await _hear(socket, b"connection refused", b"\x02hello")


async def _hear(socket: WebSocket, *words: bytes) -> None:
    """Wait until all of these were said, in whatever order."""
    left = set(words)
    async for message in socket.messages():
        left -= {each for each in left if each in message}
        if not left:
            return
    raise AssertionError(f"it ended without {left}")


async def test_a_simulated_pod_has_no_ports(machine: StreamingMachine) -> None:
    await machine.create(containers=[{"name": "main", "image": "nobody.example/knows/this"}])
    await machine.status(running)
    async with machine.admin.pod("web", namespace="default").port_forward(80) as connection:
        with pytest.raises(APIError, match="windvane simulates it"):
            await anext(connection.received())


class Kubectl:
    """Speaks as kubectl does."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._messages = aiter(socket.messages())
        self._encoder, self._decoder = Encoder(), Decoder()
        self._number = 0

    async def connect(self, port: int) -> tuple[int, int]:
        """The streams of a new connection: for errors and for data."""
        error, data = 4 * self._number + 1, 4 * self._number + 3
        headers = {"port": str(port), "requestid": str(self._number)}
        await self._socket.send(self._encoder.open(error, {**headers, "streamtype": "error"}, over=True))
        await self._socket.send(self._encoder.open(data, {**headers, "streamtype": "data"}))
        self._number += 1
        return error, data

    async def say(self, stream: int, data: bytes, *, over: bool = False) -> None:
        await self._socket.send(self._encoder.data(stream, data, over=over))

    async def ping(self) -> None:
        await self._socket.send(self._encoder.ping(1))

    async def hear(self) -> list[Frame]:
        while True:
            if frames := list(self._decoder.feed(await anext(self._messages))):
                return frames


def forward() -> Request:
    return Request("GET", "/api/v1/namespaces/default/pods/web/portforward")


async def test_a_tunnel_carries_many_connections(machine: StreamingMachine) -> None:
    await echo(machine)
    async with machine.transport.websocket(forward(), [PROTOCOL]) as socket:
        kubectl = Kubectl(socket)
        heard: dict[int, bytes] = {}
        over: set[int] = set()

        async def listen() -> None:
            while len(over) < 2 * 50:
                for frame in await kubectl.hear():
                    assert isinstance(frame, Data)
                    heard[frame.stream] = heard.get(frame.stream, b"") + frame.data
                    if frame.over:
                        over.add(frame.stream)

        listening = asyncio.create_task(listen())
        streams = [await kubectl.connect(7777) for _ in range(50)]
        for _, data in streams:
            await kubectl.say(data, str(data).encode(), over=True)
        await listening
    assert heard == {stream: b"%dbye" % stream for _, stream in streams} | {error: b"" for error, _ in streams}


async def test_a_tunnel_says_what_went_wrong_with_one_connection(machine: StreamingMachine) -> None:
    await echo(machine)
    async with machine.transport.websocket(forward(), [PROTOCOL]) as socket:
        kubectl = Kubectl(socket)
        error, data = await kubectl.connect(7778)
        frames: list[Frame] = []
        while len(frames) < 3:
            frames += await kubectl.hear()
    assert isinstance(frames[0], Data)
    assert b"connection refused" in frames[0].data
    assert frames[1:] == [Reset(data), Data(error, b"", over=True)]


async def test_a_tunnel_answers_pings(machine: StreamingMachine) -> None:
    await echo(machine)
    async with machine.transport.websocket(forward(), [PROTOCOL]) as socket:
        kubectl = Kubectl(socket)
        await kubectl.ping()
        assert await kubectl.hear() == [Ping(1)]


async def test_a_protocol_that_nobody_knows_is_refused(machine: StreamingMachine) -> None:
    await echo(machine)
    with pytest.raises(APIError, match="none of the protocols"):
        async with machine.transport.websocket(forward(), ["v9.channel.k8s.io"]):
            pass
