"""Deleting: at once, with preconditions, with grace, and what holds an object back."""

from typing import Any

import pytest

from conformance.cases import Case, each
from conformance.crds import gadget
from conformance.objects import config_map, deployment, job, pod, template
from conformance.requests import Raw, Refused, Shows

ONE = [("POST configmaps", config_map())]
HELD = [("POST configmaps", config_map(metadata={"finalizers": ["a.example/x"]}))]


def options(**rest: Any) -> dict[str, Any]:
    return {"kind": "DeleteOptions", "apiVersion": "v1", **rest}


ANSWERED = [
    Case("what is not there", "DELETE configmaps/nope", None,
         Refused(404, "NotFound", 'configmaps "nope" not found', "configmaps nope")),
    Case("a custom object that is not there", "DELETE gadgets/nope", None,
         Refused(404, "NotFound", 'gadgets.conformance.windvane.dev "nope" not found',
                 "gadgets.conformance.windvane.dev nope")),
    Case("propagation of another sort", "DELETE configmaps/a", options(propagationPolicy="Sideways"),
         Refused(422, "Invalid",
                 'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": '
                 'supported values: "Foreground", "Background", "Orphan", "nil"',
                 "DeleteOptions.meta.k8s.io", ["FieldValueNotSupported propagationPolicy"]), before=ONE),
    Case("propagation of another sort in the query", "DELETE configmaps/a?propagationPolicy=Sideways", None,
         Refused(422, "Invalid",
                 'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": '
                 'supported values: "Foreground", "Background", "Orphan", "nil"',
                 "DeleteOptions.meta.k8s.io", ["FieldValueNotSupported propagationPolicy"]), before=ONE),
    Case("propagation and orphans at once", "DELETE configmaps/a",
         options(propagationPolicy="Orphan", orphanDependents=True),
         Refused(422, "Invalid",
                 'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": '
                 "orphanDependents and deletionPropagation cannot be both set",
                 "DeleteOptions.meta.k8s.io", ["FieldValueInvalid propagationPolicy"]), before=ONE),
    Case("a dry run of another sort for a deletion", "DELETE configmaps/a?dryRun=x", None,
         Refused(422, "Invalid",
                 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
                 "DeleteOptions.meta.k8s.io", ["FieldValueNotSupported dryRun"]), before=ONE),
    Case("a grace period that is no number", "DELETE pods/p?gracePeriodSeconds=x", None,
         Refused(400, "BadRequest", 'strconv.ParseInt: parsing "x": invalid syntax'), before=[("POST pods", pod())]),
    Case("options that can't be read", "DELETE configmaps/a", "{",
         Refused(400, "BadRequest", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
         before=ONE),
    Case("options of another kind", "DELETE configmaps/a", {"kind": "Pod", "apiVersion": "v1"},
         Refused(400, "BadRequest",
                 'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'), before=ONE),
    Case("an unknown field in options is not looked at", "DELETE configmaps/a", options(color="red"),
         Shows(200, {"status": "Success"}), before=ONE),
    Case("options with a wrong type", "DELETE configmaps/a", options(gracePeriodSeconds="x"),
         Refused(400, "BadRequest",
                 "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64"),
         before=ONE),
    Case("options without a kind are read all the same", "DELETE configmaps/a", {"propagationPolicy": "Foreground"},
         Shows(200, {"metadata": {"finalizers": ["foregroundDeletion"]}}), before=ONE),
    Case("options in the query", "DELETE configmaps/a?propagationPolicy=Foreground", None,
         Shows(200, {"metadata": {"finalizers": ["foregroundDeletion"]}}), before=ONE),
    Case("the body counts and not the query", "DELETE configmaps/a?propagationPolicy=Foreground",
         options(propagationPolicy="Background"), Shows(200, {"kind": "Status", "status": "Success"}), before=ONE),
    Case("an empty body is no options", "DELETE configmaps/a", "",
         Shows(200, {"kind": "Status", "status": "Success"}), before=ONE),
    Case("a body of nothing but options' kind", "DELETE configmaps/a", options(), Shows(200, {"kind": "Status"}),
         before=ONE),
    Case("background is the default", "DELETE deployments/web", None, Shows(200, {"kind": "Status"}),
         before=[("POST deployments", deployment())]),
    Case("foreground holds the object with a finalizer", "DELETE deployments/web?propagationPolicy=Foreground", None,
         Shows(200, {"kind": "Deployment", "metadata": {
             "finalizers": ["foregroundDeletion"], "deletionGracePeriodSeconds": 0, "generation": 2}}),
         before=[("POST deployments", deployment())]),
    Case("orphan holds the object with a finalizer", "DELETE deployments/web?propagationPolicy=Orphan", None,
         Shows(200, {"metadata": {"finalizers": ["orphan"]}}), before=[("POST deployments", deployment())]),
    Case("the old word for orphan", "DELETE deployments/web", options(orphanDependents=True),
         Shows(200, {"metadata": {"finalizers": ["orphan"]}}), before=[("POST deployments", deployment())]),
    Case("a job is orphaned unless told otherwise", "DELETE jobs/j", None,
         Shows(200, {"metadata": {"finalizers": ["orphan"]}},
               warnings=[('299 - "child pods are preserved by default when jobs are deleted; set '
                         'propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress '
                         'this warning"')]), before=[("POST jobs", job())]),
    Case("a custom object is deleted in the background too", "DELETE gadgets/g", None, Shows(200, {"kind": "Status"}),
         before=[("POST gadgets", gadget())]),
    Case("an object that finalizers hold is shown", "DELETE configmaps/a", None,
         Shows(200, {"metadata": {"finalizers": ["a.example/x"], "deletionGracePeriodSeconds": 0}}), before=HELD),
    Case("an object that leaves can be deleted again", "DELETE configmaps/a", None, Shows(200, {"kind": "ConfigMap"}),
         before=[*HELD, ("DELETE configmaps/a", None)]),
    Case("an object that leaves can't get new finalizers", "PATCH configmaps/a",
         {"metadata": {"finalizers": ["a.example/x", "a.example/y"]}},
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the '
                 'object is being deleted, found new finalizers []string{"a.example/y"}',
                 "ConfigMap a",
                 ["FieldValueForbidden metadata.finalizers", "FieldValueForbidden metadata.finalizers"]),
         before=[*HELD, ("DELETE configmaps/a", None)], patch="merge"),
    Case("an object that leaves can still be changed", "PATCH configmaps/a", {"data": {"k": "v"}},
         Shows(200, {"data": {"k": "v"}}), before=[*HELD, ("DELETE configmaps/a", None)], patch="merge"),
    Case("an object that leaves is still in the way", "POST configmaps", config_map(),
         Refused(409, "AlreadyExists", 'object is being deleted: configmaps "a" already exists', "configmaps a"),
         before=[*HELD, ("DELETE configmaps/a", None)]),
    Case("a pod without a node goes at once and is shown", "DELETE pods/p", None,
         Shows(200, {"kind": "Pod", "metadata": {"name": "p"}}), before=[("POST pods", pod())]),
    Case("a pod on a node has its grace period", "DELETE pods/p", None,
         Shows(200, {"metadata": {"deletionGracePeriodSeconds": 30}}), before=[("POST pods", pod(nodeName="n1"))]),
    Case("a grace period may be asked for", "DELETE pods/p?gracePeriodSeconds=5", None,
         Shows(200, {"metadata": {"deletionGracePeriodSeconds": 5}}), before=[("POST pods", pod(nodeName="n1"))]),
    Case("a negative grace period is one second", "DELETE pods/p?gracePeriodSeconds=-1", None,
         Shows(200, {"metadata": {"deletionGracePeriodSeconds": 1}}), before=[("POST pods", pod(nodeName="n1"))]),
    Case("a grace period can be shortened", "DELETE pods/p?gracePeriodSeconds=2", None,
         Shows(200, {"metadata": {"deletionGracePeriodSeconds": 2}}),
         before=[("POST pods", pod(nodeName="n1")), ("DELETE pods/p", None)]),
    Case("a grace period can't be lengthened", "DELETE pods/p?gracePeriodSeconds=50", None,
         Shows(200, {"metadata": {"deletionGracePeriodSeconds": 30}}),
         before=[("POST pods", pod(nodeName="n1")), ("DELETE pods/p", None)]),
    Case("a config map has no grace", "DELETE configmaps/a?gracePeriodSeconds=30", None,
         Shows(200, {"kind": "Status"}), before=ONE),
    Case("a dry run shows success", "DELETE configmaps/a?dryRun=All", None,
         Shows(200, {"kind": "Status", "status": "Success"}), before=ONE),
    Case("a deletion in an unknown namespace", "DELETE /api/v1/namespaces/nowhere/configmaps/a", None,
         Refused(404, "NotFound", 'configmaps "a" not found', "configmaps a")),
    Case("a claim that a finalizer protects", "DELETE persistentvolumeclaims/c", None,
         Shows(200, {"metadata": {"finalizers": ["kubernetes.io/pvc-protection"]}}),
         before=[("POST persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": {
"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})]),
    Case("a collection of a kind across namespaces", "DELETE /api/v1/configmaps", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("a collection by labels that can't be read", "DELETE configmaps?labelSelector=a+in+b", None,
         Refused(400, "BadRequest", "unable to parse requirement: found 'b' expected: '('")),
    Case("a collection by fields that can't be selected", "DELETE configmaps?fieldSelector=data.x=y", None,
         Refused(400, "BadRequest",
                 '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"')),
    Case("an empty collection", "DELETE configmaps", None, Shows(200, {"kind": "ConfigMapList", "items": []})),
    Case("a collection shows what it had", "DELETE configmaps", None,
         Shows(200, {"kind": "ConfigMapList", "items": [{"metadata": {"name": "a"}}]}), before=ONE),
    Case("a collection of namespaces", "DELETE /api/v1/namespaces?labelSelector=a=b", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("a collection of services", "DELETE services", None, Shows(200, {"kind": "ServiceList"})),
]  # fmt: skip


@each(ANSWERED)
async def test_delete(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


async def test_a_deleted_object_is_told_in_a_status(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    assert await raw.ok("DELETE configmaps/a") == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]},
    }
    assert (await raw("GET configmaps/a")).code == 404


async def test_a_deleted_object_of_a_group_is_told_with_its_group(raw: Raw) -> None:
    made = await raw.ok("POST deployments", deployment())
    details = (await raw.ok("DELETE deployments/web"))["details"]
    assert details == {"name": "web", "group": "apps", "kind": "deployments", "uid": made["metadata"]["uid"]}


async def test_a_precondition_on_the_uid_names_both(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    refusal = (await raw("DELETE configmaps/a", options(preconditions={"uid": "other"}))).refusal
    assert refusal == Refused(
        409,
        "Conflict",
        'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match '
        f"the UID in record ({made['metadata']['uid']}). The object might have been deleted and then recreated",
        "ConfigMap a",
    )


async def test_a_precondition_on_the_version_names_both(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    refusal = (await raw("DELETE configmaps/a", options(preconditions={"resourceVersion": "1"}))).refusal
    assert refusal == Refused(
        409,
        "Conflict",
        'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match '
        f"the ResourceVersion in record ({made['metadata']['resourceVersion']}). The object might have been modified",
        "ConfigMap a",
    )


async def test_preconditions_that_hold(raw: Raw) -> None:
    made = (await raw.ok("POST configmaps", config_map()))["metadata"]
    wanted = {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}
    assert (await raw.ok("DELETE configmaps/a", options(preconditions=wanted)))["status"] == "Success"


async def test_a_dry_run_deletes_nothing(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    await raw.ok("DELETE configmaps/a?dryRun=All")
    assert await raw.ok("GET configmaps/a") == made


async def test_an_object_goes_when_the_last_finalizer_does(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(metadata={"finalizers": ["a.example/x", "a.example/y"]}))
    leaving = await raw.ok("DELETE configmaps/a")
    first = await raw.ok("PATCH configmaps/a", {"metadata": {"finalizers": ["a.example/y"]}}, patch="merge")
    assert first["metadata"]["deletionTimestamp"] == leaving["metadata"]["deletionTimestamp"]
    await raw.ok("PATCH configmaps/a", {"metadata": {"finalizers": []}}, patch="merge")
    assert (await raw("GET configmaps/a")).code == 404


async def test_deleting_again_what_leaves_changes_nothing(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(metadata={"finalizers": ["a.example/x"]}))
    leaving = await raw.ok("DELETE configmaps/a")
    assert await raw.ok("DELETE configmaps/a") == leaving


async def test_foreground_and_then_background_drops_the_finalizer(raw: Raw) -> None:
    await raw.ok("POST deployments", deployment())
    await raw.ok("DELETE deployments/web?propagationPolicy=Foreground")
    await raw.ok("DELETE deployments/web?propagationPolicy=Background")
    assert (await raw("GET deployments/web")).code == 404


async def test_foreground_keeps_other_finalizers(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(metadata={"finalizers": ["a.example/x"]}))
    leaving = await raw.ok("DELETE configmaps/a?propagationPolicy=Foreground")
    assert sorted(leaving["metadata"]["finalizers"]) == ["a.example/x", "foregroundDeletion"]


async def test_what_the_query_says_counts_only_without_a_body(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    await raw.ok("DELETE configmaps/a?dryRun=All&propagationPolicy=Sometimes", {"propagationPolicy": "Background"})
    assert (await raw("GET configmaps/a")).code == 404


async def test_a_deletion_moves_the_generation_of_what_has_one(raw: Raw, crds: None) -> None:
    await raw.ok("POST gadgets", {**gadget(), "metadata": {"name": "g", "finalizers": ["a.example/x"]}})
    leaving = await raw.ok("DELETE gadgets/g")
    assert leaving["metadata"]["generation"] == 2


async def test_a_pod_with_grace_goes_with_a_second_deletion_without(raw: Raw) -> None:
    await raw.ok("POST pods", pod(nodeName="n1"))
    await raw.ok("DELETE pods/p")
    assert (await raw.ok("GET pods/p"))["metadata"]["deletionTimestamp"]
    await raw.ok("DELETE pods/p?gracePeriodSeconds=0")
    assert (await raw("GET pods/p")).code == 404


async def test_a_namesake_is_not_deleted_by_the_uid_of_the_one_before(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    await raw.ok("DELETE configmaps/a")
    again = await raw.ok("POST configmaps", config_map())
    assert again["metadata"]["uid"] != made["metadata"]["uid"]
    wanted = options(preconditions={"uid": made["metadata"]["uid"]})
    assert (await raw("DELETE configmaps/a", wanted)).refusal.reason == "Conflict"


@pytest.mark.parametrize("selector", ["labelSelector=app=x", "fieldSelector=metadata.name=a"])
async def test_a_collection_is_deleted_by_selector(raw: Raw, selector: str) -> None:
    await raw.ok("POST configmaps", config_map("a", metadata={"labels": {"app": "x"}}))
    await raw.ok("POST configmaps", config_map("b"))
    gone = await raw.ok(f"DELETE configmaps?{selector}")
    assert [item["metadata"]["name"] for item in gone["items"]] == ["a"]
    assert [item["metadata"]["name"] for item in (await raw.ok("GET configmaps"))["items"]] == ["b"]


async def test_a_collection_in_a_dry_run_stays(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map())
    await raw.ok("DELETE configmaps?dryRun=All")
    assert (await raw("GET configmaps/a")).code == 200


async def test_a_collection_keeps_what_finalizers_hold(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map("a", metadata={"finalizers": ["a.example/x"]}))
    await raw.ok("POST configmaps", config_map("b"))
    await raw.ok("DELETE configmaps")
    left = (await raw.ok("GET configmaps"))["items"]
    assert [item["metadata"]["name"] for item in left] == ["a"]
    assert left[0]["metadata"]["deletionTimestamp"]


async def test_a_collection_page_is_deleted_with_a_limit(raw: Raw) -> None:
    for name in "abc":
        await raw.ok("POST configmaps", config_map(name))
    await raw.ok("DELETE configmaps?limit=2")
    assert [item["metadata"]["name"] for item in (await raw.ok("GET configmaps"))["items"]] == ["c"]


RUNS = [("POST pods", pod(nodeName="n1"))]
IN_STEPS = [
    Case(
        "a pod's grace period can be shortened",
        "DELETE pods/p?gracePeriodSeconds=5",
        None,
        Shows(200, {"metadata": {"generation": 2, "deletionGracePeriodSeconds": 5}}),
        before=[*RUNS, ("DELETE pods/p", None)],
    ),
    Case(
        "a pod's grace period can't be lengthened",
        "DELETE pods/p?gracePeriodSeconds=50",
        None,
        Shows(200, {"metadata": {"generation": 2, "deletionGracePeriodSeconds": 30}}),
        before=[*RUNS, ("DELETE pods/p", None)],
    ),
    Case(
        "a negative grace period is a second",
        "DELETE pods/p?gracePeriodSeconds=-5",
        None,
        Shows(200, {"metadata": {"generation": 2, "deletionGracePeriodSeconds": 1}}),
        before=RUNS,
    ),
    Case(
        "a pod that is given no time",
        "DELETE pods/p?gracePeriodSeconds=0&dryRun=All",
        None,
        Shows(200, {"metadata": {"generation": 2, "deletionGracePeriodSeconds": 0}}),
        before=RUNS,
    ),
    Case(
        "a pod that was given time is changed",
        "PATCH pods/p",
        {"metadata": {"labels": {"a": "b"}}},
        Shows(200, {"metadata": {"deletionGracePeriodSeconds": 30, "labels": {"a": "b"}}}),
        before=[*RUNS, ("DELETE pods/p", None)],
        patch="merge",
    ),
    Case(
        "another propagation later",
        "DELETE configmaps/a?propagationPolicy=Orphan",
        None,
        Shows(200, {"metadata": {"finalizers": ["orphan"]}}),
        before=[("POST configmaps", config_map()), ("DELETE configmaps/a?propagationPolicy=Foreground", None)],
    ),
    Case(
        "a second deletion keeps how the first one goes on",
        "DELETE deployments/web",
        None,
        Shows(200, {"metadata": {"finalizers": ["foregroundDeletion"], "generation": 2}}),
        before=[("POST deployments", deployment()), ("DELETE deployments/web?propagationPolicy=Foreground", None)],
    ),
    Case(
        "a replication controller is orphaned too",
        "DELETE replicationcontrollers/r",
        None,
        Shows(200, {"metadata": {"finalizers": ["orphan"]}}),
        before=[
            (
                "POST replicationcontrollers",
                {"metadata": {"name": "r"}, "spec": {"selector": {"app": "web"}, "template": template()}},
            )
        ],
    ),
    Case(
        "a namespace in a dry run",
        "DELETE /api/v1/namespaces/{ns}?dryRun=All",
        None,
        Shows(200, {"metadata": {"deletionGracePeriodSeconds": None}, "status": {"phase": "Terminating"}}),
    ),
    Case(
        "a missing job is warned about",
        "DELETE jobs/j",
        None,
        Refused(
            404,
            "NotFound",
            'jobs.batch "j" not found',
            "jobs.batch j",
            warnings=[
                (
                    '299 - "child pods are preserved by default when jobs are deleted; set '
                    "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
                    'this warning"'
                )
            ],
        ),
    ),
]


@each(IN_STEPS)
async def test_delete_in_steps(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)
