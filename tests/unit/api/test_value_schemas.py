"""What the server lets in by the schema of a value type, the type can read: an object is never stuck with it."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from value_cases import READABLE, UNREADABLE, read
from windvane import Cron, Duration, Format, LabelSelector, MaxItems, MaxLength, MicroTime, Nullable, Pattern, Quantity
from windvane.api import codec
from windvane.api.custom_resources.schema import SchemaError, schema
from windvane.api.openapi.check import schema_causes
from windvane.api.openapi.validate import Validator
from windvane.api.selector import Selector
from windvane.k8s import core

TYPES: list[Any] = list(READABLE)


def root(of: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": {"value": schema(of)}}}}


def accepts(validator: Validator, value: Any) -> bool:
    return not validator.validate({"spec": {"value": value}}).causes


VALIDATORS = {type_: Validator(root(type_)) for type_ in TYPES}


def can_read(value: Any, type_: Any) -> bool:
    try:
        read(value, type_)
    except ValueError:  # msgspec's errors are ValueErrors too
        return False
    return True


def mutants(type_: Any) -> st.SearchStrategy[Any]:
    """What the type reads or almost reads, with a few characters changed, left out, repeated or put in."""
    seeds = [each for each in (*READABLE[type_], *UNREADABLE[type_]) if isinstance(each, str)]
    letters = sorted({letter for seed in seeds for letter in seed} | set("\n\x1c٣éIſ"))

    def change(text: str, edits: list[tuple[int, int, str]]) -> str:
        for place, length, added in edits:
            at = place % (len(text) + 1)
            text = text[:at] + added + text[at + length :]
        return text

    edit = st.tuples(st.integers(0, 60), st.integers(0, 3), st.text(st.sampled_from(letters), max_size=4))
    return st.builds(change, st.sampled_from(seeds), st.lists(edit, max_size=4))


@pytest.mark.parametrize("type_", TYPES)
def test_the_server_takes_the_schema_of_a_value_also_in_lists_and_maps(type_: Any) -> None:
    for each in (type_, list[type_], dict[str, list[type_]], Annotated[list[type_], MaxItems(100)]):
        assert schema_causes(root(each), "schema") == []


@pytest.mark.parametrize(("type_", "value"), [(type_, value) for type_ in TYPES for value in READABLE[type_]])
def test_what_a_type_reads_its_schema_accepts(type_: Any, value: Any) -> None:
    read(value, type_)
    assert VALIDATORS[type_].validate({"spec": {"value": value}}).causes == []


@pytest.mark.parametrize(("type_", "value"), [(type_, value) for type_ in TYPES for value in UNREADABLE[type_]])
def test_what_a_type_cannot_read_its_schema_refuses(type_: Any, value: Any) -> None:
    assert not accepts(VALIDATORS[type_], value)


@pytest.mark.parametrize("type_", [Cron, Duration, Quantity, datetime, MicroTime, bytes])
def test_no_schema_lets_in_what_cannot_be_read(type_: Any) -> None:
    @settings(max_examples=600)
    @given(st.one_of(mutants(type_), st.text(max_size=12)))
    def holds(value: str) -> None:
        assert can_read(value, type_) or not accepts(VALIDATORS[type_], value)

    holds()


TIMES = st.datetimes(timezones=st.just(UTC)).filter(lambda time: time.year >= 1000)
PART = st.from_regex(
    r"(\*|\?|[0-9]{1,2}(-[0-9]{1,2})?|(jan|FEB|dec|sun|Sat)(-(mar|mon|fri))?)(/[0-9]{1,2})?", fullmatch=True
)
FIELD = st.lists(PART, min_size=1, max_size=3).map(",".join)


@settings(max_examples=1000)
@given(st.lists(FIELD, min_size=5, max_size=5).map(" ".join))
def test_a_schedule_in_its_usual_form_is_accepted_if_and_only_if_it_can_be_read(text: str) -> None:
    assert accepts(VALIDATORS[Cron], text) == can_read(text, Cron)


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (Duration, st.timedeltas(timedelta(days=-36500), timedelta(days=36500)).map(Duration.of)),
        (Quantity, st.builds(Quantity, st.one_of(st.integers(-(10**30), 10**30), st.decimals(-1000, 1000, places=9)))),
        (MicroTime, TIMES.map(MicroTime.of)),
        (datetime, TIMES),
    ],
)
def test_what_a_type_writes_its_schema_accepts(type_: Any, values: st.SearchStrategy[Any]) -> None:
    @given(values)
    def holds(value: Any) -> None:
        assert accepts(VALIDATORS[type_], codec.to_wire(value))

    holds()


LABEL = st.text("abzAZ019-_./ é", max_size=8) | st.sampled_from(["a" * 63, "a" * 64, "x/" + "b" * 63, "c" * 254 + "/d"])
REQUIREMENT = st.fixed_dictionaries(
    {"key": LABEL, "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "in", ""])},
    optional={"values": st.lists(LABEL, max_size=2)},
)


@settings(max_examples=600)
@given(st.fixed_dictionaries({}, optional={
    "matchLabels": st.dictionaries(LABEL, LABEL, max_size=3),
    "matchExpressions": st.lists(REQUIREMENT, max_size=2),
}))  # fmt: skip
def test_a_label_selector_is_accepted_if_and_only_if_it_can_be_read(selector: dict[str, Any]) -> None:
    assert accepts(VALIDATORS[LabelSelector], selector) == can_read(selector, LabelSelector)


def test_a_pod_template_in_a_custom_kind_costs_no_rules() -> None:
    assert schema_causes(root(core.PodTemplateSpec), "schema") == []


def test_a_bad_schedule_is_refused_with_a_pattern_that_can_be_read() -> None:
    causes = VALIDATORS[Cron].validate({"spec": {"value": "boo"}}).causes
    assert max(len(cause.message) for cause in causes) < 250


def test_a_pattern_of_the_authors_comes_on_top_of_the_types_own() -> None:
    hourly = Validator(root(Annotated[Cron, Pattern("^0 ")]))
    assert accepts(hourly, "0 * * * *")
    assert not accepts(hourly, "5 * * * *")
    assert not accepts(hourly, "0 boo")


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (Annotated[Quantity, MaxLength(500)], "can't read more than 40 characters"),
        (Annotated[datetime, Format("date")], "'date-time' already; write str"),
        (Selector, "write LabelSelector"),
        (list[Annotated[Cron, Nullable()]], r"Nullable lets in null.*add `\| None`"),
    ],
)
def test_a_type_cannot_be_made_to_let_in_what_it_cannot_read(of: Any, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        schema(of)


def test_a_shorter_bound_than_the_types_own_is_kept() -> None:
    assert schema(Annotated[Quantity, MaxLength(10)])["maxLength"] == 10
