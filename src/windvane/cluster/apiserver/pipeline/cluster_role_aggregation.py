"""Updates the rules of aggregated ClusterRoles when a ClusterRole has changed."""

from typing import Any

import msgspec

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.authorization.aggregation import settle
from windvane.cluster.apiserver.authorization.rbac import GROUP
from windvane.cluster.apiserver.authorization.rule_resolver import CLUSTER_ROLES
from windvane.cluster.apiserver.pipeline.writer import Writer
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.storage.store import Store
from windvane.cluster.apiserver.target import Target


async def settle_aggregated(store: Store, catalog: Catalog, writer: Writer) -> None:
    """Bring the rules of aggregated ClusterRoles up to date."""
    type_ = catalog.types[GROUP, "v1", "clusterroles"]
    for role in settle([msgspec.json.decode(entry.value) for entry in store.entries(CLUSTER_ROLES)]):
        await writer.amend(Target(type_, "", role["metadata"]["name"]), _with_rules(role["rules"]))


def _with_rules(rules: list[Wire]) -> Any:
    return lambda current: {**current, "rules": rules}
