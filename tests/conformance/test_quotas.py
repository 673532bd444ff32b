"""ResourceQuotas: what is refused because of them, and what they say is used after each write.

Who counts what is there is a controller, which an API server alone doesn't have; each test plays it.
"""

import asyncio
from typing import Any

import pytest

from conformance.crds import gadget
from conformance.objects import config_map, deployment, pod, service
from conformance.requests import SECONDS, Raw, Refused
from windvane import ambient

SMALL = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "3Gi"}}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
ELSEWHERE: list[dict[str, Any]] = [{"namespaces": ["other"]}, {"namespaceSelector": {}}]
LEASES = {"count/leases.coordination.k8s.io": "0"}


async def begin(raw: Raw, hard: dict[str, str], used: dict[str, str], *, name: str = "q", **spec: Any) -> None:
    """Make a quota that was counted, and wait until the server knows of it: a real one reads quotas from a cache."""
    # Who finds no quota in the cache asks the store, at most every thirty seconds. That is done here, before there is
    # one: else the quotas could be told from the store when the cache has but the first half of what is written here.
    await raw("POST leases?dryRun=All", {"metadata": {"name": "l"}})
    await make(raw, name, hard, {"hard": hard, "used": used}, **spec)
    await make(raw, f"{name}-last", LEASES, {"hard": LEASES, "used": LEASES})
    async with asyncio.timeout(SECONDS):
        while (await raw("POST leases?dryRun=All", {"metadata": {"name": "l"}})).code != 403:
            await ambient.sleep(0.05)


async def make(raw: Raw, name: str, hard: dict[str, str], status: dict[str, Any], **spec: Any) -> None:
    await raw.ok("POST resourcequotas", {"metadata": {"name": name}, "spec": {"hard": hard, **spec}})
    await raw.ok(f"PATCH resourcequotas/{name}/status", {"status": status}, patch="merge")


async def used(raw: Raw, name: str = "q") -> Any:
    """How much is used, by the quota's own account."""
    return (await raw.ok(f"GET resourcequotas/{name}"))["status"]["used"]


def refused(what: str, why: str) -> Refused:
    """The refusal of an object: `pods p`."""
    resource, _, name = what.partition(" ")
    return Refused(403, "Forbidden", f'{resource} "{name}" is forbidden: {why}', what)


async def test_what_is_stored_is_counted(raw: Raw) -> None:
    await begin(raw, {"configmaps": "5", "count/configmaps": "9"}, {"configmaps": "1", "count/configmaps": "1"})
    await raw.ok("POST configmaps", config_map("a"))
    assert await used(raw) == {"configmaps": "2", "count/configmaps": "2"}


async def test_what_there_is_no_room_for_is_refused(raw: Raw) -> None:
    await begin(raw, {"configmaps": "1", "secrets": "7"}, {"configmaps": "1", "secrets": "0"})
    why = "exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1"
    assert (await raw("POST configmaps", config_map("a"))).refusal == refused("configmaps a", why)
    assert await used(raw) == {"configmaps": "1", "secrets": "0"}
    assert (await raw("GET configmaps/a")).code == 404


async def test_all_that_there_is_no_room_for_is_told(raw: Raw) -> None:
    hard = {"requests.cpu": "1", "limits.cpu": "1", "requests.memory": "1Gi", "pods": "1"}
    await begin(raw, hard, {"requests.cpu": "950m", "limits.cpu": "900m", "requests.memory": "0", "pods": "0"})
    why = (
        "exceeded quota: q, requested: limits.cpu=200m,requests.cpu=100m, used: limits.cpu=900m,requests.cpu=950m, "
        "limited: limits.cpu=1,requests.cpu=1"
    )
    assert (await raw("POST pods", pod(container={"resources": SMALL}))).refusal == refused("pods p", why)


