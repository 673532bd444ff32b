"""Objects that never settle: what a pass does brings the next pass.

A clock in a child's spec does that, a random name, or two controllers that undo each other's work, in a child or in the
status; and a pass that always asks for the next one at once. Each child has a budget of writes for one generation of
its owner, and the owner one of passes; over it, the owner's passes come later and later.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from windvane import ambient
from windvane.runtime.cache import Key


@dataclass(frozen=True, slots=True)
class Allowance:
    """How often something may happen."""

    burst: float
    """So often it does not count, however fast it comes."""
    refill: float
    """How much more there may be in a second."""


WRITES = Allowance(burst=10, refill=0.1)
"""Of one child."""
PASSES = Allowance(burst=500, refill=5)
"""That were asked for by the pass before, at once: some objects are made in many steps."""
FIRST_DELAY = 10.0
LONGEST_DELAY = 300.0
REMEMBERED = 4096
"""Of how many budgets the latest are kept."""

Child = tuple[str, Key]
ITSELF: Child = ("", ("", ""))
"""The owner's own budget, beside those of its children."""
STATUS: Child = ("", ("", "status"))
"""What the owner's own status may cost, where another client writes it as well."""
Generation = tuple[str, int]
"""The uid of the owner, and the generation of its spec."""


@dataclass(slots=True)
class _Budget:
    generation: int
    allowed: Allowance
    left: float
    at: float
    """Since when it fills up again: not while passes are put off, or a loop would only have to wait."""
    overdrawn: int = 0

    @property
    def delay(self) -> float:
        return float(min(FIRST_DELAY * 2 ** (self.overdrawn - 1), LONGEST_DELAY)) if self.overdrawn else 0.0


class Churn:
    """Counts the writes of children and hurried passes, for one controller."""

    def __init__(self) -> None:
        self._budgets: OrderedDict[tuple[str, Child], _Budget] = OrderedDict()
        self.overdrawn = 0
        """How many writes and passes were over their budget."""

    def wrote(self, owner: Generation, child: Child) -> bool:
        """Count a write; whether there have been too many."""
        return self._spend(owner, child, WRITES)

    def hurried(self, owner: Generation) -> bool:
        """Count a pass that asked for the next one at once; whether there have been too many."""
        return self._spend(owner, ITSELF, PASSES)

    def _spend(self, owner: Generation, child: Child, allowed: Allowance) -> bool:
        uid, generation = owner
        now = ambient.monotonic()
        budget = self._budgets.get((uid, child))
        if budget is None or budget.generation != generation:
            budget = self._budgets[uid, child] = _Budget(generation, allowed, allowed.burst, now)
        self._budgets.move_to_end((uid, child))
        if len(self._budgets) > REMEMBERED:
            self._budgets.popitem(last=False)
        budget.left = min(allowed.burst, budget.left + max(0.0, now - budget.at) * allowed.refill)
        budget.at = max(now, budget.at)
        if budget.left == allowed.burst:
            budget.overdrawn = 0
        if budget.left >= 1:
            budget.left -= 1
            return False
        budget.overdrawn += 1
        budget.at = now + budget.delay
        self.overdrawn += 1
        return True

    def delay(self, uid: str) -> float:
        """How many seconds the next pass over that owner should wait."""
        return max((each.delay for (owner, _), each in self._budgets.items() if owner == uid), default=0.0)


def difference(stated: Any, there: Any, *, secret: bool = False) -> str:
    """The first fields that differ from what is stated: what keeps changing. Of a secret, without the values."""
    found = _differences(stated, there, "")
    shown = [path if secret else f"{path} is {_short(its)} and should be {_short(mine)}" for path, mine, its in found]
    return "; ".join(shown[:3]) if shown else "the server stores it in other words each time"


def _differences(stated: Any, there: Any, path: str) -> list[tuple[str, Any, Any]]:
    if isinstance(stated, dict) and isinstance(there, dict):
        return [
            each
            for name, value in stated.items()
            for each in _differences(value, there.get(name), f"{path}.{name}" if path else name)
        ]
    if isinstance(stated, list) and isinstance(there, list) and len(stated) == len(there):
        return [
            each
            for number, (mine, its) in enumerate(zip(stated, there, strict=True))
            for each in _differences(mine, its, f"{path}[{number}]")
        ]
    return [] if stated == there else [(path, stated, there)]


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
