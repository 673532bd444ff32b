"""What API servers are told is kept right: whatever is changed by hand is put back within moments."""

import asyncio
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any

import pytest

from conformance.servers import Server
from integration.webhook.declared import convert, fill_in, guard
from integration.webhook.world import PATIENCE, OldSite, OldSiteSpec, World
from windvane import Client, Denied, Forbidden, ObjectMeta, Operator, crd
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.client.config import load_config
from windvane.client.http import HTTPTransport
from windvane.client.transport import Request
from windvane.k8s.admissionregistration import ValidatingWebhookConfiguration
from windvane.k8s.core import ConfigMap, Namespace, Secret
from windvane.k8s.scheduling import PriorityClass
from windvane.runtime.crds import install_crds
from windvane.webhook.configurations import OWNER
from windvane.webhook.lifecycle import serve_webhooks

WRONG = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"


async def test_a_wrong_bundle_is_put_right(world: World) -> None:
    guard(world)
    async with world.serving():
        right = await world.validating()
        assert right is not None
        wrong = [{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": ""}]
        await world.client.patch(ValidatingWebhookConfiguration, world.operator.name, wrong, type="json")

        async def is_right() -> bool:
            there = await world.validating()
            return there is not None and there.webhooks == right.webhooks

        await world.until(is_right)


NEVER = {"name": "never", "expression": "false"}
ELSEWHERE = {"service": {"name": "elsewhere", "namespace": "default"}}


@pytest.mark.parametrize(
    "edits",
    [
        [{"op": "replace", "path": "/webhooks/0/rules/0/resources", "value": ["nothing"]}],
        [{"op": "add", "path": "/webhooks/0/matchConditions/-", "value": NEVER}],
        [{"op": "replace", "path": "/webhooks/0/clientConfig", "value": ELSEWHERE}],
        [{"op": "replace", "path": "/webhooks/0/name", "value": "another.windvane.dev"}],
        [{"op": "remove", "path": "/metadata/annotations"}],
        [{"op": "remove", "path": "/webhooks"}],
    ],
    ids=["rules", "condition", "service", "name", "owner", "emptied"],
)
async def test_what_is_changed_by_hand_is_put_right(world: World, edits: list[Any]) -> None:
    guard(world)
    async with world.serving():
        right = await world.validating()
        assert right is not None
        await world.client.patch(ValidatingWebhookConfiguration, world.operator.name, edits, type="json")

        async def is_right() -> bool:
            there = await world.validating()
            return there is not None and (
                (there.webhooks, there.metadata.annotations) == (right.webhooks, right.metadata.annotations)
            )

        await world.until(is_right)


async def test_what_only_an_older_replica_declares_goes_with_it(world: World) -> None:
    older = Operator(world.operator.name)
    older.validate(ConfigMap)(lambda thing: None)
    older.validate(world.site)(lambda site: None)
    guard(world)

    async def entries() -> list[str]:
        there = await world.validating()
        return [each.name for each in there.webhooks] if there is not None else []

    async def is_back() -> None:
        """Watched, not asked for again and again: each may undo what the other has just done, within a millisecond."""
        changes = world.client.watch(
            ValidatingWebhookConfiguration, fields={"metadata.name": world.operator.name}, initial=True
        )
        async with aclosing(changes), asyncio.timeout(PATIENCE):
            async for change in changes:
                if change.type in ("ADDED", "MODIFIED") and len(change.item.decode().webhooks) == 2:
                    return

    ours = [f"validate.sites.{world.group}"]
    async with AsyncExitStack() as stack:
        old = await stack.enter_async_context(serve_webhooks(older, world.client))
        await old.wait_right()
        async with serve_webhooks(world.operator, world.client, endpoint=old.endpoint) as new:
            await new.wait_right()
            await is_back()
            await stack.aclose()

            async def is_gone() -> bool:
                return await entries() == ours

            await world.until(is_gone)


async def test_a_deleted_configuration_comes_back(world: World) -> None:
    guard(world)
    async with world.serving():
        await world.client.delete(ValidatingWebhookConfiguration, world.operator.name)
        await world.until(world.validating)


async def test_what_is_not_declared_any_more_is_gone(world: World) -> None:
    guard(world)
    fill_in(world)
    async with world.serving():
        assert await world.mutating() is not None
    world.operator = Operator(world.operator.name)
    guard(world)
    async with world.serving():

        async def is_gone() -> bool:
            return await world.mutating() is None

        await world.until(is_gone)
        assert await world.validating() is not None


async def test_the_configuration_of_another_operator_is_left_alone(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    guard(world)
    metadata = ObjectMeta(name=world.operator.name, annotations={OWNER: "elsewhere/website"})
    await world.client.create(ValidatingWebhookConfiguration(metadata=metadata))
    async with serve_webhooks(world.operator, world.client):

        async def is_told() -> bool:
            return "belongs to the operator elsewhere/website" in caplog.text

        await world.until(is_told)
    there = await world.validating()
    assert there is not None
    assert there.webhooks == []


async def test_who_finds_a_configuration_that_leads_nowhere_is_not_ready_and_says_where_it_leads(world: World) -> None:
    """It is another's, and of a Service, whose pods may come back: so it is not taken over."""
    guard(world)
    another = Client(world.client.calls.transport, namespace="default", field_manager=world.operator.name)
    async with serve_webhooks(world.operator, another) as theirs:
        await theirs.wait_right()
    edits = [{"op": "replace", "path": "/webhooks/0/clientConfig", "value": ELSEWHERE}]
    await world.client.patch(ValidatingWebhookConfiguration, world.operator.name, edits, type="json")
    async with serve_webhooks(world.operator, world.client) as webhooks:

        async def is_told() -> bool:
            return "does not reach" in webhooks.missing

        await world.until(is_told)
        said = webhooks.missing
        assert said.startswith(
            f"ValidatingWebhookConfiguration {world.operator.name} is left as it is: it belongs to the operator "
            f"default/{world.operator.name}, leads to Service default/elsewhere port 443, which the API server does not"
        )
        assert said.endswith(f"kubectl delete validatingwebhookconfiguration {world.operator.name}")
        await world.client.delete(ValidatingWebhookConfiguration, world.operator.name)

        async def is_ready() -> bool:
            return webhooks.missing == ""

        await world.until(is_ready)


async def test_of_two_copies_in_different_namespaces_one_answers_for_both_and_both_are_ready(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    guard(world)
    another = Client(world.client.calls.transport, namespace="default", field_manager=world.operator.name)
    async with world.serving(), serve_webhooks(world.operator, another) as second:

        async def is_ready() -> bool:
            return second.missing == "" and "and without it this operator is not asked" in caplog.text

        await world.until(is_ready)
        there = await world.validating()
        assert there is not None
        assert (there.metadata.annotations or {})[OWNER] == f"{world.client.namespace}/{world.operator.name}"


async def test_what_is_as_declared_is_not_written_again_by_another_replica(world: World) -> None:
    guard(world)
    fill_in(world)
    convert(world)

    async def versions() -> list[str]:
        things = [await world.mutating(), await world.validating(), await world.definition()]
        return [each.metadata.resource_version for each in things if each is not None]

    async with world.serving() as one:
        before = await versions()
        async with serve_webhooks(world.operator, world.client, endpoint=one.endpoint) as other:
            await other.wait_right()
        assert len(before) == 3
        assert await versions() == before


async def test_objects_of_mixed_stored_versions_are_listed_in_any(world: World) -> None:
    class Stored(OldSite, group=world.group, version="v1beta1", kind="Site"):
        """As it was stored once."""

    client = Client(world.client.calls.transport, namespace=world.client.namespace, field_manager=world.operator.name)
    await install_crds(client, [Stored])
    metadata = ObjectMeta(name="first", namespace=client.namespace)
    await client.create(Stored(metadata=metadata, spec=OldSiteSpec(host="a.example")))
    convert(world)
    async with world.serving():
        await world.create("second", hosts=["b.example"])
        sites = await client.list(world.site, namespace=client.namespace)
        assert {each.decode().metadata.name: each.decode().spec.hosts for each in sites.items} == {
            "first": ["a.example"],
            "second": ["b.example"],
        }
        old = await client.list(world.old_site, namespace=client.namespace)
        assert [each.decode().spec.host for each in old.items] == ["a.example", "b.example"]


@pytest.mark.parametrize(
    "conversion",
    [
        {"strategy": "None"},
        {"strategy": "Webhook", "webhook": {"clientConfig": ELSEWHERE, "conversionReviewVersions": ["v1"]}},
    ],
    ids=["none", "elsewhere"],
)
async def test_what_a_crd_says_about_conversion_is_put_right(world: World, conversion: Any) -> None:
    convert(world)
    async with world.serving():
        right = (await world.definition())["spec"]["conversion"]
        wrong = [{"op": "replace", "path": "/spec/conversion", "value": conversion}]
        await world.client.patch(CustomResourceDefinition, world.crd_name, wrong, type="json")

        async def is_right() -> bool:
            return bool((await world.definition())["spec"]["conversion"] == right)

        await world.until(is_right)


async def test_a_crd_that_is_installed_later_is_told_how_to_convert(world: World) -> None:
    convert(world)
    async with serve_webhooks(world.operator, world.client) as webhooks:
        await webhooks.wait_right()
        await world.client.apply(crd(world.site, world.old_site), field_manager="helm")

        async def is_told() -> bool:
            return bool((await world.definition())["spec"]["conversion"]["strategy"] == "Webhook")

        await world.until(is_told)


@pytest.mark.parametrize(
    ("thing", "spared"),
    [(ConfigMap(data={"forbidden": ""}), False), (Secret(data={"forbidden": b""}), True)],
    ids=["any-kind", "what-it-writes"],
)
async def test_guards_of_built_in_kinds_leave_the_system_alone_and_what_the_operator_writes(
    world: World, thing: ConfigMap | Secret, spared: bool
) -> None:
    @world.operator.validate(type(thing), failure_policy="Fail")
    def check(thing: Any) -> None:
        if "forbidden" in thing.data:
            raise Denied("not here")

    other = await world.client.create(Namespace(metadata=ObjectMeta(generate_name="hooks-other-")))

    async def is_denied(namespace: str) -> bool:
        thing.metadata = ObjectMeta(name="a", namespace=namespace)
        try:
            await world.client.create(thing, dry_run=True)
        except Forbidden:
            return True
        return False

    async with serve_webhooks(world.operator, world.client) as webhooks:
        await webhooks.wait_right()
        await world.until(lambda: is_denied(other.metadata.name))
        assert await is_denied(world.client.namespace) is not spared
        for namespace in ("kube-system", "kube-public", "kube-node-lease"):
            assert not await is_denied(namespace)


@pytest.mark.parametrize(
    ("user", "group"),
    [
        ("system:kube-scheduler", "system:authenticated"),
        ("system:apiserver", "system:authenticated"),
        ("system:node:n1", "system:nodes"),
        ("system:serviceaccount:kube-system:job-controller", "system:serviceaccounts:kube-system"),
    ],
)
async def test_guards_of_kinds_without_a_namespace_let_the_control_plane_pass(
    world: World, api_server: Server, user: str, group: str
) -> None:
    @world.operator.validate(PriorityClass, failure_policy="Fail")
    def check(thing: PriorityClass) -> None:
        if thing.metadata.name.startswith(world.operator.name):
            raise Denied("not this one")

    def priority_class() -> PriorityClass:
        return PriorityClass(metadata=ObjectMeta(name=f"{world.operator.name}-a"), value=1)

    config = load_config(kubeconfig=api_server.kubeconfig)
    config = replace(config, impersonate_user=user, impersonate_groups=(group, "system:masters"))
    async with Client(HTTPTransport(config)) as theirs, serve_webhooks(world.operator, world.client) as webhooks:
        await webhooks.wait_right()

        async def is_denied() -> bool:
            try:
                await world.client.create(priority_class(), dry_run=True)
            except Forbidden as error:
                return "not this one" in str(error)
            return False

        await world.until(is_denied)
        await theirs.create(priority_class(), dry_run=True)


async def test_an_operator_without_webhooks_asks_for_nothing(world: World) -> None:
    class Watched:
        """A transport that nobody may use."""

        def open(self, request: Request) -> Any:
            raise AssertionError(f"{request} was sent")

        async def close(self) -> None:
            pass

    client = Client(Watched(), namespace=world.client.namespace)  # type: ignore[arg-type]
    async with serve_webhooks(world.operator, client) as webhooks:
        await webhooks.wait_right()
        assert webhooks.missing == ""
        assert webhooks.listening is None
        assert webhooks.conversion == {}
