"""The kinds of other operators, in a cluster that has none of these: served, and whatever is in their objects is taken.

An operator that declares such a kind (`dynamic(...)`, `only_metadata(...)`) begins to work once it is served. A class
of the kind's own that is installed later takes the place of what is stated here.
"""

from collections.abc import Iterable
from typing import Any

from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.api.kind import Kind, is_custom
from windvane.api.meta import ObjectMeta
from windvane.api.resource import Dynamic, Object, Resource, kind_of
from windvane.client.client import Client
from windvane.client.errors import NotFound

ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


async def serve_foreign(client: Client, kinds: Iterable[type[Object]]) -> None:
    """Have those of the kinds served that are not defined here: neither built in, nor a class, nor installed."""
    kinds = list(kinds)
    own = {kind_of(each).resource for each in kinds if issubclass(each, Resource)}
    for kind in dict.fromkeys(kind_of(each) for each in kinds):
        if is_custom(kind) and kind.resource not in own and not await _is_there(client, kind):
            await client.apply(_definition(kind))


async def _is_there(client: Client, kind: Kind) -> bool:
    try:
        await client.get(CustomResourceDefinition, kind.resource)
    except NotFound:
        return False
    return True


def _definition(kind: Kind) -> Dynamic:
    version: dict[str, Any] = {"name": kind.version, "served": True, "storage": True}
    version["schema"] = {"openAPIV3Schema": ANYTHING}
    version["subresources"] = {each: {} for each in kind.subresources if each == "status"}
    spec = {
        "group": kind.group,
        "names": {"kind": kind.name, "plural": kind.plural, "singular": kind.singular},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "versions": [version],
    }
    return CustomResourceDefinition(metadata=ObjectMeta(name=kind.resource), content={"spec": spec})
