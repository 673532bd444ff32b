"""Paths: what they are about, and tricks that lead nowhere."""

import pytest

from windvane.client.transport import Request
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.kinds import builtin_type
from windvane.cluster.apiserver.request.info import RequestInfo
from windvane.cluster.apiserver.target import find_target
from windvane.k8s import apps, core


def at(path: str) -> RequestInfo:
    return RequestInfo.of(Request("GET", path))


def catalog() -> Catalog:
    served = Catalog()
    served.add(builtin_type(each) for each in (core.Pod, core.Namespace, apps.Deployment))
    return served


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/pods", ("pods", "", "", "")),
        ("/api/v1/namespaces/web/pods", ("pods", "web", "", "")),
        ("/api/v1/namespaces/web/pods/a", ("pods", "web", "a", "")),
        ("/api/v1/namespaces/web/pods/a/status", ("pods", "web", "a", "status")),
        ("/api/v1/namespaces", ("namespaces", "", "", "")),
        ("/api/v1/namespaces/web", ("namespaces", "", "web", "")),
        ("/api/v1/namespaces/web/finalize", ("namespaces", "", "web", "finalize")),
        ("/api/v1/namespaces/web/status", ("namespaces", "", "web", "status")),
        ("/apis/apps/v1/namespaces/web/deployments/a/scale", ("deployments", "web", "a", "scale")),
        ("/api/v1/namespaces/web/pods/a%20b", ("pods", "web", "a b", "")),
    ],
)
def test_a_path_is_about_one_thing(path: str, expected: tuple[str, str, str, str]) -> None:
    found = find_target(at(path), catalog())
    assert found is not None
    assert (found.type.kind.plural, found.namespace, found.name, found.subresource) == expected


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/v1",
        "/api/v2/pods",
        "/apis/apps/v1",
        "/apis/apps/v1/pods",
        "/api/v1/namespaces/web/pods/a/b/c",
        "/api/v1/namespaces/web/pods/a/nonsense",
        "/api/v1/namespaces/web/nodes",
        "/api/v1/namespaces/web/namespaces/x/y",
        "/api/v1/namespaces/web/pods/..%2f..%2fsecrets",
        "/api/v1/namespaces/%2e%2e/pods",
        "/api/v1/namespaces//pods",
        "/api/v1/namespaces/web/pods/%00",
        "/api/v1/watch",
    ],
)
def test_a_path_that_leads_nowhere_is_not_found(path: str) -> None:
    with pytest.raises(Failure) as refusal:
        find_target(at(path), catalog())
    assert refusal.value.status.code == 404
    assert refusal.value.status.message == "the server could not find the requested resource"


@pytest.mark.parametrize("path", ["/", "/etc/passwd", "/apis/nope.example/v1/things", "/apis/../v1"])
def test_outside_of_the_api_there_is_only_a_plain_page(path: str) -> None:
    assert find_target(at(path), catalog()) is None


def test_an_old_style_path_says_that_it_is_to_be_watched() -> None:
    found = find_target(at("/api/v1/watch/namespaces/web/pods/a"), catalog())
    assert found is not None
    assert (found.watch, found.namespace, found.name) == (True, "web", "a")
