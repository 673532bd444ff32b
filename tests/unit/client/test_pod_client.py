"""Logs, commands and port-forwards, against a server that is written out message by message."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from windvane import ambient
from windvane.client import pod_client, pod_ports
from windvane.client.calls import Calls
from windvane.client.errors import APIError, BadRequest, ClientError, Forbidden, Interrupted, Unreadable
from windvane.client.errors import error_from_answer as refused
from windvane.client.pod_client import PodClient
from windvane.client.transport import Request

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
PATH = "/api/v1/namespaces/default/pods/web-0"
SUCCESS = b'\x03{"metadata":{},"status":"Success"}'


def failure(**fields: object) -> bytes:
    return b"\x03" + json.dumps({"metadata": {}, "status": "Failure", **fields}).encode()


def exited(code: int) -> bytes:
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return failure(reason="NonZeroExitCode", message="command terminated", details={"causes": causes})


class Server:
    """The other end of a WebSocket: what it `receives`, and a way to `say` something."""

    def __init__(self, protocol: str, ahead: int = 1) -> None:
        self.protocol = protocol
        self.received: list[bytes] = []
        self.said = 0
        self._to_client: asyncio.Queue[bytes | Exception | None] = asyncio.Queue(ahead)
        self._to_server: asyncio.Queue[bytes] = asyncio.Queue(1)

    async def say(self, *messages: bytes) -> None:
        """Send messages; waits while the client doesn't read, as a real connection does."""
        for message in messages:
            await self._to_client.put(message)
            self.said += 1

    async def hear(self) -> bytes:
        """The next message of the client's."""
        return await self._to_server.get()

    async def end(self, error: Exception | None = None) -> None:
        """Close the connection, or break it."""
        await self._to_client.put(error)

    # What the client sees of it.

    async def send(self, message: bytes) -> None:
        await self._to_server.put(message)

    async def messages(self) -> AsyncIterator[bytes]:
        while (message := await self._to_client.get()) is not None:
            if isinstance(message, Exception):
                raise message
            yield message


Script = Callable[[Server], Awaitable[None]]


class Response:
    code = 200

    def __init__(self, chunks: Sequence[bytes | Exception]) -> None:
        self._chunks = chunks

    def header(self, name: str) -> Sequence[str]:
        return ()

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk


class Transport:
    """Answers with chunks of a log, or with a script that plays the server of a WebSocket."""

    def __init__(
        self, *, log: Sequence[bytes | Exception] = (), script: Script | None = None, protocol: str = V5
    ) -> None:
        self.requests: list[Request] = []
        self.offered: Sequence[str] = ()
        self._log = log
        self._script = script
        self._protocol = protocol
        self.servers: list[Server] = []

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Response]:
        self.requests.append(request)
        yield Response(self._log)

    @asynccontextmanager
    async def websocket(self, request: Request, protocols: Sequence[str]) -> AsyncIterator[Server]:
        self.requests.append(request)
        self.offered = protocols
        assert self._script is not None
        server = Server(self._protocol)
        self.servers.append(server)
        playing = asyncio.ensure_future(self._script(server))
        try:
            yield server
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)

    async def close(self) -> None:
        pass


def pod(transport: Transport) -> PodClient:
    return PodClient(Calls(transport), PATH)


def saying(*messages: bytes, protocol: str = V5) -> Transport:
    """A server that says this and closes."""

    async def script(server: Server) -> None:
        await server.say(*messages)
        await server.end()

    return Transport(script=script, protocol=protocol)


# Logs


async def lines_of(*chunks: bytes) -> list[bytes]:
    return [line async for line in pod(Transport(log=chunks)).logs()]


async def test_a_line_that_comes_in_parts_is_one_line() -> None:
    assert await lines_of(b"sta", b"rt", b"ing\nready", b"\n") == [b"starting", b"ready"]


async def test_empty_lines_are_lines() -> None:
    assert await lines_of(b"a\n\n\nb\n") == [b"a", b"", b"", b"b"]


async def test_the_last_line_needs_no_newline() -> None:
    assert await lines_of(b"one\ntw", b"o") == [b"one", b"two"]


async def test_an_empty_log_has_no_lines() -> None:
    assert await lines_of() == []


