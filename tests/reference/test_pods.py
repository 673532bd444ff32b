"""Logs, commands and port-forwards through a real API server, to a stand-in for the kubelet that runs real programs."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from reference.controlplane import ReferenceControlPlane
from reference.kubelet import V4, Kubelet
from reference.spdy_kubelet import SPDYKubelet
from talking import talking
from windvane.api.kind import Kind
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Dynamic, dynamic
from windvane.client.client import Client
from windvane.client.errors import APIError, BadRequest, ClientError, NotFound
from windvane.client.pod_client import PodClient

NODE = dynamic(Kind(group="", version="v1", name="Node", plural="nodes", namespaced=False))
POD = dynamic(Kind(group="", version="v1", name="Pod", plural="pods"))
NAME = "streams"


@asynccontextmanager
async def running(reference: ReferenceControlPlane, kubelet: Kubelet | SPDYKubelet) -> AsyncIterator[PodClient]:
    """A pod with one container, `app`, on a node whose kubelet this is."""
    async with Client.connect(kubeconfig=reference.kubeconfig) as client:
        await client.create(node(kubelet))
        await client.create(POD(metadata=ObjectMeta(name=NAME), content={"spec": pod_spec("app")}))
        await client.patch(POD, NAME, {"status": {"phase": "Running"}}, subresource="status")
        try:
            yield PodClient(client.calls, POD.__kind__.path(NAME, "default"))
        finally:
            await client.delete(POD, NAME, grace_period=0)
            await client.delete(NODE, NAME)


def node(kubelet: Kubelet | SPDYKubelet) -> Dynamic:
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet.port}},
        # What a kubelet from 1.36 on declares. For others, the API server translates v5 to SPDY.
        "declaredFeatures": ["ExtendWebSocketsToKubelet"] if isinstance(kubelet, Kubelet) else [],
    }
    return NODE(metadata=ObjectMeta(name=NAME), content={"status": status})


def pod_spec(*containers: str) -> dict[str, object]:
    return {"nodeName": NAME, "containers": [{"name": name, "image": "none"} for name in containers]}


@pytest.fixture
async def kubelet(tmp_path: Path) -> AsyncIterator[Kubelet]:
    async with Kubelet(tmp_path) as kubelet:
        yield kubelet


@pytest.fixture
async def pod(reference: ReferenceControlPlane, kubelet: Kubelet) -> AsyncIterator[PodClient]:
    async with running(reference, kubelet) as pod:
        yield pod


# Logs


async def test_logs_are_the_lines_that_the_program_wrote(kubelet: Kubelet, pod: PodClient) -> None:
    await (await kubelet.start("app", "sh", "-c", "echo one; echo; echo two >&2; printf three")).ended()
    assert [line async for line in pod.logs()] == [b"one", b"", b"two", b"three"]
    assert [line async for line in pod.logs(container="app", tail=2)] == [b"two", b"three"]
    assert [line async for line in pod.logs(tail=0)] == []
    stamped = [line async for line in pod.logs(timestamps=True)]
    assert stamped[0] == b"2026-01-01T00:00:00.000000000Z one"


async def test_a_followed_log_ends_with_the_program(kubelet: Kubelet, pod: PodClient, tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    await kubelet.start("app", "sh", "-c", f"echo waiting; until [ -e {go_on} ]; do sleep 0.01; done; echo done")
    lines = pod.logs(follow=True)
    assert await anext(lines) == b"waiting"
    go_on.touch()
    assert [line async for line in lines] == [b"done"]


async def test_a_long_log_arrives_whole(kubelet: Kubelet, pod: PodClient) -> None:
    await (await kubelet.start("app", "seq", "100000")).ended()
    expected = [str(number).encode() for number in range(1, 100001)]
    assert [line async for line in pod.logs()] == expected


async def test_there_is_no_previous_log_before_the_first_restart(kubelet: Kubelet, pod: PodClient) -> None:
    await kubelet.start("app", "true")
    with pytest.raises(BadRequest, match='previous terminated container "app" in pod "streams" not found'):
        await anext(pod.logs(previous=True))


async def test_the_log_of_an_unknown_container_is_refused(pod: PodClient) -> None:
    with pytest.raises(BadRequest, match="container other is not valid for pod streams"):
        await anext(pod.logs(container="other"))


# Commands


async def test_a_command_gives_output_and_exit_code(pod: PodClient) -> None:
    result = await pod.run(["sh", "-c", "echo hi; echo oh >&2; exit 3"], container="app")
    assert (result.stdout, result.stderr, result.exit_code) == (b"hi\n", b"oh\n", 3)
    assert (await pod.run(["true"])).exit_code == 0


async def test_a_command_reads_its_input_to_the_end(pod: PodClient) -> None:
    data = bytes(range(256)) * 10_000
    result = await pod.run(["cat"], input=data)
    assert result.stdout == data


async def test_a_command_need_not_read_its_input(pod: PodClient) -> None:
    result = await pod.run(["head", "-c", "3"], input=b"abc" * 1_000_000)
    assert (result.stdout, result.exit_code) == (b"abc", 0)


async def test_much_output_is_read_at_our_pace(pod: PodClient) -> None:
    size = 20_000_000
    async with pod.exec(["head", "-c", str(size), "/dev/zero"]) as process:
        assert sum([len(data) async for _, data in process.output()]) == size
        assert await process.wait() == 0


async def test_one_can_talk_with_a_command(pod: PodClient) -> None:
    async with pod.exec(["sh", "-c", 'while read name; do echo "hello, $name"; done'], stdin=True) as process:
        await process.write(b"windvane\n")
        assert await anext(process.output()) == ("stdout", b"hello, windvane\n")
        await process.close_stdin()
        assert await process.wait() == 0


async def test_leaving_ends_the_connection(kubelet: Kubelet, pod: PodClient) -> None:
    async with pod.exec(["yes"]) as process:
        await anext(process.output())
    assert await kubelet.commands[0].wait() != 0


async def test_a_terminal_has_the_size_it_is_given(pod: PodClient) -> None:
    async with pod.exec(["sh", "-c", "read line; stty size"], stdin=True, tty=True) as process:
        await process.resize(120, 40)
        await process.write(b"\n")
        assert b"40 120" in b"".join([data async for _, data in process.output()])


async def test_a_command_that_is_not_there_is_an_error(pod: PodClient) -> None:
    with pytest.raises(APIError, match=r"error executing command in container: .*no-such-program"):
        await pod.run(["no-such-program"])


async def test_a_command_that_takes_too_long_is_left(pod: PodClient) -> None:
    with pytest.raises(TimeoutError, match="sleep 600"):
        await pod.run(["sleep", "600"], timeout=0.2)


async def test_version_4_runs_commands_but_ends_no_input(reference: ReferenceControlPlane, tmp_path: Path) -> None:
    async with Kubelet(tmp_path, protocols=[V4]) as kubelet, running(reference, kubelet) as pod:
        assert (await pod.run(["sh", "-c", "echo hi; exit 3"])).exit_code == 3
        async with pod.exec(["head", "-n1"], stdin=True) as process:
            await process.write(b"hello\n")
            assert [piece async for piece in process.output()] == [("stdout", b"hello\n")]
        with pytest.raises(ClientError, match="can't end stdin"):
            await pod.run(["cat"], input=b"x")


async def test_the_api_server_translates_for_an_older_node(reference: ReferenceControlPlane, tmp_path: Path) -> None:
    data = bytes(range(256)) * 10_000
    async with SPDYKubelet(tmp_path) as kubelet, running(reference, kubelet) as pod:
        failed = await pod.run(["sh", "-c", "echo hi; echo oh >&2; exit 3"])
        assert (failed.stdout, failed.stderr, failed.exit_code) == (b"hi\n", b"oh\n", 3)
        copied = await pod.run(["cat"], input=data)
        assert (copied.stdout, copied.exit_code) == (data, 0)


async def test_a_command_in_an_unknown_container_is_refused(pod: PodClient) -> None:
    with pytest.raises(BadRequest, match="container other is not valid for pod streams"):
        await pod.run(["true"], container="other")


async def test_a_command_in_an_unknown_pod_is_refused(reference: ReferenceControlPlane) -> None:
    async with Client.connect(kubeconfig=reference.kubeconfig) as client:
        with pytest.raises(NotFound, match='pods "nobody" not found'):
            await PodClient(client.calls, POD.__kind__.path("nobody", "default")).run(["true"])


async def test_a_node_that_is_down_is_named_in_the_error(reference: ReferenceControlPlane, tmp_path: Path) -> None:
    kubelet = Kubelet(tmp_path)
    with silent() as kubelet.port:
        async with running(reference, kubelet) as pod:
            with pytest.raises(APIError, match=f"127.0.0.1:{kubelet.port}: connect: connection refused"):
                await pod.run(["true"])


# Ports


@contextmanager
def silent() -> Iterator[int]:
    """A port on which nobody listens, and nobody else can meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@asynccontextmanager
async def greeter() -> AsyncIterator[int]:
    """A port on which somebody greets whoever says a name, and closes."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = await reader.readline()
        writer.write(b"hello, " + name)
        writer.close()

    async with talking(greet) as port:
        yield port


async def test_a_port_forward_carries_both_directions(pod: PodClient) -> None:
    async with greeter() as port, pod.port_forward(port) as connection:
        await connection.send(b"windvane\n")
        assert b"".join([data async for data in connection.received()]) == b"hello, windvane\n"


async def test_a_closed_port_is_an_error(pod: PodClient) -> None:
    with silent() as port:
        async with pod.port_forward(port) as connection:
            with pytest.raises(APIError, match=f"error forwarding port {port} to pod: .*refused"):
                await anext(connection.received())


async def test_a_forwarded_port_serves_many_connections(pod: PodClient) -> None:
    async def greeting(host: str, port: int, name: str) -> bytes:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(f"{name}\n".encode())
        answer = await reader.read()
        writer.close()
        return answer

    async with greeter() as remote, pod.forwarded(remote) as (host, port):
        greetings = await asyncio.gather(*[greeting(host, port, f"client {n}") for n in range(10)])
    assert greetings == [f"hello, client {n}\n".encode() for n in range(10)]
