"""Pod security: what a namespace's labels make of pods and of templates, and what it is told when they change."""

import asyncio
import os
import re

import pytest

from builtin_cases import but
from conformance.objects import Thing, deployment, job, pod, template
from conformance.pod_security_cases import CASES, LEVELS, POD, VERSIONS, Case, answers, record
from conformance.requests import SECONDS, Answer, Raw, Refused
from conformance.servers import Server
from windvane import ambient

PREFIX = "pod-security.kubernetes.io"
AT_ONCE = 8
STANDARDS = [f"{level}:{version}" for level in LEVELS for version in VERSIONS]
# What `restricted` says to the smallest pod there is.
RESTRICTED = (
    'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), '
    'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), '
    'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true), '
    'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or '
    '"Localhost")'
)
LEVELS_TOLD = "must be one of privileged, baseline, restricted"


def warned(answer: Answer) -> list[str]:
    """The texts of the warnings."""
    assert answer.code < 400, answer.body.decode()
    return [text.removeprefix('299 - "').removesuffix('"').replace('\\"', '"') for text in answer.warnings]


async def in_namespace(raw: Raw, **labels: str) -> None:
    """Go on in a new namespace with these labels: `enforce_version` is `pod-security.kubernetes.io/enforce-version`."""
    stated = {f"{PREFIX}/{word.replace('_', '-')}": value for word, value in labels.items()}
    made = await raw.ok("POST /api/v1/namespaces", {"metadata": {"generateName": "test-", "labels": stated}})
    raw.namespace = made["metadata"]["name"]


async def relabel(raw: Raw, path: str = "", **labels: str | None) -> Answer:
    """Change labels of the namespace, as it is now: who warns is asked once more if a real server had it as it was."""
    await raw.remembered("/api/v1/namespaces/{ns}")
    stated = {f"{PREFIX}/{word.replace('_', '-')}": value for word, value in labels.items()}
    return await raw(f"PATCH /api/v1/namespaces/{{ns}}{path}", {"metadata": {"labels": stated}}, patch="merge")


async def until_new_pods_get(raw: Raw, code: int) -> None:
    """Wait until the server knows of other labels: a real one reads them from a cache."""
    async with asyncio.timeout(SECONDS):
        while (await raw("POST pods?dryRun=All", pod("new"))).code != code:
            await ambient.sleep(0.05)


# What each standard says to each of many pods


async def ask(raw: Raw, case: Case) -> str:
    """What the namespace's standard says to a pod, without the name of the standard."""
    if added := case.pod["spec"].get("ephemeralContainers"):
        body, request = {"spec": {"ephemeralContainers": added}}, "PATCH pods/good/ephemeralcontainers?dryRun=All"
        answer = await raw(request, body, patch="strategic")
    else:
        answer = await raw("POST pods?dryRun=All", case.pod)
    told = [text for text in warned(answer) if text.startswith("would violate PodSecurity")]
    return told[0].split(": ", 1)[1] if told else ""


@pytest.fixture(scope="session")
def said(server: Server) -> dict[str, dict[str, str]]:
    """What was said to each case by each standard."""
    found: dict[str, dict[str, str]] = {case.name: {} for case in CASES}

    async def ask_all(raw: Raw, standard: str) -> None:
        level, _, version = standard.partition(":")
        await in_namespace(raw, warn=level, warn_version=version)
        await raw.ok("POST pods", but(POD, {"metadata.name": "good"}))
        for case in CASES:
            if version in case.versions:
                found[case.name][standard] = await ask(raw, case)

    async def ask_each() -> None:
        turn = asyncio.Semaphore(AT_ONCE)

        async def one(standard: str) -> None:
            async with turn, Raw(server.url, server.ca_file, server.token) as raw:
                await ask_all(raw, standard)

        async with asyncio.TaskGroup() as group:
            for standard in STANDARDS:
                group.create_task(one(standard))

    asyncio.run(ask_each())
    if server.name == "reference" and os.environ.get("WINDVANE_RECORD") == "1":
        record(found)
    return found


