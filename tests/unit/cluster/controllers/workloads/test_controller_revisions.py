"""The templates that a DaemonSet had, numbered."""

from windvane.api import codec
from windvane.cluster.controllers.workloads.controller_revisions import new_revision, next_number, split, to_drop
from windvane.k8s.apps import ControllerRevision, DaemonSet


def daemonset(image: str) -> DaemonSet:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": image}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    return codec.from_wire({"metadata": {"name": "web", "namespace": "default", "uid": "u"}, "spec": spec}, DaemonSet)


def revision(image: str, number: int) -> ControllerRevision:
    made = new_revision(daemonset(image), number, "hash")
    made.metadata.name = f"{image}-{number}"
    return made


def test_a_revision_is_the_patch_that_brings_its_template_back() -> None:
    made = new_revision(daemonset("web:1"), 3, "hash")
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "web:1"}]},
        "$patch": "replace",
    }
    assert made.data == {"spec": {"template": template}}
    assert made.revision == 3


def test_the_keys_of_a_revision_are_in_order_as_kubernetes_compares_bytes() -> None:
    made = new_revision(daemonset("web:1"), 3, "hash")
    assert codec.encode(made.data) == (
        b'{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},'
        b'"spec":{"containers":[{"image":"web:1","name":"c"}]}}}}'
    )


def test_a_revision_is_named_by_its_hash_and_selected_by_its_owner() -> None:
    made = new_revision(daemonset("web:1"), 1, "hash")
    assert made.metadata.name == f"web-{made.metadata.labels['hash']}"
    assert made.metadata.labels["app"] == "web"
    assert made.metadata.owner_references[0].uid == "u"


def test_a_collision_gives_another_name() -> None:
    owner = daemonset("web:1")
    first = new_revision(owner, 1, "hash").metadata.name
    owner.status.collision_count = 1
    assert new_revision(owner, 1, "hash").metadata.name != first


def test_the_current_revision_is_the_latest_with_the_template_as_it_is() -> None:
    a, b, again = revision("a", 1), revision("b", 2), revision("a", 3)
    assert split(daemonset("a").spec.template, [again, b, a]) == (again, [a, b])
    assert split(daemonset("c").spec.template, [b, a]) == (None, [a, b])


def test_numbers_go_up() -> None:
    assert next_number([]) == 1
    assert next_number([revision("a", 4), revision("b", 2)]) == 5


def test_the_earliest_go_but_not_those_that_pods_are_made_from() -> None:
    a, b, c = revision("a", 1), revision("b", 2), revision("c", 3)
    assert to_drop([c, a, b], 1, set()) == [a, b]
    assert to_drop([c, a, b], 1, {a.metadata.name}) == [b, c]
    assert to_drop([c, a, b], 3, set()) == []
    assert to_drop([c, a, b], None, set()) == []
