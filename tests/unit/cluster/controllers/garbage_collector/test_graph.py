"""Who belongs to whom, and who should be looked at when something changes."""

from collections.abc import Sequence

from windvane.api.envelope import EnvelopeMeta
from windvane.api.kind import Kind
from windvane.api.meta import OwnerReference
from windvane.cluster.controllers.garbage_collector.graph import FOREGROUND, ORPHAN, OwnerGraph, OwnerState

THING = Kind(group="", version="v1", name="Thing", plural="things")
BOARD = Kind(group="example.com", version="v1", name="Board", plural="boards", namespaced=False)


def owned_by(name: str, *, blocks: bool = False, kind: Kind = THING, uid: str = "") -> OwnerReference:
    return OwnerReference(
        api_version=kind.api_version, kind=kind.name, name=name, uid=uid or name, block_owner_deletion=blocks
    )


def meta(
    name: str,
    *owners: OwnerReference,
    namespace: str = "default",
    deleting: bool = False,
    finalizers: Sequence[str] = (),
    version: str = "1",
) -> EnvelopeMeta:
    """An object whose uid is its name."""
    return EnvelopeMeta(
        name=name,
        namespace=namespace,
        uid=name,
        resource_version=version,
        deletion_timestamp="2026-01-01T00:00:00Z" if deleting else None,
        owner_references=[*owners],
        finalizers=[*finalizers],
    )


def graph(*things: EnvelopeMeta) -> OwnerGraph:
    made = OwnerGraph()
    for each in things:
        made.seen(THING, each)
    return made


def test_an_object_without_owners_needs_no_look() -> None:
    assert OwnerGraph().seen(THING, meta("alone")) == set()


def test_an_object_whose_owner_is_seen_needs_no_look() -> None:
    assert graph(meta("owner")).seen(THING, meta("child", owned_by("owner"))) == set()


def test_an_object_whose_owner_nobody_has_seen_needs_a_look() -> None:
    assert OwnerGraph().seen(THING, meta("child", owned_by("owner"))) == {"child"}


def test_a_change_that_is_not_about_owners_needs_no_look() -> None:
    made = graph(meta("child", owned_by("owner")))
    assert made.seen(THING, meta("child", owned_by("owner"), version="2")) == set()


def test_when_an_owner_goes_its_dependents_need_a_look() -> None:
    made = graph(meta("owner"), meta("child", owned_by("owner")), meta("other"))
    assert made.gone("owner") == {"child"}


def test_what_goes_is_no_dependent_any_more() -> None:
    made = graph(meta("owner"), meta("child", owned_by("owner")))
    made.gone("child")
    assert made.dependents("owner") == set()


def test_what_was_never_seen_can_go_without_a_word() -> None:
    assert OwnerGraph().gone("nobody") == set()


def test_dependents_of_somebody_who_was_never_seen_are_known() -> None:
    assert graph(meta("child", owned_by("owner"))).dependents("owner") == {"child"}


def test_who_leaves_an_owner_is_no_dependent_of_it() -> None:
    made = graph(meta("owner"), meta("child", owned_by("owner")))
    made.seen(THING, meta("child"))
    assert made.dependents("owner") == set()


def test_when_deletion_in_the_foreground_begins_it_and_its_dependents_need_a_look() -> None:
    made = graph(meta("owner"), meta("child", owned_by("owner")))
    assert made.seen(THING, meta("owner", deleting=True, finalizers=[FOREGROUND])) == {"owner", "child"}


def test_when_a_dependent_goes_an_owner_that_waits_for_it_needs_a_look() -> None:
    made = graph(meta("owner", deleting=True, finalizers=[FOREGROUND]), meta("child", owned_by("owner", blocks=True)))
    assert made.gone("child") == {"owner"}


def test_when_a_dependent_stops_blocking_an_owner_that_waits_needs_a_look() -> None:
    made = graph(
        meta("owner", deleting=True, finalizers=[FOREGROUND]),
        meta("child", owned_by("owner", blocks=True), deleting=True),
    )
    assert made.seen(THING, meta("child", owned_by("owner"), deleting=True)) == {"owner"}


