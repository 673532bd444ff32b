"""The answers of the webhook server, as a real kube-apiserver understands them and kubectl shows them.

The configurations are written by hand here: what is judged are the answers.
"""

import asyncio
import base64
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from reference.certificates import Authority
from reference.controlplane import ReferenceControlPlane
from windvane import (
    AdmissionRequest,
    Client,
    Denied,
    Forbidden,
    Invalid,
    NotFound,
    ObjectMeta,
    Operator,
    Resource,
    Spec,
    Status,
    dynamic,
    kind_of,
)
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.certificates import Pair
from windvane.k8s import core
from windvane.k8s.admissionregistration import (
    MutatingWebhook,
    MutatingWebhookConfiguration,
    RuleWithOperations,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
    WebhookClientConfig,
)
from windvane.runtime.crds import install_crds
from windvane.webhook import author_call
from windvane.webhook.paths import CONVERT_PATH, default_path, validate_path
from windvane.webhook.server import listen
from windvane.webhook.tls import ServerTLS

pytestmark = pytest.mark.asyncio(loop_scope="module")

GROUP = "webhooks.windvane.dev"


class WebsiteSpec(Spec):
    region: str = ""
    replicas: int = 1
    budget: str | None = None
    hosts: list[str] = []


class Website(Resource[WebsiteSpec, Status], group=GROUP, version="v1"):
    """A website with several hosts."""


class OldSpec(Spec):
    host: str = ""
    region: str = ""
    weight: int = 5


class OldWebsite(Resource[OldSpec, Status], group=GROUP, version="v1beta1", kind="Website", stored=False):
    """A website with one host."""


def operator() -> Operator:
    operator = Operator("website")

    @operator.default(Website)
    def fill_in(site: Website) -> None:
        site.spec.budget = site.spec.budget or "shared"

    @operator.validate(Website, on=["create", "update", "delete"], timeout=20)
    async def check(site: Website, request: AdmissionRequest[Website]) -> None:
        if site.spec.replicas % 2 == 0:
            request.warn("an even number of replicas survives no more failures than one less")
        if request.operation == "delete" and "keep" in site.metadata.labels:
            raise Denied("it is to be kept")
        if request.operation == "update" and request.old and request.old.spec.region != site.spec.region:
            raise Denied("it can't be changed", field="spec.region")
        if site.spec.region == "nowhere":
            raise KeyError("a secret")
        if site.spec.region == "far":
            await asyncio.Event().wait()

    @operator.validate(core.ConfigMap)
    def guard(config: core.ConfigMap, request: AdmissionRequest[core.ConfigMap]) -> None:
        if "forbidden" in config.data:
            raise Denied(f"{request.user.username} may not, dry run {request.dry_run}")

    @operator.convert(OldWebsite, Website)
    def up(old: OldWebsite) -> Website:
        return Website(spec=WebsiteSpec(hosts=[old.spec.host], region=old.spec.region))

    @operator.convert(Website, OldWebsite)
    def down(new: Website) -> OldWebsite:
        if "unconvertible" in new.spec.hosts:
            raise ValueError("a secret")
        return OldWebsite(spec=OldSpec(host=" ".join(new.spec.hosts), region=new.spec.region))

    return operator


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(reference: ReferenceControlPlane, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    """A cluster that has been told of the webhooks."""
    async with Client.connect(kubeconfig=reference.kubeconfig) as client, _told(client, tmp_path_factory.mktemp("tls")):
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def namespace(served: Client) -> str:
    made = await served.create(core.Namespace(metadata=ObjectMeta(generate_name="test-")))
    return made.metadata.name


@asynccontextmanager
async def _told(client: Client, directory: Path) -> AsyncIterator[None]:
    authority = Authority(directory)
    tls = ServerTLS()
    certificate, key = authority.issue_server("webhook", "127.0.0.1")
    tls.show(Pair(key.read_bytes(), certificate.read_bytes()))
    declared = operator()
    async with listen(declared, tls, host="127.0.0.1", port=0) as listening:
        bundle = authority.file.read_bytes()

        def reached(path: str) -> WebhookClientConfig:
            return WebhookClientConfig(url=f"https://127.0.0.1:{listening.port}{path}", ca_bundle=bundle)

        def webhook(hook: Any, path: str) -> dict[str, Any]:
            rule = RuleWithOperations(
                api_groups=[hook.kind.group],
                api_versions=[hook.kind.version],
                resources=[hook.kind.plural],
                operations=[each.upper() for each in hook.operations],
            )
            return {
                "name": f"{hook.kind.plural}.windvane.dev",
                "client_config": reached(path),
                "rules": [rule],
                "side_effects": "None",
                "admission_review_versions": ["v1"],
                "timeout_seconds": int(hook.timeout),
                "failure_policy": hook.failure_policy,
            }

        conversion = {
            "strategy": "Webhook",
            "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"url": reached(CONVERT_PATH).url, "caBundle": base64.b64encode(bundle).decode()},
            },
        }
        await install_crds(client, declared.kinds, conversion={(GROUP, "Website"): conversion})
        mutating = MutatingWebhookConfiguration(
            metadata=ObjectMeta(name="website"),
            webhooks=[
                MutatingWebhook(**webhook(hook, default_path(hook.kind))) for hook in declared.defaulting.values()
            ],
        )
        validating = ValidatingWebhookConfiguration(
            metadata=ObjectMeta(name="website"),
            webhooks=[
                ValidatingWebhook(**webhook(hook, validate_path(hook.kind))) for hook in declared.validating.values()
            ],
        )
        try:
            await client.apply(mutating)
            await client.apply(validating)
            while (await _noticed(client)) != ("shared", True):
                pass  # the API server takes a moment to notice
            yield
        finally:
            await client.delete(MutatingWebhookConfiguration, "website")
            await client.delete(ValidatingWebhookConfiguration, "website")
            while (await _noticed(client)) != (None, False):
                pass  # else it would go on to ask about the objects of other tests
            # Else the API server would go on to look for whoever converts the objects.
            await client.delete(CustomResourceDefinition, f"websites.{GROUP}")
            with suppress(NotFound):
                while True:
                    await client.get(CustomResourceDefinition, f"websites.{GROUP}")


