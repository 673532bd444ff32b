"""What is answered to a ConversionReview: all objects in the version that was asked for, or none and why."""

import json
from typing import Any, cast

import pytest

from windvane import Operator, Resource, Spec, Status, Struct, field
from windvane.runtime.conversion import Conversions, Converter
from windvane.webhook.conversion import convert_review
from windvane.webhook.review import BadReview

GROUP = "demo.windvane.dev"


class Cache(Struct):
    minutes: int = 5


class SpecV1Beta1(Spec):
    host: str = ""
    replicas: int = 1
    cache: Cache = field(default_factory=Cache)
    mirrors: list[Cache] = []


class WebsiteV1Beta1(Resource[SpecV1Beta1, Status], group=GROUP, version="v1beta1", kind="Website", stored=False):
    """A website with one host."""


class SpecV1(Spec):
    hosts: list[str] = []


class WebsiteStatus(Status):
    ready: int = 0


class WebsiteV1(Resource[SpecV1, WebsiteStatus], group=GROUP, version="v1", kind="Website"):
    """A website with several hosts."""


class SpecV2(Spec):
    names: list[str] = []


class WebsiteV2(Resource[SpecV2, WebsiteStatus], group=GROUP, version="v2", kind="Website", stored=False):
    """A website with several names."""


MORE_HOSTS = "demo.windvane.dev/more-hosts"


def up(old: WebsiteV1Beta1) -> WebsiteV1:
    more = old.metadata.annotations.pop(MORE_HOSTS, "")
    return WebsiteV1(metadata=old.metadata, spec=SpecV1(hosts=[old.spec.host, *more.split()]))


def down(new: WebsiteV1) -> WebsiteV1Beta1:
    first, *more = new.spec.hosts
    if more:
        new.metadata.annotations[MORE_HOSTS] = " ".join(more)
    return WebsiteV1Beta1(metadata=new.metadata, spec=SpecV1Beta1(host=first, mirrors=[Cache()]))


def to_names(old: WebsiteV1) -> WebsiteV2:
    return WebsiteV2(spec=SpecV2(names=old.spec.hosts), status=old.status)


@pytest.fixture
def conversions() -> Conversions:
    operator = Operator("website")
    operator.convert(WebsiteV1Beta1, WebsiteV1)(up)
    operator.convert(WebsiteV1, WebsiteV1Beta1)(down)
    operator.convert(WebsiteV1, WebsiteV2)(to_names)
    return operator.conversions


def stored(version: str, spec: Any, kind: str = "Website", **metadata: Any) -> dict[str, Any]:
    there = {"name": "blog", "namespace": "web", "uid": "1", "fromTheFuture": [1], **metadata}
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": there, "spec": spec}


async def answer(
    conversions: Conversions, version: str, *objects: Any, api_version: str = "v1", group: str = GROUP
) -> dict[str, Any]:
    request = {"uid": "u-1", "desiredAPIVersion": f"{group}/{version}", "objects": list(objects)}
    review = {"apiVersion": f"apiextensions.k8s.io/{api_version}", "kind": "ConversionReview", "request": request}
    converted = await convert_review(json.dumps(review).encode(), conversions)
    found = json.loads(converted.body)
    response: dict[str, Any] = found["response"]
    assert (found["apiVersion"], found["kind"], response["uid"]) == (review["apiVersion"], review["kind"], "u-1")
    assert converted.allowed is (response["result"]["status"] == "Success")
    return response


async def refusal(conversions: Conversions, version: str, *objects: Any, group: str = GROUP) -> str:
    response = await answer(conversions, version, *objects, group=group)
    assert (response["result"]["status"], response["convertedObjects"]) == ("Failure", [])
    return str(response["result"]["message"])


@pytest.mark.parametrize("api_version", ["v1", "v1beta1"])
async def test_an_object_is_converted(conversions: Conversions, api_version: str) -> None:
    response = await answer(conversions, "v1", stored("v1beta1", {"host": "a"}), api_version=api_version)
    assert response["convertedObjects"] == [stored("v1", {"hosts": ["a"]})]
    assert response["result"] == {"status": "Success"}


async def test_a_list_of_mixed_versions_is_converted_in_its_order(conversions: Conversions) -> None:
    one, other = stored("v1beta1", {"host": "a"}, name="one"), stored("v1", {"hosts": ["b"]}, name="other")
    response = await answer(conversions, "v1", one, other, one)
    assert [each["spec"]["hosts"] for each in response["convertedObjects"]] == [["a"], ["b"], ["a"]]
    assert [each["metadata"]["name"] for each in response["convertedObjects"]] == ["one", "other", "one"]


async def test_an_object_that_has_the_version_already_stays_as_it_is(conversions: Conversions) -> None:
    there = stored("v1", {"hosts": ["a"], "unknown": 1})
    assert (await answer(conversions, "v1", there))["convertedObjects"] == [there]


async def test_versions_are_reached_by_way_of_others(conversions: Conversions) -> None:
    (made,) = (await answer(conversions, "v2", stored("v1beta1", {"host": "a"})))["convertedObjects"]
    assert made == stored("v2", {"names": ["a"]})


