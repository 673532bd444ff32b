"""Subresources: status, scale, binding and eviction, each with its own view of an object."""

from typing import Any

import pytest

from conformance.cases import Case, each
from conformance.crds import gadget, plain
from conformance.objects import Thing, config_map, deployment, pod
from conformance.requests import Raw, Refused, Shows

WEB = [("POST deployments", deployment())]
POD = [("POST pods", pod(metadata={"labels": {"app": "db"}}))]
GADGET = [("POST gadgets", gadget(replicas=2))]
UNREADY = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}}
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


UNKNOWN = (
    "DisruptionBudget: The disruption budget b does not allow evicting pods currently because it failed sync: no idea"
)
COVERED = [*POD, ("PATCH pods/p/status", READY), budget(minAvailable=1)]


STATUS = [
    Case("status shows the whole object", "GET deployments/web/status", None,
         Shows(200, {"kind": "Deployment", "spec": {"replicas": 1}}), before=WEB),
    Case("a status update leaves the spec alone", "PUT deployments/web/status",
         {**deployment(replicas=5), "status": {"replicas": 3}},
         Shows(200, {"spec": {"replicas": 1}, "status": {"replicas": 3}, "metadata": {"generation": 1}}), before=WEB),
    Case("a status update can't change labels of a deployment", "PUT deployments/web/status",
         deployment(metadata={"labels": {"a": "b"}}), Shows(200, {"metadata": {"labels": None}}), before=WEB),
    Case("a status patch leaves the spec alone", "PATCH deployments/web/status",
         {"spec": {"replicas": 5}, "status": {"replicas": 3}},
         Shows(200, {"spec": {"replicas": 1}, "status": {"replicas": 3}}), before=WEB, patch="merge"),
    Case("a status breaks rules", "PATCH deployments/web/status", {"status": {"replicas": -1}},
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: [status.replicas: Invalid value: -1: must be greater than or '
                 "equal to 0, status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas, "
                 "status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas, "
                 "status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas]",
                 "Deployment.apps web",
                 ["FieldValueInvalid status.replicas", "FieldValueInvalid status.updatedReplicas",
                  "FieldValueInvalid status.readyReplicas", "FieldValueInvalid status.availableReplicas"]),
         before=WEB, patch="merge"),
    Case("a ready count exceeds the count", "PATCH deployments/web/status",
         {"status": {"replicas": 1, "readyReplicas": 2}},
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: status.readyReplicas: Invalid value: 2: cannot be greater than '
                 "status.replicas",
                 "Deployment.apps web", ["FieldValueInvalid status.readyReplicas"]), before=WEB, patch="merge"),
    Case("a status of what is not there", "PUT deployments/nope/status", deployment("nope"),
         Refused(404, "NotFound", 'deployments.apps "nope" not found', "deployments.apps nope")),
    Case("a kind without status", "GET configmaps/a/status", None,
         Refused(404, "NotFound", "the server could not find the requested resource", ""),
         before=[("POST configmaps", config_map())]),
    Case("a status can't be deleted", "DELETE deployments/web/status", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", ""),
         before=WEB),
    Case("a status can't be created", "POST deployments/web/status", deployment(),
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", ""),
         before=WEB),
    Case("a pod's phase is its status", "PATCH pods/p/status", {"status": {"phase": "Running"}},
         Shows(200, {"status": {"phase": "Running"}}), before=POD, patch="merge"),
    Case("a custom status leaves the spec alone", "PATCH gadgets/g/status",
         {"spec": {"size": 9}, "status": {"phase": "Up"}},
         Shows(200, {"spec": {"size": 1}, "status": {"phase": "Up"}}), before=GADGET, patch="merge"),
    Case("a custom status does not change labels", "PATCH gadgets/g/status",
         {"metadata": {"labels": {"a": "b"}}, "status": {}}, Shows(200, {"metadata": {"labels": None}}),
         before=GADGET, patch="merge"),
    Case("a custom status is validated", "PATCH gadgets/g/status", {"status": {"replicas": "x"}},
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: [status.replicas: Invalid value: "string": '
                 'replicas in body must be of type integer: "string", .status.replicas: Invalid value: 0: '
                 ".status.replicas accessor error: x is of the type string, expected int64]",
                 "Gadget.conformance.windvane.dev g",
                 ["FieldValueTypeInvalid status.replicas", "FieldValueInvalid .status.replicas"]), before=GADGET,
         patch="merge"),
    Case("a custom status is pruned", "PATCH gadgets/g/status", {"status": {"color": "x"}},
         Shows(200, {"status": {"color": None}},
warnings=['299 - "unknown field \\"status.color\\""']), before=GADGET, patch="merge"),
    Case("a custom status update needs a version", "PUT gadgets/g/status", {**gadget(), "status": {}},
         Refused(422, "Invalid",
                 'gadgets.conformance.windvane.dev "g" is invalid: metadata.resourceVersion: Invalid value: 0: must '
                 "be specified for an update",
                 "gadgets.conformance.windvane.dev g", ["FieldValueInvalid metadata.resourceVersion"]), before=GADGET),
    Case("a custom kind without status", "GET plainthings/t/status", None,
         Refused(404, "NotFound", 'plainthings.conformance.windvane.dev "t" not found',
                 "plainthings.conformance.windvane.dev t"), before=[("POST plainthings", plain())]),
    Case("a custom status is dropped on creation", "POST gadgets", {**gadget(), "status": {"phase": "Up"}},
         Shows(201, {"status": None})),
    Case("a custom status without the subresource is kept on creation", "POST plainthings",
         plain(status={"phase": "Up"}), Shows(201, {"status": {"phase": "Up"}})),
]  # fmt: skip

