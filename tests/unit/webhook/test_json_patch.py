"""What a function did to an object becomes a patch onto the object as it came, and nothing else does."""

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane import Kind, Object, Quantity, Resource, Spec, Status, Struct, dynamic, field
from windvane.api.resource import read_object
from windvane.k8s import core
from windvane.webhook.json_patch import Patch, patch_of


class Storage(Struct):
    size: Quantity | None = None


class WebsiteSpec(Spec):
    image: str = ""
    replicas: int = 1
    budget: str | None = None
    hosts: list[str] = []
    storage: Storage = field(default_factory=Storage)
    volumes: list[Storage] = []
    options: dict[str, Any] = {}


class Website(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v1"):
    """A website."""


def website(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "demo.windvane.dev/v1", "kind": "Website", "metadata": {"name": "blog"}, **more}


def patch_by(function: Callable[[Any], Any], wire: dict[str, Any], what: type[Object] = Website) -> Patch:
    raw = msgspec.json.encode(wire)
    before, after = read_object(raw, what), read_object(raw, what)
    function(after)
    return patch_of(wire, before, after)


def patched(wire: Any, patch: Patch) -> Any:
    """RFC 6902, as far as it is used here."""
    result = copy.deepcopy(wire)
    for operation in patch:
        *way, last = [each.replace("~1", "/").replace("~0", "~") for each in operation["path"].split("/")[1:]]
        here = result
        for each in way:
            here = here[int(each)] if isinstance(here, list) else here[each]
        key: Any = int(last) if isinstance(here, list) else last
        match operation["op"]:
            case "remove":
                del here[key]
            case "replace":
                assert here[key] is not ...  # it must be there
                here[key] = operation["value"]
            case "add":
                assert key not in here
                here[key] = operation["value"]
    return result


def test_nothing_done_is_no_patch() -> None:
    assert patch_by(lambda site: None, website(spec={"image": "a", "unknown": 1})) == []


def test_a_field_that_is_set_is_added() -> None:
    def fill_in(site: Website) -> None:
        site.spec.budget = "shared"

    assert patch_by(fill_in, website(spec={})) == [{"op": "add", "path": "/spec/budget", "value": "shared"}]


def test_what_holds_a_field_is_added_with_it() -> None:
    def fill_in(site: Website) -> None:
        site.spec.storage.size = Quantity("1Gi")

    patch = patch_by(fill_in, website())
    assert patch == [{"op": "add", "path": "/spec", "value": {"storage": {"size": "1Gi"}}}]


def test_a_field_that_is_changed_is_replaced() -> None:
    def fill_in(site: Website) -> None:
        site.spec.replicas = 5

    patch = patch_by(fill_in, website(spec={"replicas": 3}))
    assert patch == [{"op": "replace", "path": "/spec/replicas", "value": 5}]


def test_a_field_that_is_changed_to_its_default_says_so() -> None:
    def fill_in(site: Website) -> None:
        site.spec.replicas = 1

    patch = patch_by(fill_in, website(spec={"replicas": 3}))
    assert patch == [{"op": "replace", "path": "/spec/replicas", "value": 1}]


def test_a_default_that_was_not_sent_is_not_sent_back() -> None:
    def fill_in(site: Website) -> None:
        site.spec.replicas = 1
        site.spec.hosts = []

    assert patch_by(fill_in, website(spec={"image": "a"})) == []


def test_a_field_that_is_none_is_removed() -> None:
    def fill_in(site: Website) -> None:
        site.spec.budget = None

    patch = patch_by(fill_in, website(spec={"budget": "mine", "image": "a"}))
    assert patch == [{"op": "remove", "path": "/spec/budget"}]


def test_keys_of_labels_are_changed_one_by_one_and_escaped() -> None:
    def fill_in(site: Website) -> None:
        del site.metadata.labels["old"]
        site.metadata.labels["windvane.dev/~new"] = "yes"

    wire = website(metadata={"name": "blog", "labels": {"old": "1", "kept": "2"}})
    assert patch_by(fill_in, wire) == [
        {"op": "remove", "path": "/metadata/labels/old"},
        {"op": "add", "path": "/metadata/labels/windvane.dev~1~0new", "value": "yes"},
    ]


def test_a_null_is_a_field_that_is_not_there() -> None:
    def fill_in(site: Website) -> None:
        site.spec.budget = "shared"

    wire = website(spec=None)
    assert patched(wire, patch_by(fill_in, wire))["spec"] == {"budget": "shared"}


def test_a_value_that_is_only_written_differently_stays_as_it_is() -> None:
    def fill_in(site: Website) -> None:
        site.spec.storage.size = Quantity("1Gi")

    assert patch_by(fill_in, website(spec={"storage": {"size": "1024Mi"}})) == []


def test_what_the_class_does_not_know_is_kept_in_items_that_stay() -> None:
    def add_a_proxy(pod: core.Pod) -> None:
        pod.spec.containers.append(core.Container(name="proxy", image="proxy:1"))

    wire = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "app", "image": "app:1", "fromTheFuture": True}]},
    }
    (operation,) = patch_by(add_a_proxy, wire, core.Pod)
    assert operation == {
        "op": "replace",
        "path": "/spec/containers",
        "value": [
            {"name": "app", "image": "app:1", "fromTheFuture": True},
            {"name": "proxy", "image": "proxy:1"},
        ],
    }


