"""What the admission plugins do that look at other objects: default classes, growing claims and pods, limits, nodes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from conformance.objects import pod
from conformance.requests import SECONDS, Answer, Raw, Refused
from windvane import ambient

STORAGE, NETWORKING = "/apis/storage.k8s.io/v1/storageclasses", "/apis/networking.k8s.io/v1/ingressclasses"
STORAGE_DEFAULT = "storageclass.kubernetes.io/is-default-class"
INGRESS_DEFAULT = "ingressclass.kubernetes.io/is-default-class"
CLAIMS = "/api/v1/namespaces/{ns}/persistentvolumeclaims"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


def claim(name: str = "data", /, *, metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name, **(metadata or {})}, "spec": asked | spec}


def ingress(*, metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    return {"metadata": {"name": "web", **(metadata or {})}, "spec": {"defaultBackend": backend, **spec}}


async def until(so: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a plugin has seen what was written: a real server's look at caches of their own."""
    async with asyncio.timeout(SECONDS):
        while not await so():
            await ambient.sleep(0.05)


class Classes:
    """Classes of a kind, which are gone after the test: one that is the default matters to all tests."""

    def __init__(self, raw: Raw, place: str, default: str, spec: dict[str, Any]) -> None:
        self._raw, self._place, self._default, self._spec = raw, place, default, spec
        self._made: list[str] = []

    async def add(self, suffix: str, *, annotation: str = "", **rest: Any) -> str:
        """A default class; its name."""
        name = f"{self._raw.namespace}-{suffix}"
        annotations = {annotation or self._default: "true"}
        self._made.append(name)
        body = {"metadata": {"name": name, "annotations": annotations}, **self._spec, **rest}
        await self._raw.ok(f"POST {self._place}", body)
        return name

    async def remove(self) -> None:
        for name in self._made:
            await self._raw(f"DELETE {self._place}/{name}")


@pytest_asyncio.fixture(loop_scope="module")
async def storage_classes(raw: Raw) -> AsyncIterator[Classes]:
    classes = Classes(raw, STORAGE, STORAGE_DEFAULT, {"provisioner": "example.com/none"})
    yield classes
    await classes.remove()

    async def gone() -> bool:
        return "storageClassName" not in await dry(raw, CLAIMS, claim("probe"))

    await until(gone)


@pytest_asyncio.fixture(loop_scope="module")
async def ingress_classes(raw: Raw) -> AsyncIterator[Classes]:
    classes = Classes(raw, NETWORKING, INGRESS_DEFAULT, {"spec": {"controller": "example.com/none"}})
    yield classes
    await classes.remove()

    async def gone() -> bool:
        return "ingressClassName" not in await dry(raw, INGRESSES, ingress())

    await until(gone)


async def dry(raw: Raw, place: str, body: dict[str, Any]) -> dict[str, Any]:
    """The spec of what would be made."""
    made = await raw.ok(f"POST {place}?dryRun=All", body)
    return dict(made["spec"])


async def known(raw: Raw, name: str) -> None:
    async def so() -> bool:
        return (await dry(raw, CLAIMS, claim("probe"))).get("storageClassName") == name

    await until(so)


async def test_a_claim_without_a_class_gets_the_default_one(raw: Raw, storage_classes: Classes) -> None:
    name = await storage_classes.add("a")
    await known(raw, name)
    made = await raw.ok(f"POST {CLAIMS}", claim())
    assert made["spec"]["storageClassName"] == name
    (entry,) = made["metadata"]["managedFields"]
    assert "f:storageClassName" not in entry["fieldsV1"]["f:spec"]


async def test_the_older_annotation_counts_too(raw: Raw, storage_classes: Classes) -> None:
    await known(raw, await storage_classes.add("a", annotation="storageclass.beta.kubernetes.io/is-default-class"))


async def test_a_claim_that_says_of_no_class_is_of_none(raw: Raw, storage_classes: Classes) -> None:
    await known(raw, await storage_classes.add("a"))
    assert (await dry(raw, CLAIMS, claim(storageClassName="")))["storageClassName"] == ""
    annotated = claim(metadata={"annotations": {"volume.beta.kubernetes.io/storage-class": "other"}})
    assert "storageClassName" not in await dry(raw, CLAIMS, annotated)