SCALE = [
    Case("a deployment has a scale", "GET deployments/web/scale", None,
         Shows(200, {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "web", "generation": None},
                     "spec": {"replicas": 1}, "status": {"replicas": 0, "selector": "app=web"}}), before=WEB),
    Case("a scale is updated", "PUT deployments/web/scale", scale(4), Shows(200, {"spec": {"replicas": 4}}),
         before=WEB),
    Case("a scale is patched", "PATCH deployments/web/scale", {"spec": {"replicas": 4}},
         Shows(200, {"spec": {"replicas": 4}}), before=WEB, patch="merge"),
    Case("a scale to zero", "PATCH deployments/web/scale", {"spec": {"replicas": 0}},
         Shows(200, {"spec": {"replicas": None}}), before=WEB, patch="merge"),
    Case("a negative scale", "PUT deployments/web/scale", scale(-1),
         Refused(422, "Invalid",
                 'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or '
                 "equal to 0",
                 "Scale.autoscaling web", ["FieldValueInvalid spec.replicas"]), before=WEB),
    Case("a scale with an old version", "PUT deployments/web/scale", scale(4, resourceVersion="1"),
         Refused(409, "Conflict",
                 'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please '
                 "apply your changes to the latest version and try again",
                 "deployments.apps web"), before=WEB),
    Case("a scale of another name", "PUT deployments/web/scale", scale(4, name="other"),
         Refused(400, "BadRequest", "the name of the object (other) does not match the name on the URL (web)"),
         before=WEB),
    Case("a scale of what is not there", "GET deployments/nope/scale", None,
         Refused(404, "NotFound", 'deployments.apps "nope" not found', "deployments.apps nope")),
    Case("a scale that is something else", "PUT deployments/web/scale",
         {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "web"}},
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a Scale: converting (v1.ConfigMap) to '
                 "(autoscaling.Scale): unknown conversion"), before=WEB),
    Case("a kind without scale", "GET daemonsets/web/scale", None,
         Refused(404, "NotFound", "the server could not find the requested resource", ""),
         before=[("POST daemonsets", deployment())]),
    Case("a custom scale", "GET gadgets/g/scale", None,
         Shows(200, {"kind": "Scale", "spec": {"replicas": 2}, "status": {"replicas": 0, "selector": None}}),
         before=GADGET),
    Case("a custom scale is patched", "PATCH gadgets/g/scale", {"spec": {"replicas": 4}},
         Shows(200, {"spec": {"replicas": 4}}), before=GADGET, patch="merge"),
    Case("a custom scale that is negative", "PATCH gadgets/g/scale", {"spec": {"replicas": -4}},
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: .spec.replicas: Invalid value: -4: should be a '
                 "non-negative integer",
                 "Gadget.conformance.windvane.dev g", ["FieldValueInvalid .spec.replicas"]), before=GADGET,
         patch="merge"),
    Case("a custom scale without replicas", "GET gadgets/g/scale", None,
         Refused(500, "InternalError",
                 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
                 "", [""]), before=[("POST gadgets", gadget())]),
    Case("a custom scale's status is its object's", "GET gadgets/g/scale", None,
         Shows(200, {"status": {"replicas": 7, "selector": "a=b"}}),
         before=[*GADGET, ("PATCH gadgets/g/status", {"status": {"replicas": 7, "selector": "a=b"}})]),
]  # fmt: skip

