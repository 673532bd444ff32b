"""Images that have several programs: containers, probes and hooks run the one that they name."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from integration.node.machine import is_ready
from integration.processes.machine import RealMachine
from integration.processes.test_running import refused
from windvane.cluster.node.process import runtime
from windvane.cluster.node.process.launch import Isolation

DB = '#!/bin/sh\necho "db $*"; dbctl from the program; exec sleep 1000\n'
CTL = '#!/bin/sh\necho "dbctl $*" | tee -a "$SEEN"\n'


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory with the programs of a database."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for name, text in (("db", DB), ("dbctl", CTL)):
        (directory / name).write_text(text)
        (directory / name).chmod(0o755)
    return directory


@pytest.fixture(params=["root", "user", "none"])
async def machine(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[RealMachine]:
    """A cluster of one node, on each kind of system that there is."""
    if request.param == "root" and os.getuid() != 0:
        pytest.skip("only root can do without a namespace of users")

    async def allowed(directory: Path) -> Isolation:
        isolation: Isolation = request.param
        return isolation

    monkeypatch.setattr(runtime, "allowed_isolation", allowed)
    machine = RealMachine(tmp_path / "node")
    await machine.begin()
    yield machine
    await machine.close()


def db(*command: str, **more: Any) -> dict[str, Any]:
    """A container of an image with several programs, and a volume that all of them see."""
    seen, mounts = [{"name": "SEEN", "value": "/v/seen"}], [{"name": "v", "mountPath": "/v"}]
    return {"name": "main", "image": "db:1", "command": command, "env": seen, "volumeMounts": mounts, **more}


async def create(machine: RealMachine, container: dict[str, Any], **more: Any) -> None:
    await machine.create(containers=[container], volumes=[{"name": "v", "emptyDir": {}}], **more)


@pytest.mark.parametrize("command", ["db", "/usr/local/bin/db"])
async def test_a_container_runs_the_program_that_it_names(machine: RealMachine, programs: Path, command: str) -> None:
    machine.images.add("db:1", [], programs)
    await create(machine, db(command, "--now"))
    await machine.said("db --now")
    await machine.said("dbctl from the program")  # which it finds on its PATH


async def test_probes_and_hooks_run_the_program_that_they_name(machine: RealMachine, programs: Path) -> None:
    machine.images.add("db:1", [], programs)
    ask = {"exec": {"command": ["/usr/local/bin/dbctl", "ask"]}, "periodSeconds": 1}
    greet = {"postStart": {"exec": {"command": ["dbctl", "greet"]}}}
    await create(machine, db("db", readinessProbe=ask, lifecycle=greet))
    await machine.status(is_ready)
    made = await machine.get()
    seen = machine.directory / "pods" / made.metadata.uid / "volumes" / "v" / "seen"
    assert {"dbctl ask", "dbctl greet"} <= set(seen.read_text().splitlines())


async def test_the_entrypoint_may_be_one_of_them(machine: RealMachine, programs: Path) -> None:
    machine.images.add("db:1", ["db", "--slow"], programs)
    await create(machine, db(args=["--really"]))
    await machine.said("db --slow --really")


async def test_without_an_entrypoint_a_container_needs_a_command(machine: RealMachine, programs: Path) -> None:
    machine.images.add("db:1", [], programs)
    await create(machine, db())
    waiting = (await machine.status(refused)).container_statuses[0].state.waiting
    assert waiting.reason == "CreateContainerError"
    assert waiting.message == "no command specified: db:1 has no entrypoint, so the container needs a command"


async def test_programs_that_are_gone_are_waited_for(machine: RealMachine, programs: Path) -> None:
    machine.images.add("db:1", [], programs)
    away = move(programs, programs.with_name("elsewhere"))
    await create(machine, db("db"))
    waiting = (await machine.status(refused)).container_statuses[0].state.waiting
    assert waiting.reason == "ErrImagePull"
    assert "windvane image add db:1 --programs DIRECTORY" in waiting.message
    move(away, programs)
    await machine.status(is_ready)


def move(place: Path, to: Path) -> Path:
    return place.rename(to)
