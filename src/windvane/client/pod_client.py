"""A pod's streams: its logs, commands that run in it, and connections to its ports.

    pod = client.pod("web-0", namespace="default")
    async for line in pod.logs(follow=True, tail=100): ...
    result = await pod.run(["sh", "-c", "echo hi"])                 # result.stdout == b"hi\\n"
    async with pod.exec(["sh"], stdin=True, tty=True) as process: ...
    async with pod.port_forward(8080) as connection: ...
    async with pod.forwarded(8080) as (host, port): ...             # for anything that speaks TCP

`container` may be left out where a pod has one.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace

from windvane.client.calls import Calls
from windvane.client.pod_exec import V4, V5, ExecResult, Process, collect, exec_query
from windvane.client.pod_ports import Connection, listener
from windvane.client.transport import Request

LONGEST_LINE = 1024 * 1024


class PodClient:
    """One pod, by its path such as `/api/v1/namespaces/default/pods/web-0`. Nothing is asked until a verb is called."""

    def __init__(self, calls: Calls, path: str) -> None:
        self._calls = calls
        self._path = path

    async def logs(
        self,
        *,
        container: str = "",
        follow: bool = False,
        tail: int | None = None,
        since_seconds: int | None = None,
        timestamps: bool = False,
        previous: bool = False,
    ) -> AsyncGenerator[bytes]:
        """The lines that a container wrote, without their newlines; with `follow`, also those it writes from now on.

        `tail` starts that many lines before the end; `previous` reads the container that ran before a restart. A line
        above 1 MiB comes in pieces. A followed log ends with its container, and servers cut idle ones after hours.
        """
        wanted = {
            "container": container,
            "follow": "true" if follow else "",
            "tailLines": "" if tail is None else str(tail),
            "sinceSeconds": "" if since_seconds is None else str(since_seconds),
            "timestamps": "true" if timestamps else "",
            "previous": "true" if previous else "",
        }
        query = [(name, value) for name, value in wanted.items() if value]
        request = Request("GET", f"{self._path}/log", query)
        if follow:
            request = replace(request, timeout=None)  # a quiet program is not a broken one
        async with self._calls.stream(request) as response, aclosing(log_lines(response.chunks())) as lines:
            async for line in lines:
                yield line

    async def run(
        self,
        command: Sequence[str],
        *,
        container: str = "",
        input: bytes | None = None,  # noqa: A002 - subprocess.run's word for it
        timeout: float | None = None,
    ) -> ExecResult:
        """Run a command to its end and keep all that it writes; for much output, or a talk with it, there is `exec`.

        Any exit code is a result. `APIError` if the command could not be run; `TimeoutError` after `timeout` seconds,
        and then nothing stops the command in the container.
        """
        deadline = asyncio.timeout(timeout)
        try:
            async with deadline, self.exec(command, container=container, stdin=input is not None) as process:
                return await collect(process, input)
        except TimeoutError:
            if not deadline.expired():
                raise
            what = f"{' '.join(command)!r} at {self._path}"
            raise TimeoutError(f"{what} took more than {timeout:g} s; it may still be running there") from None

    @asynccontextmanager
    async def exec(
        self, command: Sequence[str], *, container: str = "", stdin: bool = False, tty: bool = False
    ) -> AsyncIterator[Process]:
        """Start a command and talk to it. `stdin` lets you write to it; `tty` gives it a terminal."""
        query = exec_query(command, container=container, stdin=stdin, tty=tty)
        request = Request("GET", f"{self._path}/exec", query)
        async with self._calls.transport.websocket(request, (V5, V4)) as socket:
            yield Process(socket, str(request), stdin=stdin, tty=tty)

    @asynccontextmanager
    async def port_forward(self, port: int) -> AsyncIterator[Connection]:
        """One connection to a port of the pod."""
        if not 0 < port < 65536:
            raise ValueError(f"a port is a number from 1 to 65535, not {port}")
        request = Request("GET", f"{self._path}/portforward", [("ports", str(port))])
        async with self._calls.transport.websocket(request, (V4,)) as socket:
            yield Connection(socket, str(request))

    def forwarded(self, port: int) -> AbstractAsyncContextManager[tuple[str, int]]:
        """A host and port on this machine that lead to a port of the pod, for the length of the block.

        Any number of connections may be made to it. One that fails is closed, and a warning is logged.
        """
        return listener(lambda: self.port_forward(port))


async def log_lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The lines of a log, also the last one if it has no end; what is longer than `LONGEST_LINE` in pieces."""
    rest = bytearray()
    in_pieces = False
    async for chunk in chunks:
        *complete, tail = chunk.split(b"\n")
        for line in complete:
            rest += line
            if rest or not in_pieces:
                yield bytes(rest)
            rest.clear()
            in_pieces = False
        rest += tail
        if len(rest) > LONGEST_LINE:
            yield bytes(rest)
            rest.clear()
            in_pieces = True
    if rest:
        yield bytes(rest)
