"""What the admission plugins do that are on by default: limits, RuntimeClasses."""

from typing import Any

from conformance.objects import pod
from conformance.requests import Raw

LIMITED = {
    "metadata": {"name": "limits"},
    "spec": {
        "limits": [
            {
                "type": "Container",
                "min": {"cpu": "50m", "memory": "100Mi"},
                "max": {"cpu": "500m", "memory": "500Mi"},
                "default": {"cpu": "500m", "memory": "500Mi"},
                "defaultRequest": {"cpu": "100m", "memory": "200Mi"},
            }
        ]
    },
}


def asking(**resources: Any) -> dict[str, Any]:
    """A pod with one container that asks for these."""
    return pod(container={"resources": resources})


async def test_a_container_gets_the_defaults_of_its_namespace(raw: Raw) -> None:
    await raw.ok("POST limitranges", LIMITED)
    made = await raw.ok("POST pods", asking(requests={"cpu": "200m"}))
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "500Mi"},
        "requests": {"cpu": "200m", "memory": "200Mi"},
    }
    told = "LimitRanger plugin set: memory request for container main; cpu, memory limit for container main"
    assert made["metadata"]["annotations"] == {"kubernetes.io/limit-ranger": told}
    assert made["status"]["qosClass"] == "Burstable"


async def test_a_pod_that_asks_for_too_little_is_refused(raw: Raw) -> None:
    await raw.ok("POST limitranges", LIMITED)
    refused = (await raw("POST pods", asking(requests={"cpu": "10m", "memory": "300Mi"}))).refusal
    assert (refused.code, refused.reason) == (403, "Forbidden")
    assert refused.message == 'pods "p" is forbidden: minimum cpu usage per Container is 50m, but request is 10m'


async def test_a_pod_that_asks_for_too_much_is_refused(raw: Raw) -> None:
    await raw.ok("POST limitranges", LIMITED)
    refused = (await raw("POST pods", asking(limits={"cpu": "300m", "memory": "600Mi"}))).refusal
    # What isn't requested is requested as limited: both are too much, and the limit is told.
    assert refused.message == 'pods "p" is forbidden: maximum memory usage per Container is 500Mi, but limit is 600Mi'


async def test_the_containers_of_a_pod_are_counted_together(raw: Raw) -> None:
    limit = {"type": "Pod", "max": {"cpu": "1"}, "maxLimitRequestRatio": {"memory": "2"}}
    await raw.ok("POST limitranges", {"metadata": {"name": "limits"}, "spec": {"limits": [limit]}})
    two = asking(limits={"cpu": "600m", "memory": "3Gi"}, requests={"memory": "1Gi"})
    two["spec"]["containers"].append({**two["spec"]["containers"][0], "name": "second"})
    refused = (await raw("POST pods", two)).refusal
    assert refused.message == (
        'pods "p" is forbidden: [maximum cpu usage per Pod is 1, but limit is 1200m, '
        "memory max limit to request ratio per Pod is 2, but provided ratio is 3.000000]"
    )


async def test_a_claim_that_asks_for_too_much_is_refused(raw: Raw) -> None:
    limit = {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}
    await raw.ok("POST limitranges", {"metadata": {"name": "limits"}, "spec": {"limits": [limit]}})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "3Gi"}}}
    refused = (await raw("POST persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": spec})).refusal
    told = "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"
    assert refused.message == f'persistentvolumeclaims "c" is forbidden: {told}'


async def test_a_pod_pays_for_its_runtime_class_and_goes_where_it_is(raw: Raw) -> None:
    name = f"sandboxed-{raw.namespace}"
    toleration = {"key": "sandbox", "operator": "Exists", "effect": "NoSchedule"}
    await raw.ok(
        "POST /apis/node.k8s.io/v1/runtimeclasses",
        {
            "metadata": {"name": name},
            "handler": "h",
            "overhead": {"podFixed": {"cpu": "10m", "memory": "1Mi"}},
            "scheduling": {"nodeSelector": {"sandbox": "yes"}, "tolerations": [toleration]},
        },
    )
    made = await raw.ok("POST pods", pod(runtimeClassName=name, nodeSelector={"disk": "fast"}))
    spec = made["spec"]
    assert spec["overhead"] == {"cpu": "10m", "memory": "1Mi"}
    assert spec["nodeSelector"] == {"disk": "fast", "sandbox": "yes"}
    assert toleration in spec["tolerations"]
    refused = (await raw("POST pods", pod("q", runtimeClassName=name, nodeSelector={"sandbox": "no"}))).refusal
    told = "runtimeClass.scheduling.nodeSelector[sandbox] = yes; pod.spec.nodeSelector[sandbox] = no"
    assert (refused.code, refused.message) == (403, f'pods "q" is forbidden: conflict: {told}')


async def test_a_pod_whose_runtime_class_is_not_there_is_refused(raw: Raw) -> None:
    refused = (await raw("POST pods", pod(runtimeClassName="nowhere"))).refusal
    told = 'pod rejected: RuntimeClass "nowhere" not found'
    assert (refused.code, refused.reason, refused.message) == (403, "Forbidden", f'pods "p" is forbidden: {told}')


async def test_only_a_runtime_class_sets_overhead(raw: Raw) -> None:
    refused = (await raw("POST pods", pod(overhead={"cpu": "1"}))).refusal
    told = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    assert refused.message == f'pods "p" is forbidden: {told}'