PODS = [
    Case("a pod is bound to a node", "POST pods/p/binding", binding("n1"),
         Shows(201, {"kind": "Status", "status": "Success"}), before=POD),
    Case("a pod is bound once", "POST pods/p/binding", binding("n2"),
         Refused(409, "Conflict",
                 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
                 "pods/binding p"), before=[*POD, ("POST pods/p/binding", binding("n1"))]),
    Case("a binding needs a node", "POST pods/p/binding", {"metadata": {"name": "p"}, "target": {}},
         Refused(500, "", "target.name: Required value"), before=POD),
    Case("a binding of what is not there", "POST pods/p/binding", binding("n1"),
         Refused(404, "NotFound", 'pods "p" not found', "pods p")),
    Case("a binding to something else", "POST pods/p/binding",
         {"metadata": {"name": "p"}, "target": {"kind": "Pod", "name": "x"}},
         Refused(500, "", 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'), before=POD),
    Case("a binding can't be read", "GET pods/p/binding", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", ""),
         before=POD),
    Case("a pod is evicted", "POST pods/p/eviction", eviction(), Shows(201, {"kind": "Status", "status": "Success"}),
         before=POD),
    Case("an eviction of another name", "POST pods/p/eviction", eviction("q"),
         Refused(400, "BadRequest", "name in URL does not match name in Eviction object"), before=POD),
    Case("an eviction of what is not there", "POST pods/p/eviction", eviction(),
         Refused(404, "NotFound", 'pods "p" not found', "pods p")),
    Case("an eviction that a budget forbids", "POST pods/p/eviction", eviction(),
         Refused(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.",
                 "", ["DisruptionBudget: The disruption budget b is still being processed by the server."],
                 retry_after=10), before=[*POD, ("PATCH pods/p/status", READY), budget(minAvailable=1)]),
    Case("an eviction that a budget has no room for", "POST pods/p/eviction", eviction(),
         Refused(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.",
                 "", ["DisruptionBudget: The disruption budget b needs 2 healthy pods and has 1 currently"]),
         before=[*COVERED, allows(0, currentHealthy=1, desiredHealthy=2)]),
    Case("an eviction that a budget has no room for, although there are pods enough", "POST pods/p/eviction",
         eviction(),
         Refused(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.",
                 "", ["DisruptionBudget: The disruption budget b does not allow evicting pods currently"]),
         before=[*COVERED, allows(0, currentHealthy=3, desiredHealthy=2)]),
    Case("an eviction while a budget can't be computed", "POST pods/p/eviction", eviction(),
         Refused(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.",
                 "", [UNKNOWN]),
         before=[*COVERED, allows(0, conditions=[{"type": "DisruptionAllowed", "status": "False",
                                                  "reason": "SyncFailed", "message": "no idea",
                                                  "lastTransitionTime": "2026-01-01T00:00:00Z"}])]),
    Case("an eviction that two budgets are about", "POST pods/p/eviction", eviction(),
         Refused(500, "",
                 "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."),
         before=[*COVERED, ("POST poddisruptionbudgets", {"metadata": {"name": "c"}, "spec": {"selector": {}}})]),
    Case("an eviction that a budget allows", "POST pods/p/eviction", eviction(), Shows(201, {"status": "Success"}),
         before=[*COVERED, allows(1)]),
    Case("an unready pod is evicted if there are enough others", "POST pods/p/eviction", eviction(), Shows(201),
         before=[*POD, ("PATCH pods/p/status", UNREADY), budget(minAvailable=1),
                 allows(0, currentHealthy=1, desiredHealthy=1)]),
    Case("an unready pod stays if there are too few others", "POST pods/p/eviction", eviction(),
         Refused(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.",
                 "", ["DisruptionBudget: The disruption budget b needs 2 healthy pods and has 1 currently"]),
         before=[*POD, ("PATCH pods/p/status", UNREADY), budget(minAvailable=2),
                 allows(0, currentHealthy=1, desiredHealthy=2)]),
    Case("an unready pod is evicted if the budget says always", "POST pods/p/eviction", eviction(), Shows(201),
         before=[*POD, ("PATCH pods/p/status", UNREADY),
                 budget(minAvailable=2, unhealthyPodEvictionPolicy="AlwaysAllow"),
                 allows(0, currentHealthy=1, desiredHealthy=2)]),
    Case("a pending pod is evicted whatever the budget", "POST pods/p/eviction", eviction(), Shows(201),
         before=[*POD, budget(minAvailable=1)]),
    Case("an eviction in a dry run", "POST pods/p/eviction?dryRun=All", eviction(), Shows(201, {"status": "Success"}),
         before=POD),
    Case("a pod's subresource that there is none of", "GET pods/p/color", None,
         Refused(404, "NotFound", "the server could not find the requested resource", ""), before=POD),
]  # fmt: skip


@each(STATUS)
async def test_status(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(SCALE)
async def test_scale(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(PODS)
async def test_binding_and_eviction(raw: Raw, case: Case) -> None:
    await case.check(raw)


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


async def test_an_evicted_pod_is_gone(raw: Raw) -> None:
    await raw.ok("POST pods", pod())
    await raw.ok("POST pods/p/eviction", eviction())
    assert (await raw("GET pods/p")).code == 404


async def evicted(raw: Raw, query: str = "") -> Any:
    """The budget after a pod was evicted that it covers, and that a finalizer keeps around."""
    await raw.ok("POST pods", pod(metadata={"labels": {"app": "db"}, "finalizers": ["a.example/x"]}))
    await raw.ok("PATCH pods/p/status", READY, patch="merge")
    await raw.ok(*budget(minAvailable=1))
    await raw.ok(*allows(1), patch="merge")
    await raw.ok(f"POST pods/p/eviction{query}", eviction())
    return await raw.ok("GET poddisruptionbudgets/b")


async def test_an_eviction_is_taken_off_the_budget_and_noted_there(raw: Raw) -> None:
    status = (await evicted(raw))["status"]
    assert status["disruptionsAllowed"] == 0
    assert list(status["disruptedPods"]) == ["p"]
    [condition] = status["conditions"]
    assert condition.pop("lastTransitionTime")
    assert condition == {
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "InsufficientPods",
        "message": "",
        "observedGeneration": 1,
    }


async def test_an_eviction_is_of_the_pod_that_was_meant(raw: Raw) -> None:
    made = await raw.ok("POST pods", pod())
    options = {"preconditions": {"uid": "other"}}
    refusal = (await raw("POST pods/p/eviction", eviction(deleteOptions=options))).refusal
    assert (refusal.code, refusal.reason, refusal.about) == (409, "Conflict", "Pod p")
    assert refusal.message == (
        'Operation cannot be fulfilled on Pod "p": the UID in the precondition (other) does not match the UID in '
        f"record ({made['metadata']['uid']}). The object might have been deleted and then recreated"
    )


async def test_an_eviction_in_a_dry_run_leaves_the_budget_alone(raw: Raw) -> None:
    status = (await evicted(raw, "?dryRun=All"))["status"]
    assert status["disruptionsAllowed"] == 1
    assert "disruptedPods" not in status


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


HELD = [("POST pods", pod(metadata={"finalizers": ["a.example/x"]}))]
CHECKED = [
    Case(
        "a status may come with labels",
        "PATCH replicasets/web/status",
        {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}},
        Shows(200, {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}}),
        before=[("POST replicasets", deployment())],
        patch="merge",
    ),
    Case(
        "a deployment's status may come with annotations",
        "PATCH deployments/web/status",
        {"metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}}},
        Shows(200, {"metadata": {"labels": None, "annotations": {"a": "b"}, "generation": 1}}),
        before=WEB,
        patch="merge",
    ),
    Case(
        "a pod's status may not come with owners",
        "PATCH pods/p/status",
        {
            "metadata": {
                "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u"}],
                "annotations": {"a": "b"},
            }
        },
        Shows(200, {"metadata": {"ownerReferences": None, "annotations": {"a": "b"}}}),
        before=POD,
        patch="merge",
    ),
    Case(
        "a custom status' selector is text",
        "PATCH gadgets/g/status",
        {"status": {"selector": 5}},
        Refused(
            422,
            "Invalid",
            (
                'Gadget.conformance.windvane.dev "g" is invalid: [status.selector: Invalid '
                'value: "integer": selector in body must be of type string: "integer", '
                '.status.selector: Invalid value: "": .status.selector accessor error: 5 is of '
                "the type int64, expected string]"
            ),
            "Gadget.conformance.windvane.dev g",
            ["FieldValueTypeInvalid status.selector", "FieldValueInvalid .status.selector"],
        ),
        before=GADGET,
        patch="merge",
    ),
    Case(
        "a scale without a name",
        "PUT deployments/web/scale",
        {**scale(2), "metadata": {}},
        Refused(
            400,
            "BadRequest",
            "the name of the object (web based on URL) was undeterminable: name must be provided",
            None,
        ),
        before=WEB,
    ),
    Case(
        "a scale of another namespace",
        "PUT deployments/web/scale",
        scale(2, namespace="x"),
        Refused(
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
            None,
        ),
        before=WEB,
    ),
    Case(
        "a scale of another uid",
        "PUT deployments/web/scale",
        scale(2, uid=""),
        Shows(200, {"spec": {"replicas": 2}}),
        before=WEB,
    ),
    Case(
        "a scale's labels",
        "PATCH deployments/web/scale",
        {"metadata": {"labels": {"b c": "d"}}},
        Refused(
            422,
            "Invalid",
            (
                'Scale.autoscaling "web" is invalid: metadata.labels: Invalid value: "b c": name'
                " part must consist of alphanumeric characters, '-', '_' or '.', and must start "
                "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
                "'123-abc', regex used for validation is "
                "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ),
            "Scale.autoscaling web",
            ["FieldValueInvalid metadata.labels"],
        ),
        before=WEB,
        patch="merge",
    ),
    Case(
        "a binding of no name, in its old place",
        "POST bindings",
        {"target": {"kind": "Node", "name": "n"}},
        Refused(400, "BadRequest", "Name parameter required.", None),
    ),
    Case(
        "a binding of another name",
        "POST pods/p/binding",
        {**binding("n1"), "metadata": {"name": "q"}},
        Refused(400, "BadRequest", "name in URL does not match name in Binding object", None),
        before=POD,
    ),
    Case(
        "a binding of a pod that is held back",
        "POST pods/p/binding",
        binding("n1"),
        Refused(
            409,
            "Conflict",
            ('Operation cannot be fulfilled on pods/binding "p": pod p has non-empty .spec.schedulingGates'),
            "pods/binding p",
        ),
        before=[("POST pods", pod(schedulingGates=[{"name": "a.example/g"}]))],
    ),
    Case(
        "a binding of a pod that is leaving",
        "POST pods/p/binding",
        binding("n1"),
        Refused(
            409,
            "Conflict",
            ('Operation cannot be fulfilled on pods/binding "p": pod p is being deleted, cannot be assigned to a host'),
            "pods/binding p",
        ),
        before=[*HELD, ("DELETE pods/p", None)],
    ),
    Case(
        "a binding to nothing in particular",
        "POST pods/p/binding",
        {"metadata": {"name": "p"}, "target": {"kind": "Pod"}},
        Refused(
            500,
            "",
            (
                '[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", '
                "target.name: Required value]"
            ),
            None,
        ),
        before=POD,
    ),
    Case(
        "an eviction of another namespace",
        "POST pods/p/eviction",
        {"metadata": {"name": "p", "namespace": "other"}},
        Refused(
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
            None,
        ),
        before=POD,
    ),
    Case(
        "a custom subresource that there is none of",
        "PUT plainthings/t/status",
        {"apiVersion": "conformance.windvane.dev/v1", "kind": "PlainThing", "metadata": {"name": "t"}},
        Refused(
            404,
            "NotFound",
            'plainthings.conformance.windvane.dev "t" not found',
            "plainthings.conformance.windvane.dev t",
        ),
    ),
    Case(
        "a namespace that ends has its phase",
        "PATCH /api/v1/namespaces/{ns}/status",
        {"status": {"phase": "Active"}},
        Refused(
            422,
            "Invalid",
            (
                'Namespace "{ns}" is invalid: status.Phase: Invalid value: "Active": may only be'
                " 'Terminating' if `deletionTimestamp` is not empty"
            ),
            "Namespace {ns}",
            ["FieldValueInvalid status.Phase"],
        ),
        before=[("DELETE /api/v1/namespaces/{ns}", None)],
        patch="merge",
    ),
]


@each(CHECKED)
async def test_subresources_are_checked(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


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
