"""What goes wrong on this machine concerns the container that it happens to, while it lasts, and nobody else."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit
from typing import Any

import pytest

from integration.node.machine import is_ready, running
from integration.processes.machine import RealMachine, shell
from integration.processes.test_surroundings import meta, refused
from windvane import ambient
from windvane.api import codec
from windvane.cluster.node.logs.writer import Log
from windvane.cluster.node.process import sandbox
from windvane.cluster.node.process.images import Images
from windvane.cluster.node.process.runtime import ProcessRuntime
from windvane.cluster.node.volumes.removal import remove
from windvane.k8s.core import Pod, Service, ServiceSpec

WAIT = "exec sleep 1000"


async def test_a_container_whose_log_can_not_be_made_is_tried_again(
    machine: RealMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoSpace(Log):
        def __init__(self, *args: Any, **more: Any) -> None:
            raise OSError("No space left on device")

    monkeypatch.setattr(sandbox, "Log", NoSpace)
    await machine.create(containers=[shell(WAIT)])
    status = await machine.status(refused)
    assert status.container_statuses[0].state.waiting.reason == "CreateContainerError"
    assert status.container_statuses[0].state.waiting.message == "No space left on device"
    monkeypatch.undo()
    await machine.status(running)


async def test_a_container_goes_on_when_its_log_can_not_be_written(
    machine: RealMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(Log):
        def _append(self, data: bytes) -> None:
            raise OSError("No space left on device")

    monkeypatch.setattr(sandbox, "Log", Full)
    code = "head -c 300000 /dev/zero | tr '\\0' '\\n'; exit 0"
    await machine.create(containers=[shell(code)], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase in ("Succeeded", "Failed"))
    assert status.phase == "Succeeded"


async def test_a_probe_that_can_not_be_made_has_failed_and_is_made_again(machine: RealMachine) -> None:
    probe = {"tcpSocket": {"port": 1, "host": f"{'x' * 64}.example"}, "periodSeconds": 1, "failureThreshold": 2}
    await machine.create(containers=[shell(WAIT, livenessProbe=probe)], terminationGracePeriodSeconds=1)
    await machine.status(lambda status: status.container_statuses[0].restart_count > 0)


async def test_the_node_lives_when_names_can_not_be_written(machine: RealMachine) -> None:
    made = await machine.create(containers=[shell(WAIT)])
    await machine.status(running)
    hosts = machine.directory / "pods" / made.metadata.uid / "hosts"
    replace_by_a_directory(hosts)
    spec = codec.from_wire({"ports": [{"port": 80}], "selector": {"a": "b"}}, ServiceSpec)
    await machine.admin.create(Service(metadata=meta("news"), spec=spec))
    await machine.create("other", containers=[shell(WAIT)])
    await machine.status(is_ready, "other")
    assert (await machine.get()).status.container_statuses[0].restart_count == 0


async def test_a_package_that_breaks_is_named_and_nothing_hangs(
    machine: RealMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Images, image: str) -> None:
        raise ValueError("the package windy has images that can't be read: no such module")

    monkeypatch.setattr(Images, "find", broken)
    await machine.create(containers=[shell(WAIT)])
    status = await machine.status(refused)
    assert "windy" in status.container_statuses[0].state.waiting.message
    monkeypatch.undo()
    await machine.status(running)
    await machine.stop_agent()
    monkeypatch.setattr(Images, "find", broken)
    machine.start_real_agent()
    await machine.status(refused)
    monkeypatch.undo()
    await machine.status(lambda status: running(status) and status.container_statuses[0].ready)
    await machine.admin.delete(Pod, "web", namespace="default")
    await machine.gone()


async def test_a_pod_that_comes_while_old_files_are_removed_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (tmp_path / "pods" / "old", tmp_path / "logs" / "default_web_old"):
        make(place)
    new = tmp_path / "logs" / "default_web_new"

    async def in_thread(remove: Any, place: Path, **more: Any) -> None:
        await ambient.sleep(0)
        remove(place, **more)
        if place.parent.name == "pods":
            make(new)  # as a container that starts meanwhile does

    monkeypatch.setattr(asyncio, "to_thread", in_thread)
    await ProcessRuntime(tmp_path, Images()).keep_only({"other"})
    assert exists(new)
    assert not exists(tmp_path / "pods" / "old")
    assert not exists(tmp_path / "logs" / "default_web_old")


async def test_files_may_be_removed_twice_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = tmp_path / "pod"
    make(pod / "a")
    make(pod / "b")

    def access(place: Path, mode: int) -> bool:
        place.rmdir()  # as another thread does
        return False

    monkeypatch.setattr(os, "access", access)
    remove(pod)
    assert not exists(pod)


def make(place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)


def exists(place: Path) -> bool:
    return place.exists()


def replace_by_a_directory(file: Path) -> None:
    shutil.move(file, file.with_suffix(".old"))
    file.mkdir()


async def test_pods_that_are_deleted_at_any_moment_leave_nothing(machine: RealMachine) -> None:
    async def live(name: str, moments: int) -> None:
        for moment in range(moments):
            containers = [shell(f"setsid sleep 1000 & {WAIT}", resources={"limits": {"memory": "64Mi"}})]
            made = await machine.create(name, containers=containers)
            await ambient.sleep(moment * 0.03)  # from before the agent has seen it until it runs
            grace = 0 if moment % 2 else 1
            await machine.admin.delete(Pod, name, namespace="default", grace_period=grace, uid=made.metadata.uid)
            await machine.gone(name)

    before = handles()
    await asyncio.gather(*(live(f"web-{number}", 14) for number in range(3)))
    await machine.until(lambda: not machine.agent.pods and not machine.agent._closing)
    assert machine.leftovers() == []
    assert list(files_below(machine.directory)) == []
    await machine.until(lambda: handles() <= before + 2)
    assert not machine.addresses._taken
    await machine.create(containers=[shell(WAIT)])
    await machine.status(running)


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def files_below(directory: Path) -> list[Path]:
    return [each for place in ("pods", "logs") for each in (directory / place).glob("*")]


def test_a_cluster_whose_store_can_not_be_written_says_so_in_a_line(tmp_path: Path) -> None:
    started = subprocess.run(
        [sys.executable, "-m", "windvane.cli", "cluster", "start"],
        env=os.environ | {"WINDVANE_HOME": str(tmp_path)},
        preexec_fn=lambda: setrlimit(RLIMIT_FSIZE, (100_000, 100_000)),  # as on a full disk
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert started.returncode == 1
    [told] = started.stderr.splitlines()
    assert told.startswith("windvane: nothing was changed, because the store ")
    assert told.endswith(" can't be written: disk I/O error")
