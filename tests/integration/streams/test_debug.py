"""What `kubectl debug` asks for, from pods that are processes: a container that comes later."""

from typing import Any

from integration.node.machine import is_ready, running
from integration.processes.machine import shell
from integration.streams.machine import StreamingMachine
from windvane.k8s.core import ContainerState, Pod

SHARED: dict[str, Any] = {"volumeMounts": [{"name": "shared", "mountPath": "/shared"}]}
VOLUMES: dict[str, Any] = {"volumes": [{"name": "shared", "emptyDir": {}}]}


async def debug(machine: StreamingMachine, code: str, name: str = "debugger", **more: Any) -> None:
    """Add a container to the pod `web`."""
    await machine.admin.patch(
        Pod,
        "web",
        {"spec": {"ephemeralContainers": [shell(code, **more) | {"name": name}]}},
        namespace="default",
        subresource="ephemeralcontainers",
        type="strategic",
    )


def state(status: Any) -> ContainerState:
    """How the first ephemeral container of a pod is."""
    told = status.ephemeral_container_statuses
    return told[0].state if told else ContainerState()


def ended(status: Any) -> Any:
    return state(status).terminated


def waits(status: Any) -> Any:
    return (waiting := state(status).waiting) and waiting.message


async def test_an_ephemeral_container_sees_what_its_pod_has_and_runs_once(machine: StreamingMachine) -> None:
    code = "echo hello > /shared/word; echo written; exec sleep 1000"
    await machine.create(containers=[shell(code, **SHARED)], **VOLUMES)
    before = await machine.status(is_ready)
    await machine.said("written")
    await debug(machine, "cat /shared/word; echo $WINDVANE_POD_IP; exit 3", **SHARED)
    status = await machine.status(ended)
    [told] = status.ephemeral_container_statuses
    assert (told.state.terminated.exit_code, told.state.terminated.reason, told.restart_count) == (3, "Error", 0)
    assert is_ready(status)
    assert await machine.log(container="debugger") == ["hello", before.pod_ip]
    await debug(machine, "true", "another")
    later = await machine.status(lambda status: len(status.ephemeral_container_statuses) == 2 and ended(status))
    assert told in later.ephemeral_container_statuses


async def test_one_with_a_target_is_among_its_processes_and_leaves_nothing_there(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell("sleep 2345; true")])
    await machine.status(running)
    seen = "for each in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $each; echo; done 2> /dev/null"
    code = f"setsid sleep 5432 & until {seen} | grep -x 'sleep 2345 '; do :; done"
    await debug(machine, code, targetContainerName="main")
    await machine.status(ended)
    assert await machine.log(container="debugger") == ["sleep 2345 "]
    ran = await machine.admin.pod("web", namespace="default").run(["sh", "-c", seen], container="main")
    assert b"sleep 2345" in ran.stdout
    assert b"sleep 5432" not in ran.stdout


async def test_an_ephemeral_container_ends_with_what_its_pod_is_for(machine: StreamingMachine) -> None:
    await machine.create(
        containers=[shell("until [ -e /shared/go ]; do sleep 0.05; done", **SHARED)], restartPolicy="Never", **VOLUMES
    )
    await machine.status(running)
    await debug(machine, "touch /shared/go; exec sleep 1000", **SHARED)
    status = await machine.status(lambda status: status.phase == "Succeeded")
    assert ended(status).exit_code == 128 + 15


async def test_commands_run_in_one_and_it_is_not_started_again_by_another_agent(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell("exec sleep 1000")], terminationGracePeriodSeconds=1)
    await machine.status(running)
    await debug(machine, "exec sleep 1000", env=[{"name": "WHO", "value": "debugger"}])
    await machine.status(lambda status: state(status).running)
    ran = await machine.admin.pod("web", namespace="default").run(["sh", "-c", "echo $WHO"], container="debugger")
    assert ran.stdout == b"debugger\n"
    await machine.stop_agent()
    machine.start_real_agent()
    status = await machine.status(lambda status: status.container_statuses[0].restart_count == 1 and is_ready(status))
    assert ended(status)
    assert await machine.log(container="debugger", attempt=1) == []


async def test_an_image_that_can_not_be_run_is_refused_as_any_other(machine: StreamingMachine) -> None:
    await machine.create(containers=[shell("exec sleep 1000")])
    await machine.status(running)
    machine.images.add("tools:1", ["true"])
    await debug(machine, "true", image="tools:2")
    status = await machine.status(waits)
    waiting = status.ephemeral_container_statuses[0].state.waiting
    assert waiting.reason == "ImagePullBackOff"
    assert "only for the tags 1. Name one: windvane image add tools:2 -- PROGRAM" in waiting.message
    assert is_ready(status)
