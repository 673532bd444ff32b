"""What a webhook is told: the request of an AdmissionReview for everything that can be done to an object."""

from typing import Any

import pytest

from conformance.objects import config_map, deployment, job, pod
from conformance.requests import Raw
from conformance.test_signing_requests import REQUESTS, signing_request
from conformance.webhook_server import Thing, Webhooks, add, patched

EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]}
CONFIG_MAP = {"group": "", "version": "v1", "kind": "ConfigMap"}
CONFIG_MAPS = {"group": "", "version": "v1", "resource": "configmaps"}
PODS = {"group": "", "version": "v1", "resource": "pods"}
SCALE = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
REVIEWS = "/apis/authorization.k8s.io/v1/namespaces/{ns}"
GADGET = {"apiVersion": "conformance.windvane.dev/v1", "kind": "Gadget"}


class Asked:
    """Both kinds of webhooks, asked about everything in the test's namespace."""

    def __init__(self, raw: Raw, webhooks: Webhooks) -> None:
        self._raw = raw
        self._webhooks = webhooks

    async def about(self, request: str, body: Any = None, **rest: Any) -> tuple[list[Thing], list[Thing]]:
        """What those that may change the object are told, and what those are told that may not."""
        self._webhooks.asked.clear()
        await self._raw(request, body, **rest)
        return self._asked("mutating"), self._asked("validating")

    def _asked(self, name: str) -> list[Thing]:
        """A real server writes by itself, too, and asks about that: the APIServices of new kinds, say."""
        found = self._webhooks.requests(name)
        return [each for each in found if each["userInfo"]["username"] != "system:apiserver"]

    async def once(self, request: str, body: Any = None, **rest: Any) -> tuple[Thing, Thing]:
        """The same where each is asked once."""
        (mutating,), (validating,) = await self.about(request, body, **rest)
        return mutating, validating


async def asked(raw: Raw, webhooks: Webhooks) -> Asked:
    """A selector of objects would exempt what has no labels, so there is none."""
    for kind in ("Mutating", "Validating"):
        hook = webhooks.webhook(kind.lower(), rule=EVERYTHING, objectSelector={})
        await webhooks.install(kind, hook, name=kind.lower())
    return Asked(raw, webhooks)


def shown(thing: Thing | None, *fields: str) -> Thing:
    """Some of an object's metadata."""
    assert thing is not None
    return {field: thing["metadata"].get(field) for field in fields}


async def test_a_creation(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    thing = config_map("a", data={"x": "y"})
    mutating, validating = await hooks.once("POST configmaps?fieldManager=me&fieldValidation=Strict", thing)
    uid = mutating.pop("uid")
    object_ = mutating.pop("object")
    assert mutating == {
        "kind": CONFIG_MAP,
        "resource": CONFIG_MAPS,
        "requestKind": CONFIG_MAP,
        "requestResource": CONFIG_MAPS,
        "name": "a",
        "namespace": raw.namespace,
        "operation": "CREATE",
        "userInfo": {"username": "admin", "uid": "1", "groups": ["system:masters", "system:authenticated"]},
        "oldObject": None,
        "dryRun": False,
        "options": {
            "kind": "CreateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "fieldManager": "me",
            "fieldValidation": "Strict",
        },
    }
    assert object_ == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "a",
            "namespace": raw.namespace,
            "managedFields": object_["metadata"]["managedFields"],
        },
        "data": {"x": "y"},
    }
    # Who made it is known before anybody is asked; when, and as which one, only afterwards.
    assert [each["manager"] for each in object_["metadata"]["managedFields"]] == ["me"]
    metadata = validating.pop("object")["metadata"]
    assert metadata.keys() - object_["metadata"].keys() == {"uid", "creationTimestamp"}
    assert validating.pop("uid") != uid
    assert validating == mutating


