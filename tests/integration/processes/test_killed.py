"""kill -9 of a pod's process and of the whole of windvane: the same world is reached, and nothing said is lost.

The pods are writers: each counts in a file of its volume, and says a number only after it was synced to disk.
"""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from integration.node.machine import is_ready, running
from integration.processes.clusters import PATIENCE, PATIENT, below, cluster, create, gone, so_many_below, until
from integration.processes.machine import python, shell
from windvane import Client, ObjectMeta, ambient
from windvane.api import codec
from windvane.cluster.node.logs.writer import log_file, pod_directory
from windvane.cluster.node.process.orphans import descendants
from windvane.k8s.apps import Deployment, StatefulSet
from windvane.k8s.batch import Job
from windvane.k8s.core import PersistentVolumeClaim, Pod, PodSpec

COUNT = """
import os, time
number = int(open("/data/count").read() or 0) if os.path.exists("/data/count") else 0
print("found", number)
while True:
    number += 1
    with open("/data/new", "w") as file:
        file.write(str(number))
        os.fsync(file.fileno())
    os.replace("/data/new", "/data/count")
    print("wrote", number)
    time.sleep(0.01)
"""
MOUNTS = [{"name": "data", "mountPath": "/data"}]
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
LABELS = {"app": "counter"}
WRITERS = ["counter-0", "counter-1"]


def template(container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [container], **spec}}


def counters() -> StatefulSet:
    spec = {
        "replicas": len(WRITERS),
        "serviceName": "counter",
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": LABELS},
        "template": template(python(COUNT, volumeMounts=MOUNTS)),
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": CLAIM}],
    }
    return codec.from_wire({"metadata": {"name": "counter", "namespace": "default"}, "spec": spec}, StatefulSet)


