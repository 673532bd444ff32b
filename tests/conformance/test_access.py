"""Who may do what: refusals in their very words, rules and bindings, and that nobody learns what they may not see."""

import asyncio

import pytest

from conformance.access import (
    RBAC,
    RBAC_GROUP,
    REVIEW,
    Somebody,
    binding,
    known,
    marker,
    review,
    rule,
    until_allowed,
)
from conformance.objects import config_map
from conformance.requests import SECONDS, Answer, Raw, Refused
from conformance.servers import Server

NS = "/api/v1/namespaces/{ns}"
APPS = "/apis/apps/v1/namespaces/{ns}"

# A request of somebody without rights; its verb, resource, group, whether it is in the namespace, and its name.
REFUSALS = [
    ("GET /api/v1/pods", "list", "pods", "", False, ""),
    ("GET /api/v1/pods?watch=true", "watch", "pods", "", False, ""),
    ("GET /api/v1/pods?watch=false", "list", "pods", "", False, ""),
    ("GET /api/v1/watch/pods", "watch", "pods", "", False, ""),
    ("GET /api/v1/nodes/one", "get", "nodes", "", False, "one"),
    ("GET /api/v1/namespaces", "list", "namespaces", "", False, ""),
    ("GET /api/v1/namespaces/{ns}", "get", "namespaces", "", True, "{ns}"),
    ("GET /api/v1/namespaces/{ns}/status", "get", "namespaces/status", "", True, "{ns}"),
    ("PUT /api/v1/namespaces/{ns}/finalize", "update", "namespaces/finalize", "", True, "{ns}"),
    (f"GET {NS}/pods", "list", "pods", "", True, ""),
    (f"GET {NS}/pods/", "list", "pods", "", True, ""),
    (f"GET {NS}/pods?fieldSelector=metadata.name%3Dweb", "list", "pods", "", True, "web"),
    (f"GET {NS}/pods?fieldSelector=metadata.name!%3Dweb", "list", "pods", "", True, ""),
    (f"GET {NS}/pods?watch=1&fieldSelector=metadata.name%3Dweb", "watch", "pods", "", True, "web"),
    ("GET /api/v1/watch/namespaces/{ns}/pods/web", "watch", "pods", "", True, "web"),
    (f"GET {NS}/pods/web", "get", "pods", "", True, "web"),
    (f"GET {NS}/pods/web/log", "get", "pods/log", "", True, "web"),
    (f"POST {NS}/pods/web/exec", "create", "pods/exec", "", True, "web"),
    (f"POST {NS}/pods/web/binding", "create", "pods/binding", "", True, "web"),
    (f"POST {NS}/pods/web/eviction", "create", "pods/eviction", "", True, "web"),
    (f"GET {NS}/pods/web/proxy/a/b", "get", "pods/proxy", "", True, "web"),
    (f"POST {NS}/pods", "create", "pods", "", True, ""),
    (f"PUT {NS}/pods/web", "update", "pods", "", True, "web"),
    (f"PATCH {NS}/pods/web", "patch", "pods", "", True, "web"),
    (f"DELETE {NS}/pods/web", "delete", "pods", "", True, "web"),
    (f"DELETE {NS}/pods", "deletecollection", "pods", "", True, ""),
    (f"PUT {NS}/pods/web/status", "update", "pods/status", "", True, "web"),
    (f"POST {NS}/serviceaccounts/a/token", "create", "serviceaccounts/token", "", True, "a"),
    (f"GET {APPS}/deployments/web/scale", "get", "deployments/scale", "apps", True, "web"),
    (f"PATCH {APPS}/deployments/web/scale", "patch", "deployments/scale", "apps", True, "web"),
    (f"DELETE {APPS}/deployments", "deletecollection", "deployments", "apps", True, ""),
    (f"POST {NS}/wines", "create", "wines", "", True, ""),
    ("GET /apis/nobody.example.com/v1/things/a", "get", "things", "nobody.example.com", False, "a"),
    ("GET /apis/apps/v9/deployments", "list", "deployments", "apps", False, ""),
    (f"OPTIONS {NS}/pods", "", "pods", "", True, ""),
    (f"GET {NS}/configmaps/a/color", "get", "configmaps/color", "", True, "a"),
    ("POST /api/v1/watch/namespaces/{ns}/pods", "watch", "pods", "", True, ""),
    (f"GET {RBAC}/clusterroles/cluster-admin", "get", "clusterroles", RBAC_GROUP, False, "cluster-admin"),
    (REVIEW, "create", "subjectaccessreviews", "authorization.k8s.io", False, ""),
    ("POST /apis/authentication.k8s.io/v1/tokenreviews", "create", "tokenreviews", "authentication.k8s.io", False, ""),
]


