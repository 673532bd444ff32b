"""Informers: a cache in step with the server, whatever happens between the two."""

import logging
from typing import Any

import pytest

from integration.runtime.world import World
from windvane import APIStatus, Item, Kind, ObjectMeta, Resource, Spec, Status, ambient, crd, dynamic, only_metadata
from windvane.client.transport import Request
from windvane.k8s.core import ConfigMap, Namespace
from windvane.runtime.informers.cache import Change, IndexEntry
from windvane.runtime.informers.informer import Informer


def config_map(name: str, namespace: str = "default", labels: dict[str, str] | None = None, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels or {}), data=data)


async def started(world: World, **options: Any) -> Informer[ConfigMap]:
    informer = Informer(world.client(), ConfigMap, **options)
    world.start(informer.run())
    await world.until(lambda: informer.synced)
    return informer


def names(informer: Informer[Any]) -> list[str]:
    return [item.meta.name for item in informer.cache.items()]


async def test_it_begins_with_what_is_there(world: World) -> None:
    await world.admin.create(config_map("a"))
    await world.admin.create(config_map("b"))
    informer = await started(world)
    assert names(informer) == ["a", "b"]


async def test_it_follows_every_change(world: World) -> None:
    informer = await started(world)
    made = await world.admin.create(config_map("a", color="red"))
    await world.until(lambda: informer.cache.get(("default", "a")))
    made.data["color"] = "blue"
    changed = await world.admin.replace(made)
    await world.until(lambda: informer.has_seen(("default", "a"), changed.metadata.resource_version))
    item = informer.cache.get(("default", "a"))
    assert item is not None
    assert item.decode().data == {"color": "blue"}
    await world.admin.delete(ConfigMap, "a")
    await world.until(lambda: not informer.cache)


async def test_subscribers_hear_what_changed(world: World) -> None:
    await world.admin.create(config_map("old"))
    informer = Informer(world.client(), ConfigMap)
    heard: list[Change[ConfigMap]] = []
    informer.subscribe(heard.append)
    world.start(informer.run())
    await world.until(lambda: informer.synced)
    await world.admin.create(config_map("new"))
    await world.admin.delete(ConfigMap, "old")
    await world.until(lambda: len(heard) == 3)
    assert [(each.item.meta.name, each.initial, each.gone) for each in heard] == [
        ("old", True, False),
        ("new", False, False),
        ("old", False, True),
    ]


async def test_who_subscribes_late_hears_first_what_is_there(world: World) -> None:
    await world.admin.create(config_map("a"))
    informer = await started(world)
    heard: list[Change[ConfigMap]] = []
    informer.subscribe(heard.append)
    assert [(each.item.meta.name, each.initial) for each in heard] == [("a", True)]


async def test_changes_during_a_broken_connection_are_caught_up(world: World) -> None:
    informer = await started(world)
    world.weather.fall()
    await world.admin.create(config_map("a"))
    await ambient.sleep(60)
    assert names(informer) == []
    world.weather.clear()
    await world.until(lambda: names(informer) == ["a"])
    assert informer.restarts == 0, "it could resume where it was"


async def test_what_went_while_nobody_could_look_is_noticed(world: World) -> None:
    for name in ("kept", "changed", "gone"):
        await world.admin.create(config_map(name))
    informer = await started(world)
    heard: list[Change[ConfigMap]] = []
    informer.subscribe(heard.append)
    heard.clear()
    world.weather.fall()
    await world.admin.delete(ConfigMap, "gone")
    await world.admin.create(config_map("new"))
    await world.admin.patch(ConfigMap, "changed", {"data": {"color": "blue"}})
    await world.forget_history()
    world.weather.clear()
    await world.until(lambda: len(heard) == 3)
    assert [(each.item.meta.name, each.gone, each.initial) for each in heard] == [
        ("gone", True, False),
        ("changed", False, False),
        ("new", False, False),
    ]
    assert informer.restarts == 1


async def test_while_everything_is_read_anew_the_cache_is_never_empty(world: World) -> None:
    await world.admin.create(config_map("a"))
    informer = await started(world)
    sizes: set[int] = set()
    world.weather.fall()
    await world.admin.create(config_map("b"))
    await world.forget_history()
    world.weather.clear()

    def look() -> bool:
        sizes.add(len(informer.cache))
        return len(informer.cache) == 2

    await world.until(look)
    assert sizes == {1, 2}


async def test_only_the_namespaces_that_were_named_are_seen(world: World) -> None:
    for name in ("here", "there", "elsewhere"):
        await world.admin.create(Namespace(metadata=ObjectMeta(name=name)))
        await world.admin.create(config_map("a", namespace=name))
    informer = await started(world, namespaces=["here", "there"])
    assert [item.key for item in informer.cache.items()] == [("here", "a"), ("there", "a")]
    await world.admin.delete(ConfigMap, "a", namespace="here")
    await world.until(lambda: [item.key for item in informer.cache.items()] == [("there", "a")])


