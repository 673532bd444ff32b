"""What writers, readers and watchers of one store can rely on; the file behind it has tests of its own."""

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest

from windvane.cluster.apiserver.storage.state import STEP
from windvane.cluster.apiserver.storage.store import Expired, Key, Record, Slow, Stale, Store, Watch, Write

PODS = "/pods"
WEB = Key(PODS, "default", "web")


def says(text: str) -> Callable[[int], bytes]:
    """A value that shows its revision, as objects show their resourceVersion."""
    return lambda revision: f"{text}@{revision}".encode()


async def put(store: Store, key: Key, text: str = "") -> Record:
    entry = store.get(key)
    return await store.commit(key, entry.revision if entry else 0, says(text or key.name))


async def delete(store: Store, key: Key) -> Record:
    entry = store.get(key)
    assert entry
    return await store.commit(key, entry.revision, says("gone"), delete=True)


async def ready(store: Store, watch: Watch) -> list[Record]:
    """All records that wait for the reader."""
    found = []
    while watch.progress < store.revision:
        found.append(await anext(watch))
    return found


def values(store: Store, namespace: str = "", revision: int | None = None) -> list[bytes]:
    if revision is None:
        return [entry.value for entry in store.entries(PODS, namespace)]
    return [entry.value for entry in store.entries_at(PODS, namespace, revision)]


# Writing


async def test_records_are_numbered_from_one() -> None:
    store = Store.open()
    assert store.revision == 0
    assert [(await put(store, WEB)).revision for _ in range(3)] == [1, 2, 3]
    assert store.revision == 3


async def test_changes_that_belong_together_happen_together() -> None:
    store = Store.open()
    other = Key("/resourcequotas", "default", "quota")
    records = await store.commit_together([Write(WEB, 0, says("web")), Write(other, 0, says("quota"))])
    assert [(record.key, record.value) for record in records] == [(WEB, b"web@1"), (other, b"quota@2")]


async def test_of_changes_that_belong_together_none_happens_if_one_can_not() -> None:
    store = Store.open()
    other = Key("/resourcequotas", "default", "quota")
    await put(store, other)
    with pytest.raises(Stale, match="quota"):
        await store.commit_together([Write(WEB, 0, says("web")), Write(other, 0, says("again"))])
    await put(store, Key(PODS, "default", "later"))
    assert store.get(WEB) is None
    assert store.revision == 2


async def test_a_value_is_made_with_its_own_revision() -> None:
    store = Store.open()
    await put(store, Key(PODS, "default", "other"))
    record = await put(store, WEB)
    assert record.value == b"web@2"
    entry = store.get(WEB)
    assert entry
    assert (entry.key, entry.revision, entry.value) == (WEB, 2, b"web@2")


async def test_a_record_shows_what_was_there_before() -> None:
    store = Store.open()
    created = await put(store, WEB, "one")
    updated = await put(store, WEB, "two")
    deleted = await delete(store, WEB)
    again = await put(store, WEB, "three")
    assert (created.previous, created.previous_revision) == (None, 0)
    assert (updated.previous, updated.previous_revision) == (b"one@1", 1)
    assert (deleted.previous, deleted.previous_revision, deleted.value) == (b"two@2", 2, b"gone@3")
    assert (again.previous, again.previous_revision) == (None, 0)
    assert [record.deleted for record in (created, updated, deleted, again)] == [False, False, True, False]


async def test_a_write_over_an_unexpected_revision_is_stale_and_makes_nothing() -> None:
    store = Store.open()
    await put(store, WEB)
    made: list[int] = []

    def make(revision: int) -> bytes:
        made.append(revision)
        return b""

    for expected in (0, 2):
        with pytest.raises(Stale) as caught:
            await store.commit(WEB, expected, make)
        assert caught.value.entry == store.get(WEB)
    assert made == []
    assert store.revision == 1


async def test_an_update_of_what_is_gone_is_stale_with_nothing_there() -> None:
    store = Store.open()
    with pytest.raises(Stale, match="expected to be at revision 7, but it is not there") as caught:
        await store.commit(WEB, 7, says("late"))
    assert caught.value.entry is None


async def test_of_two_writers_in_one_batch_the_second_is_stale() -> None:
    store = Store.open()
    first, second = await asyncio.gather(
        store.commit(WEB, 0, says("first")), store.commit(WEB, 0, says("second")), return_exceptions=True
    )
    assert isinstance(first, Record)
    assert isinstance(second, Stale)
    assert second.entry == store.get(WEB)
    assert store.revision == 1