async def _noticed(client: Client) -> tuple[str | None, bool]:
    """What would be filled in, and whether what is forbidden would be denied: one from each configuration."""
    filled_in = await client.create(website("default"), dry_run=True)
    config = core.ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data={"forbidden": "1"})
    try:
        await client.create(config, dry_run=True)
    except Forbidden:
        return filled_in.spec.budget, True
    return filled_in.spec.budget, False


def website(namespace: str, name: str = "blog", **spec: Any) -> Website:
    return Website(metadata=ObjectMeta(name=name, namespace=namespace), spec=WebsiteSpec(**spec))


def manifest(version: str = "v1", name: str = "blog", **spec: Any) -> str:
    thing = {"apiVersion": f"{GROUP}/{version}", "kind": "Website", "metadata": {"name": name}, "spec": spec}
    return json.dumps(thing)


@pytest.fixture
def kubectl(reference: ReferenceControlPlane, namespace: str) -> "Kubectl":
    return Kubectl(reference, namespace)


class Kubectl:
    """Says what kubectl says."""

    def __init__(self, reference: ReferenceControlPlane, namespace: str) -> None:
        program = reference.programs.directory / "kubectl"
        self._command = [str(program), f"--kubeconfig={reference.kubeconfig}", f"--namespace={namespace}"]

    async def __call__(self, *arguments: str, sent: str = "") -> str:
        asked = await asyncio.create_subprocess_exec(
            *self._command,
            *arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"KUBERC": "off"},
        )
        out, _ = await asked.communicate(sent.encode())
        return out.decode()

    async def apply(self, sent: str) -> str:
        return await self("apply", "-f", "-", sent=sent)


async def test_what_is_filled_in_is_stored(served: Client, namespace: str) -> None:
    await served.create(website(namespace, region="eu"))
    stored = await served.get(Website, "blog", namespace=namespace)
    assert (stored.spec.budget, stored.spec.region) == ("shared", "eu")


async def test_an_object_that_has_all_is_not_changed_again(served: Client, namespace: str) -> None:
    made = await served.apply(website(namespace))
    again = await served.apply(website(namespace))
    assert made.metadata.resource_version == again.metadata.resource_version


async def test_a_denial_with_a_field_is_shown_as_the_servers_own(kubectl: Kubectl) -> None:
    await kubectl.apply(manifest(region="eu"))
    expected = 'The Website "blog" is invalid: spec.region: Invalid value: "us": it can\'t be changed\n'
    assert await kubectl.apply(manifest(region="us")) == expected


async def test_a_denial_without_a_field_is_forbidden(kubectl: Kubectl) -> None:
    await kubectl.apply(manifest())
    await kubectl("label", "website", "blog", "keep=yes")
    said = await kubectl("delete", "website", "blog")
    assert said == (
        "Error from server (Forbidden): "
        'admission webhook "websites.windvane.dev" denied the request: it is to be kept\n'
    )


