"""The API server by a function call: the same as over HTTPS, as far as a client can tell."""

import asyncio
import json

import pytest

from unit.client.fakes import Clock
from unit.cluster.apiserver.http.standin import StandIn, Stream
from windvane import ambient
from windvane.client.client import Client
from windvane.client.errors import APIError, ClientError, Conflict, Interrupted
from windvane.client.transport import Request, Transport, WebSocket
from windvane.cluster.apiserver.answer import Answer, User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.k8s.core import ConfigMap

JANE = User("jane", ("editors",))
WATCH = Request("GET", "/api/v1/pods", [("watch", "1")])


def test_it_is_a_transport() -> None:
    transport: Transport = InProcessTransport(StandIn(), JANE)
    assert isinstance(transport, InProcessTransport)


async def test_a_request_arrives_as_it_was_sent() -> None:
    handler = StandIn()
    request = Request("PUT", "/api/v1/a%25b", [("dryRun", "All")], {"accept": "x"}, b"{}")
    async with InProcessTransport(handler, JANE).open(request):
        pass
    (asked,) = handler.asked
    assert (asked.method, asked.path, asked.query, asked.body) == ("PUT", "/api/v1/a%25b", [("dryRun", "All")], b"{}")
    assert asked.headers["Accept"] == "x"
    assert handler.users == [JANE]


async def test_an_answer_has_code_headers_and_body() -> None:
    answer = Answer(201, b"{}", "application/yaml", [("Warning", "a"), ("warning", "b")])
    async with InProcessTransport(StandIn(answer), JANE).open(Request("GET", "/api")) as response:
        assert response.code == 201
        assert response.header("content-type") == ["application/yaml"]
        assert response.header("WARNING") == ["a", "b"]
        assert response.header("Retry-After") == ()
        assert await response.read() == b"{}"


async def test_a_refusal_is_an_answer_and_the_client_raises_it() -> None:
    status = {"kind": "Status", "reason": "Conflict", "message": "it changed", "code": 409}
    client = Client(InProcessTransport(StandIn(Answer(409, json.dumps(status).encode())), JANE))
    with pytest.raises(Conflict, match="it changed"):
        await client.get(ConfigMap, "a")