async def test_a_dry_run_is_refused_but_not_counted(raw: Raw) -> None:
    await begin(raw, {"configmaps": "2", "secrets": "0"}, {"configmaps": "1", "secrets": "0"})
    await raw.ok("POST configmaps?dryRun=All", config_map("a"))
    assert await used(raw) == {"configmaps": "1", "secrets": "0"}
    assert (await raw("POST secrets?dryRun=All", {"metadata": {"name": "s"}})).code == 403


async def test_nothing_is_accepted_before_somebody_has_counted(raw: Raw) -> None:
    await begin(raw, {"count/configmaps": "5", "configmaps": "5"}, {"count/configmaps": "1"})
    why = "status unknown for quota: q, resources: configmaps,count/configmaps"
    assert (await raw("POST configmaps", config_map("a"))).refusal == refused("configmaps a", why)


async def test_a_quota_whose_limits_nobody_has_noted_limits_nothing(raw: Raw) -> None:
    await make(raw, "fresh", {"configmaps": "0"}, {})
    await begin(raw, {"secrets": "5"}, {"secrets": "0"})
    await raw.ok("POST configmaps", config_map("a"))


async def test_objects_of_any_kind_can_be_counted(raw: Raw) -> None:
    await begin(raw, {"count/deployments.apps": "1"}, {"count/deployments.apps": "0"})
    await raw.ok("POST deployments", deployment("web"))
    name = "count/deployments.apps"
    why = f"exceeded quota: q, requested: {name}=1, used: {name}=1, limited: {name}=1"
    assert (await raw("POST deployments", deployment("two"))).refusal == refused("deployments.apps two", why)


async def test_a_change_of_what_is_only_counted_costs_nothing(raw: Raw) -> None:
    await begin(raw, {"configmaps": "1"}, {"configmaps": "0"})
    await raw.ok("POST configmaps", config_map("a"))
    await raw.ok("PATCH configmaps/a", {"data": {"more": "of it"}}, patch="merge")
    assert await used(raw) == {"configmaps": "1"}


async def test_what_pods_ask_for_is_counted(raw: Raw) -> None:
    names = ("pods", "count/pods", "cpu", "requests.cpu", "limits.cpu", "memory", "requests.memory")
    await begin(raw, dict.fromkeys(names, "10Gi"), dict.fromkeys(names, "0"))
    two = pod(container={"resources": SMALL})
    two["spec"]["containers"].append({**two["spec"]["containers"][0], "name": "second"})
    hungry = {"requests": {"cpu": "300m", "memory": "1"}, "limits": {"cpu": "300m"}}
    two["spec"]["initContainers"] = [{"name": "first", "image": "i", "resources": hungry}]
    await raw.ok("POST pods", two)
    assert await used(raw) == {
        "pods": "1", "count/pods": "1", "cpu": "300m", "requests.cpu": "300m", "limits.cpu": "400m",
        "memory": "128Mi", "requests.memory": "128Mi",
    }  # fmt: skip


async def test_extended_resources_are_counted_by_what_is_requested(raw: Raw) -> None:
    await begin(raw, {"requests.example.com/gpu": "3"}, {"requests.example.com/gpu": "2"})
    asked = {"limits": {"example.com/gpu": "2"}}
    name = "requests.example.com/gpu"
    why = f"exceeded quota: q, requested: {name}=2, used: {name}=2, limited: {name}=3"
    assert (await raw("POST pods", pod(container={"resources": asked}))).refusal == refused("pods p", why)


