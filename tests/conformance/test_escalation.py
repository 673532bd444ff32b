"""Nobody gives away more than they have: writing roles and bindings takes the rights that are in them."""

import json
from typing import Any

import pytest
import pytest_asyncio

from conformance.access import RBAC, RBAC_GROUP, Somebody, binding, rule
from conformance.objects import service
from conformance.requests import Raw, Refused
from conformance.webhook_server import Webhooks, add, patched

WRITES = rule("get create update patch", "roles clusterroles rolebindings clusterrolebindings", RBAC_GROUP)
GETS_PODS = rule("get", "pods")
WHO = 'user "{ns}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:'


def role(*rules: dict[str, Any], name: str = "r", **rest: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "rules": list(rules), **rest}


def refused(kind: str, name: str, *missing: str) -> Refused:
    resource = f"{kind}.{RBAC_GROUP}"
    about = f'{resource} "{name}"' if name else resource
    return Refused(
        403, "Forbidden", f"{about} is forbidden: {WHO}\n" + "\n".join(missing), f"{resource} {name}".strip()
    )


def line(group: str, resource: str, *verbs: str, name: str = "") -> str:
    listed = " ".join(f'"{verb}"' for verb in verbs)
    named = f'ResourceNames:["{name}"], ' if name else ""
    return f'{{APIGroups:["{group}"], Resources:["{resource}"], {named}Verbs:[{listed}]}}'


@pytest_asyncio.fixture(loop_scope="module")
async def somebody(raw: Raw) -> Somebody:
    """Somebody who may write roles and bindings, and get pods."""
    somebody = Somebody(raw)
    await somebody.may_everywhere(WRITES, GETS_PODS)
    return somebody


async def test_a_role_with_rights_that_one_has(somebody: Somebody) -> None:
    assert (await somebody("POST roles", role(GETS_PODS))).code == 201
    assert (await somebody("POST roles", role(rule("get", "pods", resourceNames=["a"]), name="s"))).code == 201


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        ([rule("get", "secrets")], [line("", "secrets", "get")]),
        (
            [{"verbs": ["get", "list"], "apiGroups": ["", "apps"], "resources": ["secrets", "pods"]}],
            [
                line("", "pods", "list"),
                line("", "secrets", "get", "list"),
                line("apps", "pods", "get", "list"),
                line("apps", "secrets", "get", "list"),
            ],
        ),
        (
            [rule("get", "secrets", resourceNames=["a", "b"])],
            [line("", "secrets", "get", name="a"), line("", "secrets", "get", name="b")],
        ),
        ([rule("delete", "pods/log")], [line("", "pods/log", "delete")]),
        ([rule("*", "pods")], [line("", "pods", "*")]),
        ([rule("get", "*")], [line("", "*", "get")]),
        ([rule("get", "pods", "*")], [line("*", "pods", "get")]),
    ],
)
async def test_a_role_with_more(rules: list[dict[str, Any]], missing: list[str], somebody: Somebody, raw: Raw) -> None:
    answer = await somebody("POST roles", role(*rules))
    assert answer.refusal == refused("roles", "r", *missing).in_namespace(raw.namespace)


async def test_a_role_whose_name_is_not_known_yet(somebody: Somebody, raw: Raw) -> None:
    answer = await somebody("POST roles", {"metadata": {"generateName": "r-"}, "rules": [rule("get", "secrets")]})
    assert answer.refusal == refused("roles", "", line("", "secrets", "get")).in_namespace(raw.namespace)


async def test_a_cluster_role_with_more(somebody: Somebody, raw: Raw) -> None:
    urls = {"verbs": ["get", "post"], "nonResourceURLs": ["/x"]}
    answer = await somebody(f"POST {RBAC}/clusterroles", role(urls, name="more-{ns}"))
    missing = ['{NonResourceURLs:["/x"], Verbs:["get"]}', '{NonResourceURLs:["/x"], Verbs:["post"]}']
    assert answer.refusal == refused("clusterroles", "more-{ns}", *missing).in_namespace(raw.namespace)


