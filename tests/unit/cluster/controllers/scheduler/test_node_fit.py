"""Which nodes a pod may be on."""

from typing import Any

import pytest

from windvane.api import codec
from windvane.cluster.controllers.scheduler.node_fit import is_wanted_on, keeps_off, tolerates
from windvane.k8s.core import Node, PodSpec, Taint, Toleration

NODE = codec.from_wire({"metadata": {"name": "one", "labels": {"zone": "a", "cpus": "8"}}}, Node)


def wanted(terms: list[dict[str, Any]], **spec: Any) -> bool:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    wire = {"containers": [], "affinity": {"nodeAffinity": required}} | spec
    return is_wanted_on(codec.from_wire(wire, PodSpec), NODE)


def by_label(operator: str, *values: str, key: str = "zone") -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def by_field(operator: str, *values: str, key: str = "metadata.name") -> dict[str, Any]:
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("term", "fits"),
    [
        (by_label("In", "a", "b"), True),
        (by_label("In", "b"), False),
        (by_label("NotIn", "b"), True),
        (by_label("NotIn", "a"), False),
        (by_label("NotIn", "x", key="none"), True),
        (by_label("Exists"), True),
        (by_label("DoesNotExist"), False),
        (by_label("Gt", "7", key="cpus"), True),
        (by_label("Lt", "7", key="cpus"), False),
        (by_label("Gt", "7"), False),
        (by_label("Near", "a"), False),
        (by_field("In", "one"), True),
        (by_field("In", "two"), False),
        (by_field("NotIn", "two"), True),
        (by_field("NotIn", "one"), False),
        (by_field("Exists"), False),
        (by_field("In", "one", key="metadata.uid"), False),
        (by_label("In", "a") | by_field("In", "two"), False),
        ({}, False),
    ],
)
def test_a_term_of_required_node_affinity(term: dict[str, Any], fits: bool) -> None:
    assert wanted([term]) is fits


def test_one_fitting_term_is_enough_and_no_terms_fit_nothing() -> None:
    assert wanted([by_label("In", "b"), by_label("In", "a")])
    assert not wanted([])


def test_the_node_selector_must_fit_too() -> None:
    assert wanted([by_label("In", "a")], nodeSelector={"zone": "a"})
    assert not wanted([by_label("In", "a")], nodeSelector={"zone": "b"})


def test_a_pod_that_asks_for_nothing_may_be_anywhere() -> None:
    assert is_wanted_on(PodSpec(containers=[]), NODE)


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "k", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "k", "operator": "Equal", "value": "v"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "k", "value": "w"}, False),
        ({"key": "l", "value": "v"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "k"}, False),
    ],
)
def test_a_toleration(toleration: dict[str, str], tolerated: bool) -> None:
    taint = Taint(key="k", value="v", effect="NoSchedule")
    assert tolerates(codec.from_wire(toleration, Toleration), taint) is tolerated


def test_only_taints_with_the_effects_that_are_asked_about_keep_off() -> None:
    soft, hard = Taint(key="a", effect="PreferNoSchedule"), Taint(key="b", effect="NoExecute")
    assert keeps_off([soft, hard], [], ["NoSchedule", "NoExecute"]) == hard
    assert keeps_off([soft, hard], [], ["NoSchedule"]) is None
    assert keeps_off([soft, hard], [Toleration(key="b", operator="Exists")], ["NoExecute"]) is None
