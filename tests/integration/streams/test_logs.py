"""What `kubectl logs` asks for, from pods that are processes."""

import asyncio
from datetime import datetime

import pytest

from integration.node.machine import is_ready, running
from integration.processes.machine import shell
from integration.streams.machine import StreamingMachine
from windvane import ambient
from windvane.client.errors import APIError
from windvane.client.transport import Request

SLEEP = "exec sleep 1000"
UNTIL_TOLD = "while [ ! -e /tmp/go ]; do sleep 0.05; done"
LATER = f"echo one; {UNTIL_TOLD}; echo two; {SLEEP}"


async def logs(machine: StreamingMachine, query: str = "", name: str = "web") -> bytes:
    """All that is answered to a request for logs."""
    pairs = [tuple(each.split("=", 1)) for each in query.split("&") if each]
    request = Request("GET", f"/api/v1/namespaces/default/pods/{name}/log", pairs)  # type: ignore[arg-type]
    async with machine.transport.open(request) as response:
        body = await response.read()
        if response.code != 200:
            raise AssertionError(f"{response.code}: {body.decode()}")
        assert response.header("Content-Type") == ["text/plain"]
        return body


async def saying(machine: StreamingMachine, code: str, *lines: str) -> None:
    """Have a pod that has said this, and runs: what it says may be in its log before its status tells that it runs."""
    await machine.create(containers=[shell(f"{code}; {SLEEP}")])
    for line in lines:
        await machine.said(line)
    await machine.status(running)


async def refused(machine: StreamingMachine, query: str = "", name: str = "web") -> str:
    """Why a request for logs is refused."""
    with pytest.raises(AssertionError) as raised:
        await logs(machine, query, name)
    return str(raised.value)


async def test_a_log_is_what_a_container_said(machine: StreamingMachine) -> None:
    await saying(machine, "echo one; echo two >&2", "one", "two")
    assert sorted((await logs(machine)).splitlines()) == [b"one", b"two"]


async def test_the_last_lines_of_a_log(machine: StreamingMachine) -> None:
    await saying(machine, "seq 1 10000", "10000")
    assert await logs(machine, "tailLines=3") == b"9998\n9999\n10000\n"
    assert await logs(machine, "tailLines=0") == b""
    assert len((await logs(machine, "tailLines=20000")).splitlines()) == 10000


async def test_a_log_is_cut_after_so_many_bytes(machine: StreamingMachine) -> None:
    await saying(machine, "seq 1 10000", "10000")
    assert await logs(machine, "limitBytes=5") == b"1\n2\n3"


async def test_only_one_stream_of_a_log(machine: StreamingMachine) -> None:
    await saying(machine, "echo one; echo two >&2", "one", "two")
    assert await logs(machine, "stream=Stderr") == b"two\n"


async def test_lines_have_their_times(machine: StreamingMachine) -> None:
    began = ambient.now()
    await saying(machine, "echo one", "one")
    time, _, word = (await logs(machine, "timestamps=true")).decode().partition(" ")
    assert word == "one\n"
    assert began <= datetime.fromisoformat(time) <= ambient.now()
    assert time.endswith("Z")


async def test_what_was_said_before_a_moment_is_left_out(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell(LATER)])
    await machine.said("one")
    await machine.status(running)
    moment = ambient.now()
    assert (await machine.admin.pod("web", namespace="default").run(["touch", "/tmp/go"])).exit_code == 0
    await machine.said("two")
    since = moment.isoformat().replace("+00:00", "Z")
    assert await logs(machine, f"sinceTime={since}") == b"two\n"
    assert await logs(machine, "sinceSeconds=1000") == b"one\ntwo\n"


async def test_a_log_is_followed_until_its_container_ends(machine: StreamingMachine) -> None:
    code = f"{UNTIL_TOLD}; for i in 1 2 3 4 5; do echo $i; sleep 0.1; done"
    await machine.create(containers=[shell(code)], restartPolicy="Never")
    await machine.status(running)
    following = asyncio.create_task(logs(machine, "follow=true"))
    await machine.admin.pod("web", namespace="default").run(["touch", "/tmp/go"])
    assert await following == b"1\n2\n3\n4\n5\n"


async def test_a_log_that_is_followed_comes_as_it_is_said(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell(LATER)])
    await machine.said("one")
    await machine.status(running)
    pod = machine.admin.pod("web", namespace="default")
    said = pod.logs(follow=True)
    assert await anext(said) == b"one"
    await pod.run(["touch", "/tmp/go"])
    assert await anext(said) == b"two"
    await said.aclose()


