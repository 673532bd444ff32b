"""Pods that are real processes: they start, end, are restarted, and are stopped."""

from typing import Any

from integration.node.machine import is_ready, running
from integration.processes.machine import RealMachine, python, shell
from windvane import ambient
from windvane.k8s.core import Pod


def refused(status: Any) -> bool:
    return any(each.state.waiting and each.state.waiting.message for each in status.container_statuses)


async def test_a_pod_runs_a_program(machine: RealMachine) -> None:
    await machine.create(containers=[shell("echo hello; echo trouble >&2; exec sleep 1000")])
    status = await machine.status(is_ready)
    assert status.phase == "Running"
    assert status.pod_ip.startswith("127.")
    assert status.container_statuses[0].container_id.startswith("windvane://")
    await machine.said("hello")
    await machine.said("trouble")
    assert sorted(await machine.log()) == ["hello", "trouble"]


async def test_a_program_that_ends_well_has_succeeded(machine: RealMachine) -> None:
    await machine.create(containers=[shell("exit 0")], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase == "Succeeded")
    assert status.container_statuses[0].state.terminated.reason == "Completed"


async def test_an_exit_code_is_told(machine: RealMachine) -> None:
    await machine.create(containers=[shell("exit 42")], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.container_statuses[0].state.terminated.exit_code == 42


async def test_a_signal_is_told(machine: RealMachine) -> None:
    await machine.create(containers=[shell("kill -9 $$$$")], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase == "Failed")
    assert status.container_statuses[0].state.terminated.exit_code == 137


async def test_a_program_that_is_not_there_is_a_start_error(machine: RealMachine) -> None:
    await machine.create(containers=[shell("", command=["/no/such/program"])], restartPolicy="Never")
    status = await machine.status(lambda status: status.phase == "Failed")
    terminated = status.container_statuses[0].state.terminated
    assert terminated.exit_code == 128
    assert terminated.reason == "StartError"
    assert "/no/such/program" in terminated.message


async def test_a_killed_program_is_started_again(machine: RealMachine) -> None:
    await machine.create(containers=[shell("exec sleep 1000")])
    await machine.status(running)
    [tended] = machine.agent.pods.values()
    tended.sandbox.instances["main"].launched.send(9)  # type: ignore[attr-defined]
    status = await machine.status(lambda status: status.container_statuses[0].restart_count == 1 and running(status))
    assert status.container_statuses[0].last_state.terminated.exit_code == 137


async def test_a_deleted_pod_is_asked_to_end(machine: RealMachine) -> None:
    code = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(0)); print('up'); time.sleep(1000)"
    await machine.create(containers=[python(code)], terminationGracePeriodSeconds=1000)
    await machine.said("up")
    await machine.admin.delete(Pod, "web", namespace="default")
    await machine.gone()  # before it would be killed


async def test_who_does_not_end_is_killed(machine: RealMachine) -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up'); time.sleep(1000)"
    await machine.create(containers=[python(code)], terminationGracePeriodSeconds=1000)
    await machine.said("up")
    began = ambient.monotonic()
    await machine.admin.delete(Pod, "web", namespace="default", grace_period=1)
    await machine.gone()
    assert 0.5 < ambient.monotonic() - began < 30


async def test_a_pod_that_is_deleted_by_force_leaves_no_process(machine: RealMachine) -> None:
    await machine.create(containers=[shell("exec sleep 1000")])
    await machine.status(running)
    assert machine.leftovers()
    await machine.admin.delete(Pod, "web", namespace="default", grace_period=0)
    await machine.until(lambda: not machine.leftovers())


async def test_what_a_program_leaves_behind_ends_with_it(machine: RealMachine) -> None:
    code = "setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' & sleep 0.1; exit 0"
    await machine.create(containers=[shell(code)], restartPolicy="Never")
    await machine.status(lambda status: status.phase == "Succeeded")
    assert machine.leftovers() == []


async def test_an_image_without_a_program_is_simulated(machine: RealMachine) -> None:
    await machine.create(containers=[{"name": "main", "image": "nginx"}])
    status = await machine.status(is_ready)
    assert status.container_statuses[0].container_id.startswith("simulated://")


async def test_real_and_simulated_containers_live_in_one_pod(machine: RealMachine) -> None:
    await machine.create(containers=[shell("exec sleep 1000"), {"name": "proxy", "image": "envoy"}])
    status = await machine.status(is_ready)
    assert [each.container_id.partition(":")[0] for each in status.container_statuses] == ["windvane", "simulated"]


async def test_in_process_mode_an_image_without_a_program_waits_for_one(machine: RealMachine) -> None:
    await machine.stop_agent()
    machine.start_real_agent(simulate_unknown=False)
    await machine.create(containers=[{"name": "main", "image": "web:1"}])
    status = await machine.status(refused)
    waiting = status.container_statuses[0].state.waiting
    assert waiting.reason == "ImagePullBackOff"
    assert "windvane image add web:1 -- PROGRAM" in waiting.message
    assert status.phase == "Pending"


async def test_a_tag_without_a_program_is_not_simulated_if_others_of_the_image_have_one(machine: RealMachine) -> None:
    machine.images.add("web:1", ["sleep", "1000"])
    await machine.create(containers=[{"name": "main", "image": "web:2"}])
    status = await machine.status(refused)
    waiting = status.container_statuses[0].state.waiting
    assert waiting.reason == "ImagePullBackOff"
    assert "only for the tags 1. Name one: windvane image add web:2 -- PROGRAM" in waiting.message
    assert status.phase == "Pending"


async def test_a_simulated_container_ends_when_another_tag_of_its_image_has_a_program(machine: RealMachine) -> None:
    await machine.create(containers=[{"name": "main", "image": "web:2"}])
    await machine.status(is_ready)
    await machine.stop_agent()
    machine.images.add("web:1", ["sleep", "1000"])
    machine.start_real_agent()
    status = await machine.status(refused)
    assert status.container_statuses[0].state.waiting.reason == "ImagePullBackOff"


async def test_a_container_whose_image_is_changed_is_started_again_with_the_new_one(machine: RealMachine) -> None:
    machine.images.add("web:1", ["sh", "-c", "echo one; exec sleep 1000"])
    machine.images.add("web:2", ["sh", "-c", "echo two; exec sleep 1000"])
    await machine.create(containers=[{"name": "main", "image": "web:1"}])
    await machine.said("one")
    patch = {"spec": {"containers": [{"name": "main", "image": "web:2"}]}}
    await machine.admin.patch(Pod, "web", patch, type="strategic", namespace="default")
    await machine.said("two", attempt=1)
    await machine.status(lambda status: running(status) and status.container_statuses[0].image == "web:2")
    await machine.told("Killing", "Container main definition changed, will be restarted")