async def test_a_writer_may_build_on_a_write_in_the_same_batch() -> None:
    store = Store.open()

    async def build(on: asyncio.Future[Record]) -> Record:
        with pytest.raises(Stale) as caught:
            await store.commit(WEB, 0, says("second"))
        assert not on.done()
        entry = caught.value.entry
        assert entry
        return await store.commit(WEB, entry.revision, says(f"second over {entry.value.decode()}"))

    first = asyncio.ensure_future(store.commit(WEB, 0, says("first")))
    await asyncio.gather(first, build(first))
    assert values(store) == [b"second over first@1@2"]


async def test_a_deletion_in_the_same_batch_counts_too() -> None:
    store = Store.open()
    await put(store, WEB)
    _, update, create = await asyncio.gather(
        store.commit(WEB, 1, says("gone"), delete=True),
        store.commit(WEB, 1, says("update")),
        store.commit(WEB, 0, says("new")),
        return_exceptions=True,
    )
    assert isinstance(update, Stale)
    assert update.entry is None
    assert isinstance(create, Record)
    assert (create.revision, create.previous) == (3, None)
    assert values(store) == [b"new@3"]


async def test_what_is_not_committed_is_not_seen() -> None:
    store = Store.open()
    writing = asyncio.ensure_future(put(store, WEB))
    watch = store.watch(PODS, 0)
    asyncio.get_running_loop().call_soon(lambda: seen.append((store.get(WEB), store.revision)))
    seen: list[object] = []
    await writing
    assert seen == [(None, 0)]
    assert [record.revision for record in await ready(store, watch)] == [1]


async def test_deleting_what_is_not_there_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="can't be deleted, because it is not there"):
        await Store.open().commit(WEB, 0, says("gone"), delete=True)


async def test_a_value_that_can_not_be_made_uses_no_number() -> None:
    store = Store.open()

    def fail(_: int) -> bytes:
        raise LookupError

    with pytest.raises(LookupError):
        await store.commit(WEB, 0, fail)
    assert (await put(store, WEB)).revision == 1


async def test_a_name_that_is_no_text_fails_alone() -> None:
    store = Store.open()
    bad, good = await asyncio.gather(
        put(store, Key(PODS, "default", "\ud800")), put(store, WEB), return_exceptions=True
    )
    assert isinstance(bad, UnicodeEncodeError)
    assert isinstance(good, Record)


async def test_a_cancelled_writer_does_not_take_the_others_with_it() -> None:
    store = Store.open()
    writers = [asyncio.ensure_future(put(store, Key(PODS, "default", name))) for name in "abc"]
    asyncio.get_running_loop().call_soon(writers[1].cancel)
    done = await asyncio.gather(*writers, return_exceptions=True)
    assert [type(each) for each in done] == [Record, asyncio.CancelledError, Record]
    assert values(store) == [b"a@1", b"b@2", b"c@3"]


# Reading


async def test_entries_are_ordered_as_in_a_cluster() -> None:
    store = Store.open()
    places = [("team", "b"), ("team-a", "a"), ("team", "a"), ("b", "z"), ("team", "a.b"), ("team", "a-b")]
    for namespace, name in places:
        await put(store, Key(PODS, namespace, name))
    keys = [entry.key for entry in store.entries(PODS)]
    assert [f"{key.namespace}/{key.name}" for key in keys] == sorted(f"{a}/{b}" for a, b in places)
    assert keys == sorted(keys)


async def test_entries_of_one_namespace_are_its_own() -> None:
    store = Store.open()
    for namespace, name in [("one", "b"), ("two", "x"), ("one", "a")]:
        await put(store, Key(PODS, namespace, name))
    await put(store, Key("/services", "one", "s"))
    assert values(store, "one") == [b"a@3", b"b@1"]
    assert values(store, "none") == []
    assert store.count(PODS, "one") == 2
    assert store.count(PODS) == 3
    assert store.count(PODS, "none") == 0


async def test_a_collection_without_objects_is_none() -> None:
    store = Store.open()
    await put(store, WEB)
    await put(store, Key("/nodes", "", "n"))
    assert store.collections() == {PODS, "/nodes"}
    await delete(store, WEB)
    assert store.collections() == {"/nodes"}
    assert store.count(PODS) == 0