@pytest.mark.parametrize(("request_", "verb", "resource", "group", "inside", "name"), REFUSALS)
async def test_nothing_without_a_rule(
    request_: str, verb: str, resource: str, group: str, inside: bool, name: str, raw: Raw
) -> None:
    plural = resource.partition("/")[0]
    kind = f"{plural}.{group}" if group else plural
    where = 'in the namespace "{ns}"' if inside else "at the cluster scope"
    about = f'{kind} "{name}"' if name else kind
    message = f'{about} is forbidden: User "{{ns}}" cannot {verb} resource "{resource}" in API group "{group}" {where}'
    expected = Refused(403, "Forbidden", message, f"{kind} {name}".strip())
    patch = "merge" if request_.startswith("PATCH") else ""
    body: object = None if request_.startswith(("GET", "OPTIONS")) else {}
    answer = await Somebody(raw)(request_, body, patch=patch)
    assert answer.refusal == expected.in_namespace(raw.namespace)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/", "/metrics", "/openid/v1/jwks", "/healthz/ping", "/nothing", "/logs", "/api/v1/"])
async def test_a_path_that_is_no_resource(path: str, raw: Raw) -> None:
    answer = await Somebody(raw)(f"GET {path}")
    if path == "/api/v1/":  # everybody who is known may look at what there is
        assert answer.code == 200
        return
    message = f'forbidden: User "{raw.namespace}" cannot get path "{path}"'
    assert answer.refusal == Refused(403, "Forbidden", message, "")


@pytest.mark.parametrize("path", ["/api", "/apis", "/apis/apps/v1", "/version", "/openapi/v3", "/healthz", "/readyz"])
async def test_a_path_that_everybody_may_see(path: str, raw: Raw) -> None:
    assert (await Somebody(raw)(f"GET {path}")).code == 200


async def test_another_method_on_such_a_path(raw: Raw) -> None:
    message = f'forbidden: User "{raw.namespace}" cannot post path "/version"'
    assert (await Somebody(raw)("POST /version", {})).refusal == Refused(403, "Forbidden", message, "")


async def test_a_refusal_has_no_html(raw: Raw) -> None:
    answer = await Somebody(raw)("GET /api/v1/namespaces/{ns}/a%3Cb%3E")
    assert answer.json["message"] == (
        f'a<b> is forbidden: User "{raw.namespace}" cannot list resource "a&lt;b&gt;" in API group "" '
        f'in the namespace "{raw.namespace}"'
    )


async def test_a_binding_to_a_role_that_is_not_there_is_told(raw: Raw) -> None:
    await raw.ok("POST rolebindings", binding("b", "Role", "nope", "{ns}"))
    await raw.ok("POST rolebindings", binding("known", "Role", "known", "{ns}"))
    await raw.ok("POST roles", {"metadata": {"name": "known"}, "rules": [marker("known")]})
    await until_allowed(raw, raw.namespace, {**known("known"), "namespace": raw.namespace})
    answer = await Somebody(raw)("GET configmaps/a")
    assert answer.json["message"] == (
        f'configmaps "a" is forbidden: User "{raw.namespace}" cannot get resource "configmaps" in API group "" '
        f'in the namespace "{raw.namespace}": RBAC: role.rbac.authorization.k8s.io "nope" not found'
    )


async def test_a_binding_to_a_cluster_role_that_is_not_there_is_told(raw: Raw) -> None:
    await raw.ok("POST rolebindings", binding("b", "ClusterRole", "nope", "{ns}"))
    await raw.ok("POST rolebindings", binding("known", "Role", "known", "{ns}"))
    await raw.ok("POST roles", {"metadata": {"name": "known"}, "rules": [marker("known")]})
    await until_allowed(raw, raw.namespace, {**known("known"), "namespace": raw.namespace})
    answer = await Somebody(raw)("GET configmaps/a")
    assert answer.json["message"].endswith(': RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found')


# Whether it is there

EXISTING = "GET configmaps/there", "GET configmaps/missing", "GET wines/missing", "DELETE configmaps/there"


@pytest.mark.parametrize("request_", EXISTING)
async def test_whether_something_is_there_is_not_for_everybody(request_: str, raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("there"))
    assert (await Somebody(raw)(request_)).code == 403
    await raw.ok("GET configmaps/there")


