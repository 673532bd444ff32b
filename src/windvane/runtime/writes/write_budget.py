"""Objects that never settle: what a pass does brings the next pass.

A clock in a child's spec does that, a random name, or two controllers that undo each other's work, in a child or in the
status; and a pass that always asks for the next one at once. Each child has a budget of writes for one generation of
its owner, and the owner one of passes; over it, the owner's passes come later and later.
"""

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from typing import Any

from windvane import ambient
from windvane.api.resource import Object
from windvane.backoff import Backoff
from windvane.runtime.informers.cache import Key


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
PAST = Allowance(burst=100, refill=1)
"""Of one object, past what is applied: what is done in steps may take many."""
BY_OTHERS = 0.1
"""How much of a write counts in a pass that something else brought than what was written lately. To follow what
changes often is no loop, unless it is one by way of the other."""
AT_ONCE = 1 / PASSES.refill
"""A pass that asks for the next one sooner than that, in seconds, asks for it at once."""
DELAYS = Backoff(first=10.0, most=300.0)
REMEMBERED = 4096
"""So many budgets are kept, and more only of what was written lately."""

Child = tuple[str, Key]
ITSELF: Child = ("", ("", ""))
"""The owner's own budget, beside those of its children."""
STATUS: Child = ("", ("", "status"))
"""What the owner's own status may cost, where another client writes it as well."""


@dataclass(slots=True)
class _Budget:
    generation: int
    allowed: Allowance
    left: float
    at: float
    """Since when it fills up again: not while passes are put off, or a loop would only have to wait."""
    overdrawn: int = 0
    stated: Any = None
    """What was written last, of a child that is written often."""

    @property
    def delay(self) -> float:
        return DELAYS.longest(self.overdrawn - 1) if self.overdrawn else 0.0

    def refill(self, now: float) -> None:
        self.left = min(self.allowed.burst, self.left + max(0.0, now - self.at) * self.allowed.refill)
        self.at = max(now, self.at)
        if self.left == self.allowed.burst:
            self.overdrawn, self.stated = 0, None


class Budgets:
    """Counts the writes of children and hurried passes, for one controller."""

    def __init__(self) -> None:
        self._budgets: OrderedDict[tuple[str, Child], _Budget] = OrderedDict()
        self.overdrawn = 0
        """How many writes and passes were over their budget."""

    def __len__(self) -> int:
        """How many budgets are kept."""
        return len(self._budgets)

    def of(self, owner: Object, causes: Collection[Child] = ()) -> "PassBudget":
        """The account of one pass over an object, which the changes of `causes` brought."""
        return PassBudget(self, owner.metadata.uid, owner.metadata.generation, causes)

    def budget(self, uid: str, generation: int, child: Child, allowed: Allowance) -> _Budget:
        """What an owner's child may still cost; another generation of the owner's spec begins anew."""
        now = ambient.monotonic()
        budget = self._budgets.get((uid, child))
        if budget is None or budget.generation != generation:
            budget = self._budgets[uid, child] = _Budget(generation, allowed, allowed.burst, now)
        self._budgets.move_to_end((uid, child))
        if len(self._budgets) > REMEMBERED:
            self._drop_full(now)
        budget.refill(now)
        return budget

    def was_written(self, uid: str, child: Child) -> bool:
        """Whether that child was written lately."""
        budget = self._budgets.get((uid, child))
        if budget is None:
            return False
        budget.refill(ambient.monotonic())
        return budget.left < budget.allowed.burst

    def _drop_full(self, now: float) -> None:
        """Drop the oldest budgets that nothing is missing from. What is written all the time is not forgotten."""
        for key in list(islice(self._budgets, 2)):
            budget = self._budgets[key]
            budget.refill(now)
            if budget.left == budget.allowed.burst:
                del self._budgets[key]
            else:
                self._budgets.move_to_end(key)


class PassBudget:
    """What one pass over one object costs."""

    def __init__(self, budgets: Budgets, uid: str, generation: int, causes: Collection[Child]) -> None:
        self._budgets = budgets
        self._uid, self._generation, self._causes = uid, generation, causes
        self.delay = 0.0
        """How many seconds the next pass should wait, because of what was over its budget in this one."""

    def wrote(self, child: Child, stated: Any, there: Any) -> str | None:
        """Count a write of a child; if there have been too many, what keeps changing."""
        budget = self._budgets.budget(self._uid, self._generation, child, WRITES)
        before = budget.stated
        if budget.left < WRITES.burst / 2:
            budget.stated = stated
        if not self._spend(budget, self._cost(child)):
            return None
        if before is not None and (differs := _paths(stated, before)):
            return f"{differs} is another one in each pass"
        return difference(stated, there) if there is not None else "it was gone each time"

    def wrote_past(self, place: Child) -> bool:
        """Count a write of an object that is not applied; whether there have been too many."""
        return self._spend(self._budgets.budget(self._uid, self._generation, place, PAST), self._cost(place))

    def wrote_status(self) -> bool:
        """Count a write of a status that another client writes as well; whether there have been too many."""
        return self._spend(self._budgets.budget(self._uid, self._generation, STATUS, WRITES))

    def hurried(self) -> bool:
        """Count a pass that asked for the next one at once; whether there have been too many."""
        return self._spend(self._budgets.budget(self._uid, self._generation, ITSELF, PASSES))

    def _cost(self, child: Child) -> float:
        by_others = any(each != child and not self._budgets.was_written(self._uid, each) for each in self._causes)
        return BY_OTHERS if by_others else 1

    def _spend(self, budget: _Budget, cost: float = 1) -> bool:
        if budget.left >= cost:
            budget.left -= cost
            return False
        budget.overdrawn += 1
        budget.at = ambient.monotonic() + budget.delay
        self.delay = max(self.delay, budget.delay)
        self._budgets.overdrawn += 1
        return True


def difference(stated: Any, there: Any) -> str:
    """The first fields that differ from what is stated. What is in them may be secret, unless it is a number."""
    shown = [
        f"{path} is {its} and should be {mine}" if _is_number(mine) and _is_number(its) else path
        for path, mine, its in _differences(stated, there, "")
    ]
    return "; ".join(shown[:3]) if shown else "the server stores it in other words each time"


def _paths(stated: Any, before: Any) -> str:
    return ", ".join([path for path, _, _ in _differences(stated, before, "")][:3])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


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