async def test_an_endless_line_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_client, "LONGEST_LINE", 4)
    assert await lines_of(b"abc", b"def", b"gh", b"\nnext\n") == [b"abcdef", b"gh", b"next"]
    assert await lines_of(b"abc", b"def", b"\n\n") == [b"abcdef", b""]


async def test_logs_ask_for_what_is_wanted() -> None:
    transport = Transport()
    wanted = pod(transport).logs(container="app", follow=True, tail=0, since_seconds=60, timestamps=True, previous=True)
    assert [line async for line in wanted] == []
    [request] = transport.requests
    assert str(request) == f"GET {PATH}/log"
    assert dict(request.query) == {
        "container": "app",
        "follow": "true",
        "tailLines": "0",
        "sinceSeconds": "60",
        "timestamps": "true",
        "previous": "true",
    }


async def test_a_followed_log_may_be_silent_for_as_long_as_it_likes() -> None:
    transport = Transport()
    assert [line async for line in pod(transport).logs()] == []
    assert [line async for line in pod(transport).logs(follow=True)] == []
    assert [request.timeout for request in transport.requests] == [60.0, None]


async def test_a_log_that_breaks_off_gives_what_it_had_first() -> None:
    lines = pod(Transport(log=[b"one\ntw", Interrupted("cut")])).logs()
    assert await anext(lines) == b"one"
    with pytest.raises(Interrupted, match="cut"):
        await anext(lines)


# Commands


async def test_a_command_gives_its_output_and_exit_code() -> None:
    result = await pod(saying(b"\x01", b"\x01hi\n", SUCCESS)).run(["echo", "hi"])
    assert (result.stdout, result.stderr, result.exit_code) == (b"hi\n", b"", 0)


async def test_an_exit_code_is_a_result_and_no_error() -> None:
    result = await pod(saying(b"\x02oh no", exited(3))).run(["false"])
    assert (result.stderr, result.exit_code) == (b"oh no", 3)


async def test_stdout_and_stderr_come_in_the_order_they_were_sent() -> None:
    transport = saying(b"\x01", b"\x01one", b"\x02two", b"\x01three", SUCCESS)
    async with pod(transport).exec(["sh"]) as process:
        output = [piece async for piece in process.output()]
        assert output == [("stdout", b"one"), ("stderr", b"two"), ("stdout", b"three")]
        assert await process.wait() == 0


async def test_wait_throws_unread_output_away() -> None:
    async with pod(saying(b"\x01one", b"\x01two", b"\x01three", exited(7))).exec(["sh"]) as process:
        async for _ in process.output():
            break
        assert await process.wait() == 7


async def test_exec_asks_for_the_streams_it_uses() -> None:
    transport = saying(SUCCESS)
    async with pod(transport).exec(["ls", "-l"], container="app", stdin=True) as process:
        await process.wait()
    async with pod(transport).exec(["sh"], tty=True) as process:
        await process.wait()
    with_stdin, with_terminal = transport.requests
    assert str(with_stdin) == f"GET {PATH}/exec"
    assert list(with_stdin.query) == [
        ("command", "ls"),
        ("command", "-l"),
        ("container", "app"),
        ("stdin", "true"),
        ("stdout", "true"),
        ("stderr", "true"),
    ]
    # Asked for both a terminal and stderr, servers refuse or ignore one of them.
    assert list(with_terminal.query) == [("command", "sh"), ("stdout", "true"), ("tty", "true")]
    assert transport.offered == (V5, V4)


async def test_a_command_that_can_not_start_is_an_error_in_the_servers_words() -> None:
    transport = saying(failure(reason="InternalError", message='exec: "nope": not found', code=500))
    with pytest.raises(APIError, match='"nope": not found'):
        await pod(transport).run(["nope"])


async def test_a_failure_is_raised_again_by_wait() -> None:
    async with pod(saying(failure(message="container not found"))).exec(["sh"]) as process:
        for _ in range(2):
            with pytest.raises(APIError, match="container not found"):
                await process.wait()


async def test_a_failure_with_other_causes_has_no_exit_code() -> None:
    details = {"causes": [{"reason": "Other", "message": "5"}, {"reason": "ExitCode", "message": "lost"}]}
    with pytest.raises(BadRequest, match="no"):
        await pod(saying(failure(reason="BadRequest", message="no", details=details))).run(["sh"])


