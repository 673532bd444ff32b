"""Which requests a webhook is asked about: rules, versions, selectors and conditions."""

import asyncio
from typing import Any

import pytest

from conformance.crds import definition, serve
from conformance.objects import config_map, deployment, pod
from conformance.requests import Raw
from conformance.servers import Server
from conformance.webhook_server import API, Thing, Webhooks, add, denied, patched

BOTH = pytest.mark.parametrize("kind", ["Mutating", "Validating"])
SCHEMA = {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
SITES = definition("sites", "Site", SCHEMA)
SITES["spec"]["versions"] = [
    {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": SCHEMA}}
    for name in ("v1", "v2")
]
GROUP = "conformance.windvane.dev"


@pytest.fixture(scope="session")
def versions(server: Server) -> None:
    """Sites are served in two versions. They stay, as the server does: pytest-xdist may come back to this module."""

    async def serve_sites() -> None:
        async with Raw(server.url, server.ca_file, server.token) as raw:
            await serve(raw, SITES)

    asyncio.run(serve_sites())


def site(version: str) -> Thing:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Site", "metadata": {"name": "s"}, "spec": {}}


def sites(*versions: str, **rest: Any) -> Thing:
    return {"apiGroups": [GROUP], "apiVersions": versions, "resources": ["sites"], "operations": ["*"], **rest}


async def test_a_webhook_without_rules_is_never_asked(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Validating", webhooks.webhook("h", denied("no"), rules=[]))
    await raw.ok("POST configmaps", config_map())


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"operations": ["*"]}, ["CREATE", "UPDATE", "DELETE"]),
        ({"operations": ["UPDATE", "DELETE"]}, ["UPDATE", "DELETE"]),
        ({"operations": ["*"], "resources": ["*"]}, ["CREATE", "UPDATE", "DELETE"]),
        ({"operations": ["*"], "resources": ["configmaps/status"]}, []),
        ({"operations": ["*"], "scope": "Namespaced"}, ["CREATE", "UPDATE", "DELETE"]),
        ({"operations": ["*"], "scope": "Cluster"}, []),
        ({"operations": ["*"], "apiGroups": ["apps"]}, []),
        ({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"]}, ["CREATE", "UPDATE", "DELETE"]),
    ],
)
async def test_rules(raw: Raw, webhooks: Webhooks, rule: Thing, expected: list[str]) -> None:
    await webhooks.install("Validating", webhooks.webhook("h", rule=rule))
    await raw.ok("POST configmaps", config_map())
    await raw.ok("PATCH configmaps/a", {"data": {"a": "b"}}, patch="merge")
    await raw.remembered("configmaps/a")
    await raw.ok("DELETE configmaps/a")
    assert [request["operation"] for _, request in webhooks.asked] == expected


@pytest.mark.parametrize(("scope", "expected"), [("Cluster", 1), ("Namespaced", 0), ("*", 1)])
async def test_a_namespace_is_in_none_by_its_scope(raw: Raw, webhooks: Webhooks, scope: str, expected: int) -> None:
    rule = {"resources": ["namespaces"], "operations": ["UPDATE"], "scope": scope}
    await webhooks.install("Validating", webhooks.webhook("h", rule=rule))
    await raw.ok("PATCH /api/v1/namespaces/{ns}", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
    assert len(webhooks.asked) == expected


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        (["deployments"], [""]),
        (["deployments/status"], ["status"]),
        (["deployments/*"], ["", "status", "scale"]),
        (["*/scale"], ["scale"]),
        (["*"], [""]),
        (["*/*"], ["", "status", "scale"]),
    ],
)
async def test_subresources(raw: Raw, webhooks: Webhooks, resources: list[str], expected: list[str]) -> None:
    rule = {"apiGroups": ["apps"], "resources": resources, "operations": ["*"]}
    await webhooks.install("Validating", webhooks.webhook("h", rule=rule))
    await raw.ok("POST deployments", deployment())
    await raw.ok("PATCH deployments/web/status", {"status": {"replicas": 2}}, patch="merge")
    await raw.remembered("deployments/web")
    await raw.ok("PATCH deployments/web/scale", {"spec": {"replicas": 2}}, patch="merge")
    assert [request.get("subResource", "") for _, request in webhooks.asked] == expected


