"""Resource classes: which kind they are, how they are built, read and written."""

from typing import Annotated

import msgspec
import pytest

from windvane import (
    Dynamic,
    Ge,
    Item,
    Kind,
    Object,
    ObjectMeta,
    OwnerReference,
    Resource,
    Spec,
    Status,
    dynamic,
    kind_of,
    owner_reference,
)
from windvane.api import codec
from windvane.api.resource import object_from_wire, object_to_wire, read_object
from windvane.k8s import apps, core


class WebsiteSpec(Spec):
    image: str
    replicas: Annotated[int, Ge(0)] = 1


class WebsiteStatus(Status):
    ready: int = 0


class Website(Resource[WebsiteSpec, WebsiteStatus], group="demo.windvane.dev", version="v1alpha1", short_names=["ws"]):
    """A website that is always up."""


class TinySpec(Spec):
    size: int = 3


class Tiny(Resource[TinySpec, Status], group="demo.windvane.dev", version="v1", plural="tinies", scope="Cluster"):
    """A kind whose spec needs nothing."""


def website(*, namespace: str = "", uid: str = "") -> Website:
    metadata = ObjectMeta(name="blog", namespace=namespace, uid=uid)
    return Website(metadata=metadata, spec=WebsiteSpec(image="nginx"))


def test_the_class_says_which_kind_it_is() -> None:
    assert kind_of(Website) == Kind(
        group="demo.windvane.dev",
        version="v1alpha1",
        name="Website",
        plural="websites",
        short_names=("ws",),
        subresources=("status",),
    )
    assert kind_of(website()) is kind_of(Website)
    assert not kind_of(Tiny).namespaced


def test_an_object_is_sent_with_its_kind_and_without_what_was_not_set() -> None:
    assert object_to_wire(website()) == {
        "apiVersion": "demo.windvane.dev/v1alpha1",
        "kind": "Website",
        "metadata": {"name": "blog"},
        "spec": {"image": "nginx"},
    }


def test_a_status_that_was_set_is_sent() -> None:
    site = website()
    site.status.ready = 2
    assert object_to_wire(site)["status"] == {"ready": 2}


def test_every_object_has_a_status_to_read_from_and_its_own() -> None:
    first, second = website(), website()
    first.status.ready = 5
    assert second.status.ready == 0


def test_a_spec_that_needs_nothing_may_be_left_out() -> None:
    assert Tiny().spec.size == 3
    assert read_object(b'{"metadata":{"name":"a"}}', Tiny).spec.size == 3


def test_a_spec_that_needs_something_may_not() -> None:
    with pytest.raises(ValueError, match="Website needs a spec with image"):
        Website(metadata=ObjectMeta(name="a"))


def test_what_was_written_reads_back_the_same() -> None:
    site = website(namespace="web")
    assert read_object(codec.encode(object_to_wire(site)), Website) == site


def test_an_object_of_another_kind_is_not_mistaken_for_ours() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"a Pod \(v1\) can't be read as Website"):
        read_object(b'{"apiVersion":"v1","kind":"Pod","spec":{"image":"x"}}', Website)


def test_an_object_of_another_version_is_not_mistaken_for_ours() -> None:
    with pytest.raises(msgspec.ValidationError, match="v1beta9"):
        read_object(b'{"apiVersion":"demo.windvane.dev/v1beta9","kind":"Website","spec":{"image":"x"}}', Website)


def test_items_of_lists_which_have_no_kind_get_theirs() -> None:
    pod = read_object(b'{"spec":{"containers":[]}}', core.Pod)
    assert (pod.api_version, pod.kind) == ("v1", "Pod")


def test_built_in_kinds_have_a_status_to_read_from() -> None:
    deployment = read_object(b'{"spec":{"selector":{},"template":{"spec":{"containers":null}}}}', apps.Deployment)
    assert (deployment.status.ready_replicas or 0) == 0


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"group": "a.b"}, 'needs a version too, such as version="v1alpha1"'),
        ({"group": "a.b", "version": "v1", "scope": "Galaxy"}, "scope must be"),
    ],
)
def test_a_class_that_names_its_kind_badly_is_refused(keywords: dict[str, str], message: str) -> None:
    with pytest.raises(TypeError, match=message):

        class Bad(Resource[WebsiteSpec, WebsiteStatus], **keywords):
            pass


def test_a_class_that_names_no_kind_says_what_to_write() -> None:
    class Nameless(Object):
        pass

    with pytest.raises(TypeError, match="Nameless names no kind: write class Nameless"):
        kind_of(Nameless)


WIDGET = Kind(group="acme.io", version="v1", name="Widget", plural="widgets")


def test_a_dynamic_object_keeps_what_it_does_not_know() -> None:
    wire = {"apiVersion": "acme.io/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"x": [None]}, "data": 1}
    widget = object_from_wire(wire, dynamic(WIDGET))
    assert isinstance(widget, Dynamic)
    assert widget.metadata.name == "a"
    widget["spec"]["x"] = [2]
    widget["extra"] = True
    assert object_to_wire(widget) == wire | {"spec": {"x": [2]}, "extra": True}
    assert widget["data"] == 1


def test_a_dynamic_class_is_made_once_and_knows_its_kind() -> None:
    assert dynamic(WIDGET) is dynamic(WIDGET)
    assert kind_of(dynamic(WIDGET)) == WIDGET
    assert object_to_wire(dynamic(WIDGET)(metadata=ObjectMeta(name="a")))["kind"] == "Widget"


def test_a_dynamic_object_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="can't be read as Widget"):
        object_from_wire({"apiVersion": "v1", "kind": "Pod"}, dynamic(WIDGET))


def test_an_item_knows_its_metadata_without_decoding_and_decodes_anew_each_time() -> None:
    raw = codec.encode(
        object_to_wire(website())
        | {"metadata": {"name": "blog", "namespace": "web", "resourceVersion": "7", "labels": {"a": "b"}}}
    )
    item = Item(raw, Website)
    assert item.key == ("web", "blog")
    assert item.meta.resource_version == "7"
    assert item.meta.labels == {"a": "b"}
    first, second = item.decode(), item.decode()
    assert first == second
    assert first is not second
    assert repr(item) == "<Item web/blog at 7>"


def test_an_item_that_is_not_of_its_type_is_named() -> None:
    item = Item(b'{"metadata":{"name":"blog","namespace":"web"},"spec":{"image":3}}', Website)
    with pytest.raises(msgspec.ValidationError, match=r"Website web/blog: Expected `str`.* at `\$\.spec\.image`"):
        item.decode()


def test_an_owner_reference_points_at_what_the_server_returned() -> None:
    assert owner_reference(website(uid="u")) == OwnerReference(
        api_version="demo.windvane.dev/v1alpha1",
        kind="Website",
        name="blog",
        uid="u",
        controller=True,
        block_owner_deletion=True,
    )


def test_an_object_without_a_uid_can_not_own() -> None:
    with pytest.raises(ValueError, match="Website 'blog' has no uid yet"):
        owner_reference(website())
