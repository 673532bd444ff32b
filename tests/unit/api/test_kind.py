"""Kinds and the paths they imply."""

import pytest

from windvane import Kind
from windvane.api.kind import pluralize

DEPLOYMENT = Kind(group="apps", version="v1", name="Deployment", plural="deployments")
NODE = Kind(group="", version="v1", name="Node", plural="nodes", namespaced=False)


def test_the_paths_of_a_namespaced_kind() -> None:
    assert DEPLOYMENT.collection_path() == "/apis/apps/v1/deployments"
    assert DEPLOYMENT.collection_path("web") == "/apis/apps/v1/namespaces/web/deployments"
    assert DEPLOYMENT.path("a", "web") == "/apis/apps/v1/namespaces/web/deployments/a"
    assert DEPLOYMENT.path("a", "web", "scale") == "/apis/apps/v1/namespaces/web/deployments/a/scale"


def test_the_paths_of_a_cluster_wide_kind_of_the_core_group() -> None:
    assert NODE.collection_path() == "/api/v1/nodes"
    assert NODE.path("n1", subresource="status") == "/api/v1/nodes/n1/status"


def test_names_as_people_say_them() -> None:
    assert (DEPLOYMENT.api_version, DEPLOYMENT.resource, DEPLOYMENT.singular) == (
        "apps/v1",
        "deployments.apps",
        "deployment",
    )
    assert (NODE.api_version, NODE.resource) == ("v1", "nodes")
    assert str(DEPLOYMENT) == "Deployment (apps/v1)"


def test_names_with_colons_stay_readable_and_others_are_escaped() -> None:
    assert NODE.path("system:node:a").endswith("/nodes/system:node:a")
    assert NODE.path("a b?c").endswith("/nodes/a%20b%3Fc")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "%2e%2e", "../../secrets"])
def test_a_name_that_could_mean_another_path_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="can't be a name"):
        NODE.path(name)
    with pytest.raises(ValueError, match="can't be a name"):
        DEPLOYMENT.path(name or ".", "web")


def test_a_namespaced_object_needs_a_namespace() -> None:
    with pytest.raises(ValueError, match=r"Deployment \(apps/v1\) 'a' lives in a namespace; say which"):
        DEPLOYMENT.path("a")


def test_a_cluster_wide_kind_refuses_a_namespace() -> None:
    with pytest.raises(ValueError, match="is not namespaced"):
        NODE.collection_path("web")


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("Website", "websites"),
        ("Policy", "policies"),
        ("Gateway", "gateways"),
        ("Ingress", "ingresses"),
        ("Box", "boxes"),
    ],
)
def test_plurals_follow_english(singular: str, plural: str) -> None:
    assert pluralize(singular) == plural
