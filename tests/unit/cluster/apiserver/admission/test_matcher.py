"""Which requests rules and selectors match, and in which version of the resource."""

from typing import Any

import msgspec
import pytest

from windvane.api.kind import Kind
from windvane.cluster.apiserver.admission.matcher import MatchResources, is_excluded, match_version
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.failure import Failure, not_found
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType


def custom(version: str, *subresources: str, namespaced: bool = True) -> ResourceType:
    kind = Kind(
        group="demo.dev", version=version, name="Site", plural="sites", subresources=subresources, namespaced=namespaced
    )
    return ResourceType(CustomStrategy(kind, {}, {"name": version}), "sites.demo.dev", "v1")


CATALOG = Catalog()
CATALOG.add(builtin_types())
CATALOG.add([custom("v1", "status", "scale"), custom("v2", "status")])
NAMESPACES = {"front": {"tier": "front"}, "back": {}}


def labels_of(name: str) -> dict[str, str]:
    if name not in NAMESPACES:
        raise not_found(CATALOG.types["", "v1", "namespaces"].kind, name)
    return NAMESPACES[name]


def request(path: str, operation: Any = "CREATE", **rest: Any) -> AdmissionRequest:
    """A request for `group/version/resource` or `group/version/resource/subresource`."""
    group, version, resource, subresource = [*path.split("/"), ""][:4]
    type_ = CATALOG.types[group, version, resource]
    rest.setdefault("namespace", "front" if type_.kind.namespaced else "")
    rest.setdefault("name", "web")
    return AdmissionRequest(operation=operation, type=type_, subresource=subresource, user=User("alice"), **rest)


def rule(path: str, *operations: str, **rest: Any) -> dict[str, Any]:
    group, version, resource = path.split("/", 2)
    names = {"apiGroups": [group], "apiVersions": [version], "resources": [resource]}
    return {"operations": operations or ["*"], **names, **rest}


def version(asked: AdmissionRequest, *rules: dict[str, Any], **rest: Any) -> str | None:
    """The version and kind in which somebody with these rules sees the request."""
    match = msgspec.convert({"resourceRules": rules, **rest}, MatchResources)
    found = match_version(match, asked, CATALOG, labels_of)
    return found and f"{found.type.kind.resource} {found.api_version} {found.kind}"


@pytest.mark.parametrize(
    ("path", "rules", "matches"),
    [
        ("/v1/pods", rule("/v1/pods"), True),
        ("/v1/pods", rule("/v1/services"), False),
        ("/v1/pods", rule("/v1/pods", "UPDATE", "DELETE"), False),
        ("/v1/pods", rule("/v1/pods", "UPDATE", "CREATE"), True),
        ("/v1/pods", rule("apps/v1/pods"), False),
        ("/v1/pods", rule("*/*/*"), True),
        ("/v1/pods/exec", rule("*/*/*"), False),
        ("/v1/pods/exec", rule("*/*/*/*"), True),
        ("/v1/pods/exec", rule("/v1/pods"), False),
        ("/v1/pods/exec", rule("/v1/pods/exec"), True),
        ("/v1/pods", rule("/v1/pods/*"), True),
        ("/v1/pods/exec", rule("/v1/pods/*"), True),
        ("apps/v1/deployments/scale", rule("*/*/*/scale"), True),
        ("apps/v1/deployments", rule("*/*/*/scale"), False),
        ("/v1/pods", rule("/v1/pods", scope="Cluster"), False),
        ("/v1/pods", rule("/v1/pods", scope="Namespaced"), True),
        ("/v1/nodes", rule("/v1/nodes", scope="Cluster"), True),
        ("/v1/nodes", rule("/v1/nodes", scope="Namespaced"), False),
        ("/v1/namespaces", rule("/v1/namespaces", scope="Cluster"), True),
        ("/v1/namespaces", rule("/v1/namespaces", scope="Namespaced"), False),
        ("/v1/pods", rule("/v1/pods", resourceNames=["web", "db"]), True),
        ("/v1/pods", rule("/v1/pods", resourceNames=["db"]), False),
    ],
)
def test_a_rule_names_operations_and_resources(path: str, rules: dict[str, Any], matches: bool) -> None:
    assert (version(request(path), rules) is not None) == matches