async def test_where_cpu_is_limited_every_container_says_how_much(raw: Raw) -> None:
    await begin(raw, {"cpu": "1", "limits.memory": "1Gi"}, {"cpu": "0", "limits.memory": "0"})
    two = pod(container={"resources": {"requests": {"cpu": "100m"}}})
    two["spec"]["containers"].append({"name": "second", "image": "i"})
    two["spec"]["initContainers"] = [{"name": "before", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
    why = "failed quota: q: must specify cpu for: second; limits.memory for: before,main,second"
    assert (await raw("POST pods", two)).refusal == refused("pods p", why)


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ("BestEffort", pod("inside"), pod("outside", container={"resources": SMALL})),
        ("NotBestEffort", pod("inside", container={"resources": SMALL}), pod("outside")),
        ("Terminating", pod("inside", activeDeadlineSeconds=60), pod("outside")),
        ("NotTerminating", pod("inside"), pod("outside", activeDeadlineSeconds=60)),
        ("PriorityClass", pod("inside", priorityClassName="system-node-critical"), pod("outside")),
    ],
)
async def test_a_scope_says_which_pods_are_counted(raw: Raw, scope: str, inside: Any, outside: Any) -> None:
    await begin(raw, {"pods": "1"}, {"pods": "0"}, scopes=[scope])
    await raw.ok("POST pods", outside)
    assert await used(raw) == {"pods": "0"}
    await raw.ok("POST pods", inside)
    assert await used(raw) == {"pods": "1"}


async def test_a_scope_can_be_for_some_priority_classes(raw: Raw) -> None:
    chosen = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}
    await begin(raw, {"pods": "1"}, {"pods": "0"}, scopeSelector={"matchExpressions": [chosen]})
    await raw.ok("POST pods", pod("a", priorityClassName="system-cluster-critical"))
    assert await used(raw) == {"pods": "0"}
    await raw.ok("POST pods", pod("b", priorityClassName="system-node-critical"))
    assert await used(raw) == {"pods": "1"}


async def test_a_pod_that_comes_into_scope_is_counted(raw: Raw) -> None:
    await begin(raw, {"pods": "1"}, {"pods": "0"}, scopes=["Terminating"])
    await raw.ok("POST pods", pod("a"))
    await raw.ok("PATCH pods/a", {"spec": {"activeDeadlineSeconds": 60}}, patch="merge")
    assert await used(raw) == {"pods": "1"}


async def test_a_pod_that_no_longer_fits_can_not_come_into_scope(raw: Raw) -> None:
    await begin(raw, {"pods": "0"}, {"pods": "0"}, scopes=["Terminating"])
    await raw.ok("POST pods", pod("a"))
    changed = await raw("PATCH pods/a", {"spec": {"activeDeadlineSeconds": 60}}, patch="merge")
    assert changed.refusal == refused("pods a", "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0")


async def test_services_are_counted_with_their_ports_on_nodes(raw: Raw) -> None:
    names = ("services", "count/services", "services.nodeports", "services.loadbalancers")
    await begin(raw, dict.fromkeys(names, "5"), dict.fromkeys(names, "0"))
    await raw.ok("POST services", service("a", ports=[{"port": 80}]))
    two = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    await raw.ok("POST services", service("b", type="LoadBalancer", ports=two))
    assert await used(raw) == {
        "services": "2", "count/services": "2", "services.nodeports": "2", "services.loadbalancers": "1"
    }  # fmt: skip


async def test_a_service_that_changes_its_type_uses_what_it_did_not_before(raw: Raw) -> None:
    await begin(raw, {"services": "5", "services.nodeports": "1"}, {"services": "0", "services.nodeports": "0"})
    await raw.ok("POST services", service("a", ports=[{"port": 80}]))
    await raw.ok("PATCH services/a", {"spec": {"type": "NodePort"}}, patch="merge")
    assert await used(raw) == {"services": "1", "services.nodeports": "1"}


async def test_claims_are_counted_by_what_they_ask_for_also_of_one_class(raw: Raw) -> None:
    fast = "fast.storageclass.storage.k8s.io"
    names = ("persistentvolumeclaims", f"{fast}/persistentvolumeclaims")
    sizes = ("requests.storage", f"{fast}/requests.storage")
    await begin(raw, {**dict.fromkeys(names, "5"), **dict.fromkeys(sizes, "8Gi")}, dict.fromkeys((*names, *sizes), "0"))
    for name in ("slow", "fast"):
        claim = {"metadata": {"name": name}, "spec": {**CLAIM, "storageClassName": name}}
        await raw.ok("POST persistentvolumeclaims", claim)
    assert await used(raw) == {names[0]: "2", names[1]: "1", sizes[0]: "6Gi", sizes[1]: "3Gi"}


