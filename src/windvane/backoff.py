"""How long to wait before what failed is tried again: longer and longer, up to a limit."""

from dataclasses import dataclass

from windvane import ambient

REMEDY = "write Backoff(first=1, most=300, factor=2), say: seconds, and by how much each pause is longer than the last"
SHORTEST = 0.01
"""Seconds: what is tried again sooner is a hot loop."""


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """When a pass or a daemon that failed is tried again: `retry=Backoff(first=1, most=60)`.

    After `first` seconds; with each further failure in a row, `factor` times later than the time before; and never
    later than after `most`. Each pause is shortened by chance, by up to half, so that objects that failed together
    don't come back together.
    """

    first: float = 0.2
    most: float = 300.0
    factor: float = 2.0

    def __post_init__(self) -> None:
        for name in ("first", "most", "factor"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or value != value or value == float("inf"):
                raise TypeError(f"Backoff({name}={value!r}) must be a number: {REMEDY}")
        if self.first < SHORTEST:
            raise ValueError(f"Backoff(first={self.first!r}) would try again almost without a pause: {REMEDY}")
        if self.most < self.first:
            raise ValueError(f"Backoff(first={self.first!r}, most={self.most!r}) has its limits swapped: {REMEDY}")
        if self.factor < 1:
            raise ValueError(f"Backoff(factor={self.factor!r}) would try faster and faster: {REMEDY}")

    def delay(self, failures: int) -> float:
        """How many seconds to wait after one more failure than so many in a row."""
        return ambient.jitter(self.longest(failures))

    def longest(self, failures: int) -> float:
        """The same, not shortened by chance: for what concerns one object alone, or is told to users."""
        longest = self.first
        for _ in range(failures):
            if longest >= self.most or self.factor == 1:
                break
            longest *= self.factor
        return min(longest, self.most)


DEFAULT = Backoff()
"""How it is if nothing is said."""
