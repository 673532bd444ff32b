"""Conditions change when something changed, and remember since when."""

from datetime import UTC, datetime, timedelta

from windvane import Condition, Status, find_condition, set_condition
from windvane.api import codec

EARLIER = datetime(2030, 1, 1, tzinfo=UTC)


def ready(status: str, *, message: str = "", generation: int | None = None, since: datetime | None = None) -> Condition:
    wire = {"type": "Ready", "status": status, "reason": "Checked", "message": message}
    condition = codec.from_wire(wire, Condition)
    condition.observed_generation = generation
    condition.last_transition_time = since
    return condition


def test_a_new_condition_is_added_with_the_time_in_whole_seconds() -> None:
    conditions: list[Condition] = []
    assert set_condition(conditions, ready("True"))
    since = conditions[0].last_transition_time
    assert since is not None
    assert since.microsecond == 0


def test_saying_the_same_again_changes_nothing() -> None:
    conditions = [ready("True", since=EARLIER, generation=1)]
    assert not set_condition(conditions, ready("True", generation=1))
    assert conditions == [ready("True", since=EARLIER, generation=1)]


def test_a_new_message_is_a_change_but_no_transition() -> None:
    conditions = [ready("True", since=EARLIER)]
    assert set_condition(conditions, ready("True", message="still up"))
    assert conditions == [ready("True", message="still up", since=EARLIER)]


def test_a_newer_generation_is_a_change_but_no_transition() -> None:
    conditions = [ready("True", since=EARLIER, generation=1)]
    assert set_condition(conditions, ready("True", generation=2))
    assert conditions == [ready("True", since=EARLIER, generation=2)]


def test_another_status_is_a_transition() -> None:
    conditions = [ready("True", since=EARLIER)]
    assert set_condition(conditions, ready("False", since=EARLIER + timedelta(hours=1)))
    assert conditions == [ready("False", since=EARLIER + timedelta(hours=1))]


def test_the_order_of_conditions_stays() -> None:
    other = Condition(type="Available", status="True", reason="Up", last_transition_time=EARLIER)
    conditions = [ready("True", since=EARLIER), other]
    set_condition(conditions, ready("False"))
    assert [condition.type for condition in conditions] == ["Ready", "Available"]


def test_a_condition_is_found_by_its_type() -> None:
    status = Status(conditions=[ready("True")])
    assert find_condition(status.conditions, "Ready") is status.conditions[0]
    assert find_condition(status.conditions, "Lost") is None


def test_an_empty_message_is_sent_because_the_server_asks_for_one() -> None:
    condition = Condition(type="Ready", status="True", reason="Up")
    assert codec.to_wire(condition) == {"type": "Ready", "status": "True", "reason": "Up", "message": ""}
