"""What `kubectl exec` asks for, from pods that are processes."""

import asyncio
import re
from pathlib import Path

import msgspec
import pytest

from integration.node.machine import is_ready, running
from integration.processes.machine import shell
from integration.runtime.world import ADMIN
from integration.streams.machine import StreamingMachine
from windvane import ObjectMeta, ambient
from windvane.client.client import Client
from windvane.client.errors import APIError
from windvane.client.pod_client import PodClient
from windvane.client.pod_exec import Process
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.cluster.node.process import runtime
from windvane.cluster.node.process.launch import Isolation
from windvane.cluster.node.process.orphans import started
from windvane.k8s import rbac

SLEEP = "exec sleep 1000"
PATIENCE = 60.0


async def pod(machine: StreamingMachine) -> PodClient:
    """A pod that runs, and does nothing."""
    await machine.create(containers=[shell(SLEEP, env=[{"name": "COLOUR", "value": "blue"}])])
    await machine.status(is_ready)
    return machine.admin.pod("web", namespace="default")


async def screen(process: Process, pattern: str) -> str:
    """What is on the screen once it matches."""
    seen = ""
    try:
        async with asyncio.timeout(PATIENCE):
            async for _, data in process.output():
                seen += data.decode()
                if re.search(pattern, seen):
                    return seen
    except TimeoutError:
        raise AssertionError(f"{seen!r} is all that came to be on the screen") from None
    raise AssertionError(f"it ended with {seen!r} on the screen")


async def test_who_may_change_the_command_does(machine: StreamingMachine) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/exec"], "operations": ["CONNECT"]}
    expression = '[JSONPatch{op: "replace", path: "/command", value: ["echo", "something else"]}]'
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
        "reinvocationPolicy": "Never",
    }
    for plural, stated in (("policies", spec), ("policybindings", {"policyName": "a"})):
        path = f"/apis/admissionregistration.k8s.io/v1/mutatingadmission{plural}"
        body = msgspec.json.encode({"metadata": {"name": "a"}, "spec": stated})
        request = Request("POST", path, body=body, headers={"Content-Type": "application/json"})
        assert (await machine.server.handle(request, ADMIN)).code == 201
    result = await (await pod(machine)).run(["echo", "this"])
    assert result.stdout == b"something else\n"


async def test_a_command_runs_in_the_surroundings_of_its_container(machine: StreamingMachine) -> None:
    result = await (await pod(machine)).run(["sh", "-c", "echo $COLOUR $(hostname); echo trouble >&2"])
    assert (result.stdout, result.stderr, result.exit_code) == (b"blue web\n", b"trouble\n", 0)


async def test_the_exit_code_of_a_command_is_told(machine: StreamingMachine) -> None:
    web = await pod(machine)
    assert (await web.run(["sh", "-c", "exit 42"])).exit_code == 42
    assert (await web.run(["sh", "-c", "kill -9 $$"])).exit_code == 137


async def test_a_command_that_is_not_there(machine: StreamingMachine) -> None:
    result = await (await pod(machine)).run(["no-such-program"])
    assert result.exit_code == 126
    assert b'exec: "no-such-program": executable file not found in $PATH' in result.stderr


async def test_a_command_reads_its_input_to_the_end(machine: StreamingMachine) -> None:
    data = bytes(range(256)) * 10_000
    result = await (await pod(machine)).run(["cat"], input=data)
    assert result.stdout == data


async def test_a_command_opens_its_input_as_a_file(machine: StreamingMachine) -> None:
    result = await (await pod(machine)).run(["cat", "/dev/stdin"], input=b"hello")
    assert (result.stdout, result.stderr) == (b"hello", b"")


async def test_a_command_that_does_not_read_its_input(machine: StreamingMachine) -> None:
    result = await (await pod(machine)).run(["true"], input=b"x" * 3_000_000)
    assert result.exit_code == 0


async def test_a_terminal(machine: StreamingMachine) -> None:
    async with (await pod(machine)).exec(["sh"], stdin=True, tty=True) as process:
        await process.resize(123, 45)
        await process.write(b"stty size; tty; echo $TERM\n")
        seen = await screen(process, r"xterm\r\n")
        assert "45 123" in seen
        assert "/dev/pts/" in seen
        await process.write(b"exit 7\n")
        assert await process.wait() == 7


async def test_a_change_of_size_reaches_the_command(machine: StreamingMachine) -> None:
    async with (await pod(machine)).exec(["sh"], stdin=True, tty=True) as process:
        await process.write(b"trap 'stty size' WINCH; echo rea''dy\n")
        await screen(process, "ready")
        await process.resize(77, 33)
        await process.write(b"\n")
        await screen(process, "33 77")


async def test_ctrl_c_interrupts_what_runs_in_a_terminal(machine: StreamingMachine) -> None:
    async with (await pod(machine)).exec(["sh"], stdin=True, tty=True) as process:
        # What says that it has started is what has the terminal then. A shell that says so itself hands it over only
        # after that, and what is typed in between interrupts nobody.
        await process.write(b"sh -c 'echo sta\"\"rted; exec sleep 1000'\n")
        await screen(process, "started")
        await process.write(b"\x03")
        await process.write(b"echo sur''vived\n")
        await screen(process, "survived")