@pytest.mark.usefixtures("versions")
@BOTH
async def test_a_rule_for_one_version_means_the_others_too(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    await webhooks.install(kind, webhooks.webhook("h", rule=sites("v1")))
    await raw.ok(f"POST /apis/{GROUP}/v2/namespaces/{{ns}}/sites", site("v2"))
    ((_, request),) = webhooks.asked
    assert request["kind"] == {"group": GROUP, "version": "v1", "kind": "Site"}
    assert request["resource"] == {"group": GROUP, "version": "v1", "resource": "sites"}
    assert request["requestKind"] == {"group": GROUP, "version": "v2", "kind": "Site"}
    assert request["requestResource"] == {"group": GROUP, "version": "v2", "resource": "sites"}
    assert request["object"]["apiVersion"] == f"{GROUP}/v1"


@pytest.mark.usefixtures("versions")
@BOTH
async def test_unless_it_is_meant_exactly(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    await webhooks.install(kind, webhooks.webhook("h", rule=sites("v1"), matchPolicy="Exact"))
    await raw.ok(f"POST /apis/{GROUP}/v2/namespaces/{{ns}}/sites", site("v2"))
    assert webhooks.asked == []


@pytest.mark.usefixtures("versions")
async def test_what_a_webhook_changes_in_its_own_version_comes_back_in_the_requested_one(
    raw: Raw, webhooks: Webhooks
) -> None:
    first = webhooks.webhook("first", patched(add("/spec/a", 1)), rule=sites("v1"))
    second = webhooks.webhook("second", patched(add("/spec/b", 2)), rule=sites("v2"))
    await webhooks.install("Mutating", first, second)
    made = await raw.ok(f"POST /apis/{GROUP}/v2/namespaces/{{ns}}/sites", site("v2"))
    assert (made["apiVersion"], made["spec"]) == (f"{GROUP}/v2", {"a": 1, "b": 2})


@pytest.mark.usefixtures("versions")
async def test_the_requested_version_comes_before_all_others(raw: Raw, webhooks: Webhooks) -> None:
    hook = webhooks.webhook("h", rules=[sites("v1"), sites("v2")])
    await webhooks.install("Validating", hook)
    await raw.ok(f"POST /apis/{GROUP}/v2/namespaces/{{ns}}/sites", site("v2"))
    ((_, request),) = webhooks.asked
    assert request["kind"]["version"] == "v2"


async def test_an_autoscaler_of_another_version(raw: Raw, webhooks: Webhooks) -> None:
    rule = {
        "apiGroups": ["autoscaling"],
        "apiVersions": ["v1"],
        "resources": ["horizontalpodautoscalers"],
        "operations": ["CREATE"],
    }
    await webhooks.install("Validating", webhooks.webhook("h", rule=rule))
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 7}},
    }
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "metrics": [metric]}
    await raw.ok("POST horizontalpodautoscalers", {"metadata": {"name": "web"}, "spec": spec})
    ((_, request),) = webhooks.asked
    assert request["kind"]["version"] == "v1"
    assert request["object"]["apiVersion"] == "autoscaling/v1"
    assert request["object"]["spec"]["targetCPUUtilizationPercentage"] == 7