async def test_what_has_its_default_is_stated(conversions: Conversions) -> None:
    (made,) = (await answer(conversions, "v1beta1", stored("v1", {"hosts": ["a"]})))["convertedObjects"]
    assert made["spec"] == {"host": "a", "replicas": 1, "cache": {"minutes": 5}, "mirrors": [{"minutes": 5}]}
    assert "status" not in made
    (made,) = (await answer(conversions, "v2", {**stored("v1", {"hosts": []}), "status": {"observedGeneration": 3}}))[
        "convertedObjects"
    ]
    assert made["status"] == {"observedGeneration": 3, "ready": 0}


async def test_the_status_is_converted_too(conversions: Conversions) -> None:
    there = {**stored("v1", {"hosts": ["a"]}), "status": {"ready": 2}}
    (made,) = (await answer(conversions, "v2", there))["convertedObjects"]
    assert made["status"] == {"ready": 2}


async def test_what_has_no_field_is_kept_in_an_annotation_and_taken_out_again(conversions: Conversions) -> None:
    there = stored("v1", {"hosts": ["a", "b", "c"]}, annotations={"mine": "1"})
    (older,) = (await answer(conversions, "v1beta1", there))["convertedObjects"]
    assert older["metadata"]["annotations"] == {"mine": "1", MORE_HOSTS: "b c"}
    assert (await answer(conversions, "v1", older))["convertedObjects"] == [there]


async def test_metadata_is_carried_over_for_a_function_that_forgets_it(conversions: Conversions) -> None:
    there = stored("v1", {"hosts": []}, labels={"a": "b"}, annotations={"c": "d"})
    (made,) = (await answer(conversions, "v2", there))["convertedObjects"]
    assert made["metadata"] == there["metadata"]


async def test_a_name_that_has_yet_to_be_made_up_is_no_reason_to_forget_annotations(conversions: Conversions) -> None:
    there = stored("v1beta1", {"host": "a"}, name="", generateName="blog-", annotations={MORE_HOSTS: "b"})
    (made,) = (await answer(conversions, "v1", there))["convertedObjects"]
    assert made["spec"] == {"hosts": ["a", "b"]}
    assert "annotations" not in made["metadata"]


async def test_no_function_can_change_the_name(conversions: Conversions) -> None:
    def renamed(old: WebsiteV2) -> WebsiteV1:
        old.metadata.name, old.metadata.uid = "other", "2"
        old.metadata.labels["c"] = "d"
        old.metadata.annotations["e"] = "f"
        return WebsiteV1(metadata=old.metadata)

    operator = Operator("website")
    operator.convert(WebsiteV2, WebsiteV1)(renamed)
    (made,) = (await answer(operator.conversions, "v1", stored("v2", {}, labels={"a": "b"})))["convertedObjects"]
    assert (made["metadata"]["name"], made["metadata"]["uid"]) == ("blog", "1")
    assert made["metadata"]["labels"] == {"a": "b", "c": "d"}
    assert made["metadata"]["annotations"] == {"e": "f"}


async def test_one_object_that_can_not_be_converted_fails_all(
    conversions: Conversions, caplog: pytest.LogCaptureFixture
) -> None:
    good, bad = stored("v1", {"hosts": ["a"]}), stored("v1", {"hosts": []}, name="empty")
    assert await refusal(conversions, "v1beta1", good, bad) == (
        "Website web/empty (demo.windvane.dev/v1): down failed (ValueError); the log of the operator says more"
    )
    assert "not enough values to unpack" in caplog.text


@pytest.mark.parametrize(
    ("version", "there", "words"),
    [
        ("v9", stored("v1", {}), "version 'v9' is not known here; known are v1beta1, v1, v2"),
        ("v1", stored("v9", {}), "version 'v9' is not known here; known are v1beta1, v1, v2"),
        ("v1", stored("v2", {}), "no function leads from v2 to v1"),
        ("v2", stored("v1", {}, kind="Shop"), "this operator converts no objects of that kind"),
        ("v2", stored("v1", {"hosts": "a"}), "does not fit its class WebsiteV1: Expected `array`, got `str`"),
        ("v2", None, "an object can't be read: Expected `object`, got `null`"),
        ("v2", [], "an object can't be read"),
        ("v2", {}, "this operator converts no objects of that kind"),
        ("v2", {"metadata": None}, "this operator converts no objects of that kind"),
    ],
)
async def test_why_an_object_can_not_be_converted_is_said(
    conversions: Conversions, version: str, there: Any, words: str
) -> None:
    assert words in await refusal(conversions, version, there)


async def test_an_object_stays_in_its_group(conversions: Conversions) -> None:
    words = await refusal(conversions, "v2", stored("v1", {}), group="acme.io")
    assert words.endswith("can't become an object of another group, acme.io/v2")


async def test_a_function_that_makes_something_else_is_told(conversions: Conversions) -> None:
    operator, nothing = Operator("website"), cast(Any, lambda old: None)
    operator.convert(WebsiteV2, WebsiteV1)(nothing)
    words = await refusal(operator.conversions, "v1", stored("v2", {}))
    assert "returned a NoneType, and must return a WebsiteV1 (demo.windvane.dev/v1)" in words