async def test_the_client_has_an_exception_for_each(served: Client, namespace: str) -> None:
    site = await served.create(website(namespace, region="eu"))
    site.spec.region = "us"
    with pytest.raises(Invalid) as invalid:
        await served.replace(site)
    (cause,) = invalid.value.causes
    assert (cause.field, cause.message) == ("spec.region", 'Invalid value: "us": it can\'t be changed')
    config = core.ConfigMap(metadata=ObjectMeta(name="a", namespace=namespace), data={"forbidden": "1"})
    with pytest.raises(Forbidden, match="admin may not, dry run True"):
        await served.create(config, dry_run=True)


async def test_warnings_are_shown(kubectl: Kubectl) -> None:
    assert await kubectl.apply(manifest(replicas=2)) == (
        f"Warning: an even number of replicas survives no more failures than one less\nwebsite.{GROUP}/blog created\n"
    )


async def test_a_function_that_fails_denies_without_telling_secrets(kubectl: Kubectl) -> None:
    assert await kubectl.apply(manifest(region="nowhere")) == (
        'Error from server (InternalError): error when creating "STDIN": admission webhook "websites.windvane.dev" '
        "denied the request: check failed (KeyError); the log of the operator says more\n"
    )


async def test_a_function_that_takes_too_long_says_so_before_the_server_gives_up(
    kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(author_call, "FOR_THE_FUNCTION", 0.05)  # and so is the wait: on a busy machine words take time
    assert await kubectl.apply(manifest(region="far")) == (
        'Error from server (InternalError): error when creating "STDIN": admission webhook "websites.windvane.dev" '
        "denied the request: check took longer than 20 s\n"
    )


async def test_an_object_that_does_not_fit_its_class_is_denied_with_where(kubectl: Kubectl) -> None:
    expected = 'The Website "blog" is invalid: spec.replicas: Invalid value: Expected `int`, got `str`\n'
    assert await kubectl.apply(manifest(replicas="many")) == expected


async def test_an_object_as_large_as_can_be_stored_passes(served: Client, namespace: str) -> None:
    site = await served.create(website(namespace, hosts=["<" * 100] * 2000))
    site.spec.hosts.append("h")
    assert (await served.replace(site)).spec.hosts[-1] == "h"


async def test_an_object_larger_than_can_be_stored_passes_too(served: Client, namespace: str) -> None:
    made = await served.create(website(namespace, hosts=["h" * 1000] * 3000), dry_run=True)
    assert made.spec.budget == "shared"


async def test_a_list_is_had_in_any_version_whatever_was_written_in(served: Client, namespace: str) -> None:
    await served.create(website(namespace, "new", hosts=["a"]))
    await served.create(OldWebsite(metadata=ObjectMeta(name="old", namespace=namespace), spec=OldSpec(host="b")))
    listed = await served.list(Website, namespace=namespace)
    assert {site.metadata.name: site.spec.hosts for site in listed} == {"new": ["a"], "old": ["b"]}
    listed_old = await served.list(OldWebsite, namespace=namespace)
    assert {site.metadata.name: site.spec.host for site in listed_old} == {"new": "a", "old": "b"}


async def test_what_has_its_default_is_shown_in_either_version(served: Client, namespace: str) -> None:
    await served.create(website(namespace, name="new", hosts=["a"]))
    old = await served.get(dynamic(kind_of(OldWebsite)), "new", namespace=namespace)
    assert old["spec"] == {"host": "a", "weight": 5}
    await served.create(OldWebsite(metadata=ObjectMeta(name="old", namespace=namespace), spec=OldSpec(host="b")))
    new = await served.get(dynamic(kind_of(Website)), "old", namespace=namespace)
    assert new["spec"] == {"hosts": ["b"], "replicas": 1}


async def test_the_function_of_one_version_judges_all(kubectl: Kubectl) -> None:
    await kubectl.apply(manifest("v1beta1", host="a", region="eu"))
    said = await kubectl.apply(manifest("v1beta1", host="a", region="us"))
    assert said == 'The Website "blog" is invalid: spec.region: Invalid value: "us": it can\'t be changed\n'


async def test_an_object_that_can_not_be_converted_is_named(served: Client, namespace: str, kubectl: Kubectl) -> None:
    await served.create(website(namespace, hosts=["unconvertible"]))
    said = await kubectl("get", f"websites.v1beta1.{GROUP}", "blog")
    await served.delete(Website, "blog", namespace=namespace)
    assert said == (
        f"Error from server: conversion webhook for {GROUP}/v1, Kind=Website failed: "
        f"Website {namespace}/blog ({GROUP}/v1): down failed (ValueError); the log of the operator says more\n"
    )
