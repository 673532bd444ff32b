"""Whatever is killed, nothing of a pod is left over, and the same world is reached again."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from integration.node.machine import pod, running
from integration.processes.clusters import below, cluster, create, gone, until
from integration.processes.machine import RealMachine, shell
from windvane import ambient
from windvane.api.status import APIStatus
from windvane.cluster.node.logs.writer import Stream
from windvane.cluster.node.process import runtime
from windvane.cluster.node.process.container import ContainerInstance
from windvane.cluster.node.process.launch import Isolation, LaunchSpec, StartError, allowed_isolation, launch
from windvane.cluster.node.process.orphans import end_leftovers, record, started
from windvane.k8s.core import Pod

WAIT = "exec sleep 1000"
DISTURBED = APIStatus(status="Failure", code=500, reason="InternalError", message="not today")


async def test_an_agent_that_stops_leaves_nothing(machine: RealMachine) -> None:
    await machine.create(containers=[shell(WAIT)])
    await machine.status(running)
    await machine.stop_agent()
    assert machine.leftovers() == []


async def test_an_agent_that_stops_lets_containers_end_by_themselves(
    machine: RealMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windvane.cluster.node.agent.LAST_MOMENT", machine.patience)
    code = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done"
    await machine.create(containers=[shell(code)])
    await machine.said("up")
    await machine.stop_agent()
    await machine.said("bye")


@pytest.mark.parametrize("hook", ["postStart", "preStop"])
async def test_an_agent_that_stops_leaves_no_hook_of_a_container_either(
    machine: RealMachine, monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def takes_long(instance: ContainerInstance, *asked: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            assert instance.launched is not None
            await instance.launched.process.wait()
            for _ in range(100):  # turns of the loop: it takes longer to end than its container does
                await ambient.sleep(0)
            ended.set()

    monkeypatch.setattr(ContainerInstance, "_handle", takes_long)
    monkeypatch.setattr("windvane.cluster.node.agent.LAST_MOMENT", 0.5)
    container = shell(f"echo up; {WAIT}", lifecycle={hook: {"exec": {"command": ["true"]}}})
    await machine.create(containers=[container])
    await machine.said("up")
    if hook == "postStart":
        monkeypatch.setattr(
            ContainerInstance, "stop", lambda *_: None
        )  # as if the container did not end when it is asked to
        async with asyncio.timeout(machine.patience):
            await begun.wait()
    else:
        await machine.status(running)
    await machine.stop_agent()
    assert begun.is_set()
    assert ended.is_set()


async def test_pods_are_started_again_with_the_agent(machine: RealMachine) -> None:
    mounts, volumes = [{"name": "v", "mountPath": "/v"}], [{"name": "v", "emptyDir": {}}]
    code = f"cat /v/been; echo x > /v/been; echo been; {WAIT}"
    await machine.create("always", containers=[shell(code, volumeMounts=mounts)], volumes=volumes)
    await machine.create("never", containers=[shell(WAIT)], restartPolicy="Never")
    before = await machine.status(running, "always")
    await machine.said("been", "always")
    await machine.status(running, "never")
    await machine.stop_agent()
    machine.start_real_agent()
    status = await machine.status(running_again, "always")
    assert status.container_statuses[0].last_state.terminated.exit_code == 255
    assert status.pod_ip == before.pod_ip
    await machine.said("x", "always", attempt=1)
    status = await machine.status(lambda status: status.phase == "Failed", "never")
    assert status.container_statuses[0].state.terminated.reason == "Unknown"


@pytest.mark.parametrize("code", [0, 3])
async def test_what_ran_once_and_could_not_be_told_does_not_run_again(machine: RealMachine, code: int) -> None:
    mounts, volumes = [{"name": "v", "mountPath": "/v"}], [{"name": "v", "emptyDir": {}}]
    container = shell(f"echo x >> /v/runs; echo done; exit {code}", volumeMounts=mounts)
    machine.weather.refuse = lambda request: DISTURBED if request.path.endswith("/status") else None
    made = await machine.create(containers=[container], volumes=volumes, restartPolicy="Never")
    await machine.until(lambda: exists(machine.directory / "pods" / made.metadata.uid / "containers/main/ended"))
    await machine.stop_agent()
    assert (await machine.get()).status.phase == "Pending"
    machine.weather.clear()
    machine.start_real_agent()
    status = await machine.status(lambda status: status.phase in ("Succeeded", "Failed"))
    assert status.container_statuses[0].state.terminated.exit_code == code
    assert status.container_statuses[0].restart_count == 0
    assert read(machine.directory / "pods" / made.metadata.uid / "volumes" / "v" / "runs") == "x\n"


async def test_what_began_and_could_not_be_told_counts_as_begun(machine: RealMachine) -> None:
    machine.weather.refuse = lambda request: DISTURBED if request.path.endswith("/status") else None
    made = await machine.create(containers=[shell(WAIT)], restartPolicy="Never")
    await machine.until(lambda: exists(machine.directory / "pods" / made.metadata.uid / "containers/main/begun"))
    await machine.stop_agent()
    machine.weather.clear()
    machine.start_real_agent()
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.container_statuses[0].state.terminated.exit_code == 255


async def test_a_pod_that_was_deleted_while_no_agent_ran_is_cleaned_up(machine: RealMachine) -> None:
    made = await machine.create(containers=[shell(WAIT)])
    await machine.status(running)
    place = machine.directory / "pods" / made.metadata.uid
    assert exists(place)
    await machine.stop_agent()
    await machine.admin.delete(Pod, "web", namespace="default", grace_period=0)
    machine.start_real_agent()
    await machine.until(lambda: not exists(place))


async def test_a_launcher_that_is_killed_takes_its_container_with_it(machine: RealMachine) -> None:
    await machine.create(containers=[shell("setsid sleep 1000 & exec sleep 1000")], restartPolicy="Never")
    await machine.status(running)
    [tended] = machine.agent.pods.values()
    os.kill(tended.sandbox.instances["main"].launched.pid, signal.SIGKILL)  # type: ignore[attr-defined]
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.container_statuses[0].state.terminated.exit_code == 137
    await machine.until(lambda: machine.leftovers() == [])


async def test_what_is_recorded_and_still_runs_is_ended(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec("sleep", "1000")
    (tmp_path / "uid").mkdir()
    record(tmp_path / "uid", "main", process.pid)
    assert await end_leftovers(tmp_path) == 1
    assert started(process.pid) is None, "it is gone, not only about to go"
    assert await process.wait() == -signal.SIGKILL
    assert await end_leftovers(tmp_path) == 0


async def test_another_process_with_a_recorded_pid_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "uid").mkdir()
    (tmp_path / "uid" / "main.pid").write_text(f'{{"pid": {os.getpid()}, "since": "1"}}')
    assert await end_leftovers(tmp_path) == 0
    assert started(os.getpid()) is not None


async def test_a_signal_is_heard_from_the_first_moment_on(tmp_path: Path) -> None:
    isolation = await allowed_isolation(tmp_path / "check")
    for _ in range(20):
        launched = await launch(
            LaunchSpec(["sleep", "1000"], dict(os.environ), str(tmp_path), isolation, "web"), ignore
        )
        launched.send(signal.SIGTERM)
        async with asyncio.timeout(60):
            assert await launched.ended() == 128 + signal.SIGTERM


async def test_what_can_not_be_run_is_told(tmp_path: Path) -> None:
    isolation = await allowed_isolation(tmp_path / "check")
    with pytest.raises(StartError, match="null byte"):
        await launch(LaunchSpec(["echo", "\0"], dict(os.environ), str(tmp_path), isolation, "web"), ignore)


def ignore(stream: Stream, data: bytes) -> None:
    pass


@pytest.mark.parametrize("isolation", ["user", "none"])
async def test_less_isolation_leaves_nothing_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: Isolation
) -> None:
    async def allowed(directory: Path) -> Isolation:
        return isolation

    monkeypatch.setattr(runtime, "allowed_isolation", allowed)
    machine = RealMachine(tmp_path / "node")
    await machine.begin()
    mounts, volumes = [{"name": "v", "mountPath": "/some/where"}], [{"name": "v", "emptyDir": {}}]
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    code = "setsid sleep 1000 & setsid sleep 1000 & echo text > /some/where/file; cat /some/where/file; exec sleep 1000"
    await machine.create(containers=[shell(code, volumeMounts=mounts, readinessProbe=probe)], volumes=volumes)
    await machine.said("text")
    await machine.status(lambda status: status.container_statuses[0].ready)
    [tended] = machine.agent.pods.values()
    inside = below(tended.sandbox.instances["main"].launched.pid)  # type: ignore[attr-defined]
    assert len(inside) >= 3
    await machine.admin.delete(Pod, "web", namespace="default", grace_period=1)
    await machine.gone()
    await gone(inside)
    await machine.close()


async def test_a_control_plane_that_is_killed_leaves_nothing_and_reaches_the_same_world_again(tmp_path: Path) -> None:
    claim = {"name": "v", "hostPath": {"path": str(tmp_path / "data"), "type": "DirectoryOrCreate"}}
    code = f"setsid sleep 1000 & echo x >> /v/starts; {WAIT}"
    container = shell(code, volumeMounts=[{"name": "v", "mountPath": "/v"}])
    starts = tmp_path / "data" / "starts"
    async with cluster(tmp_path) as (process, client):
        await create(client, pod(containers=[container], volumes=[claim], nodeName=None))
        await until(client, Pod, "web", lambda there: running(there.status) and read(starts) == "x\n")
        inside = below(process.pid)
        assert len(inside) >= 4
        process.kill()
        await process.wait()
    await gone(inside)
    async with cluster(tmp_path) as (process, client):
        there = await until(client, Pod, "web", lambda there: running_again(there.status) and read(starts) != "x\n")
        assert there.status.container_statuses[0].last_state.terminated.exit_code == 255
        assert read(starts) == "x\nx\n"
        inside = below(process.pid)
        process.terminate()
        await process.wait()
    await gone(inside)


def running_again(status: Any) -> bool:
    return running(status) and status.container_statuses[0].restart_count > 0


def exists(path: Path) -> bool:
    return path.exists()


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
