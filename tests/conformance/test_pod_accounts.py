"""Every pod runs as a ServiceAccount that is there, and gets its token as a file."""

from typing import Any

import pytest

from conformance.objects import pod
from conformance.requests import Raw, Refused

PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


def account(name: str = "default", **rest: Any) -> tuple[str, dict[str, Any]]:
    return "POST serviceaccounts", {"metadata": {"name": name}, **rest}


async def made(raw: Raw, **spec: Any) -> dict[str, Any]:
    """The `spec` of a new pod."""
    stored: dict[str, Any] = (await raw.ok("POST pods", pod(**spec)))["spec"]
    return stored


def token_volume(name: str) -> dict[str, Any]:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 420}}


async def test_a_pod_runs_as_the_default_account(strict: Raw) -> None:
    await strict.ok(*account())
    spec = await made(strict, initContainers=[{"name": "before", "image": "nginx"}])
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    [volume] = spec["volumes"]
    assert volume == token_volume(volume["name"])
    assert volume["name"].startswith("kube-api-access-")
    assert len(volume["name"]) == len("kube-api-access-") + 5
    mounted = [{"name": volume["name"], "readOnly": True, "mountPath": PATH}]
    assert [container["volumeMounts"] for container in spec["initContainers"] + spec["containers"]] == [mounted] * 2


async def test_a_pod_runs_as_the_account_that_it_names(strict: Raw) -> None:
    await strict.ok(*account("robot"))
    spec = await made(strict, serviceAccountName="robot")
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("robot", "robot")


async def test_the_old_name_of_the_field_counts(strict: Raw) -> None:
    await strict.ok(*account("robot"))
    spec = await made(strict, serviceAccount="robot")
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("robot", "robot")


@pytest.mark.parametrize(
    ("of_account", "of_pod", "mounted"),
    [
        (None, None, True),
        (None, False, False),
        (False, None, False),
        (False, True, True),
        (True, False, False),
    ],
)
async def test_whether_the_token_is_mounted(
    of_account: bool | None, of_pod: bool | None, mounted: bool, strict: Raw
) -> None:
    field = "automountServiceAccountToken"
    on_account: dict[str, Any] = {} if of_account is None else {field: of_account}
    on_pod: dict[str, Any] = {} if of_pod is None else {field: of_pod}
    await strict.ok(*account(**on_account))
    spec = await made(strict, **on_pod)
    assert ("volumes" in spec) is mounted
    assert ("volumeMounts" in spec["containers"][0]) is mounted


async def test_a_container_that_mounts_something_else_there_gets_no_token(strict: Raw) -> None:
    await strict.ok(*account())
    own = [{"name": "own", "mountPath": PATH}]
    spec = await made(strict, container={"volumeMounts": own}, volumes=[{"name": "own", "emptyDir": {}}])
    assert spec["volumes"] == [{"name": "own", "emptyDir": {}}]
    assert spec["containers"][0]["volumeMounts"] == own


async def test_a_volume_that_is_called_so_is_used(strict: Raw) -> None:
    await strict.ok(*account())
    spec = await made(strict, volumes=[{"name": "kube-api-access-mine", "emptyDir": {}}])
    assert spec["volumes"] == [{"name": "kube-api-access-mine", "emptyDir": {}}]
    assert spec["containers"][0]["volumeMounts"][0]["name"] == "kube-api-access-mine"


async def test_a_pod_gets_the_account_s_pull_secrets(strict: Raw) -> None:
    await strict.ok(*account(imagePullSecrets=[{"name": "pull"}]))
    assert (await made(strict))["imagePullSecrets"] == [{"name": "pull"}]


async def test_a_pod_keeps_its_own_pull_secrets(strict: Raw) -> None:
    await strict.ok(*account(imagePullSecrets=[{"name": "pull"}]))
    assert (await made(strict, imagePullSecrets=[{"name": "own"}]))["imagePullSecrets"] == [{"name": "own"}]


async def test_an_update_mounts_nothing(strict: Raw) -> None:
    await strict.ok(*account(automountServiceAccountToken=False))
    await made(strict)
    changed = await strict.ok("PATCH pods/p", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
    assert "volumes" not in changed["spec"]


def refused(why: str, name: str = "p") -> Refused:
    return Refused(403, "Forbidden", f'pods "{name}" is forbidden: {why}', f"pods {name}")


@pytest.mark.parametrize("name", ["default", "nope"])
async def test_an_account_that_is_not_there(name: str, strict: Raw) -> None:
    answer = await strict("POST pods", pod(serviceAccountName="" if name == "default" else name))
    why = f'error looking up service account {strict.namespace}/{name}: serviceaccount "{name}" not found'
    assert answer.refusal == refused(why)


async def test_a_pod_without_a_name_and_without_an_account(strict: Raw) -> None:
    nameless = {**pod(serviceAccountName="nope"), "metadata": {"generateName": "web-"}}
    why = f'error looking up service account {strict.namespace}/nope: serviceaccount "nope" not found'
    assert (await strict("POST pods", nameless)).refusal == refused(why, "web-")


async def test_an_account_is_looked_for_before_the_pod_is_checked(strict: Raw) -> None:
    wrong = {"metadata": {"name": "p"}, "spec": {"containers": [], "serviceAccountName": "nope"}}
    assert (await strict("POST pods", wrong)).code == 403


STRICT = {"name": "strict", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
UNKNOWN = "is not allowed because service account strict does not reference that"


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (
            {"volumes": [{"name": "v", "secret": {"secretName": "other"}}]},
            f'volume with secret.secretName="other" {UNKNOWN} secret',
        ),
        (
            {"container": {"env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}]}},
            f'container main with envVar E referencing secret.secretName="other" {UNKNOWN} secret',
        ),
        (
            {"container": {"envFrom": [{"secretRef": {"name": "other"}}]}},
            f'container main with envFrom referencing secret.secretName="other" {UNKNOWN} secret',
        ),
        ({"imagePullSecrets": [{"name": "other"}]}, f'imagePullSecrets[0].name="other" {UNKNOWN} imagePullSecret'),
    ],
)
async def test_an_account_may_limit_its_pods_secrets(spec: dict[str, Any], why: str, strict: Raw) -> None:
    await strict.ok("POST serviceaccounts", {"metadata": STRICT, "secrets": [{"name": "known"}]})
    answer = await strict("POST pods", pod(serviceAccountName="strict", **spec))
    assert answer.refusal == refused(why)


async def test_secrets_that_such_an_account_names(strict: Raw) -> None:
    await strict.ok("POST serviceaccounts", {"metadata": STRICT, "secrets": [{"name": "known"}]})
    await made(strict, serviceAccountName="strict", volumes=[{"name": "v", "secret": {"secretName": "known"}}])


async def test_a_mirror_of_a_node_s_own_pod_has_no_account(strict: Raw) -> None:
    mirror = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    answer = await strict("POST pods", pod(metadata=mirror, serviceAccountName="robot", nodeName="one"))
    assert answer.refusal == refused("a mirror pod may not reference service accounts")
    spec = (await strict.ok("POST pods", pod(metadata=mirror, nodeName="one")))["spec"]
    assert "serviceAccountName" not in spec
    assert "volumes" not in spec