async def test_a_role_that_is_wrong_and_too_much_is_too_much(somebody: Somebody) -> None:
    assert (await somebody("POST roles", role({"verbs": ["get"], "nonResourceURLs": ["/x"]}))).code == 403
    assert (await somebody("POST roles", role({"verbs": [], "apiGroups": [""], "resources": ["secrets"]}))).code == 422


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_a_role_is_not_widened(method: str, somebody: Somebody, raw: Raw) -> None:
    await raw.ok("POST roles", role(GETS_PODS))
    wider = role(rule("get", "secrets"))
    answer = await somebody(f"{method} roles/r", wider, patch="merge" if method == "PATCH" else "")
    assert answer.refusal == refused("roles", "r", line("", "secrets", "get")).in_namespace(raw.namespace)


async def test_a_role_that_has_more_can_not_be_touched(somebody: Somebody, raw: Raw) -> None:
    await raw.ok("POST roles", role(rule("get", "secrets")))
    change = {"metadata": {"labels": {"a": "b"}}}
    answer = await somebody("PATCH roles/r", change, patch="merge")
    assert answer.refusal == refused("roles", "r", line("", "secrets", "get")).in_namespace(raw.namespace)


async def test_the_finalizers_of_a_role_can_always_be_changed(somebody: Somebody, raw: Raw) -> None:
    await raw.ok("POST roles", role(rule("get", "secrets")))
    change = {"metadata": {"finalizers": ["example.com/wait"]}}
    assert (await somebody("PATCH roles/r", change, patch="merge")).code == 200


async def test_an_update_does_not_create_more(somebody: Somebody, raw: Raw) -> None:
    answer = await somebody("PUT roles/r", role(rule("get", "secrets")))
    assert answer.refusal == refused("roles", "r", line("", "secrets", "get")).in_namespace(raw.namespace)


async def test_the_right_to_escalate(somebody: Somebody) -> None:
    await somebody.may(rule("escalate", "roles", RBAC_GROUP, resourceNames=["r"]))
    answer = await somebody("PUT roles/r", role(rule("get", "secrets")))
    assert answer.code == 201
    assert (await somebody("PUT roles/s", role(rule("get", "secrets"), name="s"))).code == 403


AGGREGATION = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"example.com/nobody": "has"}}]}}


async def test_an_aggregated_role_takes_all_rights(somebody: Somebody, raw: Raw) -> None:
    answer = await somebody(f"POST {RBAC}/clusterroles", role(GETS_PODS, name="a-{ns}", **AGGREGATION))
    message = 'clusterroles.{} "a-{}" is forbidden: must have cluster-admin privileges to use the aggregationRule'
    assert answer.refusal.message == message.format(RBAC_GROUP, raw.namespace)


# Bindings


async def test_a_binding_of_a_role_with_rights_that_one_has(somebody: Somebody, raw: Raw) -> None:
    await raw.ok("POST roles", role(GETS_PODS))
    assert (await somebody("POST rolebindings", binding("b", "Role", "r", "jane"))).code == 201


async def test_a_binding_of_a_role_with_more(somebody: Somebody, raw: Raw) -> None:
    await raw.ok("POST roles", role(rule("get list", "secrets")))
    answer = await somebody("POST rolebindings", binding("b", "Role", "r", "jane"))
    missing = line("", "secrets", "get", "list")
    assert answer.refusal == refused("rolebindings", "b", missing).in_namespace(raw.namespace)