async def test_a_status_that_is_none_is_unreadable() -> None:
    with pytest.raises(Unreadable, match=r"not a Status.*gateway"):
        await pod(saying(b"\x03<html>gateway")).run(["sh"])


async def test_a_close_before_the_status_is_an_interruption() -> None:
    with pytest.raises(Interrupted, match=r"pods/web-0/exec: the connection ended before the command did"):
        await pod(saying(b"\x01so far")).run(["sh"])


async def test_a_cut_connection_gives_the_output_so_far_first() -> None:
    async def script(server: Server) -> None:
        await server.say(b"\x01so far")
        await server.end(Interrupted("cut"))

    async with pod(Transport(script=script)).exec(["sh"]) as process:
        output = process.output()
        assert await anext(output) == ("stdout", b"so far")
        with pytest.raises(Interrupted, match="cut"):
            await anext(output)


async def test_a_refused_upgrade_is_the_error_that_it_is() -> None:
    class Closed(Transport):
        @asynccontextmanager
        async def websocket(self, request: Request, protocols: Sequence[str]) -> AsyncIterator[Server]:
            raise refused(403, b"", str(request))
            yield

    with pytest.raises(Forbidden):
        await pod(Closed()).run(["sh"])
    with pytest.raises(Forbidden):
        async with pod(Closed()).port_forward(80):
            pass


@pytest.mark.parametrize("command", ["ls -l", [], ()])
async def test_a_command_is_a_list_of_words(command: Sequence[str]) -> None:
    with pytest.raises(ValueError, match=r'a list of words: \["sh", "-c", "echo hi"\]'):
        await pod(saying(SUCCESS)).run(command)


async def test_a_server_that_speaks_something_else_is_unreadable() -> None:
    with pytest.raises(Unreadable, match=r"chose the protocol ''; we speak v5\.channel\.k8s\.io and v4"):
        await pod(saying(SUCCESS, protocol="")).run(["sh"])


async def test_input_is_sent_and_closed_while_output_is_read() -> None:
    async def cat(server: Server) -> None:
        while (message := await server.hear()) != b"\xff\x00":
            await server.say(b"\x01" + message[1:])
        await server.say(SUCCESS)

    data = bytes(range(256)) * 1000
    result = await pod(Transport(script=cat)).run(["cat"], input=data)
    assert result.stdout == data


async def test_input_travels_in_pieces() -> None:
    sizes = []

    async def script(server: Server) -> None:
        while (message := await server.hear()) != b"\xff\x00":
            sizes.append(len(message) - 1)
        await server.say(SUCCESS)

    await pod(Transport(script=script)).run(["cat"], input=b"x" * 150_000)
    assert sizes == [65536, 65536, 18928]


async def test_empty_input_is_an_input_that_ends() -> None:
    async def script(server: Server) -> None:
        assert await server.hear() == b"\xff\x00"
        await server.say(exited(1))

    transport = Transport(script=script)
    assert (await pod(transport).run(["cat"], input=b"")).exit_code == 1
    assert ("stdin", "true") in transport.requests[0].query


async def test_a_command_may_end_without_reading_its_input() -> None:
    async def script(server: Server) -> None:
        await server.hear()
        await server.say(b"\x01enough", SUCCESS)

    result = await pod(Transport(script=script)).run(["head"], input=b"x" * 1_000_000)
    assert result.stdout == b"enough"


async def test_the_connection_may_close_under_the_input() -> None:
    class Deaf(Server):
        async def send(self, message: bytes) -> None:
            raise Interrupted("closed while sending")

    class DeafTransport(Transport):
        @asynccontextmanager
        async def websocket(self, request: Request, protocols: Sequence[str]) -> AsyncIterator[Server]:
            server = Deaf(V5, ahead=2)
            await server.say(b"\x01enough", exited(2))
            yield server

    result = await pod(DeafTransport()).run(["head"], input=b"x")
    assert (result.stdout, result.exit_code) == (b"enough", 2)


async def test_version_4_runs_commands_without_input() -> None:
    result = await pod(saying(b"\x01hi", exited(4), protocol=V4)).run(["sh"])
    assert (result.stdout, result.exit_code) == (b"hi", 4)


