"""Updates: against which version, what may change, and what counts as a change."""

from typing import Any

import pytest

from conformance.cases import Case, each
from conformance.crds import gadget, plain
from conformance.objects import Thing, config_map, deployment, job, pod, service, template
from conformance.requests import Raw, Refused, Shows

ONE = [("POST configmaps", config_map(data={"k": "1"}))]
WEB = [("POST deployments", deployment())]
SIZED = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}


def bound(role: str) -> Thing:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role}
    return {"metadata": {"name": "r"}, "roleRef": reference}


# The addresses of services are some that a server gives only to who names them: see CELLS in test_representations.
ANSWERED = [
    Case("an update without a version is unconditional", "PUT configmaps/a", config_map(data={"k": "2"}),
         Shows(200, {"data": {"k": "2"}}), before=ONE),
    Case("an update of a custom object needs a version", "PUT gadgets/g", gadget(size=2),
         Refused(422, "Invalid",
                 'gadgets.conformance.windvane.dev "g" is invalid: metadata.resourceVersion: Invalid value: 0: must '
                 "be specified for an update",
                 "gadgets.conformance.windvane.dev g", ["FieldValueInvalid metadata.resourceVersion"]),
         before=[("POST gadgets", gadget())]),
    Case("an update of a lease without a version", "PUT leases/l", {"metadata": {"name": "l"}, "spec": {}},
         Refused(422, "Invalid",
                 'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be '
                 "specified for an update",
                 "leases.coordination.k8s.io l", ["FieldValueInvalid metadata.resourceVersion"]),
         before=[("POST leases", {"metadata": {"name": "l"}})]),
    Case("an update with an old version conflicts", "PUT configmaps/a", config_map(metadata={"resourceVersion": "1"}),
         Refused(409, "Conflict",
                 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your '
                 "changes to the latest version and try again",
                 "configmaps a"), before=ONE),
    Case("an update of a custom object with an old version conflicts", "PUT gadgets/g",
         {**gadget(), "metadata": {"name": "g", "resourceVersion": "1"}},
         Refused(409, "Conflict",
                 'Operation cannot be fulfilled on gadgets.conformance.windvane.dev "g": the object has been '
                 "modified; please apply your changes to the latest version and try again",
                 "gadgets.conformance.windvane.dev g"), before=[("POST gadgets", gadget())]),
    Case("an update with a version that is no number", "PUT configmaps/a",
         config_map(metadata={"resourceVersion": "x"}),
         Refused(500, "", 'strconv.ParseUint: parsing "x": invalid syntax'), before=ONE),
    Case("an update of what is not there", "PUT configmaps/a", config_map(),
         Refused(404, "NotFound", 'configmaps "a" not found', "configmaps a")),
    Case("an update of a custom object that is not there", "PUT gadgets/g", gadget(),
         Refused(404, "NotFound", 'gadgets.conformance.windvane.dev "g" not found',
                 "gadgets.conformance.windvane.dev g")),
    Case("an update of what is not there with a version", "PUT configmaps/a",
         config_map(metadata={"resourceVersion": "5"}),
         Refused(404, "NotFound", 'configmaps "a" not found', "configmaps a")),
    Case("a lease is made by an update", "PUT leases/l", {"metadata": {"name": "l"}}, Shows(201, {"kind": "Lease"})),
    Case("the name in the body must be that of the path", "PUT configmaps/a", config_map("b"),
         Refused(400, "BadRequest", "the name of the object (b) does not match the name on the URL (a)"), before=ONE),
    Case("the name may be missing from the body", "PUT configmaps/a", {"data": {}},
         Refused(400, "BadRequest",
                 "the name of the object (a based on URL) was undeterminable: name must be provided"), before=ONE),
    Case("the namespace in the body must be that of the path for updates too", "PUT configmaps/a",
         config_map(metadata={"namespace": "other"}),
         Refused(400, "BadRequest",
                 "the namespace of the provided object does not match the namespace sent on the request"), before=ONE),
    Case("an update without the namespace gets it from the path", "PUT configmaps/a", config_map(),
         Shows(200, {"metadata": {"namespace": "{ns}"}}), before=ONE),
    Case("what an update leaves out is gone", "PUT configmaps/a", config_map(), Shows(200, {"data": None}),
         before=ONE),
    Case("a collection can't be updated", "PUT configmaps", config_map(),
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("an update with a dry run of another sort", "PUT configmaps/a?dryRun=x", config_map(),
         Refused(422, "Invalid",
                 'UpdateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
                 "UpdateOptions.meta.k8s.io", ["FieldValueNotSupported dryRun"]), before=ONE),
    # What may not change
    Case("a deployment's selector", "PUT deployments/web",
         deployment(selector={"matchLabels": {"app": "x"}}, template=template(labels={"app": "x"})),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: '
                 "field is immutable",
                 "Deployment.apps web", ["FieldValueInvalid spec.selector"]), before=WEB),
    Case("a pod's containers, except for their images", "PUT pods/p", pod(container={"image": "other"}),
         Shows(200, {"spec": {"containers": [{"image": "other"}]}}), before=[("POST pods", pod())]),
    Case("a config map that is immutable", "PUT configmaps/a", config_map(data={"k": "2"}, immutable=True),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set',
                 "ConfigMap a", ["FieldValueForbidden data"]),
         before=[("POST configmaps", config_map(data={"k": "1"}, immutable=True))]),
    Case("the immutability of a config map", "PUT configmaps/a", config_map(data={"k": "1"}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: immutable: Forbidden: field is immutable when `immutable` is set',
                 "ConfigMap a", ["FieldValueForbidden immutable"]),
         before=[("POST configmaps", config_map(data={"k": "1"}, immutable=True))]),
    Case("labels of an immutable config map may change", "PUT configmaps/a",
         config_map(data={"k": "1"}, immutable=True, metadata={"labels": {"a": "b"}}),
         Shows(200, {"metadata": {"labels": {"a": "b"}}}),
         before=[("POST configmaps", config_map(data={"k": "1"}, immutable=True))]),
    Case("a secret that is immutable", "PUT secrets/s",
         {"metadata": {"name": "s"}, "immutable": True, "data": {"k": "eA=="}},
         Refused(422, "Invalid", 'Secret "s" is invalid: data: Forbidden: field is immutable when `immutable` is set',
                 "Secret s", ["FieldValueForbidden data"]),
         before=[("POST secrets", {"metadata": {"name": "s"}, "immutable": True})]),
    Case("a secret's type", "PUT secrets/s", {"metadata": {"name": "s"}, "type": "other"},
         Refused(422, "Invalid", 'Secret "s" is invalid: type: Invalid value: "other": field is immutable',
                 "Secret s", ["FieldValueInvalid type"]), before=[("POST secrets", {"metadata": {"name": "s"}})]),
    Case("a service's cluster address", "PUT services/s", service(clusterIP="10.0.0.4"),
         Refused(422, "Invalid",
                 'Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.4"]: may not change once set',
                 "Service s", ["FieldValueInvalid spec.clusterIPs[0]"]),
         before=[("POST services", service(clusterIP="10.0.0.5"))]),
    Case("a service keeps its address if the update has none", "PUT services/s", service(clusterIP=""),
         Shows(200, {"spec": {"clusterIP": "10.0.0.6"}}),
         before=[("POST services", service(clusterIP="10.0.0.6"))]),
    Case("a claim's spec", "PATCH persistentvolumeclaims/c", {"spec": {"accessModes": ["ReadOnlyMany"]}},
         Refused(422, "Invalid",
                 'PersistentVolumeClaim "c" is invalid: spec: Forbidden: spec is immutable after creation except '
                 "resources.requests and volumeAttributesClassName for bound claims\n@@ -1,6 +1,6 @@\n {\n  "
                 "\"AccessModes\": [\n-  \"ReadWriteOnce\"\n+  \"ReadOnlyMany\"\n  ],\n  \"Selector\": null,\n  "
                 "\"Resources\": {\n",
                 "PersistentVolumeClaim c", ["FieldValueForbidden spec"]), patch="merge",
         before=[("POST persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": SIZED})]),
    Case("a claim that names no class may come to name one", "PATCH persistentvolumeclaims/c",
         {"spec": {"storageClassName": "fast"}}, Shows(200, {"spec": {"storageClassName": "fast"}}), patch="merge",
         before=[("POST persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": SIZED})]),
    Case("the class of a claim does not change", "PATCH persistentvolumeclaims/c",
         {"spec": {"storageClassName": "fast"}},
         Refused(422, "Invalid",
                 'PersistentVolumeClaim "c" is invalid: spec: Forbidden: spec is immutable after creation except '
                 "resources.requests and volumeAttributesClassName for bound claims\n@@ -10,7 +10,7 @@\n   }\n  },\n  "
                 '"VolumeName": "",\n- "StorageClassName": "slow",\n+ "StorageClassName": "fast",\n  "VolumeMode": '
                 '"Filesystem",\n  "DataSource": null,\n  "DataSourceRef": null,\n',
                 "PersistentVolumeClaim c", ["FieldValueForbidden spec"]), patch="merge",
         before=[("POST persistentvolumeclaims",
                  {"metadata": {"name": "c"}, "spec": SIZED | {"storageClassName": "slow"}})]),
    Case("how many pods of a set may be unavailable is not said unless the feature is on", "PATCH statefulsets/s",
         {"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2, "partition": 1}}}},
         Shows(200, {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1, "maxUnavailable": None}}}}),
         patch="merge", before=[("POST statefulsets", deployment("s", serviceName="s"))]),
    Case("a job's completions", "PATCH jobs/j", {"spec": {"completions": 5}},
         Refused(422, "Invalid", 'Job.batch "j" is invalid: spec.completions: Invalid value: 5: field is immutable',
                 "Job.batch j", ["FieldValueInvalid spec.completions"]), patch="merge", before=[("POST jobs", job())]),
    Case("a job's parallelism may change", "PATCH jobs/j", {"spec": {"parallelism": 5}},
         Shows(200, {"spec": {"parallelism": 5}, "metadata": {"generation": 2}}), patch="merge",
         before=[("POST jobs", job())]),
    Case("a stateful set's service name", "PATCH statefulsets/web", {"spec": {"serviceName": "t"}},
         Refused(422, "Invalid",
                 'StatefulSet.apps "web" is invalid: spec: Forbidden: updates to statefulset spec for fields other '
                 "than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
                 "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
                 "StatefulSet.apps web", ["FieldValueForbidden spec"]), patch="merge",
         before=[("POST statefulsets", deployment(serviceName="s"))]),
    Case("a daemon set's selector", "PATCH daemonsets/web", {"spec": {"selector": {"matchLabels": {"x": "y"}}}},
         Refused(422, "Invalid",
                 'DaemonSet.apps "web" is invalid: [spec.selector: Invalid value: '
                 '{"matchLabels":{"app":"web","x":"y"}}: field is immutable, spec.template.metadata.labels: Invalid '
                 'value: {"app":"web"}: `selector` does not match template `labels`]',
                 "DaemonSet.apps web",
                 ["FieldValueInvalid spec.selector", "FieldValueInvalid spec.template.metadata.labels"]),
         patch="merge", before=[("POST daemonsets", deployment())]),
    Case("a replica set's selector", "PATCH replicasets/web", {"spec": {"selector": {"matchLabels": {"x": "y"}}}},
         Refused(422, "Invalid",
                 'ReplicaSet.apps "web" is invalid: [spec.template.metadata.labels: Invalid value: {"app":"web"}: '
                 "`selector` does not match template `labels`, spec.selector: Invalid value: "
                 '{"matchLabels":{"app":"web","x":"y"}}: field is immutable]',
                 "ReplicaSet.apps web",
                 ["FieldValueInvalid spec.template.metadata.labels", "FieldValueInvalid spec.selector"]),
         patch="merge", before=[("POST replicasets", deployment())]),
    Case("a role binding's role", "PUT rolebindings/r", bound("y"),
         Refused(422, "Invalid",
                 'RoleBinding.rbac.authorization.k8s.io "r" is invalid: roleRef: Invalid value: '
                 '{"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"y"}: cannot change roleRef',
                 "RoleBinding.rbac.authorization.k8s.io r", ["FieldValueInvalid roleRef"]),
         before=[("POST rolebindings", bound("x"))]),
    Case("an object's deletion time", "PUT configmaps/a",
         config_map(metadata={"deletionTimestamp": "2001-01-01T00:00:00Z"}),
         Refused(422, "Invalid",
                 'ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": '
                 "field is immutable",
                 "ConfigMap a",
                 ["FieldValueInvalid metadata.deletionTimestamp", "FieldValueInvalid metadata.deletionTimestamp"]),
         before=ONE),
    Case("an object's generation is kept", "PUT deployments/web", deployment(metadata={"generation": 9}),
         Shows(200, {"metadata": {"generation": 1}}), before=WEB),
    Case("an update breaks the rules of creation", "PUT deployments/web", deployment(replicas=-1),
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal '
                 "to 0",
                 "Deployment.apps web", ["FieldValueInvalid spec.replicas"]), before=WEB),
    Case("an update of the status with the spec is dropped", "PUT deployments/web",
         {**deployment(), "status": {"replicas": 3}}, Shows(200, {"status": {"replicas": None}}), before=WEB),
]  # fmt: skip