def test_a_rule_for_one_version_means_all_of_them() -> None:
    assert version(request("demo.dev/v2/sites"), rule("demo.dev/v1/sites")) == "sites.demo.dev demo.dev/v1 Site"


def test_unless_it_is_to_be_taken_exactly() -> None:
    assert version(request("demo.dev/v2/sites"), rule("demo.dev/v1/sites"), matchPolicy="Exact") is None


def test_the_requested_version_comes_first_whatever_the_order_of_the_rules() -> None:
    rules = rule("demo.dev/v1/sites"), rule("demo.dev/v2/sites")
    assert version(request("demo.dev/v2/sites"), *rules) == "sites.demo.dev demo.dev/v2 Site"


def test_a_version_without_the_subresource_is_no_equivalent() -> None:
    asked = request("demo.dev/v1/sites/scale", object={"apiVersion": "autoscaling/v1", "kind": "Scale"})
    assert version(asked, rule("demo.dev/v2/sites/scale")) is None


def test_an_event_is_the_same_in_two_groups() -> None:
    assert version(request("events.k8s.io/v1/events"), rule("/v1/events")) == "events v1 Event"


def test_a_scale_is_a_scale_whatever_the_version_of_what_is_scaled() -> None:
    asked = request("apps/v1/deployments/scale", object={"apiVersion": "autoscaling/v1", "kind": "Scale"})
    assert version(asked, rule("*/*/*/scale")) == "deployments.apps autoscaling/v1 Scale"


def test_excluded_rules_win() -> None:
    excluded = [rule("/v1/pods", resourceNames=["web"])]
    assert version(request("/v1/pods"), rule("/v1/*"), excludeResourceRules=excluded) is None
    assert version(request("/v1/pods", name="db"), rule("/v1/*"), excludeResourceRules=excluded) is not None


def test_no_rules_at_all_leave_it_to_the_selectors() -> None:
    assert version(request("/v1/pods")) == "pods v1 Pod"


FRONT = {"matchLabels": {"tier": "front"}}


@pytest.mark.parametrize(
    ("asked", "matches"),
    [
        (request("/v1/pods"), True),
        (request("/v1/pods", namespace="back"), False),
        (request("/v1/nodes"), True),
        (request("/v1/namespaces", name="new", object={"metadata": {"labels": {"tier": "front"}}}), True),
        (request("/v1/namespaces", name="front", object={"metadata": {}}), False),
        (request("/v1/namespaces", "DELETE", name="front", old={"metadata": {}}), True),
        (request("/v1/namespaces/status", "UPDATE", name="front", object={"metadata": {}}), True),
    ],
    ids=["in-it", "elsewhere", "nowhere", "made-with-labels", "made-without", "deleted", "its-status"],
)
def test_a_namespace_selector_exempts_what_is_in_other_namespaces(asked: AdmissionRequest, matches: bool) -> None:
    assert (version(asked, rule("*/*/*/*"), namespaceSelector=FRONT) is not None) == matches


def test_a_namespace_that_is_not_there_is_told_to_who_would_be_asked() -> None:
    asked = request("/v1/pods", namespace="gone")
    assert version(asked, rule("/v1/services"), namespaceSelector=FRONT) is None
    with pytest.raises(Failure, match='namespaces "gone" not found'):
        version(asked, rule("/v1/pods"), namespaceSelector=FRONT)


@pytest.mark.parametrize(
    ("new", "old", "matches"),
    [({"tier": "front"}, {}, True), ({}, {"tier": "front"}, True), ({}, {}, False), (None, {"tier": "front"}, True)],
)
def test_an_object_selector_looks_at_the_object_as_it_was_and_shall_be(
    new: dict[str, str] | None, old: dict[str, str], matches: bool
) -> None:
    objects = {"object": new if new is None else {"metadata": {"labels": new}}, "old": {"metadata": {"labels": old}}}
    assert (version(request("/v1/pods", **objects), rule("/v1/pods"), objectSelector=FRONT) is not None) == matches


def test_what_says_who_is_asked_is_never_asked_about() -> None:
    group = "admissionregistration.k8s.io"
    assert is_excluded(CATALOG.types[group, "v1", "validatingwebhookconfigurations"])
    assert not is_excluded(CATALOG.types["", "v1", "pods"])
