"""Namespaces: how they are made, how they end, and what they refuse meanwhile."""

import pytest

from conformance.cases import Case, each
from conformance.crds import gadget
from conformance.objects import config_map, pod
from conformance.requests import Raw, Refused, Shows

LEAVING = [("DELETE /api/v1/namespaces/{ns}", None)]

ANSWERED = [
    Case("a new namespace is active and named by a label", "POST /api/v1/namespaces",
         {"metadata": {"name": "{ns}-x"}},
         Shows(201, {"metadata": {"labels": {"kubernetes.io/metadata.name": "{ns}-x"}},
                     "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}})),
    Case("a namespace that is there", "POST /api/v1/namespaces", {"metadata": {"name": "{ns}"}},
         Refused(409, "AlreadyExists", 'namespaces "{ns}" already exists', "namespaces {ns}")),
    Case("a namespace's label of its name comes back", "PATCH /api/v1/namespaces/{ns}",
         {"metadata": {"labels": None}},
         Shows(200, {"metadata": {"labels": {"kubernetes.io/metadata.name": "{ns}"}}}), patch="merge"),
    Case("a namespace's label of its name can't be another", "PATCH /api/v1/namespaces/{ns}",
         {"metadata": {"labels": {"kubernetes.io/metadata.name": "x"}}},
         Shows(200, {"metadata": {"labels": {"kubernetes.io/metadata.name": "{ns}"}}}), patch="merge"),
    Case("a namespace's finalizers can't be changed with it", "PATCH /api/v1/namespaces/{ns}",
         {"spec": {"finalizers": []}}, Shows(200, {"spec": {"finalizers": ["kubernetes"]}}), patch="merge"),
    Case("a namespace that ends is shown", "DELETE /api/v1/namespaces/{ns}", None,
         Shows(200, {"kind": "Namespace", "status": {"phase": "Terminating"}, "spec": {"finalizers": ["kubernetes"]}})),
    Case("a namespace that ends is deleted again", "DELETE /api/v1/namespaces/{ns}", None,
         Shows(200, {"status": {"phase": "Terminating"}}), before=LEAVING),
    Case("nothing can be created in a namespace that ends", "POST configmaps", config_map(),
         Refused(403, "Forbidden",
                 'configmaps "a" is forbidden: unable to create new content in namespace {ns} because it is being '
                 "terminated",
                 "configmaps a", ["NamespaceTerminating metadata.namespace: namespace {ns} is being terminated"]),
         before=LEAVING),
    Case("no custom object can be created in a namespace that ends", "POST gadgets", gadget(),
         Refused(403, "Forbidden",
                 'gadgets.conformance.windvane.dev "g" is forbidden: unable to create new content in namespace {ns} '
                 "because it is being terminated",
                 "gadgets.conformance.windvane.dev g",
                 ["NamespaceTerminating metadata.namespace: namespace {ns} is being terminated"]), before=LEAVING),
    Case("no pod can be created in a namespace that ends", "POST pods?dryRun=All", pod(),
         Refused(403, "Forbidden",
                 'pods "p" is forbidden: unable to create new content in namespace {ns} because it is being '
                 "terminated",
                 "pods p", ["NamespaceTerminating metadata.namespace: namespace {ns} is being terminated"]),
         before=LEAVING),
    Case("objects can be changed in a namespace that ends", "PATCH configmaps/a", {"data": {"k": "v"}},
         Shows(200, {"data": {"k": "v"}}), before=[("POST configmaps", config_map()), *LEAVING], patch="merge"),
    Case("objects can be deleted in a namespace that ends", "DELETE configmaps/a", None,
         Shows(200, {"status": "Success"}), before=[("POST configmaps", config_map()), *LEAVING]),
    Case("the default namespace can't be deleted", "DELETE /api/v1/namespaces/default", None,
         Refused(403, "Forbidden", 'namespaces "default" is forbidden: this namespace may not be deleted',
                 "namespaces default")),
    Case("the system's namespace can't be deleted", "DELETE /api/v1/namespaces/kube-system", None,
         Refused(403, "Forbidden", 'namespaces "kube-system" is forbidden: this namespace may not be deleted',
                 "namespaces kube-system")),
    Case("finalize sets the finalizers", "PUT /api/v1/namespaces/{ns}/finalize",
         {"metadata": {"name": "{ns}"}, "spec": {"finalizers": ["kubernetes", "a.example/x"]}},
         Shows(200, {"spec": {"finalizers": ["kubernetes", "a.example/x"]}})),
    Case("finalize refuses what is no finalizer", "PUT /api/v1/namespaces/{ns}/finalize",
         {"metadata": {"name": "{ns}"}, "spec": {"finalizers": ["x"]}},
         Refused(422, "Invalid",
                 'Namespace "{ns}" is invalid: spec.finalizers[0]: Invalid value: "x": name is neither a standard '
                 "finalizer name nor is it fully qualified",
                 "Namespace {ns}", ["FieldValueInvalid spec.finalizers[0]"])),
    Case("finalize can't be read", "GET /api/v1/namespaces/{ns}/finalize", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("a namespace's status is its own", "PATCH /api/v1/namespaces/{ns}/status",
         {"status": {"conditions": [{"type": "X", "status": "True"}]}},
         Shows(200, {"status": {"phase": "Active", "conditions": [{"type": "X", "status": "True"}]}}), patch="merge"),
    Case("a namespace's phase follows its deletion", "PATCH /api/v1/namespaces/{ns}/status",
         {"status": {"phase": "Terminating"}},
         Refused(422, "Invalid",
                 "Namespace \"{ns}\" is invalid: status.Phase: Invalid value: \"Terminating\": may only be 'Active' "
                 "if `deletionTimestamp` is empty",
                 "Namespace {ns}", ["FieldValueInvalid status.Phase"]), patch="merge"),
    Case("a namespace is selected by its name's label",
         "GET /api/v1/namespaces?labelSelector=kubernetes.io/metadata.name={ns}", None,
         Shows(200, {"items": [{"metadata": {"name": "{ns}"}}]})),
    Case("a namespace is selected by its phase",
         "GET /api/v1/namespaces?fieldSelector=status.phase=Active,metadata.name={ns}", None,
         Shows(200, {"items": [{"metadata": {"name": "{ns}"}}]})),
]  # fmt: skip


@each(ANSWERED)
async def test_namespaces(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


async def test_four_namespaces_are_there_from_the_start(raw: Raw) -> None:
    names = {item["metadata"]["name"] for item in (await raw.ok("GET /api/v1/namespaces"))["items"]}
    assert {"default", "kube-system", "kube-public", "kube-node-lease"} <= names


async def test_the_default_namespace_has_the_servers_own_service(raw: Raw) -> None:
    found = await raw.ok("GET /api/v1/namespaces/default/services/kubernetes")
    assert found["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    assert found["spec"]["clusterIP"] == "10.0.0.1"


async def test_a_namespace_goes_with_its_last_finalizer(raw: Raw) -> None:
    leaving = await raw.ok("DELETE /api/v1/namespaces/{ns}")
    assert leaving["metadata"]["deletionTimestamp"]
    leaving["spec"] = {}
    last = await raw.ok("PUT /api/v1/namespaces/{ns}/finalize", leaving)
    assert last["kind"] == "Namespace"
    assert (await raw("GET /api/v1/namespaces/{ns}")).code == 404


async def test_a_namespace_without_finalizers_still_ends_in_two_steps(raw: Raw) -> None:
    await raw.ok("PUT /api/v1/namespaces/{ns}/finalize", {"metadata": {"name": raw.namespace}, "spec": {}})
    assert (await raw.ok("DELETE /api/v1/namespaces/{ns}"))["status"] == {"phase": "Terminating"}
    assert (await raw("GET /api/v1/namespaces/{ns}")).code == 200


@pytest.mark.parametrize(
    ("request_", "body"),
    [
        ("POST /api/v1/namespaces/missing-{ns}/configmaps", {"metadata": {"name": "a"}}),
        ("POST /api/v1/namespaces/missing-{ns}/configmaps", {"metadata": {"name": "NOT A NAME"}}),
        ("POST /api/v1/namespaces/missing-{ns}/serviceaccounts/a/token", {}),
        ("POST /api/v1/namespaces/missing-{ns}/pods/a/eviction", {"metadata": {"name": "a"}}),
        ("POST /api/v1/namespaces/missing-{ns}/pods/a/binding", {"metadata": {"name": "a"}, "target": {"name": "b"}}),
        ("PUT /apis/coordination.k8s.io/v1/namespaces/missing-{ns}/leases/a", {"metadata": {"name": "a"}}),
    ],
)
async def test_nothing_is_created_in_a_namespace_that_is_not_there(request_: str, body: object, raw: Raw) -> None:
    missing = f"missing-{raw.namespace}"
    answer = await raw(request_, body)
    assert answer.refusal == Refused(404, "NotFound", f'namespaces "{missing}" not found', f"namespaces {missing}")


@pytest.mark.parametrize(
    ("request_", "body", "about", "name"),
    [
        ("POST configmaps", {"metadata": {"name": "NOT A NAME"}}, "configmaps", "NOT A NAME"),
        ("POST configmaps", {"metadata": {"generateName": "a-"}}, "configmaps", "a-"),
        ("POST serviceaccounts/a/token", {}, "serviceaccounts", "a"),
        ("POST pods/a/eviction", {"metadata": {"name": "a"}}, "pods", "a"),
        ("PUT leases/a", {"metadata": {"name": "a"}}, "leases.coordination.k8s.io", "a"),
    ],
)
async def test_nothing_is_created_in_a_namespace_that_is_going(
    request_: str, body: object, about: str, name: str, raw: Raw
) -> None:
    await raw.ok("DELETE /api/v1/namespaces/{ns}")
    answer = await raw(request_, body)
    message = f'{about} "{name}" is forbidden: unable to create new content in namespace {raw.namespace} because it is'
    cause = f"NamespaceTerminating metadata.namespace: namespace {raw.namespace} is being terminated"
    assert answer.refusal == Refused(403, "Forbidden", f"{message} being terminated", f"{about} {name}", [cause])


async def test_a_question_about_access_in_a_namespace_that_is_not_there(raw: Raw) -> None:
    where = "missing-{ns}"
    body = {"spec": {"user": "jane", "resourceAttributes": {"namespace": where, "verb": "get", "resource": "pods"}}}
    answer = await raw(f"POST /apis/authorization.k8s.io/v1/namespaces/{where}/localsubjectaccessreviews", body)
    assert (answer.code, answer.json["status"]) == (201, {"allowed": False})