async def test_several_quotas_count_and_all_must_have_room(raw: Raw) -> None:
    await make(raw, "a", {"configmaps": "3"}, {"hard": {"configmaps": "3"}, "used": {"configmaps": "0"}})
    await begin(raw, {"configmaps": "1"}, {"configmaps": "0"}, name="b")  # who knows of this one knows of the first
    await raw.ok("POST configmaps", config_map("one"))
    assert (await used(raw, "a"), await used(raw, "b")) == ({"configmaps": "1"}, {"configmaps": "1"})
    assert (await raw("POST configmaps", config_map("two"))).refusal.message.startswith(
        'configmaps "two" is forbidden: exceeded quota: b,'
    )
    assert await used(raw, "a") == {"configmaps": "1"}


async def test_what_a_pod_must_say_counts_before_what_there_is_no_room_for(raw: Raw) -> None:
    await make(raw, "a", {"pods": "0"}, {"hard": {"pods": "0"}, "used": {"pods": "0"}})
    await begin(raw, {"cpu": "1"}, {"cpu": "0"})
    assert (await raw("POST pods", pod())).refusal == refused("pods p", "failed quota: q: must specify cpu for: main")


async def test_an_object_that_is_applied_is_counted_when_it_is_made(raw: Raw) -> None:
    await begin(raw, {"configmaps": "1"}, {"configmaps": "0"})
    for name, code in (("a", 201), ("a", 200), ("b", 403)):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        assert (await raw(f"PATCH configmaps/{name}?fieldManager=me", body, patch="apply")).code == code
    assert await used(raw) == {"configmaps": "1"}


async def test_events_are_not_counted(raw: Raw) -> None:
    await begin(raw, {"count/events": "0"}, {"count/events": "0"})
    about = {"involvedObject": {"namespace": "{ns}"}, "metadata": {"name": "e"}}
    await raw.ok("POST events", about)


@pytest.mark.parametrize(
    ("operator", "values", "counted"),
    [
        ("Exists", [], ["system-cluster-critical", "system-node-critical"]),
        ("DoesNotExist", [], [""]),
        ("NotIn", ["system-node-critical"], ["", "system-cluster-critical"]),
        ("In", ["system-node-critical", "other"], ["system-node-critical"]),
    ],
)
async def test_priority_classes_are_chosen(raw: Raw, operator: str, values: list[str], counted: list[str]) -> None:
    chosen = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    await begin(raw, {"pods": "9"}, {"pods": "0"}, scopeSelector={"matchExpressions": [chosen]})
    for name in ("", "system-cluster-critical", "system-node-critical"):
        before = await used(raw)
        await raw.ok("POST pods", pod(f"p{name}", priorityClassName=name))
        assert (await used(raw) != before) == (name in counted), name


async def test_a_pod_that_looks_at_other_namespaces_can_be_counted(raw: Raw) -> None:
    await begin(raw, {"pods": "0"}, {"pods": "0"}, scopes=["CrossNamespacePodAffinity"])
    near = {"topologyKey": "a", "labelSelector": {"matchLabels": {"a": "b"}}}
    why = "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"
    for way in ("podAffinity", "podAntiAffinity"):
        await raw.ok("POST pods?dryRun=All", pod(affinity={way: {REQUIRED: [near]}}))
        for elsewhere in ELSEWHERE:
            far = {**near, **elsewhere}
            for terms in ({REQUIRED: [far]}, {PREFERRED: [{"weight": 1, "podAffinityTerm": far}]}):
                assert (await raw("POST pods", pod(affinity={way: terms}))).refusal == refused("pods p", why)


