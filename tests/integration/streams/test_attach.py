"""What `kubectl attach` and `kubectl run -it` ask for, from pods that are processes."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from integration.node.machine import is_ready, running
from integration.processes.machine import shell
from integration.streams.machine import StreamingMachine
from windvane.client.pod_exec import V5, Process
from windvane.client.transport import Request

PATIENCE = 60.0


@asynccontextmanager
async def attached(machine: StreamingMachine, *, stdin: bool = False, tty: bool = False) -> AsyncIterator[Process]:
    """At the program of the pod `web`; when that has heard of it."""
    wanted = {"stdin": stdin, "stdout": True, "stderr": not tty, "tty": tty}
    query = [(name, "true") for name, on in wanted.items() if on]
    request = Request("GET", "/api/v1/namespaces/default/pods/web/attach", query)
    async with asyncio.timeout(PATIENCE), machine.transport.websocket(request, [V5]) as socket:
        await anext(aiter(socket.messages()))  # which says that the connection is open
        yield Process(socket, "attach", stdin=stdin, tty=tty)


async def heard(process: Process, pattern: str = "no such thing") -> str:
    """What the program says until that matches, or it ends."""
    said = ""
    async for _, data in process.output():
        said += data.decode()
        if re.search(pattern, said):
            break
    return said


async def create(machine: StreamingMachine, code: str, **more: Any) -> None:
    """A pod that runs."""
    await machine.create(containers=[shell(code, **more)], restartPolicy="Never")
    await machine.status(running)


async def test_whoever_attaches_hears_what_a_container_says_from_then_on(machine: StreamingMachine) -> None:
    go = "while [ ! -e /tmp/go ]; do sleep 0.05; done"
    await create(machine, f"echo before; {go}; printf after; echo oh >&2; exit 3")
    await machine.said("before")
    async with attached(machine) as process:
        await machine.admin.pod("web", namespace="default").run(["touch", "/tmp/go"])
        said = {name: data async for name, data in process.output()}
        assert said == {"stdout": b"after", "stderr": b"oh\n"}
        assert await process.wait() == 0


async def test_a_container_goes_on_when_whoever_attached_goes(
    machine: StreamingMachine, caplog: pytest.LogCaptureFixture
) -> None:
    await create(machine, "exec sleep 1000")
    async with attached(machine):
        pass
    assert (await machine.admin.pod("web", namespace="default").run(["true"])).exit_code == 0
    assert [each.message for each in caplog.records if "bug" in each.message] == []


async def test_two_hear_the_same(machine: StreamingMachine) -> None:
    await create(machine, "read word; echo $word", stdin=True, stdinOnce=True)
    async with attached(machine, stdin=True) as one, attached(machine) as other:
        await one.write(b"hello\n")
        assert (await heard(one), await heard(other)) == ("hello\n", "hello\n")


async def test_what_the_first_types_is_all_of_the_input_if_that_is_to_be_so(machine: StreamingMachine) -> None:
    await create(machine, "wc -c", stdin=True, stdinOnce=True)
    async with attached(machine, stdin=True) as process:
        await process.write(b"x" * 300_000)
        await process.close_stdin()
        assert (await heard(process)).strip() == "300000"


async def test_the_input_ends_when_the_first_goes_if_that_is_to_be_so(machine: StreamingMachine) -> None:
    await create(machine, "cat; echo over", stdin=True, stdinOnce=True)
    async with attached(machine, stdin=True) as process:
        await process.write(b"hello\n")
        await heard(process, "hello")
    await machine.said("over")


async def test_the_input_stays_open_for_the_next_one_otherwise(machine: StreamingMachine) -> None:
    await create(machine, "cat", stdin=True)
    for word in ("one", "two"):
        async with attached(machine, stdin=True) as process:
            await process.write(f"{word}\n".encode())
            await heard(process, word)
            await process.close_stdin()
            assert await process.wait() == 0
    assert is_ready((await machine.get()).status)


async def test_a_container_without_stdin_does_not_hear_what_is_typed(machine: StreamingMachine) -> None:
    await create(machine, "cat; echo over; exec sleep 1000")
    await machine.said("over")
    async with attached(machine, stdin=True) as process:
        await process.write(b"hello\n")
        await process.close_stdin()
        assert await heard(process) == ""


async def test_a_container_with_a_terminal(machine: StreamingMachine) -> None:
    await create(machine, "exec sh", stdin=True, stdinOnce=True, tty=True)
    async with attached(machine, stdin=True, tty=True) as process:
        await process.resize(123, 45)
        await process.write(b"tty; stty size; echo $TERM\n")
        said = await heard(process, r"xterm\r\n")
        assert "/dev/pts/" in said
        assert "45 123" in said
        await process.write(b"exit 7\n")
        assert await process.wait() == 0
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.container_statuses[0].state.terminated.exit_code == 7


async def test_a_container_with_a_terminal_goes_on_when_whoever_attached_goes(machine: StreamingMachine) -> None:
    await create(machine, "exec sh", stdin=True, stdinOnce=True, tty=True)
    for word in ("one", "two"):
        async with attached(machine, stdin=True, tty=True) as process:
            await process.write(f"echo {word[0]}''{word[1:]}\n".encode())
            assert word in await heard(process, word)


async def test_ctrl_c_reaches_a_container_with_a_terminal(machine: StreamingMachine) -> None:
    await create(machine, "trap 'echo caught; exit 4' INT; echo up; while :; do sleep 0.05; done", stdin=True, tty=True)
    await machine.mentioned("up")
    async with attached(machine, stdin=True, tty=True) as process:
        await process.write(b"\x03")
        assert "caught" in await heard(process, "caught")


async def test_a_container_with_a_terminal_ends_with_its_pod(machine: StreamingMachine) -> None:
    await create(machine, "exec sleep 1000", stdin=True, tty=True)
    async with attached(machine, stdin=True, tty=True) as process:
        await machine.admin.delete(type(await machine.get()), "web", namespace="default", grace_period=0)
        assert await heard(process) == ""
    await machine.gone()