async def test_a_name_that_is_made_up_is_known_to_the_judges_only(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    mutating, validating = await hooks.once("POST configmaps", {"metadata": {"generateName": "made-"}})
    assert "name" not in mutating
    assert "name" not in mutating["object"]["metadata"]
    assert validating["name"] == validating["object"]["metadata"]["name"]
    assert validating["name"].startswith("made-")


async def test_a_dry_run(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    for request in await hooks.once("POST configmaps?dryRun=All", config_map()):
        assert request["dryRun"] is True
        assert request["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "dryRun": ["All"]}


async def test_an_object_that_is_not_valid_is_not_judged(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    mutating, validating = await hooks.about("POST configmaps", config_map("A!"))
    assert (len(mutating), len(validating)) == (1, 0)


async def test_a_name_that_is_taken_is_found_last(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST configmaps", config_map())
    await hooks.once("POST configmaps", config_map())


async def test_a_namespace_that_is_missing_is_found_first(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    assert await hooks.about("POST /api/v1/namespaces/nowhere/configmaps", config_map()) == ([], [])


async def test_an_update(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    made = await raw.ok("POST configmaps", config_map("a", data={"x": "y"}))
    mutating, validating = await hooks.once("PUT configmaps/a", config_map("a", data={"x": "z"}))
    for request in (mutating, validating):
        assert (request["operation"], request["name"]) == ("UPDATE", "a")
        assert request["options"] == {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"}
        assert request["oldObject"] == {**made, "data": {"x": "y"}}
        assert request["object"]["data"] == {"x": "z"}
    # Who may change an object sees it as it was sent; who judges it, as it will be stored.
    identity = "uid", "creationTimestamp"
    assert shown(mutating["object"], *identity) == dict.fromkeys(identity)
    assert shown(validating["object"], *identity) == shown(made, *identity)


async def test_an_update_that_changes_nothing_is_asked_about(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    made = await raw.ok("POST configmaps", config_map())
    await hooks.once("PUT configmaps/a", made)


async def test_an_update_of_an_old_version_is_not_judged(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST configmaps", config_map())
    stale = config_map("a", data={"x": "z"}, metadata={"resourceVersion": "1"})
    mutating, validating = await hooks.about("PUT configmaps/a", stale)
    assert (len(mutating), len(validating)) == (1, 0)


async def test_an_update_that_creates(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {}}
    for request in await hooks.once("PUT leases/l?fieldManager=me", lease):
        assert (request["operation"], request["oldObject"]) == ("CREATE", None)
        assert request["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"}


async def test_a_patch_is_an_update(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST configmaps", config_map())
    for request in await hooks.once("PATCH configmaps/a?fieldManager=me", {"data": {"x": "w"}}, patch="merge"):
        assert (request["operation"], request["object"]["data"]) == ("UPDATE", {"x": "w"})
        assert request["options"] == {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"}


async def test_what_is_applied_is_a_creation_or_an_update(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "w"}}
    path = "PATCH configmaps/a?fieldManager=me&force=true"
    for operation in ("CREATE", "UPDATE"):
        for request in await hooks.once(path, thing, patch="apply"):
            assert request["operation"] == operation
            kind = f"{operation.capitalize()}Options"
            assert request["options"] == {"kind": kind, "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"}
        thing = {**thing, "data": {"x": "v"}}


async def test_a_deletion(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    made = await raw.ok("POST configmaps", config_map("a", data={"x": "y"}))
    for request in await hooks.once("DELETE configmaps/a?propagationPolicy=Background"):
        assert (request["operation"], request["name"], request["object"]) == ("DELETE", "a", None)
        assert request["oldObject"] == made
        assert request["options"] == {
            "kind": "DeleteOptions",
            "apiVersion": "meta.k8s.io/v1",
            "propagationPolicy": "Background",
        }


async def test_a_deletion_of_nothing(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    assert await hooks.about("DELETE configmaps/none") == ([], [])


async def test_an_object_that_a_finalizer_holds_is_deleted_once(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST configmaps", config_map("a", metadata={"finalizers": ["a.b/c"]}))
    await hooks.once("DELETE configmaps/a")
    await raw.remembered("configmaps/a")
    patch = {"metadata": {"finalizers": None}}
    for request in await hooks.once("PATCH configmaps/a", patch, patch="merge"):
        assert (request["operation"], "finalizers" in request["object"]["metadata"]) == ("UPDATE", False)


async def test_the_deletion_of_many_is_that_of_each_without_a_name(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    for name in "ab":
        await raw.ok("POST configmaps", config_map(name, metadata={"labels": {"k": "v"}}))
    mutating, validating = await hooks.about("DELETE configmaps?labelSelector=k%3Dv")
    for requests in (mutating, validating):
        assert [each["oldObject"]["metadata"]["name"] for each in requests] == ["a", "b"]
        assert all(each["operation"] == "DELETE" and "name" not in each for each in requests)


async def test_nobody_is_told_how_long_many_have_to_go(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    for path, seconds in (("pods/p", 0), ("pods", None)):
        await raw.ok("POST pods", pod())
        mutating, validating = await hooks.about(f"DELETE {path}")  # a real server may ask again when it tries again
        assert {each["options"].get("gracePeriodSeconds") for each in (*mutating, *validating)} == {seconds}


async def test_a_status(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST deployments", deployment())
    patch = {"status": {"replicas": 2}}
    for request in await hooks.once("PATCH deployments/web/status", patch, patch="merge"):
        assert (request["subResource"], request["requestSubResource"]) == ("status", "status")
        assert request["kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
        assert (request["object"]["status"], request["oldObject"]["status"]) == ({"replicas": 2}, {})


async def test_a_scale(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST deployments", deployment())
    for request in await hooks.once("PATCH deployments/web/scale", {"spec": {"replicas": 3}}, patch="merge"):
        assert (request["kind"], request["requestKind"], request["subResource"]) == (SCALE, SCALE, "scale")
        assert request["resource"] == {"group": "apps", "version": "v1", "resource": "deployments"}
        assert request["object"]["spec"] == {"replicas": 3}
        assert request["oldObject"]["spec"] == {"replicas": 1}
        assert request["object"]["kind"] == request["oldObject"]["kind"] == "Scale"


async def test_a_scale_that_is_put(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST deployments", deployment())
    scale = {"metadata": {"name": "web"}, "spec": {"replicas": 4}}
    mutating, validating = await hooks.once("PUT deployments/web/scale", scale)
    assert (mutating["object"]["spec"], mutating["object"]["status"]) == ({"replicas": 4}, {"replicas": 0})
    assert validating["object"]["status"] == {"replicas": 0, "selector": "app=web"}
    assert (await raw.ok("GET deployments/web"))["spec"]["replicas"] == 4


async def test_a_binding(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST pods", pod("p"))
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    for request in await hooks.once("POST pods/p/binding", binding):
        assert (request["operation"], request["subResource"], request["resource"]) == ("CREATE", "binding", PODS)
        assert request["kind"] == {"group": "", "version": "v1", "kind": "Binding"}
        assert request["object"]["target"] == {"kind": "Node", "name": "n"}
        assert request["oldObject"] is None


async def test_a_binding_in_a_collection_of_its_own(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST pods", pod("p"))
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    for request in await hooks.once("POST bindings", binding):
        assert request["resource"] == {"group": "", "version": "v1", "resource": "bindings"}
        assert (request["name"], "subResource" in request) == ("p", False)


async def test_an_eviction(raw: Raw, webhooks: Webhooks) -> None:
    """The pod's deletion, which follows from it, is not asked about."""
    hooks = await asked(raw, webhooks)
    await raw.ok("POST pods", pod("p"))
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    for request in await hooks.once("POST pods/p/eviction", eviction):
        assert (request["operation"], request["subResource"], request["resource"]) == ("CREATE", "eviction", PODS)
        assert request["kind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
        assert shown(request["object"], "name") == {"name": "p"}


async def test_what_is_posted_about_an_object_says_who_posts_it(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST pods", pod("p"))
    target = {"kind": "Node", "name": "n"}
    binding = {"metadata": {"name": "p", "labels": {"a": "b"}}, "target": target}
    owned: Thing = {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "f:target": {}}
    for request in await hooks.once("POST pods/p/binding?dryRun=All&fieldManager=me", binding):
        assert managed(request) == [("me", "Update", "v1", "binding", owned)]
    for request in await hooks.once("POST bindings?dryRun=All", {"metadata": {"name": "p"}, "target": target}):
        assert managed(request) == [("conformance", "Update", "v1", None, {"f:target": {}})]
    options = {"deleteOptions": {"gracePeriodSeconds": 3}}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p", "uid": "other"}, **options}
    mutating, validating = await hooks.once("POST pods/p/eviction?dryRun=All", eviction)
    owned = {"f:deleteOptions": {".": {}, "f:gracePeriodSeconds": {}}}
    for request in (mutating, validating):
        assert managed(request) == [("conformance", "Update", "policy/v1", "eviction", owned)]
        assert shown(request["object"], "uid") == {"uid": None}
    assert mutating["object"]["deleteOptions"] == options["deleteOptions"]
    assert validating["object"]["deleteOptions"] == {"gracePeriodSeconds": 3, "dryRun": ["All"]}


def managed(request: Thing) -> list[tuple[Any, ...]]:
    """Who owns what of the object of a request."""
    entries = request["object"]["metadata"].get("managedFields", [])
    fields = ("manager", "operation", "apiVersion", "subresource", "fieldsV1")
    return [tuple(entry.get(field) for field in fields) for entry in entries]


async def test_what_is_posted_wrongly_is_shown_to_those_who_could_change_that(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    target = {"kind": "Node", "name": "n"}
    await raw.ok("POST pods", pod("p"))
    await raw.ok("POST serviceaccounts", {"metadata": {"name": "robot"}})
    wrong: dict[str, Thing] = {
        "POST pods/p/binding": {"target": target},
        "POST pods/p/binding?fieldManager=me": {"metadata": {"name": "p"}},
        "POST pods/p/eviction": {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "q"}},
        "POST serviceaccounts/robot/token": {"metadata": {"name": "other"}},
        "POST serviceaccounts/other/token": {},
        f"POST {REVIEWS}/localsubjectaccessreviews": {"spec": {}},
    }
    for request, body in wrong.items():
        mutating, validating = await hooks.about(request.replace("{ns}", raw.namespace), body)
        assert (len(mutating), validating) == (1, []), request
    mutating, validating = await hooks.about("POST bindings", {"target": target})
    assert "name" not in mutating[0]
    assert "name" not in validating[0]


async def test_a_request_for_a_token(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    account = await raw.ok("POST serviceaccounts", {"metadata": {"name": "robot"}})
    mutating, validating = await hooks.once("POST serviceaccounts/robot/token", {"metadata": {"labels": {"a": "b"}}})
    owned = {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "f:spec": {"f:expirationSeconds": {}}}
    for request in (mutating, validating):
        assert request["kind"] == {"group": "authentication.k8s.io", "version": "v1", "kind": "TokenRequest"}
        assert request["object"]["status"] == {"token": "", "expirationTimestamp": None}
        assert managed(request) == [("conformance", "Update", "authentication.k8s.io/v1", "token", owned)]
    assert shown(mutating["object"], "name", "namespace", "uid") == {
        "name": None,
        "namespace": raw.namespace,
        "uid": None,
    }
    assert mutating["object"]["spec"] == {"audiences": None, "expirationSeconds": 3600, "boundObjectRef": None}
    assert shown(validating["object"], "name", "uid") == {"name": "robot", "uid": account["metadata"]["uid"]}
    assert "creationTimestamp" in validating["object"]["metadata"]
    assert validating["object"]["spec"]["audiences"] == ["https://kubernetes.default.svc.cluster.local"]


async def test_a_token_is_for_whom_a_webhook_says(raw: Raw, webhooks: Webhooks) -> None:
    rule = {"resources": ["serviceaccounts/token"]}
    says = patched(add("/spec/audiences", ["vault"]), add("/metadata/labels", {"a": "b"}))
    await webhooks.install("Mutating", webhooks.webhook("change", says, rule=rule, objectSelector={}))
    await raw.ok("POST serviceaccounts", {"metadata": {"name": "robot"}})
    token = await raw.ok("POST serviceaccounts/robot/token", {})
    assert token["spec"] == {"audiences": ["vault"], "expirationSeconds": 3600, "boundObjectRef": None}
    assert shown(token, "name", "labels") == {"name": "robot", "labels": {"a": "b"}}


async def test_a_question_about_access(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    mine = {"namespace": raw.namespace, "verb": "get"}
    path = f"POST {REVIEWS}/localsubjectaccessreviews".replace("{ns}", raw.namespace)
    review = {"metadata": {"uid": "other"}, "spec": {"user": "x", "resourceAttributes": mine}}
    owned: Thing = {"f:spec": {"f:resourceAttributes": {".": {}, "f:namespace": {}, "f:verb": {}}, "f:user": {}}}
    for request in await hooks.once(path, review):
        assert managed(request) == [("conformance", "Update", "authorization.k8s.io/v1", None, owned)]
        assert request["object"]["spec"] == review["spec"]
        assert request["object"]["status"] == {"allowed": False}
        assert shown(request["object"], "uid") == {"uid": None}
    answer = await raw.ok(path, review)
    assert [each["fieldsV1"] for each in answer["metadata"]["managedFields"]] == [owned]


async def test_an_exec(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST pods", pod("p", nodeName="n"))
    for request in await hooks.once("POST pods/p/exec?container=main&command=ls&command=-l&stdout=true&stdin=true"):
        assert (request["operation"], request["subResource"], request["resource"]) == ("CONNECT", "exec", PODS)
        assert (request["name"], request["oldObject"], request["options"]) == ("p", None, None)
        assert request["kind"] == {"group": "", "version": "v1", "kind": "PodExecOptions"}
        assert request["object"] == {
            "kind": "PodExecOptions",
            "apiVersion": "v1",
            "stdin": True,
            "stdout": True,
            "container": "main",
            "command": ["ls", "-l"],
        }


async def test_other_connections(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST pods", pod("p", nodeName="n"))
    connections: dict[str, Thing] = {
        "POST pods/p/attach?stdout=true": {"kind": "PodAttachOptions", "stdout": True},
        "POST pods/p/portforward?ports=80&ports=81,82": {"kind": "PodPortForwardOptions", "ports": [80, 81, 82]},
        "GET pods/p/proxy/a/b%20c/": {"kind": "PodProxyOptions", "path": "/a/b c/"},
    }
    for path, options in connections.items():
        for request in await hooks.once(path):
            assert request["operation"] == "CONNECT"
            assert request["object"] == {"apiVersion": "v1", **options}


async def test_a_path_that_a_webhook_takes_away_is_not_asked_for(raw: Raw, webhooks: Webhooks) -> None:
    """There is then none at all, and whoever asks is sent to one that ends in a slash."""
    rule = {"resources": ["pods/proxy"], "operations": ["CONNECT"]}
    await webhooks.install("Mutating", webhooks.webhook("change", without_path, rule=rule, objectSelector={}))
    judge = webhooks.webhook("judge", lambda request: {"allowed": request["object"].get("path") != "/a/"}, rule=rule)
    await webhooks.install("Validating", {**judge, "objectSelector": {}}, name="judges")
    await raw.ok("POST pods", pod("p"))
    status = {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}
    await raw.ok("PATCH pods/p/status", {"status": status}, patch="merge")
    answer = await raw("GET pods/p/proxy/a")
    assert answer.json["message"] == 'admission webhook "judge.windvane.dev" denied the request without explanation'
    assert [request["object"].get("path") for request in webhooks.requests("change")] == ["/a", "/a/"]
    assert [request["object"].get("path") for request in webhooks.requests("judge")] == [None, "/a/"]


def without_path(request: Thing) -> Thing:
    if request["object"]["path"] != "/a":
        return {"allowed": True}
    return patched({"op": "remove", "path": "/path"})(request)


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (add("/ports", None), {}),
        (add("/metadata", {"name": "x"}), {"ports": [80]}),
        (add("/ports/0", 81), {"ports": [81, 80]}),
        (
            add("/ports", "x"),
            "json: cannot unmarshal string into Go struct field PodPortForwardOptions.ports of type []int32",
        ),
    ],
)
async def test_what_a_webhook_makes_of_a_connection(
    raw: Raw, webhooks: Webhooks, change: Thing, shown: Thing | str
) -> None:
    rule = {"resources": ["pods/portforward"], "operations": ["CONNECT"]}
    hook = webhooks.webhook("change", patched(change), rule=rule, objectSelector={})
    await webhooks.install("Mutating", hook)
    await webhooks.install("Validating", webhooks.webhook("judge", rule=rule, objectSelector={}), name="judges")
    await raw.ok("POST pods", pod("p"))
    answer = await raw("POST pods/p/portforward?ports=80")
    if isinstance(shown, str):
        assert (answer.code, answer.json["message"]) == (500, f"Internal error occurred: {shown}")
        return
    assert answer.json["message"] == "pod p does not have a host assigned"
    (asked,) = webhooks.requests("judge")
    assert asked["object"] == {"apiVersion": "v1", "kind": "PodPortForwardOptions", **shown}


async def test_reading_is_not_asked_about(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    await raw.ok("POST pods", pod("p"))
    for path in ("GET pods", "GET pods/p", "GET pods/p/status", "GET pods/p/log"):
        assert await hooks.about(path) == ([], [])


async def test_a_new_pod_has_its_defaults(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    mutating, validating = await hooks.once("POST pods", pod("p"))
    assert mutating["object"]["spec"]["restartPolicy"] == "Always"
    assert mutating["object"]["spec"]["tolerations"][0]["tolerationSeconds"] == 300
    assert mutating["object"]["status"] == {}
    assert validating["object"]["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


async def test_what_is_filled_in_once_an_object_is_stored_is_not_shown_before(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    for path in ("jobs", "jobs?dryRun=All"):
        mutating, validating = await hooks.once(f"POST {path}", job("j-dry" if "dry" in path else "j"))
        assert "labels" not in mutating["object"]["metadata"]
        assert "labels" not in validating["object"]["metadata"]
        assert "job-name" in validating["object"]["spec"]["template"]["metadata"]["labels"]
    made = await raw.ok("POST jobs?dryRun=All", job("j-dry"))
    assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"]
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "c"}, "spec": spec}
    mutating, validating = await hooks.once("POST persistentvolumeclaims", claim)
    assert (mutating["object"]["status"], validating["object"]["status"]) == ({"phase": "Pending"}, {})
    assert (await raw.ok("GET persistentvolumeclaims/c"))["status"] == {"phase": "Pending"}


async def test_an_old_autoscaler_says_at_once_what_it_goes_by(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    place = f"/apis/autoscaling/v1/namespaces/{raw.namespace}/horizontalpodautoscalers"
    autoscaler = {"metadata": {"name": "a"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target}}
    for request in await hooks.once(f"POST {place}", autoscaler):
        assert request["object"]["spec"]["targetCPUUtilizationPercentage"] == 80
        assert "f:targetCPUUtilizationPercentage" in managed(request)[0][-1]["f:spec"]


async def test_who_asks_for_a_certificate_is_written_down_after_others_may_have_changed_it(
    raw: Raw, webhooks: Webhooks
) -> None:
    says = patched(add("/spec/username", "liar"), add("/spec/groups", ["system:masters"]))
    rule = {"apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests"]}
    change = webhooks.webhook("change", says, rule=rule, objectSelector={}, namespaceSelector={})
    await webhooks.install("Mutating", change)
    made = await raw.ok(f"POST {REQUESTS}", signing_request(username="me"))
    asked = webhooks.requests("change")[0]["object"]
    assert (asked["spec"]["username"], "groups" in asked["spec"]) == ("me", False)
    assert (made["spec"]["username"], made["spec"]["groups"]) == ("admin", ["system:masters", "system:authenticated"])


async def test_custom_objects(raw: Raw, webhooks: Webhooks, crds: None) -> None:
    hooks = await asked(raw, webhooks)
    gadget = {**GADGET, "metadata": {"name": "g"}, "spec": {"size": 3, "replicas": 1, "unknown": 7}}
    kind = {"group": "conformance.windvane.dev", "version": "v1", "kind": "Gadget"}
    for request in await hooks.once("POST gadgets", gadget):
        assert request["kind"] == kind
        spec = {"size": 3, "replicas": 1, "color": "red", "limits": {"cpu": "1"}}
        assert request["object"]["spec"] == spec
    for request in await hooks.once("PATCH gadgets/g/status", {"status": {"phase": "x"}}, patch="merge"):
        assert (request["kind"], request["subResource"]) == (kind, "status")
        assert request["object"]["status"] == {"phase": "x"}
    await raw.remembered("gadgets/g")
    for request in await hooks.once("PATCH gadgets/g/scale", {"spec": {"replicas": 2}}, patch="merge"):
        assert (request["kind"], request["subResource"]) == (SCALE, "scale")
        assert request["resource"] == {**{k: kind[k] for k in ("group", "version")}, "resource": "gadgets"}
        assert request["object"]["spec"] == {"replicas": 2}


async def test_a_namespace_is_in_itself(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    patch = {"metadata": {"annotations": {"a": "b"}}}
    for request in await hooks.once("PATCH /api/v1/namespaces/{ns}", patch, patch="merge"):
        assert (request["namespace"], request["name"]) == (raw.namespace, raw.namespace)
        assert request["kind"] == {"group": "", "version": "v1", "kind": "Namespace"}


async def test_questions_about_access_are_asked_about(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    attributes = {"verb": "get", "resource": "pods", "namespace": raw.namespace}
    review = {"metadata": {"namespace": raw.namespace}, "spec": {"user": "x", "resourceAttributes": attributes}}
    path = "POST /apis/authorization.k8s.io/v1/namespaces/{ns}/localsubjectaccessreviews"
    for request in await hooks.once(path, review):
        assert request["operation"] == "CREATE"
        assert request["object"]["spec"] == review["spec"]


async def test_who_asks_for_somebody_else(raw: Raw, webhooks: Webhooks) -> None:
    hooks = await asked(raw, webhooks)
    headers = {
        "Impersonate-User": "jane",
        "Impersonate-Group": "system:masters",
        "Impersonate-Uid": "7",
        "Impersonate-Extra-scopes": "some",
    }
    for request in await hooks.once("POST configmaps", config_map(), headers=headers):
        assert request["userInfo"] == {
            "username": "jane",
            "uid": "7",
            "groups": ["system:masters", "system:authenticated"],
            "extra": {"scopes": ["some"]},
        }
