"""ClusterRoles that are made of others: their rules are those of all roles that their selectors choose.

On a real cluster a controller writes these rules a moment later. Here they are written together with what changed, so
that no request meets an aggregated role that is behind.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from windvane.api import codec
from windvane.api.json_value import Wire
from windvane.api.meta import LabelSelector
from windvane.api.selector import Selector


def is_aggregated(role: Mapping[str, Any]) -> bool:
    """Whether the role's rules come from others."""
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def aggregated_rules(role: Mapping[str, Any], roles: Sequence[Mapping[str, Any]]) -> list[Wire]:
    """The rules that the role should have, given all roles in the order of their names."""
    rules: list[Wire] = []
    for wire in role["aggregationRule"]["clusterRoleSelectors"]:
        selector = Selector.from_label_selector(codec.from_wire(wire, LabelSelector))
        for other in roles:
            metadata = other["metadata"]
            if metadata["name"] == role["metadata"]["name"] or not selector.matches(metadata.get("labels")):
                continue
            rules += [rule for rule in other.get("rules") or () if rule not in rules]
    return rules


def settle(roles: Sequence[Wire]) -> list[Wire]:
    """Give every aggregated role its rules, and return those that changed. Aggregated roles may be of others again."""
    by_name = sorted(roles, key=lambda role: str(role["metadata"]["name"]))
    aggregated = [role for role in by_name if is_aggregated(role)]
    changed: dict[str, Wire] = {}
    for _ in aggregated:  # each round settles at least one level
        again = False
        for role in aggregated:
            rules = aggregated_rules(role, by_name)
            if rules != (role.get("rules") or []):
                role["rules"] = rules
                changed[role["metadata"]["name"]] = role
                again = True
        if not again:
            break
    return list(changed.values())