async def test_the_log_of_the_container_before(machine: StreamingMachine) -> None:
    code = f"if [ -e /data/x ]; then echo second; {SLEEP}; fi; touch /data/x; echo first; exit 3"
    await machine.create(
        containers=[shell(code, volumeMounts=[{"name": "data", "mountPath": "/data"}])],
        volumes=[{"name": "data", "emptyDir": {}}],
    )
    await machine.said("second", attempt=1)
    await machine.status(lambda status: status.container_statuses[0].restart_count == 1 and is_ready(status))
    assert await logs(machine) == b"second\n"
    assert await logs(machine, "previous=true") == b"first\n"


async def test_there_is_no_log_of_a_container_before_the_first(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell(SLEEP)])
    await machine.status(running)
    words = await refused(machine, "previous=true")
    assert 'previous terminated container \\"main\\" in pod \\"web\\" not found' in words
    assert words.startswith("400")


async def test_a_container_that_waits_has_no_log(machine: StreamingMachine) -> None:
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "missing", "key": "a"}}}]
    await machine.create(containers=[shell(SLEEP, env=env)])
    await machine.status(lambda status: status.container_statuses and status.container_statuses[0].state.waiting)
    why = 'container \\"main\\" in pod \\"web\\" is waiting to start: CreateContainerConfigError'
    async with asyncio.timeout(machine.patience):
        while why not in await refused(machine):  # whenever it is tried again, it says so only after that
            await ambient.sleep(0.02)


async def test_one_of_several_containers_must_be_named(machine: StreamingMachine) -> None:
    both = [shell(f"echo a; {SLEEP}", name="a"), shell(f"echo b; {SLEEP}", name="b")]
    await machine.create(containers=both, initContainers=[shell("echo i", name="i")])
    await machine.status(is_ready)
    await machine.said("b", container="b")
    assert "a container name must be specified for pod web, choose one of: [i a b]" in await refused(machine)
    assert await logs(machine, "container=b") == b"b\n"
    assert await logs(machine, "container=i") == b"i\n"
    assert "container c is not valid for pod web" in await refused(machine, "container=c")


async def test_the_log_of_a_pod_that_is_over(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell("echo done; exit 1")], restartPolicy="Never")
    await machine.status(lambda status: status.phase == "Failed")
    assert await logs(machine) == b"done\n"
    assert await logs(machine, "follow=true") == b"done\n"


async def test_the_log_of_a_pod_that_was_over_before_the_agent_began(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell("echo done; exit 1")], restartPolicy="Never")
    await machine.status(lambda status: status.phase == "Failed")
    await machine.stop_agent()
    machine.start_real_agent()
    await machine.until(lambda: machine.agent.running.synced)
    assert await logs(machine) == b"done\n"


async def test_the_log_of_a_simulated_pod_says_so(machine: StreamingMachine) -> None:
    await machine.create(containers=[{"name": "main", "image": "nobody.example/knows/this"}])
    await machine.status(running)
    assert b"windvane simulates it" in await logs(machine)


async def test_a_line_that_has_not_ended_is_there_when_its_container_has(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell("printf unended")], restartPolicy="Never")
    await machine.status(lambda status: status.phase == "Succeeded")
    assert await logs(machine) == b"unended"


async def test_a_long_line_is_whole(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell("head -c 100000 /dev/zero | tr '\\0' x; echo")], restartPolicy="Never")
    await machine.status(lambda status: status.phase == "Succeeded")
    assert await logs(machine) == b"x" * 100000 + b"\n"
    assert (await logs(machine, "timestamps=true")).count(b"Z ") == 1


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ("limitBytes=0", "limitBytes: Invalid value: 0: must be greater than 0"),
        ("sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"),
    ],
)
async def test_options_that_make_no_sense_are_refused(machine: StreamingMachine, query: str, why: str) -> None:
    await machine.create(containers=[shell(SLEEP)])
    words = await refused(machine, query)
    assert words.startswith("422")
    assert why in words


async def test_a_pod_of_a_node_that_nobody_runs(machine: StreamingMachine) -> None:
    await machine.create("far", nodeName="elsewhere")
    with pytest.raises(APIError, match="no kubelet is known for node"):
        await anext(machine.admin.pod("far", namespace="default").logs())
