"""What is made to confuse a guard does not get past it, even where the policy is to ignore failures."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from integration.webhook.world import World
from windvane import AdmissionRequest, Client, Denied, Forbidden, InternalError, NotFound, ObjectMeta
from windvane.k8s.core import ConfigMap, Namespace
from windvane.webhook.lifecycle import serve_webhooks

RELEASE = {"op": "remove", "path": "/metadata/finalizers"}


async def test_an_object_that_is_longer_on_the_wire_than_in_the_store_is_judged(world: World) -> None:
    @world.operator.validate(ConfigMap)
    def check(thing: ConfigMap) -> None:
        if "forbidden" in thing.data:
            raise Denied("not here")

    other = await world.client.create(Namespace(metadata=ObjectMeta(generate_name="hooks-other-")))
    # An API server writes each of these as six characters, and sends the old and the new object.
    padding = "<" * 1_000_000

    def config_map(name: str, **data: str) -> ConfigMap:
        metadata = ObjectMeta(name=name, namespace=other.metadata.name)
        return ConfigMap(metadata=metadata, data={"padding": padding, **data})

    async with serve_webhooks(world.operator, world.client) as webhooks:
        await webhooks.wait_right()

        async def is_denied(name: str) -> bool:
            try:
                await world.client.apply(config_map(name, forbidden=""), dry_run=True)
            except Forbidden as error:
                return "not here" in str(error)
            return False

        await world.until(lambda: is_denied("new"))
        await world.client.apply(config_map("old"))
        # Not at once on a busy machine, where so much may take longer than an API server waits.
        await world.until(lambda: is_denied("old"))


@pytest.mark.parametrize(
    "change",
    [
        [{"op": "add", "path": "/spec/region", "value": "moon"}],
        [{"op": "add", "path": "/spec/region", "value": "moon"}, RELEASE],
        [{"op": "remove", "path": "/spec"}],
        [{"op": "add", "path": "/metadata/labels", "value": {"public": "yes"}}],
        [{"op": "replace", "path": "/metadata/annotations/owner", "value": "nobody"}],
        [{"op": "remove", "path": "/metadata/annotations"}],
    ],
    ids=["spec", "spec-and-release", "no-spec", "labels", "annotation", "no-annotations"],
)
async def test_what_is_kept_in_its_deletion_is_judged(world: World, change: list[Any]) -> None:
    async with _held(world):
        with pytest.raises(Forbidden, match="nothing may change"):
            await world.client.patch(world.site, "blog", change, type="json")


async def test_its_status_is_judged_by_who_asks_to_be_asked_about_that(world: World) -> None:
    async with _held(world, subresources=["status"]):
        with pytest.raises(Forbidden, match="nothing may change"):
            await world.client.patch(world.site, "blog", {"status": {"message": "?"}}, subresource="status")


async def test_it_is_let_go_whatever_a_guard_says(world: World) -> None:
    """By an update and by a patch, and if nobody is there to be asked."""
    async with _held(world):
        site = await world.client.get(world.site, "blog")
        site.metadata.finalizers = ["windvane.dev/test"]
        await world.client.replace(site)
    with pytest.raises(InternalError, match="failed calling webhook"):
        await world.client.patch(world.site, "blog", {"spec": {"region": "us"}})
    await world.client.patch(world.site, "blog", [RELEASE], type="json")
    with pytest.raises(NotFound):
        await world.client.get(world.site, "blog")


async def test_built_in_objects_are_let_go_and_judged_too(world: World) -> None:
    world.operator.validate(ConfigMap, failure_policy="Fail")(_refuse_updates)
    world.operator.default(ConfigMap, failure_policy="Fail")(_refuse_updates)
    other = await world.client.create(Namespace(metadata=ObjectMeta(generate_name="hooks-other-")))
    client = Client(world.client.calls.transport, namespace=other.metadata.name)
    metadata = ObjectMeta(name="a", finalizers=["windvane.dev/test"], annotations={"owner": "me"})
    await client.create(ConfigMap(metadata=metadata, data={"a": "b"}))
    async with serve_webhooks(world.operator, world.client) as webhooks:
        await webhooks.wait_right()

        async def is_judged() -> bool:
            try:
                await client.patch(ConfigMap, "a", {"data": {"a": "c"}}, dry_run=True)
            except Forbidden as error:
                return "nothing may change" in str(error)
            return False

        await world.until(is_judged)
        await client.delete(ConfigMap, "a")
        assert await is_judged()
        await client.patch(ConfigMap, "a", [RELEASE], type="json")
        with pytest.raises(NotFound):
            await client.get(ConfigMap, "a")


def _refuse_updates(thing: object, request: AdmissionRequest[Any]) -> None:
    if request.operation == "update":
        raise Denied("nothing may change")


@asynccontextmanager
async def _held(world: World, **how: Any) -> AsyncIterator[None]:
    """A site that is being deleted, and that somebody holds back; no update of one is ever allowed."""
    world.operator.validate(world.site, **how)(_refuse_updates)
    world.operator.default(world.site)(lambda site: None)
    async with world.serving():
        site = world.new("blog", region="eu")
        site.metadata.finalizers = ["windvane.dev/test", "windvane.dev/another"]
        site.metadata.annotations = {"owner": "me"}
        await world.client.create(site)
        await world.client.delete(world.site, "blog")
        yield
