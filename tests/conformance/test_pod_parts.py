"""What of a pod can be changed through subresources of its own: ephemeral containers, and resources."""

import asyncio
from typing import Any

import pytest

from conformance.objects import Thing, pod
from conformance.requests import SECONDS, Answer, Raw
from windvane import ambient

DEBUG = {"name": "debug", "image": "busybox"}
NOT_EPHEMERAL = "cannot be set for an Ephemeral Container"


async def debug(raw: Raw, *containers: Thing) -> Answer:
    """Have these beside the containers of the pod, and no others."""
    there = await raw.ok("GET pods/p")
    there["spec"]["ephemeralContainers"] = containers
    return await raw("PUT pods/p/ephemeralcontainers", there)


async def resize(raw: Raw, *containers: Thing, **spec: Any) -> Answer:
    return await raw("PATCH pods/p/resize", {"spec": {"containers": containers, **spec}}, patch="strategic")


def asking(requests: Thing | None = None, limits: Thing | None = None, **more: Any) -> Thing:
    return {"name": "main", "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def told(answer: Answer) -> list[tuple[str, str]]:
    assert answer.code == 422, answer.body.decode()
    return [(cause["field"], cause["message"]) for cause in answer.json["details"]["causes"]]


async def test_an_ephemeral_container_comes_with_defaults(raw: Raw) -> None:
    before = await raw.ok("POST pods", pod())
    after = (await debug(raw, {**DEBUG, "targetContainerName": "main"})).json
    assert after["spec"]["ephemeralContainers"] == [
        {
            **DEBUG,
            "imagePullPolicy": "Always",
            "resources": {},
            "targetContainerName": "main",
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }
    ]
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
    assert after["spec"]["containers"] == before["spec"]["containers"]


async def test_nothing_else_is_changed_with_ephemeral_containers(raw: Raw) -> None:
    there = await raw.ok("POST pods", pod())
    there["spec"] |= {"ephemeralContainers": [DEBUG], "activeDeadlineSeconds": 3}
    there["spec"]["containers"][0]["image"] = "other"
    there["metadata"]["labels"] = {"a": "b"}
    after = await raw.ok("PUT pods/p/ephemeralcontainers", there)
    assert after["spec"]["containers"][0]["image"] == "nginx"
    assert "activeDeadlineSeconds" not in after["spec"]
    assert "labels" not in after["metadata"]


async def test_an_ephemeral_container_stays_as_it_is(raw: Raw) -> None:
    await raw.ok("POST pods", pod())
    assert (await debug(raw, DEBUG)).code == 200
    assert told(await debug(raw)) == [
        ("spec.ephemeralContainers", 'Forbidden: existing ephemeral containers "debug" may not be removed\n')
    ]
    ((field, message),) = told(await debug(raw, {**DEBUG, "image": "other"}))
    assert field == "spec.ephemeralContainers"
    assert message.startswith('Forbidden: existing ephemeral containers "debug" may not be changed\n')
    assert (await debug(raw, {**DEBUG, "name": "more"}, DEBUG)).code == 200


@pytest.mark.parametrize(
    ("container", "problems"),
    [
        ({"name": "main"}, [("name", 'Duplicate value: "main"')]),
        ({"image": ""}, [("image", "Required value")]),
        ({"image": " i"}, [("image", 'Invalid value: " i": must not have leading or trailing whitespace')]),
        ({"targetContainerName": "x"}, [("targetContainerName", 'Not found: "x"')]),
        ({"ports": [{"containerPort": 1}]}, [("ports", f"Forbidden: {NOT_EPHEMERAL}")]),
        ({"livenessProbe": {"exec": {"command": ["a"]}}}, [("livenessProbe", f"Forbidden: {NOT_EPHEMERAL}")]),
        (
            {"resources": {"limits": {"cpu": "1"}}, "lifecycle": {"preStop": {"exec": {"command": ["a"]}}}},
            [("resources", f"Forbidden: {NOT_EPHEMERAL}"), ("lifecycle", f"Forbidden: {NOT_EPHEMERAL}")],
        ),
        (
            {"volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "s"}]},
            [("volumeMounts[0].subPath", f"Forbidden: {NOT_EPHEMERAL}")],
        ),
    ],
)
async def test_what_an_ephemeral_container_can_not_have(
    container: Thing, problems: list[tuple[str, str]], raw: Raw
) -> None:
    await raw.ok("POST pods", pod(volumes=[{"name": "v", "emptyDir": {}}]))
    wanted = [(f"spec.ephemeralContainers[0].{field}", message) for field, message in problems]
    assert told(await debug(raw, {**DEBUG, **container})) == wanted


async def test_a_container_gets_other_amounts(raw: Raw) -> None:
    before = await raw.ok("POST pods", pod(container=asking({"cpu": "1", "memory": "1Gi"}, {"cpu": "2"})))
    after = (await resize(raw, asking({"cpu": "2"}, {"cpu": "3", "memory": "4Gi"}))).json
    assert after["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "3", "memory": "4Gi"},
        "requests": {"cpu": "2", "memory": "1Gi"},
    }
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1


async def test_an_init_container_gets_other_amounts(raw: Raw) -> None:
    first = {**asking({"cpu": "1"}), "name": "first"}
    await raw.ok("POST pods", pod(initContainers=[{**first, "image": "i"}]))
    wanted = [{**asking({"cpu": "2"}), "name": "first"}]
    after = (await resize(raw, {"name": "main"}, initContainers=wanted)).json
    assert after["spec"]["initContainers"][0]["resources"] == {"requests": {"cpu": "2"}}


async def test_nothing_else_is_changed_with_the_amounts(raw: Raw) -> None:
    await raw.ok("POST pods", pod(container=asking({"cpu": "1"})))
    changed = {**asking({"cpu": "2"}), "image": "other", "command": ["x"]}
    after = (await resize(raw, changed, activeDeadlineSeconds=3)).json
    assert after["spec"]["containers"][0]["image"] == "nginx"
    assert "command" not in after["spec"]["containers"][0]
    assert "activeDeadlineSeconds" not in after["spec"]


async def test_a_pod_keeps_its_quality_of_service(raw: Raw) -> None:
    await raw.ok("POST pods", pod(container=asking({"cpu": "1"})))
    everything = {"cpu": "1", "memory": "1Gi"}
    rule = 'Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'
    assert told(await resize(raw, asking(everything, everything))) == [("spec", rule)]


async def test_amounts_can_not_be_removed(raw: Raw) -> None:
    made = await raw.ok("POST pods", pod(container=asking({"cpu": "1", "memory": "1"}, {"cpu": "2"})))
    made["spec"]["containers"][0]["resources"] = {"requests": {"memory": "1"}}
    here = "spec.containers[0].resources"
    assert told(await raw("PUT pods/p/resize", made)) == [
        (f"{here}.requests", "Forbidden: resource requests cannot be removed"),
        (f"{here}.limits", "Forbidden: resource limits cannot be removed"),
    ]


async def test_only_cpu_and_memory_can_be_changed(raw: Raw) -> None:
    await raw.ok("POST pods", pod(container=asking({"cpu": "1", "ephemeral-storage": "1Gi"})))
    rule = "Forbidden: only cpu and memory resources are mutable"
    assert told(await resize(raw, asking({"ephemeral-storage": "2Gi"}))) == [("spec", rule)]


async def test_containers_stay_where_they_are(raw: Raw) -> None:
    made = await raw.ok("POST pods", pod(container=asking({"cpu": "1"})))
    second = {**made["spec"]["containers"][0], "name": "second"}
    rule = "Forbidden: containers may not be added or removed on resize"
    more = {**made, "spec": {**made["spec"], "containers": [*made["spec"]["containers"], second]}}
    assert told(await raw("PUT pods/p/resize", more)) == [("spec.containers", rule)]
    renamed = {**made, "spec": {**made["spec"], "containers": [second]}}
    rule = "Forbidden: containers may not be renamed or reordered on resize"
    assert told(await raw("PUT pods/p/resize", renamed)) == [("spec.containers[0].name", rule)]


async def test_a_pod_gets_another_amount_as_a_whole(raw: Raw) -> None:
    await raw.ok("POST pods", pod(resources={"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}))
    after = (await resize(raw, {"name": "main"}, resources={"requests": {"cpu": "2"}, "limits": {"cpu": "3"}})).json
    assert after["spec"]["resources"] == {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}


async def test_a_windows_pod_can_not_be_resized(raw: Raw) -> None:
    await raw.ok("POST pods", pod(container=asking({"cpu": "1"}), os={"name": "windows"}))
    answer = await resize(raw, asking({"cpu": "2"}))
    assert answer.refusal.message == 'Pod "p" is invalid: []: Forbidden: windows pods cannot be resized'


async def on_node(raw: Raw, **labels: str) -> str:
    """Have the pod, which asks for some cpu and memory, on a node of its own."""
    name = f"node-{raw.namespace}"
    amounts = {"cpu": "2", "memory": "2Gi", "pods": "10"}
    await raw.ok("POST /api/v1/nodes", {"metadata": {"name": name, "labels": labels}})
    status = {"status": {"allocatable": amounts, "capacity": amounts}}
    await raw.ok(f"PATCH /api/v1/nodes/{name}/status", status, patch="merge")
    await raw.ok("POST pods", pod(container=asking({"cpu": "1", "memory": "1Gi"}), nodeName=name))
    return name


async def until_the_node_is_known(raw: Raw, words: str) -> None:
    """A real server reads nodes from a cache; what it knows is in these words of a refusal."""
    async with asyncio.timeout(SECONDS):
        while words not in (await resize(raw, asking({"cpu": "50"}))).body.decode():
            await ambient.sleep(0.05)


async def test_a_pod_can_not_get_more_than_its_node_has(raw: Raw) -> None:
    await on_node(raw)
    await until_the_node_is_known(raw, "allocatable: 2000")
    missing = "cpu, requested: 3000, allocatable: 2000; memory, requested: 4294967296, allocatable: 2147483648"
    why = f'pods "p" is forbidden: node didn\'t have enough allocatable resources: {missing}'
    answer = await resize(raw, asking({"cpu": "3", "memory": "4Gi"}))
    assert (answer.code, answer.json["message"]) == (403, why)
    assert answer.json["details"]["causes"] == [{"reason": "NodeCapacity"}]
    assert (await resize(raw, asking({"cpu": "2"}))).code == 200


async def test_a_pod_on_another_system_can_not_be_resized(raw: Raw) -> None:
    name = await on_node(raw, **{"kubernetes.io/os": "plan9"})
    await until_the_node_is_known(raw, "linux")
    answer = await resize(raw, asking({"cpu": "2"}))
    why = f'pod resize is only supported on linux nodes, node "{name}" is "plan9"'
    assert (answer.code, answer.json["message"]) == (403, f'pods "p" is forbidden: {why}')
    assert answer.json["details"]["causes"] == [{"reason": "UnsupportedPlatform"}]


async def test_a_pod_whose_node_is_gone_can_not_be_resized(raw: Raw) -> None:
    await raw.ok("POST pods", pod(container=asking({"cpu": "1"}), nodeName="nowhere"))
    answer = await resize(raw, asking({"cpu": "2"}))
    assert (answer.code, answer.json["message"]) == (403, 'pods "p" is forbidden: node "nowhere" not found')
    assert (await resize(raw, asking({"cpu": "1"}))).code == 200