async def test_only_the_labels_that_were_asked_for_are_seen(world: World) -> None:
    await world.admin.create(config_map("a", labels={"app": "web"}))
    await world.admin.create(config_map("b"))
    informer = await started(world, labels="app=web")
    assert names(informer) == ["a"]
    await world.admin.patch(ConfigMap, "a", {"metadata": {"labels": {"app": "mail"}}})
    await world.until(lambda: names(informer) == [])


async def test_only_the_fields_that_were_asked_for_are_seen(world: World) -> None:
    await world.admin.create(config_map("a"))
    await world.admin.create(config_map("b"))
    assert names(await started(world, fields={"metadata.name": "b"})) == ["b"]


async def test_it_can_be_read_and_listed(world: World) -> None:
    await world.admin.create(config_map("b", color="blue"))
    await world.admin.create(config_map("a", color="red"))
    informer = await started(world)
    found = informer.get("a", namespace="default")
    assert found is not None
    assert found.data == {"color": "red"}
    assert informer.get("a", namespace="elsewhere") is None
    assert [each.data["color"] for each in informer.list(namespace="default") if each.data] == ["red", "blue"]
    assert [each.meta.name for each in informer.items("default")] == ["a", "b"]
    assert informer.list(namespace="elsewhere") == []


async def test_objects_are_found_by_index(world: World) -> None:
    informer = await started(world)
    await world.admin.create(config_map("a", labels={"app": "web"}))
    await world.admin.create(config_map("b", labels={"app": "mail"}))
    await world.until(lambda: len(informer.cache) == 2)

    def found(app: str) -> list[str]:
        return [each.item.meta.name for each in informer.cache.by("app", apps, app)]

    assert found("web") == ["a"]
    await world.admin.patch(ConfigMap, "a", {"metadata": {"labels": {"app": "mail"}}})
    await world.until(lambda: not found("web"))
    assert found("mail") == ["a", "b"]


def apps(item: Item[ConfigMap]) -> IndexEntry:
    return IndexEntry([(item.meta.labels or {})["app"]])


async def test_of_some_objects_only_the_metadata_is_seen(world: World) -> None:
    made = await world.admin.create(config_map("a", labels={"app": "web"}, color="red"))
    informer = Informer(world.client(), only_metadata(ConfigMap))
    world.start(informer.run())
    await informer.wait_synced()
    item = informer.cache.get(("default", "a"))
    assert item is not None
    assert b"red" not in item.raw
    assert item.decode().metadata == made.metadata
    await world.admin.patch(ConfigMap, "a", {"metadata": {"labels": {"app": "mail"}}})
    await world.until(lambda: (there := informer.cache.get(("default", "a"))) and there.meta.labels == {"app": "mail"})


def forbid_watches(request: Request) -> APIStatus | None:
    if request.method == "GET":
        return APIStatus(status="Failure", code=403, reason="Forbidden", message='configmaps is forbidden: User "x"')
    return None


async def test_a_watch_that_is_forbidden_says_what_to_grant_and_recovers(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.weather.refuse = forbid_watches
    informer = Informer(world.client(), ConfigMap)
    with caplog.at_level(logging.INFO, "windvane"):
        world.start(informer.run())
        await world.until(lambda: informer.problem)
        await ambient.sleep(300)
        assert informer.problem == (
            'watching configmaps: configmaps is forbidden: User "x". '
            "Grant the verbs list and watch on configmaps to the operator"
        )
        assert caplog.text.count("Grant the verbs") == 1, "said once, not at every attempt"
        world.weather.clear()
        await world.until(lambda: informer.synced)
    assert informer.problem == ""
    assert "all is well again" in caplog.text


class Website(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    """A website."""


async def test_a_kind_that_is_not_installed_is_named_and_found_when_it_is(world: World) -> None:
    informer = Informer(world.client(), Website)
    world.start(informer.run())
    await world.until(lambda: informer.problem)
    assert informer.problem == (
        "watching websites.demo.windvane.dev: the server has no websites.demo.windvane.dev. "
        "Install its CustomResourceDefinition: windvane run --install-crds"
    )
    await world.admin.create(crd(Website))
    await world.until(lambda: informer.synced)
    assert informer.problem == ""


async def test_a_kind_without_a_class_is_not_ours_to_install(world: World) -> None:
    informer = Informer(world.client(), dynamic(Kind(group="acme.io", version="v1", name="Widget", plural="widgets")))
    world.start(informer.run())
    await world.until(lambda: informer.problem)
    assert informer.problem.endswith("the server has no widgets.acme.io. Install its CustomResourceDefinition")


async def test_one_can_wait_for_a_change(world: World) -> None:
    informer = await started(world)
    waiting = world.start(informer.until(lambda: len(informer.cache) == 2))
    await world.admin.create(config_map("a"))
    await ambient.sleep(1)
    assert not waiting.done()
    await world.admin.create(config_map("b"))
    await world.until(waiting.done)


async def test_a_quiet_hour_costs_a_few_requests(world: World) -> None:
    await started(world)
    before = len(world.weather.asked)
    await ambient.sleep(3600)
    assert len(world.weather.asked) - before < 15, "watches last five to ten minutes each"
