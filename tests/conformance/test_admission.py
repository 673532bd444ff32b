"""What the admission plugins do that are on by default: limits, RuntimeClasses."""

from conformance.objects import pod
from conformance.requests import Raw


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
