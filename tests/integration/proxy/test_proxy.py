"""The proxy in front of Services, with real sockets: who connects to a Service reaches a pod behind it."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, closing
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from ports import free_port
from talking import talking
from windvane import Client, ambient
from windvane.api import codec
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.apiserver.server import APIServer
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.node.network import proxy
from windvane.cluster.node.network.addresses import claim_for_services
from windvane.cluster.node.network.proxy import ServiceProxy, why
from windvane.cluster.node.network.routes import Address
from windvane.k8s.core import Event, Service
from windvane.k8s.discovery import EndpointSlice

ADMIN = User("admin", ("system:masters", "system:authenticated"))
PORT = 18080
NODE_PORTS = range(30_000, 32_768)
PATIENCE = 60.0


class Stage:
    """A cluster whose Services can be reached, and servers to stand for pods."""

    def __init__(self, network: str) -> None:
        self.network = network
        self.server = APIServer(Store.open(), service_network=network)
        self.client = Client(InProcessTransport(self.server.handle, ADMIN), namespace="default")
        self.proxy = ServiceProxy(self.client)
        self._pods = AsyncExitStack()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        await self.server.start()
        self._task = asyncio.create_task(self.proxy.run())
        await self.until(lambda: self.proxy.running.synced)

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def close(self) -> None:
        await self.stop()
        await self._pods.aclose()
        await self.client.close()
        await self.server.close()

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await ambient.sleep(0.005)

    async def pod(self, name: str) -> int:
        """A server that answers each line with its name and that line; the port that it listens on."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while line := await reader.readline():
                writer.write(f"{name}: ".encode() + line)
                await writer.drain()
            writer.write(f"{name} says goodbye\n".encode())
            writer.close()

        return await self._pods.enter_async_context(talking(answer))

    async def service(self, name: str = "web", **spec: Any) -> Service:
        spec = {"ports": [{"port": PORT}]} | spec
        return await self.client.create(codec.from_wire({"metadata": {"name": name}, "spec": spec}, Service))

    async def endpoints(self, *ports: int, of: str = "web", ready: bool = True, **endpoint: Any) -> None:
        """Say what is behind a Service: one slice for each, since their ports differ."""
        for each in await self.client.list(EndpointSlice, labels={"kubernetes.io/service-name": of}):
            await self.client.delete(EndpointSlice, each.metadata.name)
        for port in ports:
            told = {"addresses": ["127.0.0.1"], "conditions": {"ready": ready}} | endpoint
            wire = {
                "metadata": {"name": f"{of}-{port}", "labels": {"kubernetes.io/service-name": of}},
                "addressType": "IPv4",
                "endpoints": [told],
                "ports": [{"name": "", "port": port}],
            }
            await self.client.create(codec.from_wire(wire, EndpointSlice))

    def behind(self, service: Service) -> list[Address]:
        there = self.proxy.listening.get(service.metadata.uid, {})
        return sorted({each for listener in there.values() for each in listener.balancer.route.endpoints})

    async def settled(self, service: Service, *ports: int) -> None:
        """Wait until the proxy knows that these are behind a Service."""
        await self.until(lambda: self.behind(service) == sorted(Address("127.0.0.1", each) for each in ports))


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    monkeypatch.setattr(proxy, "CONNECT_WITHIN", PATIENCE)  # on a busy machine, a pod that is there must not be skipped
    with closing(claim_for_services(str(tmp_path))) as ours:
        stage = Stage(ours.network)
        await stage.begin()
        yield stage
        await stage.close()


def address(service: Service) -> tuple[str, int]:
    return service.spec.cluster_ip or "", service.spec.ports[0].port


async def ask(at: tuple[str, int], line: str = "hello") -> str:
    reader, writer = await asyncio.open_connection(*at)
    writer.write(f"{line}\n".encode())
    answer = await reader.readline()
    writer.close()
    return answer.decode().strip()


async def refused(what: Awaitable[object]) -> bool:
    try:
        await what
    except ConnectionRefusedError:
        return True
    return False


