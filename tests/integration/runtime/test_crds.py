"""Installing the CRDs of an operator's own kinds: what is missing is put there, what is somebody else's is left."""

import logging
from typing import Any

import pytest

from integration.runtime.world import World
from windvane import APIStatus, Client, ObjectMeta, Resource, Spec, Status, ambient, crd
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.client.transport import Request
from windvane.k8s.core import ConfigMap
from windvane.runtime.crds import NotInstalled, definitions, install_crds

NAME = "websites.demo.windvane.dev"


class WebsiteSpec(Spec):
    """What a website should be."""

    page: str
    """What it shows."""


class Website(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v1"):
    """A website."""


class OldWebsite(Resource[Spec, Status], group="demo.windvane.dev", version="v1", kind="Website"):
    """A website, as it was once."""


class Shop(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    """A shop."""


class NextWebsite(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v2", kind="Website", stored=False):
    """A website, as it will be."""


class FormerWebsite(
    Resource[Spec, Status], group="demo.windvane.dev", version="v0", kind="Website", stored=False, served=False
):
    """A website, as it is no longer to be had."""


def operator_of(world: World) -> Client:
    client = world.client()
    client.field_manager = "website"
    return client


async def there(world: World, name: str = NAME) -> Any:
    return await world.admin.get(CustomResourceDefinition, name)


async def test_what_is_missing_is_installed_and_served(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "windvane.runtime.crds"):
        await install_crds(operator_of(world), [Website, ConfigMap, Shop, Website])
    assert caplog.messages == [f"{NAME}: installed", "shops.demo.windvane.dev: installed"]
    await world.admin.create(Website(metadata=ObjectMeta(name="blog", namespace="default"), spec=WebsiteSpec(page="a")))


async def test_built_in_kinds_have_no_crd_of_ours(world: World) -> None:
    await install_crds(operator_of(world), [ConfigMap, CustomResourceDefinition])
    assert (await world.admin.list(CustomResourceDefinition)).items == []


@pytest.mark.parametrize(("code", "reason"), [(404, "NotFound"), (429, "TooManyRequests")])
async def test_it_is_done_when_the_kind_can_be_watched(world: World, code: int, reason: str) -> None:
    began = ambient.monotonic()

    def not_yet(request: Request) -> APIStatus | None:
        if request.path.endswith("/websites") and ambient.monotonic() < began + 3:
            return APIStatus(status="Failure", code=code, reason=reason, message="storage is (re)initializing")
        return None

    world.weather.refuse = not_yet
    await install_crds(operator_of(world), [Website])
    assert 3 <= ambient.monotonic() - began < 4


async def test_who_may_not_watch_all_of_a_kind_is_not_held_up(world: World) -> None:
    def forbidden(request: Request) -> APIStatus | None:
        if request.path.endswith("/websites"):
            return APIStatus(status="Failure", code=403, reason="Forbidden", message="not you")
        return None

    world.weather.refuse = forbidden
    began = ambient.monotonic()
    await install_crds(operator_of(world), [Website])
    assert ambient.monotonic() - began < 1


async def test_the_versions_of_a_kind_are_one_crd() -> None:
    (both,) = definitions([Website, NextWebsite])
    assert [each["name"] for each in both["spec"]["versions"]] == ["v1", "v2"]


async def test_only_kinds_that_are_converted_say_how() -> None:
    webhook = {"strategy": "Webhook"}
    both, shop = definitions([Website, NextWebsite, Shop], {("demo.windvane.dev", "Website"): webhook})
    assert both["spec"]["conversion"] == webhook
    assert "conversion" not in shop["spec"]


async def test_a_version_that_is_not_served_is_not_waited_for(world: World) -> None:
    began = ambient.monotonic()
    await install_crds(operator_of(world), [Website, FormerWebsite])
    assert ambient.monotonic() - began < 1


async def test_a_version_without_the_stored_one_is_explained() -> None:
    with pytest.raises(NotInstalled, match="objects are stored in exactly one version"):
        definitions([NextWebsite])


async def test_what_is_there_already_is_not_changed(world: World, caplog: pytest.LogCaptureFixture) -> None:
    await install_crds(operator_of(world), [Website])
    before = await there(world)
    with caplog.at_level(logging.INFO, "windvane.runtime.crds"):
        await install_crds(operator_of(world), [Website])
    assert caplog.messages == [f"{NAME}: there already"]
    assert (await there(world)).metadata.resource_version == before.metadata.resource_version


async def test_what_the_operator_declares_anew_is_changed_and_said(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await install_crds(operator_of(world), [OldWebsite])
    with caplog.at_level(logging.INFO, "windvane.runtime.crds"):
        await install_crds(operator_of(world), [Website])
    assert caplog.messages == [f"{NAME}: changed, to generation 2"]


async def test_what_somebody_else_manages_is_left_as_it_is(world: World) -> None:
    await world.admin.apply(crd(OldWebsite), field_manager="helm")
    before = await there(world)
    with pytest.raises(NotInstalled) as refused:
        await install_crds(operator_of(world), [Website])
    assert str(refused.value).startswith(f"{NAME} is managed by somebody else, and differs from what this operator")
    assert 'Apply failed with 1 conflict: conflict with "helm": .spec.versions. It was left as it is.' in str(
        refused.value
    )
    assert "--force-conflicts --field-manager=website`" in str(refused.value)
    assert (await there(world)).metadata.resource_version == before.metadata.resource_version


async def test_what_somebody_else_manages_may_be_just_what_is_needed(world: World) -> None:
    await world.admin.apply(crd(Website), field_manager="helm")
    await install_crds(operator_of(world), [Website])


async def test_where_versions_are_converted_is_left_to_who_serves_that(world: World) -> None:
    def conversion(url: str) -> Any:
        webhook = {"clientConfig": {"url": url}, "conversionReviewVersions": ["v1"]}
        return {("demo.windvane.dev", "Website"): {"strategy": "Webhook", "webhook": webhook}}

    await install_crds(operator_of(world), [Website, NextWebsite], conversion=conversion("https://a.example"))
    moved = {"spec": {"conversion": conversion("https://b.example")["demo.windvane.dev", "Website"]}}
    stated = CustomResourceDefinition(metadata=ObjectMeta(name=NAME), content=moved)
    await world.admin.apply(stated, field_manager="website-webhooks", force=True)
    await install_crds(operator_of(world), [Website, NextWebsite], conversion=conversion("https://c.example"))
    assert (await there(world))["spec"]["conversion"]["webhook"]["clientConfig"]["url"] == "https://b.example"


async def test_an_older_operator_does_not_take_away_a_version(world: World) -> None:
    await install_crds(operator_of(world), [Website, NextWebsite])
    with pytest.raises(NotInstalled, match=r"has v2, which this operator does not know \(v1\): a newer one"):
        await install_crds(operator_of(world), [Website])
    assert len((await there(world))["spec"]["versions"]) == 2


async def test_a_crd_that_is_being_deleted_is_not_revived(world: World) -> None:
    await install_crds(operator_of(world), [Website])
    held = Website(
        metadata=ObjectMeta(name="blog", namespace="default", finalizers=["a.io/b"]), spec=WebsiteSpec(page="a")
    )
    await world.admin.create(held)
    await world.admin.delete(CustomResourceDefinition, NAME)
    with pytest.raises(NotInstalled, match="is being deleted, with all its objects"):
        await install_crds(operator_of(world), [Website])


class Site(Resource[Spec, Status], group="demo.windvane.dev", version="v1", plural="sites", kind="Website"):
    """Another kind of the same name."""


async def test_names_that_another_crd_has_are_explained(world: World) -> None:
    await install_crds(operator_of(world), [Website])
    with pytest.raises(NotInstalled, match=r"sites.demo.windvane.dev: another CRD has its names: .*in use"):
        await install_crds(operator_of(world), [Site])


def forbid_writing(request: Request) -> APIStatus | None:
    if request.method == "PATCH":
        return APIStatus(status="Failure", code=403, reason="Forbidden", message="User x cannot patch it")
    return None


async def test_who_may_not_is_told_what_to_be_granted(world: World) -> None:
    world.weather.refuse = forbid_writing
    with pytest.raises(NotInstalled, match=r"User x cannot patch it\. Grant the verbs get, create and patch on"):
        await install_crds(operator_of(world), [Website])


async def test_a_server_that_never_establishes_it_is_given_up_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    began = ambient.monotonic()
    monkeypatch.setattr("windvane.runtime.crds._is_established", lambda definition: False)
    with pytest.raises(NotInstalled, match=f"{NAME} is not Established after 60 s: kubectl describe crd {NAME}"):
        await install_crds(operator_of(world), [Website])
    assert 60 <= ambient.monotonic() - began <= 61
