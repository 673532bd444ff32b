"""Simulated pods: they live as pods do on a real node, without anything that runs."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from integration.node.machine import NODE, Machine, conditions, is_ready, pod, reasons, running
from windvane import OwnerReference, ambient
from windvane.cluster.node.agent import NodeAgent
from windvane.cluster.node.network.addresses import Addresses
from windvane.cluster.node.simulated.runtime import SimulatedRuntime
from windvane.k8s.coordination import Lease
from windvane.k8s.core import Node, Pod, PodStatus

ALL_TRUE = dict.fromkeys(
    ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"), "True"
)


def restarted_twice(status: PodStatus) -> bool:
    return any(each.restart_count >= 2 for each in (*status.init_container_statuses, *status.container_statuses))


# The node


async def test_the_node_is_registered_and_ready(machine: Machine) -> None:
    node = await machine.admin.get(Node, NODE)
    assert {each.type: each.status for each in node.status.conditions} == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }
    assert node.metadata.labels["kubernetes.io/hostname"] == NODE
    assert node.status.capacity == node.status.allocatable
    assert {"cpu", "memory", "pods", "ephemeral-storage"} <= node.status.capacity.keys()
    assert [each.type for each in node.status.addresses] == ["InternalIP", "Hostname"]
    assert node.status.node_info is not None
    assert node.status.node_info.kubelet_version.startswith("v1.36")


async def test_the_lease_is_renewed(machine: Machine) -> None:
    first = await machine.admin.get(Lease, NODE, namespace="kube-node-lease")
    await ambient.sleep(25)
    later = await machine.admin.get(Lease, NODE, namespace="kube-node-lease")
    assert later.spec.holder_identity == NODE
    assert first.spec.renew_time is not None
    assert later.spec.renew_time is not None
    assert later.spec.renew_time - first.spec.renew_time >= timedelta(seconds=20)
    assert [each.kind for each in later.metadata.owner_references] == ["Node"]


async def test_the_node_says_every_five_minutes_that_it_is_well(machine: Machine) -> None:
    def heartbeat(node: Node) -> Any:
        return next(each for each in node.status.conditions if each.type == "Ready")

    first = heartbeat(await machine.admin.get(Node, NODE))
    await ambient.sleep(320)
    later = heartbeat(await machine.admin.get(Node, NODE))
    assert later.last_heartbeat_time - first.last_heartbeat_time >= timedelta(minutes=5)
    assert later.last_transition_time == first.last_transition_time


async def test_a_node_that_was_taken_for_lost_says_that_it_is_well(machine: Machine) -> None:
    lost = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
    await machine.admin.patch(Node, NODE, {"status": {"conditions": [lost]}}, subresource="status", type="strategic")
    await ambient.sleep(15)
    node = await machine.admin.get(Node, NODE)
    assert [each.status for each in node.status.conditions if each.type == "Ready"] == ["True"]


async def test_a_node_that_was_there_keeps_what_others_wrote_on_it(machine: Machine) -> None:
    patch = {"metadata": {"labels": {"disk": "ssd"}}, "spec": {"unschedulable": True}}
    await machine.admin.patch(Node, NODE, patch)
    await machine.agent._registration.register()
    node = await machine.admin.get(Node, NODE)
    assert node.metadata.labels["disk"] == "ssd"
    assert node.spec.unschedulable


async def test_a_deleted_node_comes_back(machine: Machine) -> None:
    await machine.admin.delete(Node, NODE)
    await machine.admin.delete(Lease, NODE, namespace="kube-node-lease")
    await ambient.sleep(310)
    assert (await machine.admin.get(Node, NODE)).status.conditions


# A pod's life


async def test_a_pod_becomes_running_and_ready(machine: Machine) -> None:
    await machine.create()
    status = await machine.status(is_ready)
    assert status.phase == "Running"
    assert conditions(status) == ALL_TRUE
    assert status.host_ip == "127.0.0.1"
    assert [each.ip for each in status.pod_ips] == [status.pod_ip]
    assert status.start_time is not None
    assert status.qos_class == "BestEffort"
    assert status.observed_generation == 1
    (main,) = status.container_statuses
    assert main.ready
    assert main.started
    assert main.restart_count == 0
    assert main.container_id is not None
    assert main.container_id.startswith("simulated://")
    assert main.image == "nginx"
    assert main.image_id
    assert main.state is not None
    assert main.state.running is not None


async def test_before_that_its_containers_are_being_created(machine: Machine) -> None:
    await machine.create()
    status = await machine.status(lambda status: status.container_statuses)
    assert status.phase == "Pending"
    assert status.container_statuses[0].state.waiting.reason == "ContainerCreating"
    assert reasons(status)["Ready"] == "ContainersNotReady"
    assert conditions(status)["Initialized"] == "True"


async def test_it_says_that_it_is_simulated(machine: Machine) -> None:
    await machine.create()
    await machine.status(running)
    assert "Simulated" in dict(await machine.events())


async def test_pods_of_other_nodes_are_left_alone(machine: Machine) -> None:
    await machine.create("elsewhere", nodeName="node-2")
    await machine.create("here")
    await machine.status(running, "here")
    assert (await machine.get("elsewhere")).status.phase == "Pending"


async def test_each_pod_has_an_address_of_its_own(machine: Machine) -> None:
    for name in ("a", "b", "c"):
        await machine.create(name)
    addresses = {(await machine.status(running, name)).pod_ip for name in ("a", "b", "c")}
    assert len(addresses) == 3


async def test_a_pod_on_the_hosts_network_has_the_nodes_address(machine: Machine) -> None:
    await machine.create(hostNetwork=True)
    assert (await machine.status(running)).pod_ip == "127.0.0.1"


async def test_a_settled_pod_sees_no_writes(machine: Machine) -> None:
    await machine.create(containers=[{"name": "main", "image": "x", "readinessProbe": {"tcpSocket": {"port": 80}}}])
    await machine.status(is_ready)
    version = (await machine.get()).metadata.resource_version
    await ambient.sleep(3600)
    assert (await machine.get()).metadata.resource_version == version


async def test_init_containers_run_one_after_the_other(machine: Machine) -> None:
    init = [{"name": "one", "image": "x"}, {"name": "two", "image": "x"}]
    await machine.create(initContainers=init)
    status = await machine.status(
        lambda status: status.init_container_statuses and status.init_container_statuses[0].ready
    )
    assert conditions(status)["Initialized"] == "False"
    assert reasons(status)["Initialized"] == "ContainersNotInitialized"
    assert status.phase == "Pending"
    assert status.container_statuses[0].state.waiting.reason == "PodInitializing"
    status = await machine.status(is_ready)
    assert conditions(status) == ALL_TRUE
    one, two = (each.state.terminated for each in status.init_container_statuses)
    assert one.reason == two.reason == "Completed"
    assert one.finished_at <= two.started_at
    assert two.finished_at <= status.container_statuses[0].state.running.started_at


async def test_a_failing_init_container_is_tried_again(machine: Machine) -> None:
    simulate = {"windvane.dev/simulate": "init-exit=3"}
    await machine.create(annotations=simulate, initContainers=[{"name": "one", "image": "x"}])
    status = await machine.status(restarted_twice)
    assert status.phase == "Pending"
    assert status.init_container_statuses[0].last_state.terminated.exit_code == 3


async def test_a_pod_that_never_restarts_fails_with_its_init_container(machine: Machine) -> None:
    simulate = {"windvane.dev/simulate": "init-exit=3"}
    await machine.create(annotations=simulate, initContainers=[{"name": "one", "image": "x"}], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.container_statuses[0].state.waiting is not None


async def test_a_sidecar_runs_beside_the_containers_and_ends_after_them(machine: Machine) -> None:
    simulate = {"windvane.dev/simulate": "exit=0 after=5s"}
    sidecar = [{"name": "proxy", "image": "x", "restartPolicy": "Always"}]
    await machine.create(annotations=simulate, initContainers=sidecar, restartPolicy="Never")
    status = await machine.status(running)
    assert status.init_container_statuses[0].state.running is not None
    status = await machine.status(lambda status: status.phase == "Succeeded")
    proxy = status.init_container_statuses[0].state.terminated
    assert proxy.finished_at >= status.container_statuses[0].state.terminated.finished_at


async def test_the_pods_of_a_job_complete(machine: Machine) -> None:
    job = OwnerReference(api_version="batch/v1", kind="Job", name="sum", uid="u", controller=True)
    made = pod("sum", restartPolicy="Never")
    made.metadata.owner_references = [job]
    await machine.admin.create(made)
    status = await machine.status(lambda status: status.phase == "Succeeded", "sum")
    assert status.container_statuses[0].state.terminated.reason == "Completed"
    assert status.container_statuses[0].state.terminated.exit_code == 0
    assert conditions(status)["Ready"] == "False"
    assert set(reasons(status).values()) == {"PodCompleted"}


async def test_a_pod_of_a_job_that_sleeps_completes_when_it_has_slept(machine: Machine) -> None:
    job = OwnerReference(api_version="batch/v1", kind="Job", name="nap", uid="u", controller=True)
    made = pod("nap", restartPolicy="Never", containers=[{"name": "c", "image": "x", "command": ["sleep", "300"]}])
    made.metadata.owner_references = [job]
    await machine.admin.create(made)
    await machine.status(running, "nap")
    began = ambient.monotonic()
    await machine.status(lambda status: status.phase == "Succeeded", "nap")
    assert 290 < ambient.monotonic() - began < 310


async def test_the_annotation_knows_better_than_the_command(machine: Machine) -> None:
    sleeper = [{"name": "c", "image": "x", "command": ["sleep", "300"]}]
    await machine.create(
        annotations={"windvane.dev/simulate": "exit=1 after=5s"}, restartPolicy="Never", containers=sleeper
    )
    began = ambient.monotonic()
    await machine.status(lambda status: status.phase == "Failed")
    assert ambient.monotonic() - began < 60


async def test_an_annotation_lets_a_pod_fail(machine: Machine) -> None:
    await machine.create(annotations={"windvane.dev/simulate": "exit=7 after=5s"}, restartPolicy="Never")
    began = ambient.monotonic()
    status = await machine.status(lambda status: status.phase == "Failed")
    assert ambient.monotonic() - began >= 5
    assert status.container_statuses[0].state.terminated.exit_code == 7
    assert status.container_statuses[0].state.terminated.reason == "Error"
    assert reasons(status)["Ready"] == "PodFailed"


async def test_a_wrong_annotation_is_pointed_out(machine: Machine) -> None:
    await machine.create(annotations={"windvane.dev/simulate": "explode"})
    await machine.status(running)
    assert any("'explode'" in message for _, message in await machine.events())


async def test_a_pod_may_be_unready_for_a_while(machine: Machine) -> None:
    await machine.create(annotations={"windvane.dev/simulate": "ready-after=20s"})
    began = ambient.monotonic()
    status = await machine.status(running)
    assert conditions(status)["Ready"] == "False"
    await machine.status(is_ready)
    assert 20 <= ambient.monotonic() - began < 22


async def test_a_readiness_probe_passes_only_when_it_is_time(machine: Machine) -> None:
    probe = {"tcpSocket": {"port": 80}, "periodSeconds": 5}
    containers = [{"name": "main", "image": "x", "readinessProbe": probe}]
    await machine.create(annotations={"windvane.dev/simulate": "ready-after=12s"}, containers=containers)
    began = ambient.monotonic()
    await machine.status(is_ready)
    assert 15 <= ambient.monotonic() - began < 17


async def test_a_pod_that_ends_too_early_backs_off_and_is_started_again(machine: Machine) -> None:
    await machine.create(annotations={"windvane.dev/simulate": "exit=1 after=1s"})
    status = await machine.status(
        lambda status: status.container_statuses and status.container_statuses[0].restart_count == 1
    )
    assert status.container_statuses[0].last_state.terminated.exit_code == 1
    status = await machine.status(lambda status: status.container_statuses[0].state.waiting is not None)
    waiting = status.container_statuses[0].state.waiting
    uid = (await machine.get()).metadata.uid
    assert waiting.reason == "CrashLoopBackOff"
    assert waiting.message == f"back-off 10s restarting failed container=main pod=web_default({uid})"
    assert status.phase == "Running"
    began = ambient.monotonic()
    await machine.status(lambda status: status.container_statuses[0].restart_count == 2)
    assert 9 < ambient.monotonic() - began < 12
    await machine.status(
        lambda status: "back-off 20s" in ((status.container_statuses[0].state.waiting or waiting).message or "")
    )


async def test_a_pod_that_fails_on_failure_is_restarted_and_one_that_succeeds_is_done(machine: Machine) -> None:
    await machine.create("good", annotations={"windvane.dev/simulate": "exit=0"}, restartPolicy="OnFailure")
    await machine.create("bad", annotations={"windvane.dev/simulate": "exit=1"}, restartPolicy="OnFailure")
    await machine.status(lambda status: status.phase == "Succeeded", "good")
    status = await machine.status(restarted_twice, "bad")
    assert status.phase == "Running"


async def test_a_pod_that_is_out_of_time_fails(machine: Machine) -> None:
    await machine.create(activeDeadlineSeconds=30)
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.reason == "DeadlineExceeded"
    assert status.message == "Pod was active on the node longer than the specified deadline"
    status = await machine.status(lambda status: status.container_statuses[0].state.terminated)
    assert conditions(status)["Ready"] == "False"


# Its end


async def test_a_deleted_pod_goes_when_its_containers_have_ended(machine: Machine) -> None:
    await machine.create()
    await machine.status(running)
    await machine.admin.delete(type(await machine.get()), "web", namespace="default")
    assert await machine.gone() < 2


async def test_a_pod_with_a_finalizer_is_ended_and_stays(machine: Machine) -> None:
    made = pod()
    made.metadata.finalizers = ["example.com/wait"]
    await machine.admin.create(made)
    await machine.status(running)
    await machine.admin.delete(type(made), "web", namespace="default")
    status = await machine.status(lambda status: status.phase == "Succeeded")
    assert status.container_statuses[0].state.terminated is not None
    await ambient.sleep(60)
    await machine.admin.patch(type(made), "web", {"metadata": {"finalizers": None}}, namespace="default")
    await machine.gone()


async def test_a_pod_that_is_deleted_before_it_starts_goes(machine: Machine) -> None:
    await machine.create()
    await machine.admin.delete(type(await machine.get()), "web", namespace="default")
    assert await machine.gone() < 3


async def test_a_pod_of_the_same_name_is_another_pod(machine: Machine) -> None:
    await machine.create()
    first = await machine.status(running)
    await machine.admin.delete(type(await machine.get()), "web", namespace="default", grace_period=0)
    await machine.gone()
    await machine.create()
    second = await machine.status(running)
    assert second.pod_ip != first.pod_ip
    assert second.container_statuses[0].container_id != first.container_statuses[0].container_id
    assert second.container_statuses[0].restart_count == 0


async def test_nothing_is_kept_of_pods_that_are_gone(machine: Machine) -> None:
    await machine.create()
    await machine.status(running)
    await machine.admin.delete(type(await machine.get()), "web", namespace="default", grace_period=0)
    await machine.until(lambda: not machine.agent.pods)


# The agent is started again


async def test_an_agent_that_is_started_again_goes_on_with_its_pods(machine: Machine) -> None:
    await machine.create("web")
    await machine.create("job", annotations={"windvane.dev/simulate": "exit=0 after=100s"}, restartPolicy="Never")
    before = await machine.status(running, "web")
    await machine.status(running, "job")
    machine._tasks.pop().cancel()
    await ambient.sleep(60)
    machine.start_agent(SimulatedRuntime())
    await machine.until(lambda: len(machine.agent.pods) == 2)
    began = ambient.monotonic()
    await machine.status(lambda status: status.phase == "Succeeded", "job")
    assert 30 < ambient.monotonic() - began < 50
    after = (await machine.get("web")).status
    assert after.container_statuses == before.container_statuses
    assert after.pod_ip == before.pod_ip


async def test_an_agent_that_failed_and_is_begun_again_leaves_pods_their_addresses(machine: Machine) -> None:
    machine._tasks.pop().cancel()
    addresses = Addresses("10.9.0.0/29")  # so few that none may be lost
    for _ in range(8):
        agent = NodeAgent(machine.client(), NODE, SimulatedRuntime(), addresses=addresses)
        task = machine.start(agent.run())
        if not await machine.admin.list(Pod, namespace="default"):
            await machine.create()
            before = await machine.status(running)
        await machine.until(partial(bool, agent.pods))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert (await machine.get()).status.pod_ip == before.pod_ip


async def test_a_pod_that_was_being_deleted_when_the_agent_stopped_is_told_to_have_failed(machine: Machine) -> None:
    made = pod()
    made.metadata.finalizers = ["example.com/wait"]  # as the pods of a Job have, which counts them by their phase
    await machine.admin.create(made)
    machine._tasks.pop().cancel()
    await machine.admin.delete(Pod, "web", namespace="default")
    machine.start_agent(SimulatedRuntime())
    await machine.status(lambda status: status.phase == "Failed")


async def test_pods_live_in_bad_weather(machine: Machine) -> None:
    machine.weather.lag = 0.3
    machine.weather.lose = lambda request: request.method != "GET" and len(machine.weather.asked) % 7 == 0
    for number in range(20):
        await machine.create(f"web-{number}")
    for number in range(20):
        await machine.status(is_ready, f"web-{number}")
    machine.weather.cut()
    for number in range(20):
        await machine.admin.delete(Pod, f"web-{number}", namespace="default")
    for number in range(20):
        await machine.gone(f"web-{number}")


async def test_several_nodes_each_have_their_own_pods(machine: Machine) -> None:
    other = NodeAgent(machine.client(), "node-2", SimulatedRuntime())
    machine.start(other.run())
    await machine.until(lambda: other.running.synced)
    await machine.create("here")
    await machine.create("there", nodeName="node-2")
    await machine.status(is_ready, "here")
    await machine.status(is_ready, "there")
    assert [each.pod.metadata.name for each in other.pods.values()] == ["there"]
    assert [each.pod.metadata.name for each in machine.agent.pods.values()] == ["here"]