async def test_a_services_address_is_on_the_loopback_interface(stage: Stage) -> None:
    assert IPv4Address(address(await stage.service())[0]) in IPv4Network(stage.network)
    kubernetes = await stage.client.get(Service, "kubernetes")
    assert kubernetes.spec.cluster_ip == stage.network.replace("0.0/16", "0.1")


async def test_who_connects_to_a_service_reaches_its_pod(stage: Stage) -> None:
    service, pod = await stage.service(), await stage.pod("a")
    await stage.endpoints(pod)
    await stage.settled(service, pod)
    assert await ask(address(service)) == "a: hello"


async def test_connections_go_to_each_pod_in_turn(stage: Stage) -> None:
    service, a, b = await stage.service(), await stage.pod("a"), await stage.pod("b")
    await stage.endpoints(a, b)
    await stage.settled(service, a, b)
    answers = [await ask(address(service)) for _ in range(4)]
    assert sorted(answers) == ["a: hello", "a: hello", "b: hello", "b: hello"]


async def test_a_client_comes_to_the_same_pod_if_the_service_says_so(stage: Stage) -> None:
    service = await stage.service(sessionAffinity="ClientIP")
    a, b = await stage.pod("a"), await stage.pod("b")
    await stage.endpoints(a, b)
    await stage.settled(service, a, b)
    assert len({await ask(address(service)) for _ in range(6)}) == 1


async def test_a_service_without_endpoints_refuses_at_once(stage: Stage) -> None:
    service = await stage.service()
    await stage.endpoints()
    await stage.until(lambda: service.metadata.uid in stage.proxy.listening)
    assert await refused(ask(address(service)))


async def test_pods_that_are_not_ready_get_no_connections(stage: Stage) -> None:
    service, a, b = await stage.service(), await stage.pod("a"), await stage.pod("b")
    await stage.endpoints(a)
    await stage.settled(service, a)
    await stage.endpoints(b, ready=False)
    await stage.settled(service)
    assert await refused(ask(address(service)))


async def test_a_pod_that_is_being_stopped_serves_if_there_is_no_other(stage: Stage) -> None:
    service, a = await stage.service(), await stage.pod("a")
    conditions = {"ready": False, "serving": True, "terminating": True}
    await stage.endpoints(a, conditions=conditions)
    await stage.settled(service, a)
    assert await ask(address(service)) == "a: hello"


async def test_a_simulated_pod_is_never_called(stage: Stage) -> None:
    service, a = await stage.service(), await stage.pod("a")
    await stage.endpoints(a)
    await stage.settled(service, a)
    reference = {"kind": "Pod", "name": "x", "namespace": "default"}
    await stage.endpoints(80, addresses=["10.244.0.1"], targetRef=reference)
    await stage.settled(service)
    assert await refused(ask(address(service)))


async def test_where_one_pod_does_not_answer_the_next_is_tried(stage: Stage) -> None:
    service, a = await stage.service(), await stage.pod("a")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # it does not listen, and nobody else can
        gone = silent.getsockname()[1]
        await stage.endpoints(a, gone)
        await stage.settled(service, a, gone)
        assert {await ask(address(service)) for _ in range(4)} == {"a: hello"}


async def test_a_connection_outlives_its_endpoint_and_its_service(stage: Stage) -> None:
    service, a, b = await stage.service(), await stage.pod("a"), await stage.pod("b")
    await stage.endpoints(a)
    await stage.settled(service, a)
    reader, writer = await asyncio.open_connection(*address(service))
    writer.write(b"hello\n")
    assert await reader.readline() == b"a: hello\n"  # before that, it may not have been brought to any pod
    await stage.endpoints(b)
    await stage.settled(service, b)
    writer.write(b"still there?\n")
    assert await reader.readline() == b"a: still there?\n"
    await stage.client.delete(Service, "web")
    await stage.until(lambda: service.metadata.uid not in stage.proxy.listening)
    writer.write(b"and now?\n")
    assert await reader.readline() == b"a: and now?\n"
    writer.close()