async def test_custom_objects_are_counted(raw: Raw, crds: None) -> None:
    name = "count/gadgets.conformance.windvane.dev"
    await begin(raw, {name: "1"}, {name: "0"})
    await raw.ok("POST gadgets", gadget("a"))
    assert await used(raw) == {name: "1"}
    why = f"exceeded quota: q, requested: {name}=1, used: {name}=1, limited: {name}=1"
    assert (await raw("POST gadgets", gadget("b"))).refusal == refused("gadgets.conformance.windvane.dev b", why)


async def test_storage_on_nodes_is_counted_where_it_is_asked_for(raw: Raw) -> None:
    names = ("ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage")
    await begin(raw, dict.fromkeys(names, "3Gi"), dict.fromkeys(names, "0"))
    await raw.ok("POST pods", pod("silent"))
    asked = {"requests": {"ephemeral-storage": "1Gi"}, "limits": {"ephemeral-storage": "2Gi"}}
    await raw.ok("POST pods", pod(container={"resources": asked}))
    assert await used(raw) == {names[0]: "1Gi", names[1]: "1Gi", names[2]: "2Gi"}


async def test_a_pod_is_counted_by_what_it_asks_for_as_a_whole(raw: Raw) -> None:
    await begin(raw, {"requests.cpu": "9", "limits.cpu": "9"}, {"requests.cpu": "0", "limits.cpu": "0"})
    await raw.ok("POST pods", pod(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}))
    assert await used(raw) == {"requests.cpu": "2", "limits.cpu": "3"}


async def test_a_pod_that_is_resized_is_counted_by_what_it_gets(raw: Raw) -> None:
    await begin(raw, {"requests.cpu": "2"}, {"requests.cpu": "0"})
    await raw.ok("POST pods", pod(container={"resources": {"requests": {"cpu": "1"}}}))
    await raw.ok("PATCH pods/p/resize", resized("1500m"), patch="strategic")
    assert await used(raw) == {"requests.cpu": "1500m"}
    answer = await raw("PATCH pods/p/resize", resized("3"), patch="strategic")
    name = "requests.cpu"
    why = f"exceeded quota: q, requested: {name}=1500m, used: {name}=1500m, limited: {name}=2"
    assert answer.refusal == refused("pods p", why)


def resized(cpu: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}}


async def test_a_balanced_service_without_ports_on_nodes_uses_none(raw: Raw) -> None:
    names = ("services.nodeports", "services.loadbalancers")
    await begin(raw, dict.fromkeys(names, "5"), dict.fromkeys(names, "0"))
    await raw.ok("POST services", service("a", type="LoadBalancer", allocateLoadBalancerNodePorts=False))
    assert await used(raw) == {"services.nodeports": "0", "services.loadbalancers": "1"}


async def test_huge_pages_are_counted(raw: Raw) -> None:
    names = ("hugepages-2Mi", "requests.hugepages-2Mi")
    await begin(raw, dict.fromkeys(names, "8Mi"), dict.fromkeys(names, "0"))
    asked = {"requests": {"cpu": "1"}, "limits": {"hugepages-2Mi": "4Mi", "memory": "1Gi"}}
    await raw.ok("POST pods", pod(container={"resources": asked}))
    assert await used(raw) == dict.fromkeys(names, "4Mi")


async def test_a_name_that_is_made_up_is_told(raw: Raw) -> None:
    await begin(raw, {"pods": "0"}, {"pods": "0"})
    answer = await raw("POST pods", {**pod(), "metadata": {"generateName": "web-"}})
    name = answer.json["details"]["name"]
    assert name.startswith("web-")
    why = "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"
    assert answer.refusal == refused(f"pods {name}", why)