async def test_a_page_of_a_list_shows_the_moment_at_which_the_list_began() -> None:
    store = Store.open()
    for name in "abc":
        await put(store, Key(PODS, "default", name))
    await put(store, Key(PODS, "default", "a"), "changed")
    await delete(store, Key(PODS, "default", "b"))
    await put(store, Key(PODS, "default", "aa"))
    await put(store, Key(PODS, "other", "d"))
    assert values(store, revision=3) == [b"a@1", b"b@2", b"c@3"]
    assert values(store, "default", revision=4) == [b"changed@4", b"b@2", b"c@3"]
    assert values(store, "other", revision=6) == []
    assert values(store, revision=7) == values(store)
    assert [entry.revision for entry in store.entries_at(PODS, "", 3)] == [1, 2, 3]


async def test_a_reader_that_changes_its_page_changes_no_other() -> None:
    store = Store.open()
    await put(store, WEB)
    store.entries_at(PODS, "", 1).clear()
    store.entries(PODS).clear()
    assert values(store, revision=1) == values(store) == [b"web@1"]


async def test_a_moment_before_the_floor_is_expired_even_if_it_was_read_before() -> None:
    store = Store.open()
    for _ in range(3):
        await put(store, WEB)
    assert values(store, revision=1) == [b"web@1"]
    await store.compact(2)
    with pytest.raises(Expired, match="revision 1 is forgotten: the oldest one known is 2") as caught:
        store.entries_at(PODS, "", 1)
    assert caught.value.floor == 2
    assert values(store, revision=2) == [b"web@2"]


async def test_a_moment_to_come_can_not_be_read() -> None:
    with pytest.raises(ValueError, match="revision 1 is not there yet: the store is at 0"):
        Store.open().entries_at(PODS, "", 1)


# Watching


async def test_a_watch_goes_from_known_to_new_records_without_gap_or_repeat() -> None:
    store = Store.open()
    for _ in range(3):
        await put(store, WEB)
    watch = store.watch(PODS, 1)
    writing = [asyncio.ensure_future(put(store, Key(PODS, "default", name))) for name in "abc"]
    assert [(await anext(watch)).revision for _ in range(5)] == [2, 3, 4, 5, 6]
    await asyncio.gather(*writing)
    assert watch.progress == 6


async def test_a_watch_sees_its_own_collection_only() -> None:
    store = Store.open()
    watch = store.watch(PODS, 0)
    await put(store, Key("/services", "default", "web"))
    await put(store, WEB)
    assert [record.key for record in await ready(store, watch)] == [WEB]


async def test_a_watch_from_the_future_waits_for_it() -> None:
    store = Store.open()
    watch = store.watch(PODS, 2)
    assert watch.progress == 2
    for _ in range(3):
        await put(store, WEB)
    assert [record.revision for record in await ready(store, watch)] == [3]


async def test_a_bookmark_never_claims_what_was_not_delivered() -> None:
    store = Store.open()
    watch = store.watch(PODS, 0)
    await put(store, Key("/services", "default", "web"))
    assert watch.progress == 1
    await put(store, WEB)
    await put(store, Key("/services", "default", "db"))
    assert watch.progress == 1
    await anext(watch)
    assert watch.progress == 3


async def test_a_watch_from_before_the_floor_is_expired() -> None:
    store = Store.open()
    for _ in range(3):
        await put(store, WEB)
    await store.compact(2)
    with pytest.raises(Expired) as caught:
        store.watch(PODS, 1)
    assert caught.value.floor == 2
    assert [record.revision for record in await ready(store, store.watch(PODS, 2))] == [3]


async def test_compaction_takes_nothing_from_a_watch_that_is_open() -> None:
    store = Store.open()
    watch = store.watch(PODS, 0)
    for _ in range(3):
        await put(store, WEB)
    await store.compact(3)
    assert [record.revision for record in await ready(store, watch)] == [1, 2, 3]


async def test_what_is_there_can_be_taken_and_the_rest_waited_for() -> None:
    store = Store.open()
    watch = store.watch(PODS, 0)
    assert watch.take(5) == []
    assert not await watch.wait(0)
    for _ in range(3):
        await put(store, WEB)
    assert await watch.wait(60)
    assert [record.revision for record in watch.take(2)] == [1, 2]
    assert [record.revision for record in watch.take(2)] == [3]
    assert not watch.ended
    waiting = asyncio.ensure_future(watch.wait(60))
    watch.close()
    assert await waiting
    assert watch.ended


