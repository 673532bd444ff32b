"""Calls to the outside are refused before they are made, or noted, whichever way they are made."""

import asyncio
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from threading import Thread

import aiohttp
import pytest

from windvane.cli.plan.outside_calls import Mode, Outside, Refused, not_outside


@pytest.fixture
def port() -> Iterator[int]:
    """A server that would answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def by_socket(port: int) -> None:
    socket.create_connection(("127.0.0.1", port)).close()


def by_urllib(port: int) -> None:
    urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=5)


def by_asyncio(port: int) -> None:
    async def connect() -> None:
        await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(connect())


def by_aiohttp(port: int) -> None:
    async def get() -> None:
        async with aiohttp.ClientSession() as session:
            try:
                await session.get(f"http://127.0.0.1:{port}")
            except Exception as error:
                raise AssertionError("the refusal was taken for a failure") from error

    asyncio.run(get())


def by_a_task_group(port: int) -> None:
    async def connect() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(by_socket, port))

    asyncio.run(connect())


def by_a_datagram(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"", ("127.0.0.1", port))


@pytest.mark.parametrize("call", [by_socket, by_urllib, by_asyncio, by_aiohttp, by_a_task_group, by_a_datagram])
def test_a_connection_is_refused_before_it_is_made(call: Callable[[int], None], port: int) -> None:
    outside = Outside("refuse")
    with outside.watched(), pytest.raises((Refused, BaseExceptionGroup)):
        call(port)
    assert outside.refused is not None
    assert outside.refused.words.endswith(f" to 127.0.0.1:{port}")
    assert outside.refused.line.startswith("test_outside_calls.py line ")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: subprocess.run([sys.executable, "-c", "", "--password=x"], check=True), f"run {sys.executable}"),
        (lambda: os.system("true"), "run true"),
        (lambda: os.posix_spawn("/bin/true", ["true"], {}), "run true"),
        (lambda: socket.getaddrinfo("db.example.org", 5432), "look up db.example.org"),
        (lambda: socket.gethostbyname("db.example.org"), "look up db.example.org"),
    ],
)
def test_programs_and_lookups_are_refused_and_arguments_not_told(call: Callable[[], object], words: str) -> None:
    outside = Outside("refuse")
    with outside.watched(), pytest.raises(Refused):
        call()
    assert [each.words for each in outside.calls] == [words]


def test_what_is_swallowed_is_known_all_the_same(port: int) -> None:
    outside = Outside("refuse")

    async def swallow() -> None:
        await asyncio.gather(asyncio.open_connection("127.0.0.1", port), return_exceptions=True)

    with outside.watched():
        asyncio.run(swallow())
    assert outside.refused is not None
    outside.begin()
    assert outside.refused is None


def test_a_thread_of_its_own_is_no_way_out(port: int) -> None:
    outside = Outside("refuse")
    raised: list[BaseException] = []

    def run() -> None:
        try:
            by_socket(port)
        except BaseException as error:  # noqa: BLE001 - it is handed on
            raised.append(error)

    with outside.watched():
        thread = Thread(target=run)
        thread.start()
        thread.join()
    assert [type(each) for each in raised] == [Refused]


def test_calls_are_made_and_listed_once_each_if_recorded(port: int) -> None:
    outside = Outside("record")
    with outside.watched():
        for _ in range(2):
            by_socket(port)
    assert [each.words for each in outside.calls] == [f"connect to 127.0.0.1:{port}"]
    assert outside.refused is None


def test_calls_are_made_and_not_listed_if_allowed(port: int) -> None:
    outside = Outside("allow")
    with outside.watched():
        by_socket(port)
    assert not outside.calls


def test_our_own_calls_are_not_outside_and_nothing_is_watched_afterwards(port: int) -> None:
    outside = Outside("refuse", ours=frozenset({"localhost"}))
    with outside.watched():
        with not_outside():
            by_socket(port)
        socket.getaddrinfo("localhost", 443)  # of the API server, which asyncio looks up in a thread of its own
        with pytest.raises(Refused):
            by_socket(port)
    by_socket(port)
    assert len(outside.calls) == 1


def test_a_name_that_is_recorded_is_looked_up() -> None:
    outside = Outside("record")
    with outside.watched(), suppress(OSError):
        socket.getaddrinfo("no-such-host.invalid", 443)
    assert [each.words for each in outside.calls] == ["look up no-such-host.invalid"]


def test_the_line_is_told_also_if_another_thread_makes_the_call_for_it() -> None:
    outside = Outside("refuse")

    async def a_pass() -> None:
        outside.begin()
        async with aiohttp.ClientSession() as session:
            await session.get("http://db.example.org:8080")

    with outside.watched(), pytest.raises(Refused):
        asyncio.run(a_pass())
    assert outside.refused is not None
    assert outside.refused.words == "look up db.example.org"
    assert outside.refused.line.startswith("test_outside_calls.py line ")


@pytest.mark.parametrize(("mode", "refused"), [("refuse", True), ("record", True), ("allow", False)])
def test_a_change_that_is_announced_is_made_only_if_all_calls_are(mode: Mode, refused: bool) -> None:
    outside = Outside(mode)
    with ExitStack() as stack:
        if refused:
            stack.enter_context(pytest.raises(Refused, match="adding a member"))
        outside.change("adding a member")
    assert (outside.refused is not None) is refused