async def test_a_function_that_exits_ends_nothing_but_this() -> None:
    def exits(old: WebsiteV2) -> WebsiteV1:
        raise SystemExit(3)

    operator = Operator("website")
    operator.convert(WebsiteV2, WebsiteV1)(exits)
    assert "exits failed (SystemExit)" in await refusal(operator.conversions, "v1", stored("v2", {}))


async def test_a_result_that_can_not_be_written_names_the_object(
    conversions: Conversions, caplog: pytest.LogCaptureFixture
) -> None:
    def wrongly(old: WebsiteV2) -> WebsiteV1:
        return WebsiteV1(spec=SpecV1(hosts=[object()]))  # type: ignore[list-item]

    conversions.add(Converter(WebsiteV2, WebsiteV1, wrongly))
    response = await answer(conversions, "v1", stored("v2", {"names": ["a"]}))
    message = response["result"]["message"]
    assert message.startswith("Website web/blog (demo.windvane.dev/v2): wrongly failed (NotImplementedError)")
    assert "wrongly failed on Website web/blog" in caplog.text


async def test_no_objects_are_no_objects(conversions: Conversions) -> None:
    assert (await answer(conversions, "v1"))["convertedObjects"] == []


async def test_thousands_are_converted(conversions: Conversions) -> None:
    response = await answer(conversions, "v1", *[stored("v1beta1", {"host": "a"})] * 5000)
    assert len(response["convertedObjects"]) == 5000


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "this is no ConversionReview"),
        (b'{"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1"}', "has no request in it"),
        (b'{"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v3"}', "v3' is not known here"),
        (b'{"kind": "AdmissionReview", "apiVersion": "apiextensions.k8s.io/v1"}', "this is no ConversionReview"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "this is no ConversionReview: .* recursion"),
        (b'{"kind": "ConversionReview\xed\xa0\x80"}', "this is no ConversionReview"),
    ],
)
async def test_what_is_no_review_is_said_to_be_none(conversions: Conversions, body: bytes, words: str) -> None:
    with pytest.raises(BadReview, match=words):
        await convert_review(body, conversions)


class Place(Struct):
    street: str
    number: int


class ShopSpecV1(Spec):
    place: Place
    names: list[str]


class ShopV1(Resource[ShopSpecV1, Status], group=GROUP, version="v1", kind="Shop"):
    """A shop whose place and names must be said."""


class ShopSpecV2(Spec):
    place: Place
    name: str
    open: bool = True


class ShopV2(Resource[ShopSpecV2, Status], group=GROUP, version="v2", kind="Shop", stored=False):
    """A shop with one name."""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"place": {"street": "a", "number": 1}, "name": "b"}, {"place": {"street": "a", "number": 1}, "names": ["b"]}),
        ({"place": {"number": 1}, "name": "b"}, {"place": {"number": 1}, "names": ["b"]}),
        ({"place": {"number": 1}}, {"place": {"number": 1}, "names": []}),
        ({"name": "b"}, {"names": ["b"]}),
        ({}, {"names": []}),
        (None, {"names": []}),
    ],
)
async def test_what_is_missing_stays_missing(before: dict[str, Any] | None, after: dict[str, Any]) -> None:
    """Server-side apply has a part of an object converted: that without what was stated in the version before."""
    operator = Operator("shops")

    @operator.convert(ShopV2, ShopV1)
    def up(old: ShopV2) -> ShopV1:
        return ShopV1(metadata=old.metadata, spec=ShopSpecV1(place=old.spec.place, names=[old.spec.name]))

    there = stored("v2", {}, kind="Shop")
    there = {**there, "spec": before} if before is not None else {key: there[key] for key in there if key != "spec"}
    (made,) = (await answer(operator.conversions, "v1", there))["convertedObjects"]
    assert made["spec"] == after


class TagsSpec(Spec):
    tags: dict[str, str]


class TagsV1(Resource[TagsSpec, Status], group=GROUP, version="v1", kind="Tags", plural="tags"):
    """Something whose spec has to be there, if only with empty tags."""


class TagsV2(Resource[TagsSpec, Status], group=GROUP, version="v2", kind="Tags", plural="tags", stored=False):
    """The same."""


async def test_a_spec_that_is_missing_may_be_one_of_which_all_can_be_empty() -> None:
    operator = Operator("tags")
    operator.convert(TagsV2, TagsV1)(lambda old: TagsV1(metadata=old.metadata, spec=old.spec))
    there = {key: value for key, value in stored("v2", {}, kind="Tags").items() if key != "spec"}
    (made,) = (await answer(operator.conversions, "v1", there))["convertedObjects"]
    assert made["spec"] == {"tags": {}}


async def test_what_has_another_type_is_refused_also_if_something_is_missing() -> None:
    operator = Operator("shops")
    operator.convert(ShopV2, ShopV1)(lambda old: ShopV1(spec=ShopSpecV1(place=old.spec.place, names=[])))
    words = await refusal(operator.conversions, "v1", stored("v2", {"place": {"street": 7}}, kind="Shop"))
    assert "does not fit its class ShopV2" in words
