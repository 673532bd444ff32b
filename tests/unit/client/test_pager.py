"""Lists: pages and how they follow each other, and items that stay bytes until they are looked at."""

import json
import weakref

import pytest

from unit.client.fakes import Answer, ScriptedTransport, answer, config_map, refusal
from windvane.api.kind import Kind
from windvane.api.resource import Dynamic, dynamic
from windvane.client.client import Client
from windvane.client.errors import Gone, NotFound, Unreadable
from windvane.client.pager import Page
from windvane.k8s.core import ConfigMap

GONE = refusal(410, "Expired", "The provided continue parameter is too old")


def page(*names: str, resume: str = "", version: str = "50") -> Answer:
    """A page of ConfigMaps as the API server writes it: items have neither kind nor apiVersion."""
    items = [{key: value for key, value in config_map(name).items() if key in ("metadata", "data")} for name in names]
    metadata = {"resourceVersion": version} | ({"continue": resume, "remainingItemCount": 9} if resume else {})
    return answer({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items})


def names(page: Page[ConfigMap]) -> list[str]:
    return [config_map.metadata.name for config_map in page]


async def test_awaiting_a_list_gives_all_its_pages_as_one() -> None:
    transport = ScriptedTransport(page("a", "b", resume="t1"), page("c", resume="t2"), page("d"))
    found = await Client(transport).list(ConfigMap)
    assert names(found) == ["a", "b", "c", "d"]
    assert found.resource_version == "50"
    assert [transport.query(index).get("continue") for index in range(3)] == [None, "t1", "t2"]


async def test_iterating_over_a_list_gives_the_objects_of_all_its_pages() -> None:
    transport = ScriptedTransport(page("a", "b", resume="t1"), page("c"))
    assert [each.metadata.name async for each in Client(transport).list(ConfigMap)] == ["a", "b", "c"]


async def test_iterating_asks_for_a_page_only_when_it_is_reached() -> None:
    transport = ScriptedTransport(page("a", "b", resume="t1"), page("c"))
    asked = [len(transport.requests) async for _ in Client(transport).list(ConfigMap)]
    assert asked == [1, 1, 2]


async def test_iterating_lets_go_of_a_page_when_the_next_is_there() -> None:
    transport = ScriptedTransport(page("a", resume="t1"), page("b", resume="t2"), page("c"))
    pages: list[weakref.ref[Page[ConfigMap]]] = []
    alive = []
    async for each in Client(transport).list(ConfigMap).pages():
        pages.append(weakref.ref(each))
        del each
        alive.append([reference() is not None for reference in pages])
    assert alive == [[True], [False, True], [False, False, True]]


async def test_a_list_asks_for_pages_of_500() -> None:
    transport = ScriptedTransport(page())
    await Client(transport).list(ConfigMap)
    assert transport.query() == {"limit": "500"}


async def test_page_size_0_asks_for_all_at_once() -> None:
    transport = ScriptedTransport(page())
    await Client(transport).list(ConfigMap, page_size=0)
    assert transport.query() == {}


async def test_the_next_page_is_asked_for_with_the_same_selectors_and_without_a_version() -> None:
    transport = ScriptedTransport(page("a", resume="t1"), page("b"))
    await Client(transport).list(
        ConfigMap,
        labels={"app": "web"},
        fields={"metadata.name": "a"},
        resource_version="40",
        resource_version_match="NotOlderThan",
        page_size=1,
    )
    selectors = {"labelSelector": "app=web", "fieldSelector": "metadata.name=a", "limit": "1"}
    assert transport.query(0) == {**selectors, "resourceVersion": "40", "resourceVersionMatch": "NotOlderThan"}
    assert transport.query(1) == {**selectors, "continue": "t1"}


async def test_a_list_that_is_forgotten_halfway_is_read_anew_in_one_piece() -> None:
    transport = ScriptedTransport(page("a", "old", resume="t1"), GONE, page("a", "b", "c", version="60"))
    found = await Client(transport).list(ConfigMap, labels="app=web")
    assert names(found) == ["a", "b", "c"]
    assert found.resource_version == "60"
    assert transport.query() == {"labelSelector": "app=web"}


async def test_pages_that_are_forgotten_halfway_say_so() -> None:
    transport = ScriptedTransport(page("a", resume="t1"), GONE)
    pages = Client(transport).list(ConfigMap).pages()
    assert names(await anext(pages)) == ["a"]
    with pytest.raises(Gone):
        await anext(pages)


async def test_iteration_that_is_forgotten_halfway_says_so_instead_of_starting_over() -> None:
    transport = ScriptedTransport(page("a", resume="t1"), GONE)
    found = aiter(Client(transport).list(ConfigMap))
    assert (await anext(found)).metadata.name == "a"
    with pytest.raises(Gone):
        await anext(found)


async def test_any_other_error_on_a_later_page_is_raised() -> None:
    transport = ScriptedTransport(page("a", resume="t1"), refusal(404, "NotFound"))
    with pytest.raises(NotFound):
        await Client(transport).list(ConfigMap)


async def test_items_that_go_writes_as_null_are_none() -> None:
    transport = ScriptedTransport(
        answer({"kind": "ConfigMapList", "metadata": {"resourceVersion": "5"}, "items": None})
    )
    found = await Client(transport).list(ConfigMap)
    assert len(found) == 0
    assert found.resource_version == "5"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"items": [',
        b'{"items": 3}',
        b'{"items": ["a"]}',
        b'{"items": [{"metadata": []}]}',
        b'{"items": [{"metadata": {"name": "\xff"}}]}',
        json.dumps(config_map("single")).encode(),
        b"{}",
    ],
)
async def test_what_is_no_list_is_never_taken_for_an_empty_one(body: bytes) -> None:
    with pytest.raises(Unreadable, match="GET /api/v1/configmaps: the answer is not a list of objects"):
        await Client(ScriptedTransport(Answer(200, [body]))).list(ConfigMap)


# Items.


async def test_an_item_has_the_bytes_as_they_came() -> None:
    raw = b'{"metadata" : {"name":"a"},  "data":{}, "unknown": [1]}'
    found = await Client(ScriptedTransport(Answer(200, [b'{"items": [' + raw + b"]}"]))).list(ConfigMap)
    assert found.items[0].raw == raw
    assert type(found.items[0].raw) is bytes


async def test_an_object_is_made_anew_each_time_it_is_looked_at() -> None:
    found = await Client(ScriptedTransport(page("a"))).list(ConfigMap)
    found[0].data["mine"] = "yes"
    assert found[0].data == {}
    assert next(iter(found)).data == {}


async def test_an_item_of_a_list_knows_its_kind() -> None:
    found = await Client(ScriptedTransport(page("a"))).list(ConfigMap)
    assert (found[0].kind, found[0].api_version) == ("ConfigMap", "v1")


async def test_a_page_can_be_sliced_and_counted_from_its_end() -> None:
    found = await Client(ScriptedTransport(page("a", "b", "c"))).list(ConfigMap)
    assert [each.metadata.name for each in found[1:]] == ["b", "c"]
    assert found[-1].metadata.name == "c"
    assert repr(found) == "<Page of 3 at 50>"


async def test_objects_of_a_kind_without_a_class_are_listed_too() -> None:
    widgets = dynamic(Kind(group="acme.io", version="v1", name="Widget", plural="widgets"))
    body = {"kind": "WidgetList", "items": [{"metadata": {"name": "a"}, "spec": {"size": 3}}]}
    found = await Client(ScriptedTransport(answer(body))).list(widgets)
    assert isinstance(found[0], Dynamic)
    assert found[0]["spec"] == {"size": 3}