@pytest.mark.parametrize("standard", STANDARDS)
def test_what_a_standard_says_to_many_pods(standard: str, said: dict[str, dict[str, str]]) -> None:
    recorded = answers()
    asked = [case.name for case in CASES if standard in said[case.name]]
    assert {name: said[name][standard] for name in asked} == {name: recorded[name][standard] for name in asked}


# Refusing, and warning


async def test_a_pod_is_refused_with_all_that_is_wrong_with_it(raw: Raw) -> None:
    await in_namespace(raw, enforce="restricted")
    why = f'pods "p" is forbidden: violates PodSecurity "restricted:latest": {RESTRICTED}'
    assert (await raw("POST pods", pod())).refusal == Refused(403, "Forbidden", why, "pods p")
    assert (await raw("POST pods?dryRun=All", pod())).refusal.message == why
    applied = {"apiVersion": "v1", "kind": "Pod", **pod()}
    assert (await raw("PATCH pods/p?fieldManager=m", applied, patch="apply")).refusal.message == why
    assert warned(await raw("POST pods", POD)) == []


async def test_a_pod_whose_name_is_made_up_is_refused_by_that(raw: Raw) -> None:
    await in_namespace(raw, enforce="baseline")
    nameless = {**pod(hostPID=True), "metadata": {"generateName": "web-"}}
    refused = (await raw("POST pods", nameless)).refusal
    name = (refused.about or "").removeprefix("pods ")
    assert re.fullmatch("web-.{5}", name)
    why = f'pods "{name}" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'
    assert refused.message == why


async def test_a_pod_that_is_not_valid_is_told_that_first(raw: Raw) -> None:
    await in_namespace(raw, enforce="restricted")
    assert (await raw("POST pods", pod(restartPolicy="Sometimes"))).code == 422


async def test_a_pod_keeps_to_what_is_enforced_and_is_warned_of_the_rest(raw: Raw) -> None:
    await in_namespace(raw, enforce="baseline", warn="restricted", audit="restricted")
    told = f'would violate PodSecurity "restricted:latest": {RESTRICTED}'
    assert warned(await raw("POST pods", pod())) == [told]


async def test_the_versions_of_labels_are_told(raw: Raw) -> None:
    await in_namespace(raw, enforce="baseline", enforce_version="v1.900", warn="restricted", warn_version="v1.2")
    told = 'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true)'
    assert warned(await raw("POST pods", pod())) == [f'would violate PodSecurity "restricted:v1.2": {told}']
    refused = (await raw("POST pods", pod(hostIPC=True))).refusal
    assert refused.message.startswith('pods "p" is forbidden: violates PodSecurity "baseline:v1.900": host namespaces')


KINDS: dict[str, Thing] = {
    "podtemplates": {"metadata": {"name": "t"}, "template": template()},
    "replicationcontrollers": {
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "template": template()},
    },
    "replicasets": deployment(),
    "deployments": deployment(),
    "statefulsets": deployment(serviceName="web"),
    "daemonsets": deployment(),
    "jobs": job(),
    "cronjobs": {"metadata": {"name": "c"}, "spec": {"schedule": "@daily", "jobTemplate": {"spec": job()["spec"]}}},
}


@pytest.mark.parametrize("plural", KINDS)
async def test_the_author_of_a_template_is_warned_of_what_is_enforced(plural: str, raw: Raw) -> None:
    await in_namespace(raw, enforce="restricted")
    told = f'would violate PodSecurity "restricted:latest": {RESTRICTED}'
    made = await raw(f"POST {plural}", KINDS[plural])
    assert warned(made) == [told]
    labelled = but(made.json, {"metadata.labels.more": "yes"})
    assert warned(await raw(f"PUT {plural}/{made.json['metadata']['name']}", labelled)) == [told]