async def test_a_service_that_needs_less_gives_nothing_back_by_itself(raw: Raw) -> None:
    await begin(raw, {"services.nodeports": "5"}, {"services.nodeports": "0"})
    await raw.ok("POST services", service("a", type="NodePort"))
    before = await raw.ok("GET resourcequotas/q")
    await raw.ok("PATCH services/a", {"spec": {"type": "ClusterIP"}}, patch="merge")
    assert before["status"]["used"] == {"services.nodeports": "1"}
    assert await raw.ok("GET resourcequotas/q") == before


async def test_a_pod_from_before_a_quota_that_it_would_not_satisfy_can_be_changed(raw: Raw) -> None:
    await raw.ok("POST pods", pod("old"))
    await begin(raw, {"requests.cpu": "1", "pods": "0"}, {"requests.cpu": "0", "pods": "0"})
    why = "failed quota: q: must specify requests.cpu for: main"
    assert (await raw("POST pods", pod("new"))).refusal == refused("pods new", why)
    await raw.ok("PATCH pods/old", {"metadata": {"labels": {"a": "b"}}}, patch="merge")


async def test_what_a_runtime_needs_for_itself_is_counted(raw: Raw) -> None:
    overhead = {"podFixed": {"cpu": "250m", "memory": "10Mi"}}
    runtime = {"metadata": {"name": raw.namespace}, "handler": "slow", "overhead": overhead}
    await raw.ok("POST /apis/node.k8s.io/v1/runtimeclasses", runtime)
    names = ("requests.cpu", "limits.cpu", "requests.memory")
    await begin(raw, dict.fromkeys(names, "1Gi"), dict.fromkeys(names, "0"))
    await raw.ok("POST pods", pod(runtimeClassName=raw.namespace, container={"resources": SMALL}))
    assert await used(raw) == {"requests.cpu": "350m", "limits.cpu": "450m", "requests.memory": "74Mi"}


async def test_a_pod_that_says_what_it_needs_as_a_whole_need_not_say_more(raw: Raw) -> None:
    await begin(raw, {"requests.cpu": "9", "limits.memory": "9"}, {"requests.cpu": "0", "limits.memory": "0"})
    await raw.ok("POST pods", pod(resources={"requests": {"cpu": "2"}}))
    assert await used(raw) == {"requests.cpu": "2", "limits.memory": "0"}


async def test_the_older_annotation_says_of_which_class_a_claim_is(raw: Raw) -> None:
    names = [f"{each}.storageclass.storage.k8s.io/requests.storage" for each in ("gold", "lead")]
    await begin(raw, dict.fromkeys(names, "9Gi"), dict.fromkeys(names, "0"))
    annotations = {"volume.beta.kubernetes.io/storage-class": "gold"}
    spec = {**CLAIM, "storageClassName": "lead"}
    await raw.ok("POST persistentvolumeclaims", {"metadata": {"name": "c", "annotations": annotations}, "spec": spec})
    assert await used(raw) == {names[0]: "3Gi", names[1]: "0"}


@pytest.mark.parametrize(
    ("operator", "values", "counted"),
    [("Exists", [], ["fast"]), ("DoesNotExist", [], [""]), ("In", ["fast"], ["fast"]), ("NotIn", ["fast"], [""])],
)
async def test_claims_are_chosen_by_their_class_of_attributes(
    raw: Raw, operator: str, values: list[str], counted: list[str]
) -> None:
    chosen = {"scopeName": "VolumeAttributesClass", "operator": operator, "values": values}
    hard, so_far = {"persistentvolumeclaims": "9"}, {"persistentvolumeclaims": "0"}
    await begin(raw, hard, so_far, scopeSelector={"matchExpressions": [chosen]})
    for name in ("", "fast"):
        spec = {**CLAIM, "volumeAttributesClassName": name} if name else CLAIM
        await raw.ok("POST persistentvolumeclaims", {"metadata": {"name": f"claim-{name}x"}, "spec": spec})
        there = (await used(raw))["persistentvolumeclaims"]
        assert (there != so_far["persistentvolumeclaims"]) == (name in counted)
        so_far = {"persistentvolumeclaims": there}