def test_one_item_of_a_list_is_changed_in_its_place() -> None:
    def fill_in(pod: core.Pod) -> None:
        pod.spec.containers[1].image = "b:2"

    containers = [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1", "fromTheFuture": 1}]
    wire = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers}}
    assert patch_by(fill_in, wire, core.Pod) == [{"op": "replace", "path": "/spec/containers/1/image", "value": "b:2"}]


def test_values_without_a_class_are_changed_too() -> None:
    def fill_in(site: Website) -> None:
        site.spec.options["a"]["b"] = True

    patch = patch_by(fill_in, website(spec={"options": {"a": {"b": 1, "c": [1.5, None]}}}))
    assert patch == [{"op": "replace", "path": "/spec/options/a/b", "value": True}]


def test_a_kind_without_a_class_is_changed_too() -> None:
    widget = dynamic(Kind(group="acme.io", version="v1", name="Widget", plural="widgets"))

    def fill_in(thing: Any) -> None:
        thing["spec"]["size"] = 2
        thing.metadata.labels["a"] = "b"

    wire = {"apiVersion": "acme.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}}
    assert patch_by(fill_in, wire, widget) == [
        {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}},
        {"op": "replace", "path": "/spec/size", "value": 2},
    ]


specs = st.fixed_dictionaries(
    {},
    optional={
        "image": st.sampled_from(["", "a", "b"]),
        "replicas": st.integers(0, 3),
        "budget": st.none() | st.sampled_from(["x", "y"]),
        "hosts": st.lists(st.sampled_from("abc"), max_size=4),
        "storage": st.fixed_dictionaries({}, optional={"size": st.sampled_from(["1", "2Gi"])}),
        "volumes": st.lists(st.fixed_dictionaries({}, optional={"size": st.sampled_from(["1", "2Gi"])}), max_size=4),
        "options": st.dictionaries(st.sampled_from("a/~"), st.none() | st.integers(0, 1) | st.booleans(), max_size=3),
        "unknown": st.integers(),
    },
)


@given(specs, specs)
def test_whatever_was_done_the_patched_object_reads_as_the_function_left_it(one: Any, other: Any) -> None:
    there = read_object(msgspec.json.encode(website(spec=other)), Website)

    def becomes(site: Website) -> None:
        site.spec = copy.deepcopy(there.spec)

    wire = website(spec=one)
    patch = patch_by(becomes, wire)
    result = patched(wire, patch)
    assert read_object(msgspec.json.encode(result), Website).spec == there.spec
    assert result["spec"].get("unknown") == one.get("unknown")
    assert patch_by(becomes, result) == []  # asked again, there is nothing left to do


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_an_item_that_goes_takes_nothing_from_the_others(count: int) -> None:
    volumes = [{"size": f"{index}Gi", "unknown": index} for index in range(4)]

    def drop(site: Website) -> None:
        del site.spec.volumes[count]

    wire = website(spec={"volumes": volumes})
    expected = [each for index, each in enumerate(volumes) if index != count]
    assert patched(wire, patch_by(drop, wire))["spec"]["volumes"] == expected


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_an_item_that_is_changed_keeps_what_its_class_does_not_know(count: int) -> None:
    volumes = [{"size": f"{index}Gi", "unknown": index} for index in range(4)]

    def grow(site: Website) -> None:
        site.spec.volumes[count].size = Quantity("9Gi")

    wire = website(spec={"volumes": volumes})
    assert patch_by(grow, wire) == [{"op": "replace", "path": f"/spec/volumes/{count}/size", "value": "9Gi"}]
