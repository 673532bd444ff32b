"""Annotations of pods that mean something: what they may say, and that some of them stay as they are."""

import pytest

from conformance.objects import Thing, pod, template
from conformance.requests import Raw, Refused

APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_OF = "container.seccomp.security.alpha.kubernetes.io/"
COST = "controller.kubernetes.io/pod-deletion-cost"
MIRROR = "kubernetes.io/config.mirror"
ALONE = "must set spec.nodeName if mirror pod annotation is set"
NUMBER = "must be a 32bit integer"


def annotated(key: str, value: str, **spec: Thing) -> Thing:
    return pod("p", metadata={"annotations": {key: value}}, initContainers=[{"name": "init", "image": "i"}], **spec)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (f"{APP_ARMOR}main", ""),
        (f"{APP_ARMOR}main", "unconfined"),
        (f"{APP_ARMOR}init", "localhost/"),
        (SECCOMP, "docker/default"),
        (SECCOMP, "localhost/a/b"),
        (f"{SECCOMP_OF}nobody", "unconfined"),
        (COST, "-2147483648"),
        (COST, "-01"),
        (COST, "0"),
    ],
)
async def test_what_annotations_may_say(raw: Raw, key: str, value: str) -> None:
    assert (await raw("POST pods?dryRun=All", annotated(key, value))).code == 201


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (f"{APP_ARMOR}main", "bad", '[{key}]: Invalid value: "bad": invalid AppArmor profile name: "bad"'),
        (f"{APP_ARMOR}nobody", "unconfined", '[{key}]: Invalid value: "nobody": container not found'),
        (SECCOMP, "", '.{key}: Invalid value: "": must be a valid seccomp profile'),
        (SECCOMP, "bad", '.{key}: Invalid value: "bad": must be a valid seccomp profile'),
        (SECCOMP, "localhost//a", '.{key}: Invalid value: "/a": must be a relative path'),
        (f"{SECCOMP_OF}main", "localhost/../a", ".{key}: Invalid value: \"../a\": must not contain '..'"),
        (COST, "", f'[{{key}}]: Invalid value: "": {NUMBER}'),
        (COST, "+1", f'[{{key}}]: Invalid value: "+1": {NUMBER}'),
        (COST, "01", f'[{{key}}]: Invalid value: "01": {NUMBER}'),
        (COST, "2147483648", f'[{{key}}]: Invalid value: "2147483648": {NUMBER}'),
        (COST, "1" * 5000, f'[{{key}}]: Invalid value: "{"1" * 5000}": {NUMBER}'),
        (MIRROR, "x", f'[{{key}}]: Invalid value: "x": {ALONE}'),
    ],
)
async def test_what_they_may_not_say(raw: Raw, key: str, value: str, problem: str) -> None:
    where = problem.replace("{key}", key)
    of_pod = (await raw("POST pods?dryRun=All", annotated(key, value))).refusal
    assert of_pod.message == f'Pod "p" is invalid: metadata.annotations{where}'
    made = template(labels={"a": "b"}, initContainers=[{"name": "init", "image": "i"}])
    made["metadata"]["annotations"] = {key: value}
    of_template = (await raw("POST podtemplates?dryRun=All", {"metadata": {"name": "t"}, "template": made})).refusal
    assert of_template.message == f'PodTemplate "t" is invalid: template.annotations{where}'


async def test_what_else_annotations_say_can_be_changed_but_must_make_sense(raw: Raw) -> None:
    await raw.ok("POST pods", annotated(COST, "1"))
    change = {"metadata": {"annotations": {COST: "x"}}}
    message = f'Pod "p" is invalid: metadata.annotations[{COST}]: Invalid value: "x": {NUMBER}'
    cause = f"FieldValueInvalid metadata.annotations[{COST}]"
    for part, times in (("", 2), ("/status", 1)):  # a pod is checked as one that is there, and as one that changes
        answer = await raw(f"PATCH pods/p{part}", change, patch="merge")
        assert answer.refusal == Refused(422, "Invalid", message, "Pod p", [cause] * times)
    await raw.ok("PATCH pods/p", {"metadata": {"annotations": {COST: "2", SECCOMP: "unconfined"}}}, patch="merge")
