"""What is to be done about an object, by how its owners stand; and that it comes to the right end in any order."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windvane.api.envelope import EnvelopeMeta
from windvane.api.kind import Kind
from windvane.api.meta import OwnerReference
from windvane.cluster.controllers.garbage_collector.decision import Ask, Delete, Disown, Verdict, judge
from windvane.cluster.controllers.garbage_collector.graph import FOREGROUND, ORPHAN, OwnerGraph, OwnerState

SOLID, WAITING, ABSENT, UNKNOWN = OwnerState.SOLID, OwnerState.WAITING, OwnerState.ABSENT, OwnerState.UNKNOWN
THING = Kind(group="", version="v1", name="Thing", plural="things")


def reference(uid: str, *, blocks: bool = False) -> OwnerReference:
    return OwnerReference(api_version="v1", kind="Thing", name=uid, uid=uid, block_owner_deletion=blocks)


@pytest.mark.parametrize(
    ("standings", "verdict"),
    [
        ([], None),
        ([SOLID], None),
        ([SOLID, SOLID], None),
        ([ABSENT], Delete("Background")),
        ([ABSENT, ABSENT], Delete("Background")),
        ([SOLID, ABSENT], Disown(frozenset("1"))),
        ([WAITING, SOLID], Disown(frozenset("0"))),
        ([WAITING, SOLID, ABSENT], Disown(frozenset("02"))),
        ([WAITING], Delete("Background")),
        ([WAITING, ABSENT], Delete("Background")),
        ([UNKNOWN], Ask()),
        ([ABSENT, UNKNOWN], Ask()),
        ([SOLID, ABSENT, UNKNOWN], Ask()),
    ],
)
def test_what_is_done_depends_on_how_the_owners_stand(standings: list[OwnerState], verdict: Verdict) -> None:
    owners = [(reference(str(number)), standing) for number, standing in enumerate(standings)]
    assert judge(owners, [], has_dependents=False) == verdict


def test_what_has_dependents_and_a_waiting_owner_waits_for_them_as_well() -> None:
    assert judge([(reference("0"), WAITING)], [], has_dependents=True) == Delete("Foreground")


def test_what_has_dependents_and_no_owner_goes_before_them() -> None:
    assert judge([(reference("0"), ABSENT)], [], has_dependents=True) == Delete("Background")


@pytest.mark.parametrize(("finalizer", "propagation"), [(ORPHAN, "Orphan"), (FOREGROUND, "Foreground")])
def test_a_finalizer_that_is_there_already_says_how_it_goes(finalizer: str, propagation: str) -> None:
    verdict = judge([(reference("0"), ABSENT)], [finalizer], has_dependents=False)
    assert isinstance(verdict, Delete)
    assert verdict.propagation == propagation


# Any world, and any order of events


@dataclass(frozen=True)
class Thing:
    """An object on a server."""

    uid: str
    owners: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    deleting: bool = False

    @property
    def meta(self) -> EnvelopeMeta:
        return EnvelopeMeta(
            name=self.uid,
            namespace="default",
            uid=self.uid,
            deletion_timestamp="2026-01-01T00:00:00Z" if self.deleting else None,
            owner_references=[*self.owners],
            finalizers=[*self.finalizers],
        )


@dataclass
class World:
    """A server, and a collector that hears of each change some time after it happened."""

    things: dict[str, Thing]
    graph: OwnerGraph = field(default_factory=OwnerGraph)
    unheard: list[tuple[str, Thing | None]] = field(default_factory=list)
    queue: list[str] = field(default_factory=list)
    wrongly_deleted: list[str] = field(default_factory=list)

    def write(self, thing: Thing) -> None:
        if thing == self.things.get(thing.uid):
            return
        gone = thing.deleting and not thing.finalizers
        if gone:
            del self.things[thing.uid]
        else:
            self.things[thing.uid] = thing
        self.unheard.append((thing.uid, None if gone else thing))

    def delete(self, uid: str, propagation: str) -> None:
        thing = self.things.get(uid)
        if thing is not None and not thing.deleting:
            kept = tuple(each for each in thing.finalizers if each not in (ORPHAN, FOREGROUND))
            added = {"Orphan": (ORPHAN,), "Foreground": (FOREGROUND,)}.get(propagation, ())
            self.write(replace(thing, deleting=True, finalizers=kept + added))

    def hear(self) -> None:
        uid, thing = self.unheard.pop(0)
        look = self.graph.gone(uid) if thing is None else self.graph.seen(THING, thing.meta)
        self.queue += sorted(look - set(self.queue))

    def look(self, uid: str) -> None:
        """What the collector does, without requests."""
        node, there = self.graph.get(uid), self.things.get(uid)
        if node is None or there is None:
            return
        if node.orphaning:
            for dependent in sorted(self.graph.dependents(uid)):
                self.disown(dependent, frozenset({uid}))
            self.release(there, ORPHAN)
        elif node.foreground:
            if not self.graph.blockers(uid):
                self.release(there, FOREGROUND)
        elif not there.deleting:
            owners = [(each, self.standing(each)) for each in there.owners]
            match judge(owners, there.finalizers, has_dependents=bool(self.graph.dependents(uid))):
                case Delete(propagation):
                    if any(self.is_solid(each.uid) for each in there.owners):
                        self.wrongly_deleted.append(uid)
                    self.delete(uid, propagation)
                case Disown(former):
                    self.disown(uid, former)

    def standing(self, owner: OwnerReference) -> OwnerState:
        known = self.graph.standing(owner, "default")
        if known is not None:
            return known
        thing = self.things.get(owner.uid)
        if thing is None:
            return ABSENT
        return SOLID if self.is_solid(owner.uid) else WAITING

    def is_solid(self, uid: str) -> bool:
        thing = self.things.get(uid)
        return thing is not None and not (thing.deleting and FOREGROUND in thing.finalizers)

    def disown(self, uid: str, former: frozenset[str]) -> None:
        if (thing := self.things.get(uid)) is not None:
            self.write(replace(thing, owners=tuple(each for each in thing.owners if each.uid not in former)))

    def release(self, thing: Thing, finalizer: str) -> None:
        self.write(replace(thing, finalizers=tuple(each for each in thing.finalizers if each != finalizer)))


UIDS = [f"t{number}" for number in range(6)]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Up to six objects, each with up to three owners: circles, absent owners and all."""
    uids = draw(st.lists(st.sampled_from(UIDS), min_size=1, max_size=6, unique=True))
    world = World({})
    for uid in uids:
        owners = draw(st.lists(st.sampled_from(UIDS), max_size=3, unique=True))
        references = tuple(reference(each, blocks=draw(st.booleans())) for each in owners)
        world.write(Thing(uid, references))
    return world


