"""The roles and bindings that every cluster has from the start, made or brought up to date when the server starts.

`rbac_policy.json` was recorded from a real server by tools/generate/rbac.py. What was taken away from one of
these comes back at the next start, what was added stays, and one whose annotation `autoupdate` is "false" is left
alone.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from windvane.api.json_value import Wire, json_copy
from windvane.cluster.apiserver.authorization.rbac import GROUP, PolicyRule, missing_rules
from windvane.cluster.apiserver.pipeline.cluster_role_aggregation import settle_aggregated
from windvane.cluster.apiserver.pipeline.deletion import Deletion
from windvane.cluster.apiserver.pipeline.object_meta import fill_system_fields
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.storage_codec import key_of, pack
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target

RECORDED = Path(__file__).with_name("rbac_policy.json")
AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"


async def bootstrap_policy(store: Store, catalog: Catalog, writer: Writer) -> None:
    """Make what is missing, and mend what has lost something."""
    recorded: dict[str, list[Wire]] = msgspec.json.decode(RECORDED.read_bytes())
    writes = []
    for plural, expected in recorded.items():
        type_ = catalog.types[GROUP, "v1", plural]
        writes += [_ensure(store, writer, type_, wire) for wire in expected]
    await asyncio.gather(*writes)  # all at once: the store makes one transaction of them
    await settle_aggregated(store, catalog, writer)


async def _ensure(store: Store, writer: Writer, type_: ResourceType, expected: Wire) -> None:
    namespace, name = expected["metadata"].get("namespace", ""), expected["metadata"]["name"]
    target = Target(type_, namespace, name)
    entry = store.get(key_of(type_, namespace, name))
    if entry is None:
        await _create(store, target, expected)
        return
    current: Wire = msgspec.json.decode(entry.value)
    if _is_as_expected(current, expected) or current["metadata"].get("annotations", {}).get(AUTO_UPDATE) == "false":
        return
    if current.get("roleRef") != expected.get("roleRef"):
        # What a binding gives can't be changed: it is made anew.
        await writer.delete(target, Deletion(uid=current["metadata"]["uid"]))
        await _create(store, target, {**expected, "subjects": mended(current, expected).get("subjects")})
        return
    if (wanted := mended(current, expected)) != current:
        await writer.amend(target, lambda found: {**found, **wanted})


async def _create(store: Store, target: Target, expected: Wire) -> None:
    # What a real server wrote needs no validation, and a hundred objects' would be most of a server's start.
    wire = {**expected, "metadata": {**expected["metadata"]}}
    fill_system_fields(target.type, wire)
    key = key_of(target.type, target.namespace, target.name)
    await store.commit(key, 0, lambda revision: pack(target.type, wire, revision))


def _is_as_expected(current: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether nothing was ever changed, which is quicker to see than what is missing."""
    there, wanted = current["metadata"], expected["metadata"]
    if any(there.get(field) != wanted.get(field) for field in ("labels", "annotations")):
        return False
    return all(current.get(field) == value for field, value in expected.items() if field != "metadata")


def mended(current: Mapping[str, Any], expected: Mapping[str, Any]) -> Wire:
    """The object with all that is expected of it, and whatever else it has."""
    wire = json_copy(dict(current))
    for field in ("labels", "annotations"):
        if field in expected["metadata"]:
            wire["metadata"][field] = {**expected["metadata"][field], **(wire["metadata"].get(field) or {})}
    have = msgspec.convert(wire.get("rules") or [], list[PolicyRule])
    if missing := missing_rules(have, msgspec.convert(expected.get("rules") or [], list[PolicyRule])):
        wire["rules"] = [*(wire.get("rules") or ()), *(_plain(rule) for rule in missing)]
    if missing_subjects := [one for one in expected.get("subjects") or () if one not in (wire.get("subjects") or ())]:
        wire["subjects"] = [*(wire.get("subjects") or ()), *missing_subjects]
    if "aggregationRule" in expected:
        selectors = (wire.get("aggregationRule") or {}).get("clusterRoleSelectors") or []
        wanted = expected["aggregationRule"]["clusterRoleSelectors"]
        selectors = [*selectors, *(one for one in wanted if one not in selectors)]
        wire["aggregationRule"] = {"clusterRoleSelectors": selectors}
    else:
        wire.pop("aggregationRule", None)
    return wire


def _plain(rule: PolicyRule) -> Wire:
    return {key: list(value) for key, value in msgspec.to_builtins(rule).items() if value}