async def test_nobody_is_warned_who_only_scales(raw: Raw) -> None:
    await in_namespace(raw, enforce="restricted")
    await raw.ok("POST deployments", deployment())
    assert warned(await raw("PATCH deployments/web/scale", {"spec": {"replicas": 3}}, patch="merge")) == []
    assert warned(await raw("PATCH deployments/web/status", {"status": {"replicas": 3}}, patch="merge")) == []


async def test_a_pod_that_was_there_before_is_refused_only_another_image(raw: Raw) -> None:
    await in_namespace(raw)
    await raw.ok("POST pods", pod())
    await relabel(raw, enforce="restricted")
    await until_new_pods_get(raw, 403)
    assert warned(await raw("PATCH pods/p", {"metadata": {"labels": {"a": "b"}}}, patch="merge")) == []
    assert warned(await raw("PATCH pods/p/status", {"status": {"message": "m"}}, patch="merge")) == []
    same = {"spec": {"activeDeadlineSeconds": 9, "containers": [{"name": "main", "image": "nginx"}]}}
    assert warned(await raw("PATCH pods/p", same, patch="strategic")) == []
    other = {"spec": {"containers": [{"name": "main", "image": "other"}]}}
    why = f'pods "p" is forbidden: violates PodSecurity "restricted:latest": {RESTRICTED}'
    assert (await raw("PATCH pods/p", other, patch="strategic")).refusal == Refused(403, "Forbidden", why, "pods p")


async def test_an_ephemeral_container_can_be_one_too_many(raw: Raw) -> None:
    await in_namespace(raw, enforce="baseline")
    await raw.ok("POST pods", pod())
    added = {"name": "debug", "image": "i", "securityContext": {"privileged": True}}
    why = 'privileged (container "debug" must not set securityContext.privileged=true)'
    body = {"spec": {"ephemeralContainers": [added]}}
    refused = (await raw("PATCH pods/p/ephemeralcontainers", body, patch="strategic")).refusal
    told = f'pods "p" is forbidden: violates PodSecurity "baseline:latest": {why}'
    assert refused == Refused(403, "Forbidden", told, "pods p")


async def test_a_resize_is_let_be(raw: Raw) -> None:
    await in_namespace(raw)
    await raw.ok("POST pods", pod(container={"resources": {"requests": {"cpu": "1"}}}))
    await relabel(raw, enforce="restricted")
    await until_new_pods_get(raw, 403)
    more = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}}
    assert warned(await raw("PATCH pods/p/resize", more, patch="strategic")) == []


# Labels of namespaces


@pytest.mark.parametrize("mode", ["enforce", "warn", "audit"])
async def test_a_level_that_there_is_not(mode: str, raw: Raw) -> None:
    field = f"metadata.labels[{PREFIX}/{mode}]"
    thing = {"metadata": {"name": f"{raw.namespace}-x", "labels": {f"{PREFIX}/{mode}": "tight"}}}
    name = f"{raw.namespace}-x"
    why = f'Namespace "{name}" is invalid: {field}: Invalid value: "tight": {LEVELS_TOLD}'
    want = Refused(422, "Invalid", why, f"Namespace {name}", [f"FieldValueInvalid {field}"])
    assert (await raw("POST /api/v1/namespaces", thing)).refusal == want
    why = why.replace(name, raw.namespace)
    want = Refused(422, "Invalid", why, f"Namespace {raw.namespace}", [f"FieldValueInvalid {field}"])
    assert (await relabel(raw, **{mode: "tight"})).refusal == want


async def test_versions_that_there_are_not(raw: Raw) -> None:
    refused = (
        await relabel(raw, enforce="x", enforce_version="1.20", warn_version="v2.0", audit_version="v1.01")
    ).refusal
    told = [
        f'metadata.labels[{PREFIX}/enforce]: Invalid value: "x": {LEVELS_TOLD}',
        *(
            f'metadata.labels[{PREFIX}/{mode}-version]: Invalid value: "{value}": must be "latest" or "v1.x"'
            for mode, value in (("enforce", "1.20"), ("audit", "v1.01"), ("warn", "v2.0"))
        ),
    ]
    assert refused.message == f'Namespace "{raw.namespace}" is invalid: [{", ".join(told)}]'


