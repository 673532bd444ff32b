"""From a least to a most: of sizes and of costs. They end where 64 bits do, and what is there stays there."""

import math
from dataclasses import dataclass
from typing import Final

from windvane.api.cel.values import MOST_UINT


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the most that something can be."""

    least: int
    most: int

    def __add__(self, other: "Range") -> "Range":
        return Range(_capped(self.least + other.least), _capped(self.most + other.most))

    def __mul__(self, other: "Range") -> "Range":
        return Range(_capped(self.least * other.least), _capped(self.most * other.most))

    def times(self, factor: float) -> "Range":
        """So many times as much, rounded up."""
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: "Range") -> "Range":
        """What covers both."""
        return Range(min(self.least, other.least), max(self.most, other.most))


def fixed(amount: int) -> Range:
    """Exactly so much."""
    return Range(amount, amount)


def _capped(amount: int) -> int:
    return min(amount, MOST_UINT)


def _scaled(amount: int, factor: float) -> int:
    product = float(amount) * factor
    return MOST_UINT if product >= 2.0**64 else math.ceil(product)


FREE: Final = fixed(0)
ONCE: Final = fixed(1)
ENDLESS: Final = Range(0, MOST_UINT)