async def test_of_two_default_classes_the_newer_one_counts(raw: Raw, storage_classes: Classes) -> None:
    await storage_classes.add("a")
    await ambient.sleep(1.1)  # the time of creation has seconds
    await known(raw, await storage_classes.add("b"))


async def test_an_ingress_without_a_class_gets_the_default_one(raw: Raw, ingress_classes: Classes) -> None:
    name = await ingress_classes.add("a")

    async def so() -> bool:
        return (await dry(raw, INGRESSES, ingress())).get("ingressClassName") == name

    await until(so)
    assert (await dry(raw, INGRESSES, ingress(ingressClassName="mine")))["ingressClassName"] == "mine"
    annotated = ingress(metadata={"annotations": {"kubernetes.io/ingress.class": "old"}})
    assert "ingressClassName" not in await dry(raw, INGRESSES, annotated)


async def test_a_claim_that_is_not_bound_does_not_grow(raw: Raw) -> None:
    await raw.ok(f"POST {CLAIMS}", claim(storageClassName="none"))
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    refused = (await raw(f"PATCH {CLAIMS}/data", more, patch="merge")).refusal
    assert (refused.code, refused.reason) == (422, "Invalid")


async def bound(raw: Raw, storage_class: str) -> None:
    await raw.ok(f"POST {CLAIMS}", claim(storageClassName=storage_class, volumeName="somewhere"))
    await raw.ok(f"PATCH {CLAIMS}/data/status", {"status": {"phase": "Bound"}}, patch="merge")


MORE = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}


async def test_a_claim_of_a_class_that_says_nothing_does_not_grow(raw: Raw, storage_classes: Classes) -> None:
    name = await storage_classes.add("a")
    await known(raw, name)
    await bound(raw, name)
    refused = (await raw(f"PATCH {CLAIMS}/data", MORE, patch="merge")).refusal
    assert refused.message == (
        'persistentvolumeclaims "data" is forbidden: only dynamically provisioned pvc can be resized and the '
        "storageclass that provisions the pvc must support resize"
    )


async def test_a_claim_of_a_class_that_allows_it_grows(raw: Raw, storage_classes: Classes) -> None:
    name = await storage_classes.add("a", allowVolumeExpansion=True)
    await known(raw, name)
    await bound(raw, name)
    assert (await raw.ok(f"PATCH {CLAIMS}/data", MORE, patch="merge"))["spec"]["resources"] == MORE["spec"]["resources"]


@pytest_asyncio.fixture(loop_scope="module")
async def node(raw: Raw) -> AsyncIterator[str]:
    """A node in a zone of a region, which is gone after the test."""
    labels = {ZONE: "z", REGION: "r", "other": "o"}
    await raw.ok("POST /api/v1/nodes", {"metadata": {"name": "{ns}", "labels": labels}})
    yield raw.namespace
    await raw.ok("DELETE /api/v1/nodes/{ns}")


