"""A wrong type in any field of any built-in kind is told by `examine` as the real server tells it."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import msgspec
import pytest

from builtin_cases import STRATEGIES
from conformance.requests import Raw
from reference.controlplane import ReferenceControlPlane
from windvane.cluster.apiserver.registry.kinds import builtin_types
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.schema.go_decoder import examine
from windvane.cluster.apiserver.schema.shapes import (
    Either,
    ListOf,
    MapOf,
    Plain,
    Shape,
    StructOf,
    Unmarshaler,
    shapes_of,
)

Body = dict[str, Any]

# Two groups have a struct of that name, and the type of its kind is told as that in RBAC.
AMBIGUOUS = [{"spec": {"rules": [{"subjects": [{"kind": 1}]}]}}]


@pytest.fixture
async def raw(reference: ReferenceControlPlane) -> AsyncIterator[Raw]:
    async with Raw(reference.url, reference.ca_file, reference.admin_token) as raw:
        yield raw


def wrong(shape: Shape) -> Any:
    """A value that is not of that shape; None if anything is, or is to the real server alone."""
    match shape:
        case Plain("text") | Unmarshaler("time") | Unmarshaler("micro time"):
            return 1
        case Plain("anything") | Either(_, ListOf()):
            return None
        case Unmarshaler("integer or text"):
            return True
    return "x"


def wrapped(shape: Shape, inside: Any) -> Any:
    match shape:
        case ListOf(inner):
            return [wrapped(inner, inside)]
        case MapOf(inner):
            return {"k": wrapped(inner, inside)}
    return inside


def innermost(shape: Shape) -> Shape:
    while isinstance(shape, ListOf | MapOf):
        shape = shape.inside
    return shape


def bodies(cls: type[msgspec.Struct]) -> Iterator[Body]:
    """Objects with one wrong value each: every field of every struct that the kind is made of has its turn."""
    seen: set[type[msgspec.Struct]] = set()
    queue: list[tuple[type[msgspec.Struct], Callable[[Body], Body]]] = [(cls, lambda body: body)]
    for struct, outer in queue:
        if struct in seen:
            continue
        seen.add(struct)
        for name, shape in shapes_of(struct).items():
            if struct is cls and name in ("apiVersion", "kind"):
                continue
            inner = innermost(shape)
            values = [wrong(shape), wrapped(shape, wrong(inner)) if wrong(inner) is not None else None]
            yield from (outer({name: value}) for value in values if value is not None)
            if isinstance(inner, StructOf):
                queue.append((inner.struct, _below(outer, name, shape)))


def _below(outer: Callable[[Body], Body], name: str, shape: Shape) -> Callable[[Body], Body]:
    return lambda body: outer({name: wrapped(shape, body)})


@pytest.mark.parametrize(
    "type_", [each for each in builtin_types() if "create" in each.strategy.verbs], ids=lambda each: each.kind.resource
)
async def test_every_field_of_a_kind(raw: Raw, type_: ResourceType) -> None:
    kind, model = type_.kind, STRATEGIES[type_.kind.api_version, type_.kind.name].model
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    place = f"{root}/namespaces/default/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    start = f'{kind.name} in version "{kind.version}" cannot be handled as a {kind.name}: '
    for body in bodies(model):
        answer = await raw(f"POST {place}?dryRun=All", body)
        told = answer.json["message"].removeprefix(start) if answer.code == 400 else ""
        if body not in AMBIGUOUS:
            assert told == examine(model, body, kind.version).problem, body
