"""Updates: against which version, what may change, and what counts as a change."""

from typing import Any

from conformance.objects import Thing, config_map, deployment, pod, service
from conformance.requests import Raw


async def test_an_update_that_changes_nothing_keeps_the_version(raw: Raw) -> None:
    made = await raw.ok("POST deployments", deployment())
    assert await raw.ok("PUT deployments/web", made) == made
    assert (await raw.ok("PUT deployments/web", deployment()))["metadata"]["resourceVersion"] == made["metadata"][
        "resourceVersion"
    ]


async def test_a_conflict_is_about_the_version_that_was_read(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    await raw.ok("PUT configmaps/a", {**made, "data": {"k": "1"}})
    assert (await raw("PUT configmaps/a", {**made, "data": {"k": "2"}})).code == 409


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
