"""A count that is kept: how much of a quota some objects use, for which only those are read that have changed.

With two thousand pods in a namespace, reading and adding up all of them takes a quarter of a second, in which nothing
else gets a turn, and every pod that goes has them counted again.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import msgspec

from windvane import Item, Object, Quantity
from windvane.cluster.pod_resources import Amounts, add
from windvane.cluster.quota import Wire, count


class ObjectUsage(NamedTuple):
    """What one object uses, in one version of it."""

    version: str
    amounts: Amounts


class QuotaUsage:
    """The objects of one resource in the namespace of a quota."""

    def __init__(self, says: Wire, resource: str) -> None:
        self.says = says
        """The quota's spec: what is counted, and of which objects."""
        self._quota = {"spec": says}
        self._resource = resource
        self._shares: dict[str, ObjectUsage] = {}  # by name
        self._total: dict[str, Quantity] = {}

    def count(self, items: Iterable[Item[Object]], now: datetime) -> dict[str, Quantity]:
        """How much these use, which are all that there are now."""
        before, shares, total = dict(self._shares), dict[str, ObjectUsage](), dict(self._total)
        for item in items:
            known = before.get(item.meta.name)
            # What is being deleted may come to use less while it stays as it is.
            if known and known.version == item.meta.resource_version and item.meta.deletion_timestamp is None:
                del before[item.meta.name]
            else:
                used = count(self._quota, {self._resource: [msgspec.json.decode(item.raw)]}, now)
                known = ObjectUsage(item.meta.resource_version, used)
                add(total, used)
            shares[item.meta.name] = known
        for gone in before.values():
            add(total, {name: -amount for name, amount in gone.amounts.items()})
        # Both at the end: if one object can't be counted, nothing was, and the next count begins where this one did.
        self._shares, self._total = shares, total
        return count(self._quota, {self._resource: ()}, now) | total