async def test_version_4_refuses_input_that_would_never_end() -> None:
    with pytest.raises(ClientError, match=r"speaks only v4\.channel\.k8s\.io, which can't end stdin"):
        await pod(saying(protocol=V4)).run(["cat"], input=b"x")


async def test_version_4_takes_input_that_need_not_end() -> None:
    async def script(server: Server) -> None:
        await server.say(b"\x01" + (await server.hear())[1:], SUCCESS)

    async with pod(Transport(script=script, protocol=V4)).exec(["head", "-c1"], stdin=True) as process:
        await process.write(b"x")
        assert [data async for _, data in process.output()] == [b"x"]
        with pytest.raises(ClientError, match="can't end stdin"):
            await process.close_stdin()


async def test_writing_without_stdin_says_what_to_write() -> None:
    async with pod(saying(SUCCESS)).exec(["cat"]) as process:
        with pytest.raises(ValueError, match=r"exec\(\.\.\., stdin=True\)"):
            await process.write(b"x")


async def test_nothing_can_be_written_after_stdin_is_closed() -> None:
    async with pod(saying(SUCCESS)).exec(["cat"], stdin=True) as process:
        await process.close_stdin()
        with pytest.raises(ValueError, match="closed"):
            await process.write(b"x")


async def test_a_resize_tells_columns_and_lines() -> None:
    async def script(server: Server) -> None:
        message = await server.hear()
        assert (message[:1], json.loads(message[1:])) == (b"\x04", {"Width": 120, "Height": 40})
        await server.say(SUCCESS)

    async with pod(Transport(script=script)).exec(["vi"], tty=True) as process:
        await process.resize(120, 40)
        assert await process.wait() == 0


async def test_only_a_terminal_can_be_resized() -> None:
    async with pod(saying(SUCCESS)).exec(["vi"]) as process:
        with pytest.raises(ValueError, match=r"exec\(\.\.\., tty=True\)"):
            await process.resize(80, 25)


async def test_output_that_nobody_reads_waits_at_the_server() -> None:
    async def script(server: Server) -> None:
        while True:
            await server.say(b"\x01" + b"y" * 65536)

    transport = Transport(script=script)
    async with pod(transport).exec(["yes"]) as process:
        output = process.output()
        for _ in range(5):
            await anext(output)
        for _ in range(100):
            await ambient.sleep(0)  # lets the server say all that it can
        assert transport.servers[0].said <= 5 + 2


async def test_two_readers_are_told_to_be_one() -> None:
    async def script(server: Server) -> None:
        await server.hear()

    async with pod(Transport(script=script)).exec(["cat"], stdin=True) as process:
        first = asyncio.ensure_future(process.wait())
        await ambient.sleep(0)  # lets it begin
        with pytest.raises(RuntimeError, match="two tasks read the output"):
            await process.wait()
        first.cancel()


async def test_a_command_that_takes_too_long_is_left() -> None:
    async def script(server: Server) -> None:
        await server.hear()

    with pytest.raises(TimeoutError, match=r"'sleep 1000' at .*web-0 took more than 0\.01 s; it may still be running"):
        await pod(Transport(script=script)).run(["sleep", "1000"], timeout=0.01)


# Ports

OPENED = (b"\x00\x90\x1f", b"\x01\x90\x1f")  # 8080, on both channels


async def test_a_port_gives_what_the_pod_sends() -> None:
    transport = saying(*OPENED, b"\x00hello ", b"\x00", b"\x00world", protocol=V4)
    async with pod(transport).port_forward(8080) as connection:
        assert [data async for data in connection.received()] == [b"hello ", b"world"]
    [request] = transport.requests
    assert (str(request), list(request.query)) == (f"GET {PATH}/portforward", [("ports", "8080")])
    assert transport.offered == (V4,)


async def test_a_port_takes_what_it_is_sent_in_pieces() -> None:
    heard = []

    async def script(server: Server) -> None:
        heard.append(await server.hear())
        heard.append(await server.hear())
        await server.end()

    async with pod(Transport(script=script, protocol=V4)).port_forward(8080) as connection:
        await connection.send(b"x" * 65537)
        assert [data async for data in connection.received()] == []
    assert heard == [b"\x00" + b"x" * 65536, b"\x00x"]