async def test_who_may_read_learns_what_is_missing(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may(rule("get", "configmaps wines"))
    assert (await somebody("GET configmaps/missing")).refusal.message == 'configmaps "missing" not found'
    assert (await somebody("GET wines/missing")).refusal.message == "the server could not find the requested resource"


async def test_a_right_in_one_namespace_is_none_in_another(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may(rule("get list", "configmaps"))
    assert (await somebody("GET configmaps")).code == 200
    assert (await somebody("GET /api/v1/namespaces/default/configmaps")).code == 403
    assert (await somebody("GET /api/v1/configmaps")).code == 403


# Each verb alone

VERBS = {
    "get": "GET configmaps/a",
    "list": "GET configmaps",
    "watch": "GET configmaps?watch=true&timeoutSeconds=1",
    "create": "POST configmaps",
    "update": "PUT configmaps/a",
    "patch": "PATCH configmaps/a",
    "delete": "DELETE configmaps/a",
    "deletecollection": "DELETE configmaps",
}


async def ask(somebody: Somebody, request: str) -> Answer:
    body = None if request.startswith(("GET", "DELETE")) else config_map("b" if request.startswith("POST") else "a")
    return await somebody(request, body, patch="merge" if request.startswith("PATCH") else "")


@pytest.mark.parametrize("verb", VERBS)
async def test_a_verb_allows_what_it_says_and_nothing_else(verb: str, raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a"))
    somebody = Somebody(raw)
    await somebody.may(rule(verb, "configmaps"))
    for other in VERBS.keys() - {verb}:
        assert (await ask(somebody, VERBS[other])).code == 403, other
    assert (await ask(somebody, VERBS[verb])).code < 300


@pytest.mark.parametrize("resource", ["roles", "leases"])
async def test_an_update_that_creates_needs_both_rights(resource: str, raw: Raw) -> None:
    somebody, group = Somebody(raw), RBAC_GROUP if resource == "roles" else "coordination.k8s.io"
    await somebody.may(rule("update", resource, group))
    answer = await somebody(f"PUT {resource}/new", {"metadata": {"name": "new"}})
    assert answer.refusal.message == (
        f'{resource}.{group} "new" is forbidden: User "{raw.namespace}" cannot create resource "{resource}" '
        f'in API group "{group}" in the namespace "{raw.namespace}"'
    )
    await somebody.may(rule("create", resource, group), name="more")
    assert (await somebody(f"PUT {resource}/new", {"metadata": {"name": "new"}})).code == 201


# Rules

MATCHES = [
    (rule("get", "pods"), {"verb": "get", "resource": "pods"}, True),
    (rule("get", "pods"), {"verb": "list", "resource": "pods"}, False),
    (rule("*", "pods"), {"verb": "anything", "resource": "pods"}, True),
    (rule("get", "pods"), {"verb": "get", "resource": "pods", "subresource": "log"}, False),
    (rule("get", "pods/log"), {"verb": "get", "resource": "pods", "subresource": "log"}, True),
    (rule("get", "pods/log"), {"verb": "get", "resource": "pods"}, False),
    (rule("get", "*/log"), {"verb": "get", "resource": "pods", "subresource": "log"}, True),
    (rule("get", "*/log"), {"verb": "get", "resource": "pods", "subresource": "status"}, False),
    (rule("get", "*/log"), {"verb": "get", "resource": "pods"}, False),
    (rule("get", "pods/*"), {"verb": "get", "resource": "pods", "subresource": "log"}, False),
    (rule("get", "*"), {"verb": "get", "resource": "pods", "subresource": "log"}, True),
    (rule("get", "pods", "apps"), {"verb": "get", "resource": "pods"}, False),
    (rule("get", "pods", "*"), {"verb": "get", "resource": "pods"}, True),
    (rule("get", "pods", "*"), {"verb": "get", "resource": "pods", "group": "any.example.com"}, True),
    (rule("get", "pods"), {"verb": "get", "resource": "pods", "version": "v9"}, True),
    (rule("get", "pods", resourceNames=["a"]), {"verb": "get", "resource": "pods", "name": "a"}, True),
    (rule("get", "pods", resourceNames=["a"]), {"verb": "get", "resource": "pods", "name": "b"}, False),
    (rule("get", "pods", resourceNames=["a"]), {"verb": "get", "resource": "pods"}, False),
    (rule("get", "pods", resourceNames=["*"]), {"verb": "get", "resource": "pods", "name": "b"}, False),
    (rule("get", "Pods"), {"verb": "get", "resource": "pods"}, False),
]


@pytest.mark.parametrize(("allowing", "attributes", "allowed"), MATCHES)
async def test_a_rule(allowing: dict[str, object], attributes: dict[str, str], allowed: bool, raw: Raw) -> None:
    await Somebody(raw).may(allowing)
    status = await review(raw, raw.namespace, {**attributes, "namespace": raw.namespace})
    by = f'RoleBinding "granted/{raw.namespace}" of Role "granted" to User "{raw.namespace}"'
    assert status == ({"allowed": True, "reason": f"RBAC: allowed by {by}"} if allowed else {"allowed": False})


PATHS = [
    ("/logs", "/logs", True),
    ("/logs", "/logs/a", False),
    ("/logs/*", "/logs/a/b", True),
    ("/logs/*", "/logs", False),
    ("/logs*", "/logsmore", True),
    ("*", "/anything", True),
    ("/*/a", "/logs/a", False),
]


@pytest.mark.parametrize(("url", "path", "allowed"), PATHS)
async def test_a_rule_for_a_path(url: str, path: str, allowed: bool, raw: Raw) -> None:
    await Somebody(raw).may_everywhere({"verbs": ["get"], "nonResourceURLs": [url]})
    status = await review(raw, raw.namespace, {"verb": "get", "path": path})
    assert status["allowed"] is allowed


# Bindings


async def test_a_cluster_role_can_be_bound_in_one_namespace(raw: Raw) -> None:
    name = raw.namespace
    await raw.ok(f"POST {RBAC}/clusterroles", {"metadata": {"name": name}, "rules": [rule("get", "pods")]})
    await raw.ok("POST rolebindings", binding("b", "ClusterRole", name, "jane"))
    await until_allowed(raw, "jane", {"verb": "get", "resource": "pods", "namespace": name})
    assert not (await review(raw, "jane", {"verb": "get", "resource": "pods", "namespace": "default"}))["allowed"]
    assert not (await review(raw, "jane", {"verb": "get", "resource": "pods"}))["allowed"]


async def test_a_group_can_be_bound(raw: Raw) -> None:
    await raw.ok("POST roles", {"metadata": {"name": "r"}, "rules": [rule("get", "pods")]})
    await raw.ok("POST rolebindings", binding("b", "Role", "r", "team", "Group"))
    wanted = {"verb": "get", "resource": "pods", "namespace": raw.namespace}
    await until_allowed(raw, "jane", wanted, ["others", "team"])
    assert not (await review(raw, "team", wanted))["allowed"]


async def test_a_service_account_can_be_bound(raw: Raw) -> None:
    await raw.ok("POST roles", {"metadata": {"name": "r"}, "rules": [rule("get", "pods")]})
    subjects = [{"kind": "ServiceAccount", "name": "robot"}]
    await raw.ok("POST rolebindings", {**binding("b", "Role", "r", ""), "subjects": subjects})
    wanted = {"verb": "get", "resource": "pods", "namespace": raw.namespace}
    account = f"system:serviceaccount:{raw.namespace}:robot"
    await until_allowed(raw, account, wanted)
    assert (await review(raw, account, wanted))["reason"] == (
        f'RBAC: allowed by RoleBinding "b/{raw.namespace}" of Role "r" to ServiceAccount "robot/{raw.namespace}"'
    )
    assert not (await review(raw, "robot", wanted))["allowed"]
    assert not (await review(raw, "system:serviceaccount:default:robot", wanted))["allowed"]


async def test_a_service_account_of_another_namespace_can_be_bound(raw: Raw) -> None:
    await raw.ok("POST roles", {"metadata": {"name": "r"}, "rules": [rule("get", "pods")]})
    subjects = [{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}]
    await raw.ok("POST rolebindings", {**binding("b", "Role", "r", ""), "subjects": subjects})
    wanted = {"verb": "get", "resource": "pods", "namespace": raw.namespace}
    await until_allowed(raw, "system:serviceaccount:default:robot", wanted)
    assert not (await review(raw, f"system:serviceaccount:{raw.namespace}:robot", wanted))["allowed"]


async def test_a_binding_for_the_cluster_is_told_as_the_reason(raw: Raw) -> None:
    await Somebody(raw).may_everywhere(rule("get", "pods"))
    name = raw.namespace
    assert (await review(raw, name, {"verb": "get", "resource": "pods", "namespace": "default"}))["reason"] == (
        f'RBAC: allowed by ClusterRoleBinding "{name}" of ClusterRole "{name}" to User "{name}"'
    )


async def test_a_right_ends_with_its_binding(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may(rule("get", "configmaps"))
    await raw.ok("DELETE rolebindings/granted")
    async with asyncio.timeout(SECONDS):
        while (await somebody("GET configmaps/a")).code != 403:
            pass


async def test_a_role_can_lose_a_rule(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may(rule("get", "configmaps"))
    await raw.ok("PATCH roles/granted", {"rules": [marker("granted")]}, patch="merge")
    async with asyncio.timeout(SECONDS):
        while (await somebody("GET configmaps/a")).code != 403:
            pass


async def test_members_of_system_masters_may_everything(raw: Raw) -> None:
    assert await review(raw, "nobody", {"verb": "any", "resource": "things"}, ["system:masters"]) == {"allowed": True}


# What every cluster has from the start

DEFAULTS = {"clusterroles": 69, "clusterrolebindings": 50}


@pytest.mark.parametrize("kind", DEFAULTS)
async def test_the_roles_and_bindings_of_every_cluster_are_there(kind: str, raw: Raw) -> None:
    listed = await raw.ok(f"GET {RBAC}/{kind}?labelSelector=kubernetes.io/bootstrapping%3Drbac-defaults")
    assert len(listed["items"]) == DEFAULTS[kind]
    marks = {item["metadata"]["annotations"]["rbac.authorization.kubernetes.io/autoupdate"] for item in listed["items"]}
    assert marks == {"true"}


async def test_the_roles_of_the_system_s_namespaces_are_there(raw: Raw) -> None:
    listed = await raw.ok(f"GET {RBAC}/roles?labelSelector=kubernetes.io/bootstrapping%3Drbac-defaults")
    assert [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in listed["items"]] == [
        "kube-public/system:controller:bootstrap-signer",
        "kube-system/extension-apiserver-authentication-reader",
        "kube-system/system::leader-locking-kube-controller-manager",
        "kube-system/system::leader-locking-kube-scheduler",
        "kube-system/system:controller:bootstrap-signer",
        "kube-system/system:controller:cloud-provider",
        "kube-system/system:controller:token-cleaner",
    ]


async def test_the_scheduler_may_what_it_must(raw: Raw) -> None:
    wanted = {"verb": "create", "resource": "pods", "subresource": "binding", "namespace": "default"}
    assert (await review(raw, "system:kube-scheduler", wanted))["allowed"]
    assert not (await review(raw, "system:kube-scheduler", {**wanted, "subresource": "exec"}))["allowed"]


# Without credentials


async def anonymously(server: Server, request: str, **headers: str) -> Answer:
    async with Raw(server.url, server.ca_file, "") as nobody:
        nobody._session.headers.pop("Authorization")
        return await nobody(request, headers=headers)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz?verbose"])
async def test_everybody_may_ask_for_health(path: str, server: Server) -> None:
    assert (await anonymously(server, f"GET {path}")).code == 200


NOT_FOR_EVERYBODY = [
    "GET /", "GET /api", "GET /api/v1/pods", "GET /version", "GET /livez/ping", "GET /healthz/", "GET /nothing",
    "GET /metrics", "POST /api/v1/namespaces", "DELETE /api/v1/namespaces/default", "GET /openapi/v3",
]  # fmt: skip


@pytest.mark.parametrize("request_", NOT_FOR_EVERYBODY)
async def test_nobody_gets_anything_else_without_credentials(request_: str, server: Server) -> None:
    answer = await anonymously(server, request_)
    assert answer.refusal == Refused(401, "Unauthorized", "Unauthorized")


async def test_health_is_only_to_be_read(server: Server) -> None:
    message = 'forbidden: User "system:anonymous" cannot post path "/readyz"'
    assert (await anonymously(server, "POST /readyz")).refusal == Refused(403, "Forbidden", message, "")


@pytest.mark.parametrize("request_", ["GET /api", "GET /readyz"])
async def test_a_wrong_token_is_worse_than_none(request_: str, server: Server) -> None:
    answer = await anonymously(server, request_, Authorization="Bearer nope")
    assert answer.refusal == Refused(401, "Unauthorized", "Unauthorized")


async def test_another_scheme_is_like_none(server: Server) -> None:
    assert (await anonymously(server, "GET /readyz", Authorization="Basic bm9wZTpub3Bl")).code == 200
    assert (await anonymously(server, "GET /api", Authorization="Basic bm9wZTpub3Bl")).code == 401


# Telling answers apart


async def test_every_answer_has_an_id(raw: Raw, server: Server) -> None:
    for answer in (await raw("GET configmaps"), await raw("GET /nothing"), await anonymously(server, "GET /api")):
        assert answer.headers["Audit-Id"]


async def test_an_asker_may_choose_the_id_of_an_answer(raw: Raw) -> None:
    assert (await raw("GET configmaps", headers={"Audit-Id": "mine"})).headers["Audit-Id"] == "mine"