async def test_a_deleted_service_is_not_listened_for(stage: Stage) -> None:
    service, a = await stage.service(), await stage.pod("a")
    await stage.endpoints(a)
    await stage.settled(service, a)
    await stage.client.delete(Service, "web")
    await stage.until(lambda: service.metadata.uid not in stage.proxy.listening)
    assert await refused(ask(address(service)))


async def test_one_side_may_finish_before_the_other(stage: Stage) -> None:
    service, a = await stage.service(), await stage.pod("a")
    await stage.endpoints(a)
    await stage.settled(service, a)
    reader, writer = await asyncio.open_connection(*address(service))
    writer.write(b"last words\n")
    writer.write_eof()
    assert await reader.read() == b"a: last words\na says goodbye\n"
    writer.close()


async def test_a_large_answer_comes_whole(stage: Stage) -> None:
    service, a = await stage.service(), await stage.pod("a")
    await stage.endpoints(a)
    await stage.settled(service, a)
    reader, writer = await asyncio.open_connection(*address(service), limit=2**26)
    line = b"x" * 60_000 + b"\n"

    async def send() -> None:
        for _ in range(200):
            writer.write(line)
            await writer.drain()
        writer.write_eof()

    sending = asyncio.create_task(send())
    assert len(await reader.read()) == 200 * (len(line) + 3) + len(b"a says goodbye\n")
    await sending
    writer.close()


async def test_a_node_port_is_on_localhost(stage: Stage) -> None:
    port = free_port(NODE_PORTS)
    ports = [{"port": PORT, "nodePort": port}]
    service, a = await stage.service(type="NodePort", ports=ports), await stage.pod("a")
    await stage.endpoints(a)
    await stage.until(lambda: len(stage.proxy.listening.get(service.metadata.uid, ())) == 2)
    await stage.settled(service, a)
    assert await ask(("127.0.0.1", port)) == "a: hello"
    assert await ask(address(service)) == "a: hello"


async def test_a_headless_service_is_listened_for_nowhere(stage: Stage) -> None:
    service, a = await stage.service(clusterIP="None"), await stage.pod("a")
    await stage.endpoints(a)
    await stage.until(lambda: service.metadata.uid in stage.proxy.listening)
    assert stage.proxy.listening[service.metadata.uid] == {}


async def test_udp_is_said_not_to_be_supported(stage: Stage) -> None:
    await stage.service(ports=[{"port": 53, "protocol": "UDP"}])
    assert await event(stage) == "53/UDP can't be reached: only TCP is supported here"


async def test_a_port_that_is_taken_is_told_in_an_event(stage: Stage) -> None:
    there = stage.network.replace("0.0/16", "77.7")
    with socket.create_server((there, PORT)):
        await stage.service(clusterIP=there)
        await stage.endpoints(await stage.pod("a"))
        assert await event(stage) == (
            f"can't listen on {there}:{PORT}: another program listens there. Stop it, or give the Service another "
            "address or port"
        )


async def test_nothing_listens_when_the_proxy_has_stopped(stage: Stage) -> None:
    service, a = await stage.service(), await stage.pod("a")
    await stage.endpoints(a)
    await stage.settled(service, a)
    reader, writer = await asyncio.open_connection(*address(service))
    writer.write(b"hello\n")
    assert await reader.readline() == b"a: hello\n"
    await stage.stop()
    assert await refused(ask(address(service)))
    assert await reader.read() == b""
    writer.close()


async def event(stage: Stage) -> str:
    found: list[str] = []

    async def look() -> None:
        while not found:
            events = await stage.client.list(Event)
            found.extend(each.message or "" for each in events if each.reason == "NotReachable")
            await ambient.sleep(0.01)

    async with asyncio.timeout(PATIENCE):
        await look()
    return found[0]


def test_a_low_port_takes_a_privilege_and_the_words_say_how_to_get_it() -> None:
    words = why(Address("127.251.0.9", 80), OSError(errno.EACCES, "Permission denied"))
    assert "sudo sysctl net.ipv4.ip_unprivileged_port_start=80" in words


def test_an_address_that_this_machine_does_not_have_is_explained() -> None:
    assert "doesn't have that address" in why(Address("10.0.0.9", 80), OSError(errno.EADDRNOTAVAIL, "no"))