async def test_a_bug_in_the_server_is_an_answer(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> Answer:
        raise ZeroDivisionError("a bug")

    async with InProcessTransport(StandIn(broken), JANE).open(Request("GET", "/api")) as response:
        assert response.code == 500
        assert b"Internal error occurred: a bug" in await response.read()
    assert "GET /api failed" in caplog.text


@pytest.mark.parametrize("path", ["/api/../x", "/a//b", "/a%2fb", "/a%00", "/a\\b", "api"])
async def test_paths_that_https_refuses_are_refused(path: str) -> None:
    handler = StandIn()
    async with InProcessTransport(handler, JANE).open(Request("GET", path)) as response:
        assert (response.code, handler.asked) == (400, [])


async def test_a_body_that_https_refuses_is_refused() -> None:
    request = Request("POST", "/api", body=bytes(3 * 1024 * 1024 + 1))
    async with InProcessTransport(StandIn(), JANE).open(request) as response:
        assert response.code == 413


async def test_head_has_no_body() -> None:
    async with InProcessTransport(StandIn(Answer(body=b"x")), JANE).open(Request("HEAD", "/api")) as response:
        assert await response.read() == b""


async def test_a_stream_arrives_part_by_part() -> None:
    stream = Stream()
    async with InProcessTransport(StandIn(stream.answer()), JANE).open(WATCH) as response:
        chunks = response.chunks()
        for part in (b"one", b"two"):
            stream.queue.put_nowait(part)
            assert await anext(chunks) == part
        stream.queue.put_nowait(None)
        assert [chunk async for chunk in chunks] == []


async def test_a_stream_that_is_left_is_closed() -> None:
    stream = Stream(b"one")
    async with InProcessTransport(StandIn(stream.answer()), JANE).open(WATCH) as response:
        assert await anext(response.chunks()) == b"one"
        assert not stream.closed.is_set()
    assert stream.closed.is_set()


async def test_a_stream_that_fails_breaks_off(caplog: pytest.LogCaptureFixture) -> None:
    stream = Stream()
    stream.queue.put_nowait(ValueError("a bug"))
    async with InProcessTransport(StandIn(stream.answer()), JANE).open(WATCH) as response:
        with pytest.raises(Interrupted, match=r"GET /api/v1/pods: the answer broke off: a bug"):
            await response.read()
    assert "the stream failed" in caplog.text


async def test_closing_interrupts_who_reads_a_stream() -> None:
    stream = Stream()
    transport = InProcessTransport(StandIn(stream.answer()), JANE)
    async with transport.open(WATCH) as response:
        reading = asyncio.get_running_loop().create_task(response.read())
        while not stream.queue._getters:  # type: ignore[attr-defined] # until it waits for a part
            await ambient.sleep(0)
        await transport.close()
        with pytest.raises(Interrupted, match="the client was closed"):
            await reading
    assert stream.closed.is_set()


async def test_after_closing_nothing_more_is_read_from_a_stream() -> None:
    transport = InProcessTransport(StandIn(Stream(b"one", b"two").answer()), JANE)
    async with transport.open(WATCH) as response:
        chunks = response.chunks()
        assert await anext(chunks) == b"one"
        await transport.close()
        with pytest.raises(Interrupted, match="the client was closed"):
            await anext(chunks)


async def test_closing_interrupts_who_waits_for_an_answer() -> None:
    begun = asyncio.Event()

    async def never() -> Answer:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    transport = InProcessTransport(StandIn(never), JANE)
    asking = asyncio.get_running_loop().create_task(read(transport, Request("GET", "/api")))
    await begun.wait()
    await transport.close()
    with pytest.raises(Interrupted, match="the client was closed"):
        await asking


async def test_nothing_can_be_asked_after_closing() -> None:
    transport = InProcessTransport(StandIn(), JANE)
    await transport.close()
    with pytest.raises(ClientError, match="is closed"):
        await read(transport, Request("GET", "/api"))


async def test_a_silent_stream_is_interrupted_when_its_time_is_up() -> None:
    stream = Stream()
    transport = InProcessTransport(StandIn(stream.answer()), JANE)
    with pytest.raises(Interrupted, match=r"nothing came for 0\.01 s"):
        await read(transport, Request("GET", "/api", timeout=0.01))
    assert stream.closed.is_set()


async def test_a_write_is_finished_even_if_its_asker_is_cancelled() -> None:
    begun, finish, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slowly() -> Answer:
        begun.set()
        await finish.wait()
        done.set()
        return Answer(201)

    asking = asyncio.get_running_loop().create_task(
        read(InProcessTransport(StandIn(slowly), JANE), Request("POST", "/api"))
    )
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    finish.set()
    await asyncio.wait_for(done.wait(), 60)


async def test_a_stream_that_comes_too_late_for_its_asker_is_closed() -> None:
    stream = Stream()
    answer = stream.answer()
    begun, finish = asyncio.Event(), asyncio.Event()

    async def slowly() -> Answer:
        begun.set()
        await finish.wait()
        return answer

    asking = asyncio.get_running_loop().create_task(read(InProcessTransport(StandIn(slowly), JANE), WATCH))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    finish.set()
    for _ in range(10):
        await ambient.sleep(0)
    assert answer.stream is not None
    with pytest.raises(StopAsyncIteration):
        await anext(answer.stream)


async def test_the_handler_lives_in_the_clients_time() -> None:
    clock = Clock()

    async def later() -> Answer:
        await ambient.sleep(3600)
        return Answer(body=ambient.now().isoformat().encode())

    with ambient.use(clock):
        body = await read(InProcessTransport(StandIn(later), JANE), Request("GET", "/api"))
    assert (body, clock.slept) == (b"2030-01-01T01:00:00+00:00", [3600])


class Echo:
    """Says what it hears."""

    protocols = ("v5.channel.k8s.io",)
    left = False

    async def hold(self, socket: WebSocket) -> None:
        try:
            async for message in socket.messages():
                if message == b"bye":
                    return
                await socket.send(message)
        finally:
            self.left = True


async def test_a_websocket_carries_messages_both_ways() -> None:
    async def converse() -> Answer:
        return Answer(101, conversation=Echo(), protocol="v5.channel.k8s.io")

    transport = InProcessTransport(StandIn(converse), JANE)
    async with transport.websocket(Request("GET", "/exec"), ["v5.channel.k8s.io"]) as socket:
        assert socket.protocol == "v5.channel.k8s.io"
        await socket.send(b"one")
        await socket.send(b"two")
        await socket.send(b"bye")
        assert [message async for message in socket.messages()] == [b"one", b"two"]


async def test_a_websocket_that_is_left_is_over_at_the_other_end() -> None:
    echo = Echo()

    async def converse() -> Answer:
        return Answer(101, conversation=echo, protocol="v5.channel.k8s.io")

    async with InProcessTransport(StandIn(converse), JANE).websocket(Request("GET", "/exec"), []) as socket:
        await socket.send(b"one")
        assert await anext(aiter(socket.messages())) == b"one"
    assert echo.left


async def test_a_websocket_may_be_refused() -> None:
    async def refuse() -> Answer:
        return Answer(400, b'{"kind": "Status", "status": "Failure", "code": 400, "message": "not so"}')

    with pytest.raises(APIError, match="not so") as raised:
        async with InProcessTransport(StandIn(refuse), JANE).websocket(Request("GET", "/exec"), []):
            pass
    assert raised.value.code == 400


async def read(transport: InProcessTransport, request: Request) -> bytes:
    async with transport.open(request) as response:
        return await response.read()
