"""What is allowed is what is done: access control and the server go by one reading of a path."""

from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from windvane.api.kind import Kind
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.attributes import attributes_of
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.strategy import Strategy
from windvane.cluster.apiserver.request.info import RequestInfo
from windvane.cluster.apiserver.target import find_target

CUSTOM: dict[str, Any] = {"subresources": {"status": {}}}


class RoutedStrategy(Strategy):
    """A kind of which nothing but its name matters."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind


def kind(group: str, plural: str, *, namespaced: bool, custom: bool = True) -> ResourceType:
    found = Kind(
        group=group, version="v1", name="Thing", plural=plural, namespaced=namespaced, subresources=("status", "scale")
    )
    return ResourceType(CustomStrategy(found, {}, CUSTOM) if custom else RoutedStrategy(found))


SERVED = Catalog()
SERVED.add(
    [
        kind("", "namespaces", namespaced=False, custom=False),
        kind("", "pods", namespaced=True, custom=False),
        # Nothing keeps a CRD from these names, which mean something else in a path.
        *(kind(group, plural, namespaced=group == "in.example") for group in ("in.example", "out.example")
          for plural in ("namespaces", "watch", "proxy", "status", "things")),
    ]
)  # fmt: skip
ROOTS = ("/api/v1", "/apis/in.example/v1", "/apis/out.example/v1")
SEGMENTS = ("namespaces", "watch", "proxy", "status", "things", "pods", "x", "")
PATHS = [
    "/".join([root, *rest]) for root in ROOTS for length in (1, 2, 3, 4) for rest in product(SEGMENTS, repeat=length)
]


def test_what_is_allowed_is_what_is_done() -> None:
    found = 0
    for path in PATHS:
        info = RequestInfo.of(Request("GET", path))
        with suppress(Failure):
            if (target := find_target(info, SERVED)) is not None:
                allowed, done = attributes_of(info, User("jane")), target.type.kind
                # A Namespace counts as in itself; nothing else that is in no namespace counts as in one.
                namespace = target.name if done.resource == "namespaces" else target.namespace
                assert (allowed.group, allowed.version, allowed.resource) == (done.group, done.version, done.plural)
                assert (allowed.namespace, allowed.name, allowed.subresource) == (
                    namespace,
                    target.name,
                    target.subresource,
                ), path
                found += 1
    assert found > 1000


@pytest.mark.parametrize("group", ["in.example", "out.example"])
@pytest.mark.parametrize("path", ["namespaces/x", "namespaces/x/status", "watch/namespaces/x"])
def test_a_custom_kind_called_namespaces_is_not_reached_as_if_it_were_that_of_kubernetes(group: str, path: str) -> None:
    assert find_target(RequestInfo.of(Request("GET", f"/apis/{group}/v1/{path}")), SERVED) is None
