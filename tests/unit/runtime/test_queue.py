"""The queue of a controller: each key at most once, and never two workers on one key."""

import asyncio
from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from windvane import ambient
from windvane.runtime.queue import FRESH, INITIAL, Closed, WorkQueue
from windvane.sim.time import VirtualLoop, VirtualTime


async def test_ten_adds_are_one_visit() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for _ in range(10):
        queue.add("blog")
    assert await queue.take() == "blog"
    queue.done("blog")
    assert len(queue) == queue.working == 0


async def test_a_key_added_while_worked_on_is_visited_once_more() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("blog")
    await queue.take()
    queue.add("blog")
    queue.add("blog")
    assert len(queue) == 0, "a second worker could have it"
    queue.done("blog")
    assert await queue.take() == "blog"
    queue.done("blog")
    assert len(queue) == 0


async def test_what_is_added_before_the_worker_looks_is_the_same_visit() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("blog")
    await queue.take()
    queue.add("blog")
    queue.looking("blog")
    queue.done("blog")
    assert len(queue) == 0


async def test_first_come_is_first_served() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in ("c", "a", "b"):
        queue.add(key)
    assert [await queue.take() for _ in range(3)] == ["c", "a", "b"]


async def test_a_worker_that_waits_gets_the_next_key() -> None:
    queue: WorkQueue[str] = WorkQueue()
    worker = asyncio.create_task(queue.take())
    await ambient.sleep(1)
    queue.add("blog")
    assert await worker == "blog"


async def test_a_worker_that_is_cancelled_takes_no_key_along() -> None:
    queue: WorkQueue[str] = WorkQueue()
    leaving, staying = asyncio.create_task(queue.take()), asyncio.create_task(queue.take())
    await ambient.sleep(1)
    queue.add("blog")
    leaving.cancel()
    assert await staying == "blog"


async def test_a_delayed_key_comes_when_its_time_has_come() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("blog", after=60)
    assert (len(queue), queue.waiting) == (0, 1)
    assert await queue.take() == "blog"
    assert ambient.monotonic() == pytest.approx(60)


@pytest.mark.parametrize("delays", [(10, 60), (60, 10)])
async def test_the_earlier_of_two_delays_wins(delays: tuple[float, float]) -> None:
    queue: WorkQueue[str] = WorkQueue()
    for delay in delays:
        queue.add("blog", after=delay)
    await queue.take()
    assert ambient.monotonic() == pytest.approx(10)
    assert queue.waiting == 0


async def test_a_visit_now_replaces_one_that_was_to_come_later() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("blog", after=60)
    queue.add("blog")
    assert (len(queue), queue.waiting) == (1, 0)


async def test_a_later_visit_is_not_noted_while_one_is_due_anyway() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("blog")
    queue.add("blog", after=60)
    await queue.take()
    queue.add("blog")
    queue.add("blog", after=60)
    assert queue.waiting == 0


async def test_fresh_changes_overtake_the_initial_list() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("old", priority=INITIAL)
    queue.add("new", priority=FRESH)
    assert [await queue.take(), await queue.take()] == ["new", "old"]


async def test_a_change_makes_a_key_of_the_initial_list_urgent() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in ("a", "b", "c"):
        queue.add(key, priority=INITIAL)
    queue.add("c")
    queue.add("c", priority=INITIAL)
    assert [await queue.take() for _ in range(3)] == ["c", "a", "b"]


async def test_a_stream_of_fresh_changes_does_not_stop_the_rest() -> None:
    queue: WorkQueue[int] = WorkQueue()
    queue.add(-1, priority=INITIAL)
    for fresh in range(100):
        queue.add(fresh)
        queue.add(fresh + 1000)
        taken = await queue.take()
        queue.done(taken)
        if taken == -1:
            break
    assert taken == -1


async def test_failures_are_retried_with_growing_delay() -> None:
    queue: WorkQueue[str] = WorkQueue()
    delays = []
    for _ in range(20):
        delays.append(queue.retry("blog"))
        queue.done(await queue.take())
    assert 0.1 <= delays[0] <= 0.2
    assert 1.6 <= delays[4] <= 3.2
    assert all(150.0 <= delay <= 300.0 for delay in delays[-5:])


async def test_after_a_success_the_next_failure_is_the_first() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for _ in range(10):
        queue.retry("blog")
    queue.succeeded("blog")
    assert queue.retry("blog") <= 0.2


async def test_one_key_failing_does_not_delay_another() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for _ in range(10):
        queue.retry("bad")
    assert queue.retry("good") <= 0.2


async def test_it_says_how_long_keys_were_ready() -> None:
    observed: list[float] = []
    queue: WorkQueue[str] = WorkQueue(observed.append)
    queue.add("blog", after=5)
    await ambient.sleep(8)
    await queue.take()
    assert observed == [pytest.approx(3)]


async def test_a_closed_queue_sends_all_workers_home() -> None:
    queue: WorkQueue[str] = WorkQueue()
    workers = [asyncio.create_task(queue.take()) for _ in range(3)]
    queue.add("later", after=5)
    await ambient.sleep(1)
    queue.close()
    queue.add("blog")
    results = await asyncio.gather(*workers, return_exceptions=True)
    assert [type(each) for each in results] == [Closed] * 3
    with pytest.raises(Closed):
        await queue.take()


KEYS = st.sampled_from("abcde")


class Machine(RuleBasedStateMachine):
    """Whatever happens in whatever order: no key is lost, none is had by two, none comes unasked."""

    def __init__(self) -> None:
        super().__init__()
        self._ambient = ambient.use(VirtualTime())
        self._ambient.__enter__()
        self.runner = asyncio.Runner(loop_factory=VirtualLoop)
        self.queue: WorkQueue[str] = self.runner.run(self._make())
        self.owed: set[str] = set()  # asked for, and not begun since
        self.had: Counter[str] = Counter()

    async def _make(self) -> WorkQueue[str]:
        return WorkQueue()

    def teardown(self) -> None:
        self.runner.close()
        self._ambient.__exit__(None, None, None)

    @rule(key=KEYS, priority=st.sampled_from([FRESH, INITIAL, 5]), after=st.sampled_from([0, 0, 1, 7]))
    def add(self, key: str, priority: int, after: float) -> None:
        async def act() -> None:
            self.queue.add(key, priority=priority, after=after)

        self.runner.run(act())
        self.owed.add(key)

    @rule(seconds=st.sampled_from([0.5, 3, 10]))
    def time_passes(self, seconds: float) -> None:
        self.runner.run(ambient.sleep(seconds))

    @precondition(lambda self: len(self.queue) > 0)
    @rule()
    def take(self) -> None:
        key = self.runner.run(self.queue.take())
        assert key in self.owed, "nobody asked for it"
        self.owed.discard(key)
        self.had[key] += 1
        assert self.had[key] == 1, "two workers have it"

    @precondition(lambda self: bool(self.had))
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.had)))
        del self.had[key]

        async def act() -> None:
            self.queue.done(key)

        self.runner.run(act())

    @invariant()
    def nothing_is_lost(self) -> None:
        places = {*self.queue._ready, *self.queue._waiting, *self.queue._again}
        assert places == self.owed
        assert self.queue.working == len(self.had)


TestMachine = Machine.TestCase
TestMachine.settings = settings(stateful_step_count=40)
