"""Updates: against which version, what may change, and what counts as a change."""

from typing import Any

import pytest

from conformance.crds import gadget, plain
from conformance.objects import Thing, config_map, deployment, pod, service
from conformance.requests import Raw, Refused


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