async def test_by_labels_that_can_not_be_read_pods_are_restricted(raw: Raw) -> None:
    await relabel(raw, "/status", enforce="tight", enforce_version="v1.2")  # nobody looks at labels there
    told = 'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true)'
    why = f'pods "p" is forbidden: violates PodSecurity "restricted:v1.2": {told}'
    await until_new_pods_get(raw, 403)
    assert (await raw("POST pods?dryRun=All", pod())).refusal.message == why
    assert warned(await raw("POST deployments", deployment())) == []
    # They can stay as they are while something else is changed, but not get worse.
    assert (await raw("PATCH /api/v1/namespaces/{ns}", {"metadata": {"labels": {"a": "b"}}}, patch="merge")).code == 200
    assert (await relabel(raw, warn="loose")).code == 422


async def known(raw: Raw, *pods: Thing) -> None:
    """Make pods, and a last one, and wait until the server knows of it: a real one reads them from a cache."""
    for each in (*pods, pod("last", container={"ports": [{"containerPort": 80, "hostPort": 80}]})):
        await raw.ok("POST pods", each)
    labels = {"metadata": {"labels": {f"{PREFIX}/enforce": "baseline"}}}
    async with asyncio.timeout(SECONDS):
        while "last: hostPort" not in warned(
            await raw("PATCH /api/v1/namespaces/{ns}?dryRun=All", labels, patch="merge")
        ):
            await ambient.sleep(0.05)


async def test_a_stricter_namespace_is_told_which_pods_there_are_too_free(raw: Raw) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    owned = [pod(f"web-{n}", metadata={"ownerReferences": [owner]}, hostNetwork=True) for n in range(3)]
    privileged = pod("sudo", container={"securityContext": {"privileged": True}})
    await known(raw, pod("b"), pod("a"), *owned, privileged, pod("alone", hostIPC=True), POD)
    title = f'existing pods in namespace "{raw.namespace}" violate the new PodSecurity enforce level'
    assert warned(await relabel(raw, enforce="baseline")) == [
        f'{title} "baseline:latest"',
        "alone (and 3 other pods): host namespaces",
        "last: hostPort",
        "sudo: privileged",
    ]
    restricted = "allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile"
    assert warned(await relabel(raw, enforce="restricted")) == [
        f'{title} "restricted:latest"',
        f"a (and 1 other pod): {restricted}",
        f"alone (and 3 other pods): host namespaces, {restricted}",
        f"last: hostPort, {restricted}",
        f"sudo: privileged, {restricted}",
    ]


async def test_a_namespace_that_asks_for_no_more_than_before_is_told_nothing(raw: Raw) -> None:
    await in_namespace(raw, enforce="restricted")
    await relabel(raw, enforce=None)
    await until_new_pods_get(raw, 201)
    await known(raw)
    assert len(warned(await relabel(raw, enforce="restricted"))) == 2
    assert warned(await relabel(raw, enforce="baseline")) == []
    assert len(warned(await relabel(raw, enforce_version="v1.20"))) == 2
    assert warned(await relabel(raw, warn="restricted", audit="restricted")) == []
    assert warned(await relabel(raw, enforce="privileged", enforce_version="v1.30")) == []
    assert warned(await relabel(raw, enforce="baseline", enforce_version="v1.30")) != []


# Among other warnings


@pytest.mark.parametrize(("mode", "code"), [("warn", 201), ("enforce", 403)])
async def test_what_is_odd_about_a_pod_is_told_first_and_even_if_it_is_refused(raw: Raw, mode: str, code: int) -> None:
    await in_namespace(raw, **{mode: "restricted"})
    port = {"containerPort": 80}
    answer = await raw("POST pods?dryRun=All", but(pod(), {"spec.containers.0.ports": [port, port]}))
    odd = '299 - "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"'
    assert (answer.code, answer.warnings[0], len(answer.warnings)) == (code, odd, 2 if mode == "warn" else 1)