def sleepers() -> Deployment:
    labels = {"app": "sleeper"}
    made = {"metadata": {"labels": labels}, "spec": {"containers": [shell("setsid sleep 1000 & exec sleep 1000")]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": made}
    return codec.from_wire({"metadata": {"name": "sleeper", "namespace": "default"}, "spec": spec}, Deployment)


def said(home: Path, pod: Pod, attempt: int, word: str) -> list[int]:
    """The numbers that an instance of a writer has said."""
    meta = pod.metadata
    directory = pod_directory(home / "cluster" / "node" / "node-1" / "logs", meta.namespace, meta.name, meta.uid)
    file = log_file(directory, "main", attempt)
    words = [line.split() for line in lines(file)]
    return [int(each[4]) for each in words if len(each) == 5 and each[3] == word]


async def writes(home: Path, pod: Pod, attempt: int, enough: int) -> list[int]:
    """Wait until an instance has written so often; all numbers that it said."""
    deadline = ambient.monotonic() + PATIENCE
    while len(numbers := said(home, pod, attempt, "wrote")) < enough:
        assert ambient.monotonic() < deadline, f"{pod.metadata.name}, attempt {attempt}, wrote {numbers}"
        await ambient.sleep(0.01)
    return numbers


def up(restarts: int) -> Any:
    def so(pod: Pod) -> bool:
        counts = [each.restart_count for each in pod.status.container_statuses]
        return counts == [restarts] and running(pod.status) and is_ready(pod.status)

    return so


async def pods(client: Client) -> Mapping[str, str]:
    """The uids of all pods, by name."""
    return {each.metadata.name: each.metadata.uid for each in await client.list(Pod, namespace="default")}


async def test_a_process_that_is_killed_is_started_again_and_loses_nothing(tmp_path: Path) -> None:
    async with cluster(tmp_path) as (process, client):
        await create(client, counters())
        first = await until(client, Pod, WRITERS[0], up(restarts=0))
        acknowledged = (await writes(tmp_path, first, 0, 20))[-1]
        os.kill(writer_of(process.pid, first), signal.SIGKILL)
        second = await until(client, Pod, WRITERS[0], up(restarts=1))
        assert second.metadata.uid == first.metadata.uid
        ended = second.status.container_statuses[0].last_state.terminated
        assert (ended.exit_code, ended.reason) == (137, "Error")
        await writes(tmp_path, second, 1, 1)
        [found] = said(tmp_path, second, 1, "found")
        assert found >= acknowledged
        await until(client, Pod, WRITERS[1], up(restarts=0))


async def test_windvane_is_killed_again_and_again_while_pods_write(tmp_path: Path) -> None:
    acknowledged = dict.fromkeys(WRITERS, 0)
    world: Mapping[str, str] = {}
    for life, enough in enumerate((20, 1, 60, 5)):
        async with cluster(tmp_path) as (process, client):
            if life == 0:
                await create(client, counters())
                await create(client, sleepers())
                await until(client, Deployment, "sleeper", lambda there: there.status.available_replicas == 2)
            for name in WRITERS:
                there = await until(client, Pod, name, up(restarts=life))
                numbers = await writes(tmp_path, there, life, enough)
                [found] = said(tmp_path, there, life, "found")
                assert found >= acknowledged[name], "what was synced to disk is lost"
                assert numbers == list(range(found + 1, found + 1 + len(numbers))), "two wrote at once"
            if life == 0:
                world = await pods(client)
                assert len(world) == 4
            assert await pods(client) == world
            for name in set(world) - set(WRITERS):
                await until(client, Pod, name, up(restarts=life))
            claims = await client.list(PersistentVolumeClaim, namespace="default")
            assert {each.metadata.name: each.status.phase for each in claims} == {
                f"data-{name}": "Bound" for name in WRITERS
            }
            inside = await so_many_below(process.pid, 3 * 4 + 2)
            process.kill()
            await process.wait()
            await gone(inside)
            for name in WRITERS:
                pod = offline(name, world[name])
                acknowledged[name] = said(tmp_path, pod, life, "wrote")[-1]


def ends(log: Path) -> int:
    """How often the work was done to its end."""
    return sum(line.startswith("end") for line in lines(log))


WORK = """
import os, time
with open("/data/log", "a") as file:
    print("begin", os.environ["HOSTNAME"], file=file, flush=True)
    time.sleep(0.4)
    print("end", os.environ["HOSTNAME"], file=file, flush=True)
"""


async def test_a_job_is_done_once_for_each_completion_however_often_windvane_is_killed(tmp_path: Path) -> None:
    completions, moments = 5, (1, 3, 4)
    volume = {"name": "data", "hostPath": {"path": str(tmp_path / "data"), "type": "DirectoryOrCreate"}}
    made = template(python(WORK, volumeMounts=MOUNTS), volumes=[volume], restartPolicy="Never")
    # One at a time: after each that fails before the next succeeds, a Job waits for twice as long.
    spec = {"completions": completions, "parallelism": 1, "template": made}
    job = codec.from_wire({"metadata": {"name": "work", "namespace": "default"}, "spec": spec}, Job)
    log = tmp_path / "data" / "log"
    for life, more in enumerate(moments):
        async with cluster(tmp_path) as (process, client):
            if life == 0:
                await create(client, job)
            enough = len(lines(log)) + more
            async with asyncio.timeout(PATIENCE):
                # On a busy machine more may be done by the time that we look, and then there is less left to be done.
                while len(lines(log)) < enough and ends(log) < completions:
                    await ambient.sleep(0.005)
            inside = below(process.pid)
            process.kill()
            await process.wait()
            await gone(inside)
    async with cluster(tmp_path) as (_, client):
        there = await until(client, Job, "work", lambda there: there.status.completion_time is not None)
    assert there.status.succeeded == completions
    failed = there.status.failed or 0
    assert failed <= len(moments), "only what was killed has failed"
    begun = Counter(line for line in lines(log) if line.startswith("begin"))
    assert max(begun.values()) == 1, "a pod that is never restarted ran twice"
    assert len(begun) <= completions + failed, "only what has failed is made up for"
    assert ends(log) >= completions


async def test_ctrl_c_lets_containers_end_by_themselves(tmp_path: Path) -> None:
    volume = {"name": "data", "hostPath": {"path": str(tmp_path / "data"), "type": "DirectoryOrCreate"}}
    code = "trap 'sleep 0.3; echo bye >> /data/log; exit 0' TERM; echo up >> /data/log; while :; do sleep 0.02; done"
    spec = {"containers": [shell(code, volumeMounts=MOUNTS)], "volumes": [volume]}
    wire = {"metadata": {"name": "web", "namespace": "default"}, "spec": spec}
    async with cluster(tmp_path, program=("-c", PATIENT), start_new_session=True) as (process, client):
        await create(client, codec.from_wire(wire, Pod))
        await until(client, Pod, "web", lambda there: running(there.status) and lines(tmp_path / "data" / "log"))
        inside = below(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert await process.wait() == 0
        await gone(inside)
    assert lines(tmp_path / "data" / "log") == ["up", "bye"]


@pytest.mark.parametrize("during", ["start", "end"])
async def test_a_kill_while_pods_come_or_go_leaves_nothing(tmp_path: Path, during: str) -> None:
    async with cluster(tmp_path) as (process, client):
        await create(client, sleepers())
        if during == "end":
            await until(client, Deployment, "sleeper", lambda there: there.status.available_replicas == 2)
            await client.delete(Deployment, "sleeper", namespace="default")
        async with asyncio.timeout(PATIENCE):
            while len(below(process.pid)) < 2 and during == "start":
                await ambient.sleep(0.001)
        inside = below(process.pid)
        process.kill()
        await process.wait()
        await gone(inside)
    async with cluster(tmp_path) as (process, client):
        if during == "start":
            await until(client, Deployment, "sleeper", lambda there: there.status.available_replicas == 2)
            assert len(await pods(client)) == 2
            return
        async with asyncio.timeout(PATIENCE):
            while await pods(client):
                await ambient.sleep(0.05)
        await gone({pid: since for pid, since in below(process.pid).items() if pid != process.pid})


def offline(name: str, uid: str) -> Pod:
    """A pod of a cluster that does not run, as far as its logs need it."""
    return Pod(metadata=ObjectMeta(name=name, namespace="default", uid=uid), spec=PodSpec(containers=[]))


def writer_of(windvane: int, pod: Pod) -> int:
    """The process that counts in a pod."""
    for pid in descendants(windvane):
        environ = Path(f"/proc/{pid}/environ")
        try:
            if f"HOSTNAME={pod.metadata.name}\0" in environ.read_text() and "count" in cmdline(pid):
                return pid
        except OSError:
            continue
    raise AssertionError(f"no process of {pod.metadata.name}")


def cmdline(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def lines(file: Path) -> list[str]:
    """The lines that are whole: of the last one, half may have been written, and half of a number is another one."""
    return file.read_text().rpartition("\n")[0].splitlines() if file.exists() else []