@each(ANSWERED)
async def test_update(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


async def test_an_update_that_changes_nothing_keeps_the_version(raw: Raw) -> None:
    made = await raw.ok("POST deployments", deployment())
    assert await raw.ok("PUT deployments/web", made) == made
    assert (await raw.ok("PUT deployments/web", deployment()))["metadata"]["resourceVersion"] == made["metadata"][
        "resourceVersion"
    ]


async def test_an_update_of_a_custom_object_that_changes_nothing_keeps_the_version(raw: Raw, crds: None) -> None:
    made = await raw.ok("POST gadgets", gadget())
    assert await raw.ok("PUT gadgets/g", made) == made


async def test_a_conflict_is_about_the_version_that_was_read(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    await raw.ok("PUT configmaps/a", {**made, "data": {"k": "1"}})
    assert (await raw("PUT configmaps/a", {**made, "data": {"k": "2"}})).code == 409


async def test_an_update_with_the_uid_alone_is_a_precondition(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    after = await raw.ok("PUT configmaps/a", config_map(data={"k": "v"}, metadata={"uid": made["metadata"]["uid"]}))
    assert after["data"] == {"k": "v"}


async def test_an_update_with_another_uid_conflicts(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    refusal = (await raw("PUT configmaps/a", config_map(metadata={"uid": "other"}))).refusal
    assert refusal == Refused(
        409,
        "Conflict",
        'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, '
        f"Key: /registry/configmaps/{raw.namespace}/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: other, UID in object meta: {made['metadata']['uid']}",
        "configmaps a",
    )


async def test_generation_of_a_deployment_moves_with_its_spec_and_its_annotations(raw: Raw) -> None:
    await raw.ok("POST deployments", deployment())
    for change, generation in [
        ({"metadata": {"labels": {"a": "b"}}}, 1),
        ({"spec": {"replicas": 2}}, 2),
        ({"spec": {"replicas": 2}}, 2),
        ({"spec": {"paused": True}}, 3),
        ({"metadata": {"annotations": {"a": "b"}}}, 4),
    ]:
        after = await raw.ok("PATCH deployments/web", change, patch="merge")
        assert after["metadata"]["generation"] == generation, change


async def test_generation_of_an_endpoint_slice_moves_with_its_labels(raw: Raw) -> None:
    made = await raw.ok("POST endpointslices", {"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": []})
    generations = [made["metadata"]["generation"]]
    changes: list[Thing] = [
        {"metadata": {"annotations": {"a": "b"}}},
        {"metadata": {"labels": {"a": "b"}}},
        {"ports": [{"port": 80}]},
    ]
    for change in changes:
        after = await raw.ok("PATCH endpointslices/a", change, patch="merge")
        generations.append(after["metadata"]["generation"])
    assert generations == [1, 1, 2, 3]


@pytest.mark.parametrize(
    ("path", "made", "change", "after"),
    [
        ("networking.k8s.io/v1/ingressclasses", {"spec": {"controller": "a.b/c"}}, {}, 1),
        ("scheduling.k8s.io/v1/priorityclasses", {"value": 7}, {"description": "x"}, 1),
        (
            "admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
            {"spec": {"policyName": "a"}},
            {"spec": {"policyName": "b"}},
            2,
        ),
    ],
)
async def test_what_has_a_generation(raw: Raw, path: str, made: Thing, change: Thing, after: int) -> None:
    first = await raw.ok(f"POST /apis/{path}", {"metadata": {"name": raw.namespace}, **made})
    raw.afterwards.append(f"DELETE /apis/{path}/{raw.namespace}")
    second = await raw.ok(f"PATCH /apis/{path}/{raw.namespace}", change, patch="merge")
    assert (first["metadata"]["generation"], second["metadata"]["generation"]) == (1, after)


async def test_generation_of_a_replica_set_moves_with_its_spec_only(raw: Raw) -> None:
    await raw.ok("POST replicasets", deployment())
    noted = await raw.ok("PATCH replicasets/web", {"metadata": {"annotations": {"a": "b"}}}, patch="merge")
    assert noted["metadata"]["generation"] == 1
    scaled = await raw.ok("PATCH replicasets/web", {"spec": {"replicas": 2}}, patch="merge")
    assert scaled["metadata"]["generation"] == 2


async def test_generation_of_a_custom_object_moves_with_all_but_metadata_and_status(raw: Raw, crds: None) -> None:
    assert (await raw.ok("POST gadgets", gadget()))["metadata"]["generation"] == 1
    labeled = await raw.ok("PATCH gadgets/g", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
    assert labeled["metadata"]["generation"] == 1
    said = await raw.ok("PATCH gadgets/g/status", {"status": {"phase": "Up"}}, patch="merge")
    assert said["metadata"]["generation"] == 1
    grown = await raw.ok("PATCH gadgets/g", {"spec": {"size": 2}}, patch="merge")
    assert grown["metadata"]["generation"] == 2


async def test_without_a_status_subresource_status_moves_the_generation(raw: Raw, crds: None) -> None:
    await raw.ok("POST plainthings", plain())
    said = await raw.ok("PATCH plainthings/t", {"status": {"phase": "Up"}}, patch="merge")
    assert (said["metadata"]["generation"], said["status"]) == (2, {"phase": "Up"})


async def test_a_pod_has_a_generation(raw: Raw) -> None:
    assert (await raw.ok("POST pods", pod()))["metadata"]["generation"] == 1
    after = await raw.ok("PATCH pods/p", {"spec": {"activeDeadlineSeconds": 5}}, patch="merge")
    assert after["metadata"]["generation"] == 2


async def test_a_service_has_no_generation(raw: Raw) -> None:
    assert "generation" not in (await raw.ok("POST services", service()))["metadata"]


async def test_what_of_a_pod_may_not_change(raw: Raw) -> None:
    await raw.ok("POST pods", pod())
    refusal = (await raw("PATCH pods/p", {"spec": {"hostNetwork": True}}, patch="merge")).refusal
    assert refusal.message.partition("\n")[0] == (
        'Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than '
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
        "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
        "set to 1 if it was previously negative)"
    )
    assert refusal.causes[0].partition(":")[0] == "FieldValueForbidden spec"


async def test_a_dry_run_of_an_update_changes_nothing(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    tried = await raw.ok("PUT configmaps/a?dryRun=All", {**made, "data": {"k": "v"}})
    assert tried["data"] == {"k": "v"}
    assert tried["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    assert await raw.ok("GET configmaps/a") == made


async def test_the_creation_time_can_not_be_changed(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    changed = {**made["metadata"], "creationTimestamp": "2001-01-01T00:00:00Z"}
    after = await raw.ok("PUT configmaps/a", {**made, "metadata": changed})
    assert after["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]


LEASE = {"metadata": {"name": "l"}}
FIRST_AND_AGAIN = [
    Case(
        "an update that would be the first, of something known",
        "PUT leases/l",
        {"metadata": {"name": "l", "uid": "x"}},
        Refused(
            409,
            "Conflict",
            (
                'Operation cannot be fulfilled on leases.coordination.k8s.io "l": StorageError: '
                "invalid object, Code: 4, Key: /registry/leases/{ns}/l, ResourceVersion: 0, "
                "AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object "
                "meta: "
            ),
            "leases.coordination.k8s.io l",
        ),
    ),
    Case(
        "an update that is the first, in a dry run",
        "PUT leases/l?dryRun=All",
        LEASE,
        Shows(201, {"metadata": {"resourceVersion": None, "name": "l"}}),
    ),
    Case(
        "an update that is the first, of a version",
        "PUT leases/l",
        {"metadata": {"name": "l", "resourceVersion": "5"}},
        Shows(201, {"metadata": {"name": "l"}}),
    ),
    Case("an update that makes a service", "PUT services/s", service(), Shows(201, {"metadata": {"name": "s"}})),
    Case(
        "a budget's update needs a version",
        "PUT poddisruptionbudgets/b",
        {"metadata": {"name": "b"}, "spec": {"minAvailable": 1}},
        Refused(
            422,
            "Invalid",
            (
                'poddisruptionbudgets.policy "b" is invalid: metadata.resourceVersion: Invalid '
                "value: 0: must be specified for an update"
            ),
            "poddisruptionbudgets.policy b",
            ["FieldValueInvalid metadata.resourceVersion"],
        ),
        before=[("POST poddisruptionbudgets", {"metadata": {"name": "b"}, "spec": {"minAvailable": 1}})],
    ),
    Case(
        "version zero is no version",
        "PUT gadgets/g",
        {**gadget(), "metadata": {"name": "g", "resourceVersion": "0"}},
        Refused(
            422,
            "Invalid",
            (
                'gadgets.conformance.windvane.dev "g" is invalid: metadata.resourceVersion: '
                "Invalid value: 0: must be specified for an update"
            ),
            "gadgets.conformance.windvane.dev g",
            ["FieldValueInvalid metadata.resourceVersion"],
        ),
        before=[("POST gadgets", gadget())],
    ),
    Case(
        "a label that can't be is found each time",
        "PATCH configmaps/a",
        {"metadata": {"labels": {"b c": "d"}}},
        Refused(
            422,
            "Invalid",
            (
                'ConfigMap "a" is invalid: metadata.labels: Invalid value: "b c": name part must'
                " consist of alphanumeric characters, '-', '_' or '.', and must start and end "
                "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
                "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ),
            "ConfigMap a",
            [
                "FieldValueInvalid metadata.labels",
                "FieldValueInvalid metadata.labels",
                "FieldValueInvalid metadata.labels",
                "FieldValueInvalid metadata.labels",
            ],
        ),
        before=[("POST configmaps", config_map())],
        patch="merge",
    ),
    Case(
        "a finalizer that can't be is found twice",
        "PATCH configmaps/a",
        {"metadata": {"finalizers": ["x"]}},
        Refused(
            422,
            "Invalid",
            (
                'ConfigMap "a" is invalid: metadata.finalizers[0]: Invalid value: "x": name is '
                "neither a standard finalizer name nor is it fully qualified"
            ),
            "ConfigMap a",
            ["FieldValueInvalid metadata.finalizers[0]", "FieldValueInvalid metadata.finalizers[0]"],
        ),
        before=[("POST configmaps", config_map())],
        patch="merge",
    ),
    Case(
        "a daemon set's template is counted",
        "PATCH daemonsets/web",
        {"spec": {"template": {"spec": {"hostNetwork": True}}}},
        Shows(200, {"metadata": {"annotations": {"deprecated.daemonset.template.generation": "2"}, "generation": 2}}),
        before=[("POST daemonsets", deployment())],
        patch="merge",
    ),
]


@each(FIRST_AND_AGAIN)
async def test_update_in_order(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


async def test_a_service_keeps_its_family_policy(raw: Raw) -> None:
    """One that stands for anything has addresses of both families, until somebody says otherwise."""

    async def families(request: str, thing: Thing, **rest: Any) -> tuple[str, list[str]]:
        spec = (await raw.ok(request, thing, **rest))["spec"]
        return spec["ipFamilyPolicy"], spec["ipFamilies"]

    headless = service("s", clusterIP="None")
    assert await families("POST services", headless) == ("RequireDualStack", ["IPv4", "IPv6"])
    assert await families("PUT services/s", headless) == ("RequireDualStack", ["IPv4", "IPv6"])
    answer = await raw("PUT services/s", service("s", clusterIP="None", ipFamilies=["IPv4"]))
    why = "must be 'SingleStack' to release the secondary IP family"
    message = f'Service "s" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": {why}'
    assert answer.json["message"] == message
    one = {"spec": {"ipFamilyPolicy": "SingleStack"}}
    assert await families("PATCH services/s", one, patch="merge") == ("SingleStack", ["IPv4"])
    assert await families("PUT services/s", headless) == ("SingleStack", ["IPv4"])
    assert await families("POST services", service("o", clusterIP="None", ipFamilies=["IPv6"])) == (
        "RequireDualStack",
        ["IPv6", "IPv4"],
    )
