"""ResourceQuotas: what is refused because of them, and what they say is used after each write.

Who counts what is there is a controller, which an API server alone doesn't have; each test plays it.
"""

from typing import Any

import pytest

from conformance.objects import config_map, deployment, pod, service
from conformance.requests import Raw, Refused
from windvane import ambient

SMALL = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "3Gi"}}}
LEASES = {"count/leases.coordination.k8s.io": "0"}


async def begin(raw: Raw, hard: dict[str, str], used: dict[str, str], *, name: str = "q", **spec: Any) -> None:
    """Make a quota that was counted, and wait until the server knows of it: a real one reads quotas from a cache."""
    await make(raw, name, hard, {"hard": hard, "used": used}, **spec)
    await make(raw, f"{name}-last", LEASES, {"hard": LEASES, "used": LEASES})
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
    why = "failed quota: q: must specify cpu for: second; limits.memory for: main,second"
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
    await begin(raw, {"configmaps": "3"}, {"configmaps": "0"}, name="a")
    await begin(raw, {"configmaps": "1"}, {"configmaps": "0"}, name="b")
    await raw.ok("POST configmaps", config_map("one"))
    assert (await used(raw, "a"), await used(raw, "b")) == ({"configmaps": "1"}, {"configmaps": "1"})
    assert (await raw("POST configmaps", config_map("two"))).refusal.message.startswith(
        'configmaps "two" is forbidden: exceeded quota: b,'
    )
    assert await used(raw, "a") == {"configmaps": "1"}


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