@BOTH
async def test_other_namespaces_are_left_alone(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    await webhooks.install(kind, webhooks.webhook("h", denied("no")))
    name = f"from-{raw.namespace}"
    await raw.ok("POST /api/v1/namespaces/default/configmaps", config_map(name))
    await raw.ok(f"DELETE /api/v1/namespaces/default/configmaps/{name}")


async def test_a_namespace_that_is_labelled_later(raw: Raw, webhooks: Webhooks) -> None:
    this = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": [raw.namespace]}
    off = {"key": "webhooks", "operator": "NotIn", "values": ["off"]}
    hook = webhooks.webhook("h", denied("no"), namespaceSelector={"matchExpressions": [this, off]})
    await webhooks.install("Validating", hook)
    assert (await raw("POST configmaps", config_map())).code == 400
    await raw.ok("PATCH /api/v1/namespaces/{ns}", {"metadata": {"labels": {"webhooks": "off"}}}, patch="merge")
    await webhooks.until_created(config_map())


async def test_a_namespace_itself_is_selected_by_its_own_labels(raw: Raw, webhooks: Webhooks) -> None:
    rule = {"resources": ["namespaces"], "operations": ["CREATE", "DELETE"]}
    selector = {"matchLabels": {"made-in": raw.namespace}}
    await webhooks.install("Validating", webhooks.webhook("h", rule=rule, namespaceSelector=selector))
    labels = {"made-in": raw.namespace}
    await raw.ok("POST /api/v1/namespaces", {"metadata": {"name": f"{raw.namespace}-x", "labels": labels}})
    await raw.ok("POST /api/v1/namespaces", {"metadata": {"name": f"{raw.namespace}-y"}})
    ((_, request),) = webhooks.asked
    assert (request["name"], request["namespace"]) == (f"{raw.namespace}-x", f"{raw.namespace}-x")


async def test_what_is_in_no_namespace_is_always_selected(raw: Raw, webhooks: Webhooks) -> None:
    rule = {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "operations": ["CREATE"]}
    mine = {"matchLabels": {"made-in": raw.namespace}}
    hook = webhooks.webhook("h", denied("no"), rule=rule, objectSelector=mine)
    await webhooks.install("Validating", hook)
    thing = {"metadata": {"name": raw.namespace, "labels": {"made-in": raw.namespace}}, "value": 7}
    assert (await raw("POST /apis/scheduling.k8s.io/v1/priorityclasses", thing)).code == 400


@BOTH
async def test_labels_of_the_object_as_it_was_count_too(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    selector = {"matchLabels": {"watched": "yes"}}
    hook = webhooks.webhook("h", denied("no"), rule={"operations": ["UPDATE"]}, objectSelector=selector)
    await webhooks.install(kind, hook)
    await raw.ok("POST configmaps", config_map("a", metadata={"labels": {"watched": "yes"}}))
    await raw.ok("POST configmaps", config_map("b"))
    unlabelled = {"metadata": {"labels": None}}
    assert (await raw("PATCH configmaps/a", unlabelled, patch="merge")).code == 400
    labelled = {"metadata": {"labels": {"watched": "yes"}}}
    assert (await raw("PATCH configmaps/b", labelled, patch="merge")).code == 400
    await raw.ok("PATCH configmaps/b", {"metadata": {"labels": {"watched": "no"}}}, patch="merge")


@BOTH
async def test_configurations_of_webhooks_are_never_asked_about(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
    # Nothing else in the cluster has this name.
    only_mine = [{"name": "mine", "expression": f"has(request.name) && request.name == 'other-{raw.namespace}'"}]
    hook = webhooks.webhook("h", denied("no"), rule=rule, namespaceSelector={}, matchConditions=only_mine)
    await webhooks.install(kind, hook)
    for resource in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        thing = {"metadata": {"name": f"other-{raw.namespace}"}}
        await raw.ok(f"POST {API}/{resource}", thing)
        await raw.ok(f"DELETE {API}/{resource}/other-{raw.namespace}")
    assert (await raw("POST configmaps", config_map(f"other-{raw.namespace}"))).code == 400


# Conditions


def when(*expressions: str) -> Thing:
    conditions = [{"name": f"c{number}", "expression": each} for number, each in enumerate(expressions)]
    return {"matchConditions": conditions}


@BOTH
@pytest.mark.parametrize(
    ("expressions", "asked"),
    [
        (["true"], True),
        (["false"], False),
        (["true", "false"], False),
        (["object.metadata.name == 'a'"], True),
        (["object.metadata.name == 'b'"], False),
        (["oldObject == null"], True),
        (["request.operation == 'CREATE' && request.resource.resource == 'configmaps'"], True),
        (["request.userInfo.username == 'admin'"], True),
        (["!('system:masters' in request.userInfo.groups)"], False),
        (["authorizer.group('').resource('pods').check('create').allowed()"], True),
        (["object.data.missing == 'x'", "false"], False),
        (["has(object.data) && object.data.x == 'y'"], False),
    ],
)
async def test_conditions(raw: Raw, webhooks: Webhooks, kind: str, expressions: list[str], asked: bool) -> None:
    await webhooks.install(kind, webhooks.webhook("h", **when(*expressions)))
    await raw.ok("POST configmaps", config_map())
    assert bool(webhooks.asked) == asked


@BOTH
async def test_a_condition_that_comes_to_nothing_refuses_the_write(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    await webhooks.install(kind, webhooks.webhook("h", **when("object.data.x == 'y'")))
    refused = (await raw("POST configmaps", config_map())).refusal
    told = "expression 'object.data.x == 'y'' resulted in error: no such key: data"
    assert (refused.code, refused.message) == (403, f'configmaps "a" is forbidden: {told}')
    assert (refused.reason, refused.about) == ("Forbidden", "configmaps a")
    assert webhooks.asked == []


@BOTH
async def test_unless_failures_are_ignored_and_then_nobody_is_asked(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    await webhooks.install(kind, webhooks.webhook("h", failurePolicy="Ignore", **when("object.data.x == 'y'")))
    await raw.ok("POST configmaps", config_map())
    assert webhooks.asked == []


async def test_conditions_see_what_earlier_webhooks_did(raw: Raw, webhooks: Webhooks) -> None:
    first = webhooks.webhook("first", patched(add("/data", {"x": "y"})))
    second = webhooks.webhook("second", **when("object.data.x == 'y'"))
    await webhooks.install("Mutating", first, second)
    await raw.ok("POST configmaps", config_map())
    assert [name for name, _ in webhooks.asked] == ["first", "second"]


async def test_what_can_have_no_labels_is_never_selected_by_them(raw: Raw, webhooks: Webhooks) -> None:
    await raw.ok("POST pods", pod("p"))
    rule = {"resources": ["pods/exec"], "operations": ["CONNECT"]}
    without_label = {"matchExpressions": [{"key": "exempt", "operator": "DoesNotExist"}]}
    await webhooks.install("Validating", webhooks.webhook("h", denied(), rule=rule, objectSelector=without_label))
    answer = await raw("POST pods/p/exec?command=ls&stdout=1")
    assert answer.json["message"] == "pod p does not have a host assigned"
    assert webhooks.requests("h") == []