async def test_a_binding_that_does_not_name_the_role_s_group(somebody: Somebody, raw: Raw) -> None:
    await raw.ok("POST roles", role(rule("get", "secrets")))
    answer = await somebody("POST rolebindings", {"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "r"}})
    assert answer.refusal == refused("rolebindings", "b", line("", "secrets", "get")).in_namespace(raw.namespace)


@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
async def test_a_binding_of_a_role_that_is_not_there(kind: str, somebody: Somebody) -> None:
    answer = await somebody("POST rolebindings", binding("b", kind, "nope", "jane"))
    message = 'rolebindings.rbac.authorization.k8s.io "nope" not found'
    assert answer.refusal == Refused(404, "NotFound", message, f"rolebindings.{RBAC_GROUP} nope")


async def test_a_binding_of_something_else(somebody: Somebody) -> None:
    answer = await somebody("POST rolebindings", binding("b", "Thing", "r", "jane"))
    assert answer.refusal == Refused(500, "", 'unsupported role reference kind: "Thing"')


async def test_a_binding_of_the_strongest_role(somebody: Somebody, raw: Raw) -> None:
    answer = await somebody(
        f"POST {RBAC}/clusterrolebindings", binding("b-{ns}", "ClusterRole", "cluster-admin", "{ns}")
    )
    missing = [line("*", "*", "*"), '{NonResourceURLs:["*"], Verbs:["*"]}']
    assert answer.refusal == refused("clusterrolebindings", "b-{ns}", *missing).in_namespace(raw.namespace)


async def test_the_right_to_bind(somebody: Somebody, raw: Raw) -> None:
    await raw.ok("POST roles", role(rule("get", "secrets")))
    await raw.ok("POST roles", role(rule("get", "secrets"), name="s"))
    await somebody.may(rule("bind", "roles", RBAC_GROUP, resourceNames=["r"]))
    assert (await somebody("POST rolebindings", binding("b", "Role", "r", "jane"))).code == 201
    assert (await somebody("POST rolebindings", binding("c", "Role", "s", "jane"))).code == 403


async def test_nobody_is_added_to_a_binding_of_more(somebody: Somebody, raw: Raw) -> None:
    await raw.ok("POST roles", role(rule("get", "secrets")))
    await raw.ok("POST rolebindings", binding("b", "Role", "r", "jane"))
    answer = await somebody("PUT rolebindings/b", binding("b", "Role", "r", "{ns}"))
    assert answer.refusal == refused("rolebindings", "b", line("", "secrets", "get")).in_namespace(raw.namespace)


async def test_an_administrator_grants_what_they_like(raw: Raw) -> None:
    await raw.ok("POST roles", role(rule("*", "*", "*")))
    await raw.ok("POST rolebindings", binding("b", "Role", "nope", "jane"))


APPLIED = {"apiVersion": f"{RBAC_GROUP}/v1", "kind": "Role", "metadata": {"name": "r"}}


async def test_applying_grants_no_more(somebody: Somebody, raw: Raw) -> None:
    applied = {**APPLIED, "rules": [rule("get", "secrets")]}
    answer = await somebody("PATCH roles/r?fieldManager=me", applied, patch="apply")
    assert answer.refusal == refused("roles", "r", line("", "secrets", "get")).in_namespace(raw.namespace)
    answer = await somebody("PATCH roles/r?fieldManager=me", {**APPLIED, "rules": [GETS_PODS]}, patch="apply")
    assert answer.code == 201


async def test_applying_what_is_not_there_takes_the_right_to_create(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may(rule("patch", "roles", RBAC_GROUP), GETS_PODS)
    answer = await somebody("PATCH roles/r?fieldManager=me", {**APPLIED, "rules": [GETS_PODS]}, patch="apply")
    assert answer.refusal.message == (
        f'roles.{RBAC_GROUP} "r" is forbidden: User "{raw.namespace}" cannot create resource "roles" '
        f'in API group "{RBAC_GROUP}" in the namespace "{raw.namespace}"'
    )


@pytest.mark.parametrize("request_", ["POST roles", "PUT roles/r"])
async def test_what_webhooks_make_of_a_new_role_counts(
    request_: str, somebody: Somebody, raw: Raw, webhooks: Webhooks
) -> None:
    def says(request: dict[str, Any]) -> dict[str, Any]:
        return patched(add("/rules", json.loads(request["object"]["metadata"]["annotations"]["rules"])))(request)

    def annotated(sent: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
        return {"metadata": {"name": "r", "annotations": {"rules": json.dumps([made])}}, "rules": [sent]}

    about = {"apiGroups": [RBAC_GROUP], "resources": ["roles"]}
    await webhooks.install("Mutating", webhooks.webhook("h", says, rule=about))
    more = await somebody(request_, annotated(GETS_PODS, rule("get", "secrets")))
    assert more.refusal == refused("roles", "r", line("", "secrets", "get")).in_namespace(raw.namespace)
    assert (await somebody(request_, annotated(rule("get", "secrets"), GETS_PODS))).code == 201


async def test_the_right_to_create_is_asked_for_when_all_else_is_known(raw: Raw, webhooks: Webhooks) -> None:
    somebody = Somebody(raw)
    await somebody.may(rule("update", "services"))
    for kind in ("Mutating", "Validating"):
        hook = webhooks.webhook(kind.lower(), rule={"resources": ["services"]})
        await webhooks.install(kind, hook, name=kind.lower())
    webhooks.asked.clear()
    assert (await somebody("PUT services/s", service(ports=[{"port": -1}]))).code == 422
    assert (await somebody("PUT services/s", service())).code == 403
    assert [name for name, _ in webhooks.asked] == ["mutating", "mutating"]