async def test_a_slow_reader_is_cut_off_and_holds_up_nobody() -> None:
    store = Store.open()
    slow, fast = store.watch(PODS, 0, buffer=2), store.watch(PODS, 0)
    for _ in range(3):
        await put(store, WEB)
    with pytest.raises(Slow, match="a watch of /pods was cut off"):
        await anext(slow)
    with pytest.raises(StopAsyncIteration):
        await anext(slow)
    assert len(await ready(store, fast)) == 3


async def test_a_slow_reader_of_large_objects_is_cut_off_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windvane.cluster.apiserver.storage.store.BUFFER_BYTES", 100)
    store = Store.open()
    watch = store.watch(PODS, 0)
    for size in (60, 60):  # each fits once the one before is read
        await put(store, WEB, "x" * size)
        await anext(watch)
    for _ in range(2):
        await put(store, WEB, "x" * 60)
    with pytest.raises(Slow):
        await anext(watch)


async def test_known_records_are_no_delay_of_the_reader() -> None:
    store = Store.open()
    for _ in range(5):
        await put(store, WEB)
    watch = store.watch(PODS, 0, buffer=1)
    await put(store, WEB)
    assert len(await ready(store, watch)) == 6


async def test_a_closed_watch_ends_also_for_a_reader_that_waits() -> None:
    store = Store.open()
    watch = store.watch(PODS, 0)
    reading = asyncio.ensure_future(anext(watch, None))
    asyncio.get_running_loop().call_soon(watch.close)
    assert await reading is None
    await put(store, WEB)
    assert await anext(watch, None) is None


async def test_a_reader_that_gave_up_waiting_has_missed_nothing() -> None:
    store = Store.open()
    watch = store.watch(PODS, 0)
    reading = asyncio.ensure_future(anext(watch))
    # The record and the cancellation come in the same turn of the loop: the worst moment.
    writing = asyncio.ensure_future(put(store, WEB))
    writing.add_done_callback(lambda _: reading.cancel())
    await asyncio.wait({reading, writing})
    again = reading.result() if not reading.cancelled() else await anext(watch)
    assert again.revision == 1


async def test_closing_the_store_ends_its_watches_and_refuses_new_ones() -> None:
    store = Store.open()
    watch = store.watch(PODS, 0)
    await store.close()
    await store.close()
    assert await anext(watch, None) is None
    with pytest.raises(ValueError, match="the store is closed"):
        store.watch(PODS, 0)


# Forgetting


async def test_history_is_bounded_by_count() -> None:
    store = Store.open(history=100)
    for _ in range(500):
        await put(store, WEB)
        assert store.revision - store.floor <= 100
    assert store.revision - store.floor >= 75


async def test_history_is_bounded_by_the_bytes_of_old_states() -> None:
    store = Store.open(history_bytes=10_000)
    for number in range(50):
        await put(store, Key(PODS, "default", str(number)), "x" * 1000)
    assert store.floor == 0  # all these states are there, so that they cost nothing more
    for _ in range(50):
        await put(store, WEB, "x" * 1000)
    assert store.revision - store.floor == 9


async def test_one_batch_forgets_little_more_than_it_brings() -> None:
    store = Store.open(history=0)
    await asyncio.gather(*(put(store, Key(PODS, "default", str(number))) for number in range(5 * STEP)))
    floors = []
    for _ in range(6):
        await put(store, WEB)
        floors.append(store.floor)
    assert floors[0] == STEP + 1
    assert all(after - before <= STEP + 1 for before, after in pairwise(floors))
    assert store.floor == store.revision - 1


async def test_compaction_lets_others_work_between_its_steps() -> None:
    store = Store.open()
    await asyncio.gather(*(put(store, Key(PODS, "default", str(number))) for number in range(5 * STEP)))
    loop = asyncio.get_running_loop()
    floors = [0]

    def look() -> None:
        floors.append(store.floor)
        if not compacting.done():
            loop.call_soon(look)

    compacting = asyncio.ensure_future(store.compact(5 * STEP))
    loop.call_soon(look)
    await asyncio.gather(compacting, put(store, WEB))
    assert max(after - before for before, after in pairwise(floors)) == STEP
    assert store.floor == 5 * STEP
    assert store.count(PODS) == 5 * STEP + 1


async def test_compaction_stops_at_what_is_committed() -> None:
    store = Store.open()
    await put(store, WEB)
    await store.compact(99)
    assert (store.floor, store.revision) == (1, 1)
    assert (await put(store, WEB)).revision == 2