def test_when_orphaning_begins_the_owner_needs_a_look_and_its_dependents_do_not() -> None:
    made = graph(meta("owner"), meta("child", owned_by("owner")))
    assert made.seen(THING, meta("owner", deleting=True, finalizers=[ORPHAN])) == {"owner"}


def test_an_owner_that_is_seen_stands() -> None:
    assert graph(meta("owner")).standing(owned_by("owner"), "default") is OwnerState.SOLID


def test_an_owner_that_is_deleted_in_the_background_still_stands() -> None:
    made = graph(meta("owner", deleting=True, finalizers=["example.com/wait"]))
    assert made.standing(owned_by("owner"), "default") is OwnerState.SOLID


def test_an_owner_that_is_deleted_in_the_foreground_waits() -> None:
    made = graph(meta("owner", deleting=True, finalizers=[FOREGROUND]))
    assert made.standing(owned_by("owner"), "default") is OwnerState.WAITING


def test_only_the_server_can_tell_about_an_owner_that_was_not_seen() -> None:
    assert OwnerGraph().standing(owned_by("owner"), "default") is None


def test_only_the_server_can_tell_about_an_owner_in_another_namespace() -> None:
    assert graph(meta("owner")).standing(owned_by("owner"), "elsewhere") is None


def test_only_the_server_can_tell_about_an_owner_of_another_name_or_kind() -> None:
    made = graph(meta("owner"))
    assert made.standing(owned_by("misspelt", uid="owner"), "default") is None
    assert made.standing(owned_by("owner", kind=BOARD), "default") is None


def test_an_owner_without_a_namespace_stands_in_all_of_them() -> None:
    made = OwnerGraph()
    made.seen(BOARD, meta("owner", namespace=""))
    assert made.standing(owned_by("owner", kind=BOARD), "default") is OwnerState.SOLID


def test_a_reference_in_another_version_is_to_the_same_owner() -> None:
    made = OwnerGraph()
    made.seen(BOARD, meta("owner", namespace=""))
    reference = OwnerReference(api_version="example.com/v2", kind="Board", name="owner", uid="owner")
    assert made.standing(reference, "default") is OwnerState.SOLID


def test_who_named_an_owner_wrongly_needs_a_look_when_it_is_seen() -> None:
    made = graph(meta("wrong", owned_by("owner"), namespace="elsewhere"), meta("right", owned_by("owner")))
    assert made.seen(THING, meta("owner")) == {"wrong"}


def test_dependents_that_don_t_block_are_not_waited_for() -> None:
    made = graph(meta("owner"), meta("blocks", owned_by("owner", blocks=True)), meta("does-not", owned_by("owner")))
    assert made.blockers("owner") == {"blocks"}


def waiting(name: str, owner: str) -> EnvelopeMeta:
    return meta(name, owned_by(owner, blocks=True), deleting=True, finalizers=[FOREGROUND])


def test_those_that_wait_for_one_another_in_a_circle_don_t_block() -> None:
    made = graph(waiting("a", "c"), waiting("b", "a"), waiting("c", "b"))
    assert [made.blockers(each) for each in "abc"] == [set(), set(), set()]


def test_a_circle_in_which_one_does_not_wait_yet_blocks() -> None:
    made = graph(waiting("a", "c"), waiting("b", "a"), meta("c", owned_by("b", blocks=True)))
    assert made.blockers("b") == {"c"}


def test_an_object_that_owns_itself_does_not_block_itself() -> None:
    assert graph(waiting("a", "a")).blockers("a") == set()


def test_a_dependent_outside_of_the_circle_blocks() -> None:
    made = graph(waiting("a", "b"), waiting("b", "a"), meta("outside", owned_by("a", blocks=True)))
    assert (made.blockers("a"), made.blockers("b")) == ({"outside"}, set())


def test_everything_that_went_leaves_nothing_behind() -> None:
    made = graph(meta("owner"), meta("child", owned_by("owner")))
    made.gone("owner")
    made.gone("child")
    assert (len(made), made.dependents("owner")) == (0, set())
