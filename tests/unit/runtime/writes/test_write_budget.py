"""What never settles is told from what changes often."""

from collections.abc import Iterator

import pytest

from windvane import ObjectMeta, ambient
from windvane.k8s.core import ConfigMap
from windvane.runtime.writes.write_budget import REMEMBERED, Budgets, Child, difference
from windvane.sim.time import VirtualTime

OWNER = ConfigMap(metadata=ObjectMeta(name="blog", uid="1", generation=1))
CHILD: Child = ("configmaps", ("web", "child"))
OTHER: Child = ("pods", ("web", "a"))


class Clock(VirtualTime):
    """A clock that tests set."""

    seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture(autouse=True)
def clock() -> Iterator[Clock]:
    it = Clock()
    with ambient.use(it):
        yield it


def write(budgets: Budgets, times: int, *causes: Child, child: Child = CHILD) -> list[str | None]:
    """Write something else each time, and say what was thought of it."""
    return [budgets.of(OWNER, causes).wrote(child, {"data": {"n": str(n)}}, {}) for n in range(times)]


def test_the_eleventh_write_in_short_order_is_one_too_many() -> None:
    *before, last = write(Budgets(), 11, CHILD)
    assert (set(before), last) == ({None}, "data.n is another one in each pass")


def test_ten_writes_more_are_free_after_a_while(clock: Clock) -> None:
    budgets = Budgets()
    write(budgets, 10)
    clock.seconds += 100
    assert set(write(budgets, 10)) == {None}


def test_delays_grow_while_it_goes_on(clock: Clock) -> None:
    budgets, delays = Budgets(), []
    write(budgets, 10)
    for _ in range(7):
        budget = budgets.of(OWNER)
        assert budget.wrote(CHILD, {}, None) == "it was gone each time"
        delays.append(budget.delay)
        clock.seconds += budget.delay
    assert delays == [10, 20, 40, 80, 160, 300, 300]


def test_what_others_cause_counts_a_tenth_but_counts() -> None:
    assert set(write(Budgets(), 90, OTHER)) == {None}
    assert write(Budgets(), 110, OTHER)[-1] is not None


def test_what_was_written_by_the_operator_itself_is_no_cause_of_another() -> None:
    budgets = Budgets()
    for _ in range(10):
        assert set(write(budgets, 1, CHILD, OTHER, child=CHILD) + write(budgets, 1, CHILD, OTHER, child=OTHER)) == {
            None
        }
    assert write(budgets, 10, CHILD, OTHER)[-1] is not None


def test_another_generation_begins_anew() -> None:
    budgets = Budgets()
    write(budgets, 11)
    next_one = ConfigMap(metadata=ObjectMeta(name="blog", uid="1", generation=2))
    assert budgets.of(next_one).wrote(CHILD, {}, None) is None


def test_what_is_written_all_the_time_is_not_forgotten_for_the_many_others(clock: Clock) -> None:
    budgets = Budgets()
    write(budgets, 10)
    for number in range(2 * REMEMBERED):
        clock.seconds += 0.001
        budgets.of(OWNER).wrote(("pods", ("web", str(number))), {}, None)
    assert write(budgets, 1)[-1] is not None
    for number in range(2 * REMEMBERED):
        clock.seconds += 1
        budgets.of(OWNER).wrote(("pods", ("web", f"later-{number}")), {}, None)
    assert len(budgets) <= REMEMBERED + 1


def test_the_fields_that_differ_are_named_and_what_is_in_them_is_not() -> None:
    stated = {"spec": {"replicas": 3, "env": [{"name": "PASSWORD", "value": "hunter2"}]}, "data": {"key": "secret"}}
    there = {"spec": {"replicas": 5, "env": [{"name": "PASSWORD", "value": "hunter1"}]}}
    assert difference(stated, there) == "spec.replicas is 5 and should be 3; spec.env[0].value; data"