async def test_a_port_that_nobody_listens_on_is_an_error_in_the_servers_words() -> None:
    transport = saying(*OPENED, b"\x01connect: connection refused", protocol=V4)
    async with pod(transport).port_forward(8080) as connection:
        with pytest.raises(APIError, match="connection refused"):
            await anext(connection.received())


async def test_a_cut_port_forward_is_no_end() -> None:
    async def script(server: Server) -> None:
        await server.say(*OPENED, b"\x00half")
        await server.end(Interrupted("cut"))

    async with pod(Transport(script=script, protocol=V4)).port_forward(8080) as connection:
        received = connection.received()
        assert await anext(received) == b"half"
        with pytest.raises(Interrupted, match="cut"):
            await anext(received)


async def test_a_port_forward_in_another_protocol_is_unreadable() -> None:
    with pytest.raises(Unreadable, match=r"we speak v4\.channel\.k8s\.io"):
        async with pod(saying(protocol="")).port_forward(80):
            pass


@pytest.mark.parametrize("port", [0, -1, 65536])
async def test_a_port_has_a_range(port: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 65535"):
        async with pod(saying()).port_forward(port):
            pass


async def echo(server: Server) -> None:
    await server.say(*OPENED)
    while True:
        await server.say(await server.hear())


async def test_a_forwarded_port_takes_many_connections() -> None:
    transport = Transport(script=echo, protocol=V4)
    async with pod(transport).forwarded(8080) as (host, port):
        assert host == "127.0.0.1"
        connections = [await asyncio.open_connection(host, port) for _ in range(3)]
        for number, (reader, writer) in enumerate(connections):
            writer.write(f"number {number}".encode())
            assert await reader.readexactly(8) == f"number {number}".encode()
    assert len(transport.requests) == 3
    for reader, writer in connections:
        assert await reader.read() == b""  # they end with the block
        writer.close()


async def test_the_pod_closes_a_forwarded_connection() -> None:
    async with pod(saying(*OPENED, b"\x00bye", protocol=V4)).forwarded(8080) as (host, port):
        reader, writer = await asyncio.open_connection(host, port)
        assert await reader.read() == b"bye"
        writer.close()


async def test_a_program_that_stops_sending_still_gets_its_answer() -> None:
    async def script(server: Server) -> None:
        await server.say(*OPENED)
        question = await server.hear()
        await server.say(b"\x00you said " + question[1:])
        await server.end()

    async with pod(Transport(script=script, protocol=V4)).forwarded(8080) as (host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"hello")
        writer.write_eof()
        assert await reader.read() == b"you said hello"
        writer.close()


async def test_a_program_that_is_gone_does_not_keep_the_connection_to_the_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_ports, "LINGER", 0.01)
    ended = asyncio.Event()

    async def script(server: Server) -> None:
        try:
            await echo(server)
        finally:
            ended.set()

    async with pod(Transport(script=script, protocol=V4)).forwarded(8080) as (host, port):
        _, writer = await asyncio.open_connection(host, port)
        writer.close()
        await ended.wait()


async def test_a_forwarded_connection_that_fails_is_closed_and_the_others_live_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers = iter([(*OPENED, b"\x01connect: connection refused"), (*OPENED, b"\x00here")])

    async def script(server: Server) -> None:
        await server.say(*next(answers))
        await server.end()

    async with pod(Transport(script=script, protocol=V4)).forwarded(8080) as (host, port):
        reader, writer = await asyncio.open_connection(host, port)
        assert await reader.read() == b""
        writer.close()
        reader, writer = await asyncio.open_connection(host, port)
        assert await reader.read() == b"here"
        writer.close()
    assert "connect: connection refused" in caplog.text


async def test_a_pod_that_is_gone_closes_forwarded_connections(caplog: pytest.LogCaptureFixture) -> None:
    class Gone(Transport):
        @asynccontextmanager
        async def websocket(self, request: Request, protocols: Sequence[str]) -> AsyncIterator[Server]:
            raise refused(404, b'{"kind":"Status","message":"pods \\"web-0\\" not found"}', str(request))
            yield

    async with pod(Gone()).forwarded(8080) as (host, port):
        reader, writer = await asyncio.open_connection(host, port)
        assert await reader.read() == b""
        writer.close()
    assert 'pods "web-0" not found' in caplog.text
