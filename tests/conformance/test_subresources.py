"""Subresources: status, scale, binding and eviction, each with its own view of an object."""

from typing import Any

import pytest

from conformance.objects import Thing, deployment, pod
from conformance.requests import Raw, Refused

READY = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


def scale(replicas: int, name: str = "web", **metadata: Any) -> Thing:
    made = {"metadata": {"name": name, **metadata}, "spec": {"replicas": replicas}}
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", **made}


def binding(node: str) -> Thing:
    return {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": node}}


def eviction(name: str = "p", **rest: Any) -> Thing:
    return {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": name}, **rest}


def budget(**spec: Any) -> tuple[str, Thing]:
    made = {"selector": {"matchLabels": {"app": "db"}}, **spec}
    return "POST poddisruptionbudgets", {"metadata": {"name": "b"}, "spec": made}


def allows(disruptions: int, **status: Any) -> tuple[str, Thing]:
    """What a controller would say of the budget."""
    told = {"disruptionsAllowed": disruptions, "observedGeneration": 1, **status}
    counts = ("currentHealthy", "desiredHealthy", "expectedPods")
    return "PATCH poddisruptionbudgets/b/status", {"status": dict.fromkeys(counts, 0) | told}


async def test_a_scaled_deployment_has_a_new_generation(raw: Raw) -> None:
    await raw.ok("POST deployments", deployment())
    await raw.ok("PATCH deployments/web/scale", {"spec": {"replicas": 3}}, patch="merge")
    after = await raw.ok("GET deployments/web")
    assert (after["spec"]["replicas"], after["metadata"]["generation"]) == (3, 2)


async def test_a_scale_has_the_version_of_its_object(raw: Raw) -> None:
    made = await raw.ok("POST deployments", deployment())
    shown = (await raw.ok("GET deployments/web/scale"))["metadata"]
    assert {key: shown[key] for key in ("uid", "resourceVersion", "creationTimestamp")} == {
        key: made["metadata"][key] for key in ("uid", "resourceVersion", "creationTimestamp")
    }


async def test_a_bound_pod_says_its_node_and_that_it_is_scheduled(raw: Raw) -> None:
    await raw.ok("POST pods", pod())
    bound = {"metadata": {"name": "p", "annotations": {"a": "b"}}, "target": {"name": "n1"}}
    await raw.ok("POST pods/p/binding", bound)
    after = await raw.ok("GET pods/p")
    assert after["spec"]["nodeName"] == "n1"
    assert after["metadata"]["annotations"] == {"a": "b"}
    condition = after["status"]["conditions"][0]
    assert condition.pop("lastTransitionTime")
    assert condition == {"type": "PodScheduled", "status": "True", "lastProbeTime": None}


async def test_the_old_place_of_bindings(raw: Raw) -> None:
    """A uid in what is posted there means nothing."""
    await raw.ok("POST pods", pod())
    await raw.ok("POST bindings", {**binding("n1"), "metadata": {"name": "p", "uid": "other"}})
    assert (await raw.ok("GET pods/p"))["spec"]["nodeName"] == "n1"


async def evicted(raw: Raw, query: str = "") -> Any:
    """The budget after a pod was evicted that it covers, and that a finalizer keeps around."""
    await raw.ok("POST pods", pod(metadata={"labels": {"app": "db"}, "finalizers": ["a.example/x"]}))
    await raw.ok("PATCH pods/p/status", READY, patch="merge")
    await raw.ok(*budget(minAvailable=1))
    await raw.ok(*allows(1), patch="merge")
    await raw.ok(f"POST pods/p/eviction{query}", eviction())
    return await raw.ok("GET poddisruptionbudgets/b")


async def test_an_eviction_is_of_the_pod_that_was_meant(raw: Raw) -> None:
    made = await raw.ok("POST pods", pod())
    options = {"preconditions": {"uid": "other"}}
    refusal = (await raw("POST pods/p/eviction", eviction(deleteOptions=options))).refusal
    assert (refusal.code, refusal.reason, refusal.about) == (409, "Conflict", "Pod p")
    assert refusal.message == (
        'Operation cannot be fulfilled on Pod "p": the UID in the precondition (other) does not match the UID in '
        f"record ({made['metadata']['uid']}). The object might have been deleted and then recreated"
    )


async def test_an_evicted_pod_says_why_it_goes(raw: Raw) -> None:
    await evicted(raw)
    gone = await raw.ok("GET pods/p")
    assert "deletionTimestamp" in gone["metadata"]
    [condition] = [each for each in gone["status"]["conditions"] if each["type"] == "DisruptionTarget"]
    assert condition.pop("lastTransitionTime")
    assert condition == {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastProbeTime": None,
    }


async def test_a_status_without_a_change_keeps_the_version(raw: Raw) -> None:
    await raw.ok("POST deployments", deployment())
    first = await raw.ok("PATCH deployments/web/status", {"status": {"replicas": 1}}, patch="merge")
    assert await raw.ok("PATCH deployments/web/status", {"status": {"replicas": 1}}, patch="merge") == first


async def test_status_and_spec_share_one_version(raw: Raw) -> None:
    made = await raw.ok("POST deployments", deployment())
    await raw.ok("PATCH deployments/web/status", {"status": {"replicas": 1}}, patch="merge")
    assert (await raw("PUT deployments/web", made)).refusal.reason == "Conflict"


NOT_ALLOWED = Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")


@pytest.mark.parametrize("subresource", ["log", "exec", "attach", "portforward", "ephemeralcontainers", "resize"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_subresource_is_no_other_way_to_the_pod(method: str, subresource: str, raw: Raw) -> None:
    """Whoever may only read logs must not be able to delete, say, by asking there."""
    await raw.ok("POST pods", pod("p"))
    body: object = None if method == "DELETE" else {"metadata": {"name": "p", "labels": {"a": "b"}}}
    answer = await raw(f"{method} pods/p/{subresource}", body, patch="merge" if method == "PATCH" else "")
    if method == "POST" and subresource in ("exec", "attach", "portforward"):
        assert answer.refusal == Refused(400, "BadRequest", "pod p does not have a host assigned")
    elif method in ("PUT", "PATCH") and subresource in ("ephemeralcontainers", "resize"):
        assert answer.code < 500
    else:
        assert answer.refusal == NOT_ALLOWED
    assert "labels" not in (await raw.ok("GET pods/p"))["metadata"]


async def test_a_pod_that_is_nowhere_has_no_log(raw: Raw) -> None:
    await raw.ok("POST pods", pod("p"))
    answer = await raw("GET pods/p/log")
    assert (answer.code, answer.body) == (204, b"")
    assert (await raw("GET pods/nope/log")).refusal.message == 'pods "nope" not found'


async def test_when_the_phase_of_a_volume_changed_is_always_said(raw: Raw) -> None:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    made = await raw.ok("POST /api/v1/persistentvolumes", {"metadata": {"name": raw.namespace}, "spec": spec})
    assert (made["status"]["phase"], "lastPhaseTransitionTime" in made["status"]) == ("Pending", True)
    place = f"PATCH /api/v1/persistentvolumes/{raw.namespace}/status"
    then = {"status": {"lastPhaseTransitionTime": "2020-01-01T00:00:00Z"}}
    assert (await raw.ok(place, then, patch="merge"))["status"] == {"phase": "Pending", **then["status"]}
    gone = {"status": {"lastPhaseTransitionTime": None}}
    assert (await raw.ok(place, gone, patch="merge"))["status"] == {"phase": "Pending", **then["status"]}
    changed = await raw.ok(place, {"status": {"phase": "Available"}}, patch="merge")
    assert changed["status"]["lastPhaseTransitionTime"] > "2020-01-01T00:00:00Z"