def run(world: World, data: st.DataObject, deletions: list[tuple[str, str]]) -> None:
    """Let everything happen, in any order in which each object's changes stay in theirs."""
    for _ in range(2000):
        choices = ["hear"] * bool(world.unheard) + ["look"] * bool(world.queue) + ["delete"] * bool(deletions)
        if not choices:
            return
        match data.draw(st.sampled_from(choices)):
            case "hear":
                world.hear()
            case "look":
                world.look(world.queue.pop(data.draw(st.integers(0, len(world.queue) - 1))))
            case "delete":
                world.delete(*deletions.pop(0))
    raise AssertionError("it never comes to an end")


DELETIONS = st.lists(st.tuples(st.sampled_from(UIDS), st.sampled_from(["Background", "Foreground"])), max_size=3)


@settings(max_examples=3 * settings().max_examples)
@given(worlds(), st.data(), DELETIONS)
def test_in_the_end_nothing_is_left_that_belonged_to_those_who_are_gone(
    world: World, data: st.DataObject, deletions: list[tuple[str, str]]
) -> None:
    run(world, data, deletions)
    abandoned = [
        thing.uid
        for thing in world.things.values()
        if thing.owners and not any(each.uid in world.things for each in thing.owners)
    ]
    assert abandoned == []


@settings(max_examples=3 * settings().max_examples)
@given(worlds(), st.data(), DELETIONS)
def test_in_the_end_nobody_waits(world: World, data: st.DataObject, deletions: list[tuple[str, str]]) -> None:
    run(world, data, deletions)
    assert [thing.uid for thing in world.things.values() if thing.deleting] == []


@settings(max_examples=3 * settings().max_examples)
@given(worlds(), st.data(), DELETIONS)
def test_nothing_is_collected_that_had_a_living_owner(
    world: World, data: st.DataObject, deletions: list[tuple[str, str]]
) -> None:
    run(world, data, deletions)
    assert world.wrongly_deleted == []


@settings(max_examples=3 * settings().max_examples)
@given(worlds(), st.data(), st.sampled_from(UIDS))
def test_orphans_of_the_only_one_that_is_deleted_survive(world: World, data: st.DataObject, uid: str) -> None:
    run(world, data, [])
    children = {thing.uid for thing in world.things.values() if uid in {each.uid for each in thing.owners}} - {uid}
    run(world, data, [(uid, "Orphan")])
    assert uid not in world.things
    assert children <= world.things.keys()
