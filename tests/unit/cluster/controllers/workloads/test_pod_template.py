"""Pods from templates, and the hashes of templates."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from windvane import ambient
from windvane.api import codec
from windvane.cluster.controllers.workloads.pod_template import pod_from, short_hash, template_hash
from windvane.k8s.apps import ReplicaSet
from windvane.k8s.core import PodTemplateSpec

JSON = st.dictionaries(st.text(), st.integers() | st.text() | st.dictionaries(st.text(), st.lists(st.integers())))


def template(image: str) -> PodTemplateSpec:
    wire = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": image}]}}
    return codec.from_wire(wire, PodTemplateSpec)


def owner(name: str) -> ReplicaSet:
    wire = {"metadata": {"name": name, "uid": "u"}, "spec": {"selector": {}, "template": codec.to_wire(template("i"))}}
    return codec.from_wire(wire, ReplicaSet)


def test_the_hash_of_a_template_stays_the_same_from_release_to_release() -> None:
    assert template_hash(template("nginx:1")) == "bp7swvt2md"


def test_another_template_and_another_collision_count_have_other_hashes() -> None:
    found = {template_hash(template("a")), template_hash(template("b")), template_hash(template("a"), 1)}
    assert len(found | {template_hash(template("a"), 2)}) == 4


@given(JSON)
def test_the_order_of_keys_does_not_matter(content: dict[str, Any]) -> None:
    assert short_hash(content) == short_hash(dict(reversed(content.items())))


@given(JSON)
def test_a_hash_can_be_part_of_a_name(content: dict[str, Any]) -> None:
    assert len(short_hash(content)) == 10
    assert set(short_hash(content)) <= set(ambient.SAFE_ALPHABET)


def test_a_name_that_is_as_long_as_names_can_be_gets_no_dash() -> None:
    assert pod_from(template("i"), owner("a" * 252)).metadata.generate_name == "a" * 252 + "-"
    assert pod_from(template("i"), owner("a" * 253)).metadata.generate_name == "a" * 253