async def test_a_new_node_is_not_ready(raw: Raw, node: str) -> None:
    found = await raw.ok(f"GET /api/v1/nodes/{node}")
    assert found["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


async def test_a_new_node_keeps_its_taints(raw: Raw) -> None:
    mine = [{"key": "a", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    made = await raw.ok("POST /api/v1/nodes?dryRun=All", {"metadata": {"name": "{ns}"}, "spec": {"taints": mine}})
    assert made["spec"]["taints"] == mine


async def test_a_pod_that_is_bound_has_the_zone_and_the_region_of_its_node(raw: Raw, node: str) -> None:
    async def so() -> bool:
        made = await raw.ok("POST pods?dryRun=All", pod(nodeName=node))
        return bool(made["metadata"].get("labels") == {ZONE: "z", REGION: "r"})

    await until(so)
    await raw.ok("POST pods", pod(metadata={"labels": {ZONE: "elsewhere", "a": "b"}}))
    await raw.ok("POST pods/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": node}})
    assert (await raw.ok("GET pods/p"))["metadata"]["labels"] == {ZONE: "z", REGION: "r", "a": "b"}
    # Who changes them later may.
    changed = await raw.ok("PATCH pods/p", {"metadata": {"labels": {ZONE: "elsewhere"}}}, patch="merge")
    assert changed["metadata"]["labels"][ZONE] == "elsewhere"


async def test_a_pod_does_not_grow_beyond_its_node(raw: Raw, node: str) -> None:
    status = {"status": {"allocatable": {"cpu": "1", "memory": "1Gi"}}}
    await raw.ok(f"PATCH /api/v1/nodes/{node}/status", status, patch="merge")
    small = {"resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}
    await raw.ok("POST pods", pod(nodeName=node, container=small))

    async def resized(**requests: str) -> Answer:
        containers = [{"name": "main", "resources": {"requests": requests}}]
        return await raw("PATCH pods/p/resize?dryRun=All", {"spec": {"containers": containers}}, patch="strategic")

    async def so() -> bool:
        return (await resized(cpu="500m", memory="200Mi")).code == 200

    await until(so)
    refused = (await resized(cpu="2", memory="2Gi")).json
    assert refused["message"] == (
        'pods "p" is forbidden: node didn\'t have enough allocatable resources: cpu, requested: 2000, allocatable: '
        "1000; memory, requested: 2147483648, allocatable: 1073741824"
    )
    assert refused["details"]["causes"] == [{"reason": "NodeCapacity"}]


async def test_a_pod_on_a_node_that_is_not_there_does_not_grow(raw: Raw) -> None:
    await raw.ok("POST pods", pod(nodeName="nowhere", container={"resources": {"requests": {"cpu": "100m"}}}))
    more = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "200m"}}}]}}
    refused = (await raw("PATCH pods/p/resize", more, patch="strategic")).refusal
    assert refused.message == 'pods "p" is forbidden: node "nowhere" not found'


NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


@pytest.mark.parametrize(
    ("tolerated", "added"),
    [
        ({"key": NOT_READY, "operator": "Exists", "effect": "NoExecute"}, [UNREACHABLE]),
        ({"key": UNREACHABLE, "operator": "Exists"}, [NOT_READY]),
        ({"operator": "Exists"}, []),
        ({"operator": "Exists", "effect": "NoSchedule"}, [NOT_READY, UNREACHABLE]),
        ({"key": "example.com/other", "operator": "Exists", "effect": "NoExecute"}, [NOT_READY, UNREACHABLE]),
    ],
)
async def test_a_pod_gets_no_toleration_for_what_it_tolerates(
    raw: Raw, tolerated: dict[str, Any], added: list[str]
) -> None:
    spec = await dry(raw, "pods", pod(tolerations=[tolerated]))
    more = [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for key in added]
    assert spec["tolerations"] == [tolerated, *more]


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


async def test_a_claim_that_is_there_keeps_to_limits_when_it_is_changed(raw: Raw) -> None:
    await raw.ok("POST persistentvolumeclaims", claim("c", resources={"requests": {"storage": "3Gi"}}))
    limits = [{"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}}]
    await raw.ok("POST limitranges", {"metadata": {"name": "limits"}, "spec": {"limits": limits}})
    labels = {"metadata": {"labels": {"a": "b"}}}
    why = "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"
    async with asyncio.timeout(SECONDS):
        # A real server reads LimitRanges from a cache.
        while (answer := await raw("PATCH persistentvolumeclaims/c?dryRun=All", labels, patch="merge")).code == 200:
            await ambient.sleep(0.05)
    told = f'persistentvolumeclaims "c" is forbidden: {why}'
    assert answer.refusal == Refused(403, "Forbidden", told, "persistentvolumeclaims c")
    # One that is going is let go.
    await raw.ok("DELETE persistentvolumeclaims/c")
    await raw.ok("PATCH persistentvolumeclaims/c", labels, patch="merge")
