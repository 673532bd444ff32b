"""The store against a model of ten lines: whatever is done in whatever order, both must agree."""

import asyncio
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from windvane.cluster.apiserver.storage.record import Key, Record
from windvane.cluster.apiserver.storage.store import Expired, Stale, Store, Watch

KEYS = st.builds(
    Key, st.sampled_from(["/pods", "/nodes"]), st.sampled_from(["", "team", "team-a"]), st.sampled_from(["a", "b", "c"])
)
COLLECTIONS = st.sampled_from(["/pods", "/nodes"])
NAMESPACES = st.sampled_from(["", "team", "team-a", "none"])
SHARE = st.floats(0, 1)

State = dict[Key, tuple[int, bytes]]


@dataclass
class Model:
    """Every state that there ever was, and every record."""

    states: list[State] = field(default_factory=lambda: [{}])
    records: list[tuple[int, Key, bytes, bool]] = field(default_factory=list)

    def write(self, key: Key, value: bytes, deleted: bool) -> None:
        revision = len(self.states)
        state = dict(self.states[-1])
        state.pop(key, None)
        if not deleted:
            state[key] = (revision, value)
        self.states.append(state)
        self.records.append((revision, key, value, deleted))


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "store.db"
        self.store = Store.open(self.path, history=12)
        self.model = Model()
        self.watches: list[tuple[Watch, int, list[Record]]] = []

    def teardown(self) -> None:
        self.runner.run(self.store.close())
        self.runner.close()
        shutil.rmtree(self.folder)

    @rule(writes=st.lists(st.tuples(KEYS, st.sampled_from(["write", "write", "delete", "stale"])), max_size=6))
    def commit_at_once(self, writes: list[tuple[Key, str]]) -> None:
        self.runner.run(self._commit(writes))

    async def _commit(self, writes: list[tuple[Key, str]]) -> None:
        first = len(self.model.records)
        committing = []
        for number, (key, what) in enumerate(writes):
            there = self.model.states[-1].get(key)
            expected = there[0] if there else 0
            if what == "stale":
                committing.append(self.store.commit(key, expected + 1, lambda revision: b"never"))
                continue
            deleted = what == "delete" and there is not None
            text = b"%d of batch after %d" % (number, first)
            committing.append(self.store.commit(key, expected, lambda revision, text=text: text, delete=deleted))  # type: ignore[misc]
            self.model.write(key, text, deleted)
        done = await asyncio.gather(*committing, return_exceptions=True)
        assert [isinstance(each, Stale) for each in done] == [what == "stale" for _, what in writes]
        committed = [each for each in done if isinstance(each, Record)]
        assert _plain(committed) == self.model.records[first:]

    @rule(collection=COLLECTIONS, share=SHARE)
    def start_watch(self, collection: str, share: float) -> None:
        after = round(share * self.store.revision)
        if after < self.store.floor:
            with pytest.raises(Expired):
                self.store.watch(collection, after)
        else:
            self.watches.append((self.store.watch(collection, after), after, []))

    @precondition(lambda self: self.watches)
    @rule(data=st.data(), most=st.integers(0, 10))
    def read_watch(self, data: st.DataObject, most: int) -> None:
        watch, _, seen = data.draw(st.sampled_from(self.watches))
        self.runner.run(_read(self.store, watch, seen, most))

    @rule(collection=COLLECTIONS, namespace=NAMESPACES, share=SHARE)
    def read_the_past(self, collection: str, namespace: str, share: float) -> None:
        revision = round(share * self.store.revision)
        if revision < self.store.floor:
            with pytest.raises(Expired):
                self.store.entries_at(collection, namespace, revision)
        else:
            entries = self.store.entries_at(collection, namespace, revision)
            assert [(each.key, each.revision, each.value) for each in entries] == self._expected(
                collection, namespace, revision
            )

    @rule(share=SHARE)
    def compact(self, share: float) -> None:
        before = round(share * self.store.revision)
        floor = self.store.floor
        self.runner.run(self.store.compact(before))
        assert self.store.floor == max(floor, before)

    @rule(history=st.integers(0, 20))
    def restart(self, history: int) -> None:
        self.runner.run(self.store.close())
        self._reopen(history)

    @rule(history=st.integers(0, 20))
    def crash(self, history: int) -> None:
        """Go on with the files as they are now: what was not written yet is lost, as it is to a killed process."""
        image = Path(tempfile.mkdtemp(dir=self.folder)) / "store.db"
        for suffix in ("", "-wal"):
            shutil.copy(f"{self.path}{suffix}", f"{image}{suffix}")
        self.runner.run(self.store.close())
        self.path = image
        self._reopen(history)

    def _reopen(self, history: int) -> None:
        floor = self.store.floor
        self.watches.clear()
        self.store = Store.open(self.path, history=history)
        assert self.store.floor == floor

    @invariant()
    def the_present_is_the_models(self) -> None:
        assert self.store.revision == len(self.model.states) - 1
        for collection in ("/pods", "/nodes"):
            for namespace in ("", "team", "team-a", "none"):
                entries = self.store.entries(collection, namespace)
                expected = self._expected(collection, namespace, self.store.revision)
                assert [(each.key, each.revision, each.value) for each in entries] == expected
                assert self.store.count(collection, namespace) == len(expected)
        for key, (revision, _) in self.model.states[-1].items():
            entry = self.store.get(key)
            assert entry
            assert entry.revision == revision
        assert self.store.collections() == {key.collection for key in self.model.states[-1]}

    @invariant()
    def watches_saw_every_record_once_up_to_their_progress(self) -> None:
        for watch, after, seen in self.watches:
            wanted = [
                record
                for record in self.model.records
                if record[1].collection == watch.collection and after < record[0] <= watch.progress
            ]
            assert _plain(seen) == wanted
            for record in seen:
                before = self.model.states[record.revision - 1].get(record.key, (0, None))
                assert (record.previous_revision, record.previous) == before

    def _expected(self, collection: str, namespace: str, revision: int) -> list[tuple[Key, int, bytes]]:
        there = sorted(self.model.states[revision].items(), key=lambda item: f"{item[0].namespace}/{item[0].name}")
        return [
            (key, *written)
            for key, written in there
            if key.collection == collection and namespace in ("", key.namespace)
        ]


async def _read(store: Store, watch: Watch, seen: list[Record], most: int) -> None:
    while most and watch.progress < store.revision:
        seen.append(await anext(watch))
        most -= 1


def _plain(records: list[Record]) -> list[tuple[int, Key, bytes, bool]]:
    return [(each.revision, each.key, each.value, each.deleted) for each in records]


StoreMachine.TestCase.settings = settings(stateful_step_count=30)
TestStore = StoreMachine.TestCase
