"""What authors declare about the versions of a kind, and how one leads to another."""

from typing import Any

import pytest

from windvane import Operator, Resource, Spec, Status
from windvane.k8s import core
from windvane.runtime.conversion import Conversions, Converter

SITE = ("demo.windvane.dev", "Website")


class WebsiteV1(Resource[Spec, Status], group="demo.windvane.dev", version="v1", kind="Website", stored=False):
    """A website."""


class WebsiteV2(Resource[Spec, Status], group="demo.windvane.dev", version="v2", kind="Website"):
    """A website."""


class WebsiteV3(Resource[Spec, Status], group="demo.windvane.dev", version="v3", kind="Website", stored=False):
    """A website."""


class WebsiteV3Again(Resource[Spec, Status], group="demo.windvane.dev", version="v3", kind="Website", stored=False):
    """A website."""


class Shop(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    """Another kind."""


class ShopV3(Resource[Spec, Status], group="demo.windvane.dev", version="v3", kind="Shop"):
    """Another kind, in a version that websites don't have."""


def same(old: Any) -> Any:
    return old


def conversions(*pairs: tuple[type[Any], type[Any]]) -> Conversions:
    made = Conversions()
    for source, target in pairs:
        made.add(Converter(source, target, same))
    return made


def versions_on(path: list[Converter] | None) -> list[str]:
    return [converter.target.__kind__.version for converter in path or ()]


def test_a_version_is_reached_by_way_of_others() -> None:
    made = conversions((WebsiteV1, WebsiteV2), (WebsiteV2, WebsiteV3))
    assert versions_on(made.path(SITE, "v1", "v3")) == ["v2", "v3"]


def test_the_shortest_path_is_taken() -> None:
    made = conversions((WebsiteV1, WebsiteV2), (WebsiteV2, WebsiteV3), (WebsiteV1, WebsiteV3))
    assert versions_on(made.path(SITE, "v1", "v3")) == ["v3"]


def test_a_version_leads_to_itself_without_any_function() -> None:
    assert conversions((WebsiteV1, WebsiteV2)).path(SITE, "v1", "v1") == []


def test_there_may_be_no_path() -> None:
    assert conversions((WebsiteV1, WebsiteV2)).path(SITE, "v2", "v1") is None
    assert conversions().path(SITE, "v2", "v1") is None


def test_circles_end() -> None:
    made = conversions((WebsiteV1, WebsiteV2), (WebsiteV2, WebsiteV3), (WebsiteV3, WebsiteV2))
    assert made.path(SITE, "v1", "v9") is None


def test_an_operator_knows_all_versions_of_a_kind() -> None:
    operator = Operator("website")
    operator.convert(WebsiteV1, WebsiteV2)(same)
    operator.convert(WebsiteV2, WebsiteV1)(same)
    assert operator.kinds == [WebsiteV1, WebsiteV2]
    assert operator.serves_webhooks


def test_a_missing_way_back_is_told() -> None:
    with pytest.raises(ValueError, match=r"write @operator.convert\(WebsiteV2, WebsiteV1\)"):
        conversions((WebsiteV1, WebsiteV2)).check([])


def test_a_version_that_only_a_controller_knows_must_be_converted_too() -> None:
    made = conversions((WebsiteV1, WebsiteV2), (WebsiteV2, WebsiteV1))
    made.check([WebsiteV1, ShopV3, core.Pod])
    with pytest.raises(ValueError, match="nothing converts a WebsiteV1 to a WebsiteV3"):
        made.check([WebsiteV3])


async def waits(old: WebsiteV1) -> WebsiteV2:
    raise NotImplementedError


async def yields(old: WebsiteV1) -> Any:
    yield old


def same_way(old: WebsiteV1) -> WebsiteV2:
    raise NotImplementedError


def takes_two(old: WebsiteV1, more: int) -> WebsiteV2:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("source", "target", "function", "words"),
    [
        (WebsiteV1, Shop, same, r"which are two kinds, not two versions of one"),
        (WebsiteV3, WebsiteV3Again, same, "both are Website .demo.windvane.dev/v3"),
        (WebsiteV1, core.Pod, same, "the classes of two versions of a kind of your own, not <class"),
        ("WebsiteV1", WebsiteV2, same, "not 'WebsiteV1'"),
        (WebsiteV1, WebsiteV2, yields, "yields converts a WebsiteV1, and must not wait"),
        (WebsiteV1, WebsiteV2, waits, "write `def waits.old: WebsiteV1. -> WebsiteV2`, not `async def`"),
        (
            WebsiteV2,
            WebsiteV1,
            same_way,
            "argument old is a WebsiteV1, and it is given a WebsiteV2: write `def same_way",
        ),
        (WebsiteV1, WebsiteV3, same_way, "same_way says that it returns a WebsiteV2: write `def same_way"),
        (WebsiteV1, WebsiteV2, takes_two, "takes_two is called with a WebsiteV1 and nothing else"),
    ],
)
def test_a_conversion_that_can_not_be_is_refused(source: Any, target: Any, function: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        Operator("website").convert(source, target)(function)


def test_two_functions_for_the_same_conversion_are_refused() -> None:
    with pytest.raises(ValueError, match="WebsiteV1 is converted to WebsiteV2 already, by same"):
        conversions((WebsiteV1, WebsiteV2), (WebsiteV1, WebsiteV2))


def test_two_classes_for_one_version_are_refused() -> None:
    with pytest.raises(ValueError, match="WebsiteV3 and WebsiteV3Again are both Website"):
        conversions((WebsiteV2, WebsiteV3), (WebsiteV2, WebsiteV3Again))