async def test_a_command_ends_when_its_caller_goes(machine: StreamingMachine) -> None:
    web = await pod(machine)
    async with web.exec(["sh", "-c", "sleep 4242 & sleep 4242 & echo up; wait"]) as process:
        await screen(process, "up")
        await until_sleepers(web, 2)
    await until_sleepers(web, 0)


async def test_a_command_in_a_terminal_ends_when_its_caller_goes(machine: StreamingMachine) -> None:
    web = await pod(machine)
    async with web.exec(["sh"], stdin=True, tty=True) as process:
        await process.write(b"sleep 4242 & sleep 4242 & echo u''p\n")
        await screen(process, "up")
    await until_sleepers(web, 0)


async def test_a_command_that_says_more_than_its_caller_hears_ends_when_they_go(machine: StreamingMachine) -> None:
    web = await pod(machine)
    async with asyncio.timeout(PATIENCE):
        async with web.exec(["yes", "4242"]) as process:
            await screen(process, "4242")
            assert await sleepers(web) == 1  # by now nothing more fits into its pipe
        await until_sleepers(web, 0)


async def test_a_command_ends_with_its_container(machine: StreamingMachine) -> None:
    web = await pod(machine)
    async with web.exec(["sh", "-c", "echo up; exec sleep 4242"]) as process:
        await screen(process, "up")
        await machine.admin.delete(type(await machine.get()), "web", namespace="default", grace_period=0)
        assert await process.wait() == 137


async def test_many_commands_at_once(machine: StreamingMachine) -> None:
    web = await pod(machine)
    results = await asyncio.gather(*(web.run(["echo", str(number)]) for number in range(40)))
    assert [int(each.stdout) for each in results] == list(range(40))


async def test_a_container_that_does_not_run(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell("exit 0")], restartPolicy="Never")
    await machine.status(lambda status: status.phase == "Succeeded")
    with pytest.raises(APIError, match=r'unable to upgrade connection: container not found \("main"\)'):
        await machine.admin.pod("web", namespace="default").run(["true"])


async def test_a_simulated_container_runs_no_commands(machine: StreamingMachine) -> None:
    await machine.create(containers=[{"name": "main", "image": "nobody.example/knows/this"}])
    await machine.status(running)
    with pytest.raises(APIError, match="windvane simulates it"):
        await machine.admin.pod("web", namespace="default").run(["true"])


async def test_a_container_that_the_pod_does_not_have(machine: StreamingMachine) -> None:
    web = await pod(machine)
    with pytest.raises(APIError, match="container x is not valid for pod web"):
        await web.run(["true"], container="x")


async def test_whoever_may_only_get_may_not_run_commands(machine: StreamingMachine) -> None:
    await pod(machine)
    rule = rbac.PolicyRule(api_groups=[""], resources=["pods/exec"], verbs=["get"])
    await machine.admin.create(rbac.ClusterRole(metadata=ObjectMeta(name="looking"), rules=[rule]))
    binding = rbac.ClusterRoleBinding(
        metadata=ObjectMeta(name="looking"),
        subjects=[rbac.Subject(kind="User", name="jane", api_group="rbac.authorization.k8s.io")],
        role_ref=rbac.RoleRef(kind="ClusterRole", name="looking", api_group="rbac.authorization.k8s.io"),
    )
    await machine.admin.create(binding)
    jane = Client(InProcessTransport(machine.server.handle, User("jane", ("system:authenticated",))))
    with pytest.raises(APIError, match='pods "web" is forbidden'):
        await jane.pod("web", namespace="default").run(["true"])
    await jane.close()


@pytest.mark.parametrize("isolation", ["user", "none"])
async def test_less_isolation_leaves_nothing_of_a_command_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: Isolation
) -> None:
    async def allowed(directory: Path) -> Isolation:
        del directory
        return isolation

    monkeypatch.setattr(runtime, "allowed_isolation", allowed)
    machine = StreamingMachine(tmp_path / "node")
    await machine.begin()
    web = await pod(machine)
    left = await web.run(["sh", "-c", "setsid sleep 4243 >/dev/null 2>&1 & echo $!"])
    async with web.exec(["sh", "-c", "sleep 4242 & sleep 4242 & echo up; wait"]) as process:
        await screen(process, "up")
    await until_sleepers(web, 0)
    if isolation == "none":
        assert started(int(left.stdout)) is None
    await machine.close()
    assert machine.leftovers() == []


async def sleepers(web: PodClient) -> int:
    """How many of the processes that a test has started are there, as the container sees it."""
    code = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -cx 424[2]"
    return int((await web.run(["sh", "-c", code])).stdout)


async def until_sleepers(web: PodClient, wanted: int) -> None:
    deadline = ambient.monotonic() + PATIENCE
    while (there := await sleepers(web)) != wanted:
        assert ambient.monotonic() < deadline, f"{there} processes are there, not {wanted}"
