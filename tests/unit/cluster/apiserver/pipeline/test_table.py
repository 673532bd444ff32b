"""Tables: all columns and cells as recorded from a real server, and what single cells mean."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from windvane import Kind, ambient
from windvane.api.resource import kind_of
from windvane.cluster.apiserver.columns.age import human_duration, since
from windvane.cluster.apiserver.pipeline.table import table
from windvane.cluster.apiserver.registry.custom import CustomStrategy
from windvane.cluster.apiserver.registry.kinds import builtin_type
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.schema.models import builtin_models
from windvane.k8s import core, flowcontrol, rbac

JSONObject = dict[str, Any]

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
RECORDED: list[JSONObject] = json.loads(Path(__file__).with_name("recorded_tables.json").read_text())
TYPES = {type_.kind: type_ for type_ in map(builtin_type, builtin_models())}
KINDS = {(kind.api_version, kind.name): kind for kind in TYPES}


class At(ambient.Reality):
    """The world at one moment."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        return self._moment


@pytest.fixture(autouse=True)
def frozen_time() -> Iterator[None]:
    with ambient.use(At(NOW)):
        yield


def builtin(kind: Kind) -> ResourceType:
    return TYPES[kind]


def custom(*columns: JSONObject) -> ResourceType:
    kind = Kind(group="demo.windvane.dev", version="v1", name="Website", plural="websites")
    return ResourceType(CustomStrategy(kind, {}, {"name": "v1", "additionalPrinterColumns": list(columns)}))


def column(path: str, type_: str = "string", **rest: Any) -> JSONObject:
    return {"name": "Shown", "type": type_, "jsonPath": path, **rest}


def website(value: object) -> JSONObject:
    return {"metadata": {"name": "shop", "creationTimestamp": "2026-05-04T02:02:01Z"}, "spec": {"value": value}}


def shown(value: object, type_: str = "string") -> object:
    """What a custom column of this type shows for a value."""
    made = table(custom(column(".spec.value", type_)), [website(value)], list_meta={})
    return made["rows"][0]["cells"][1]


@pytest.mark.parametrize(
    "recorded", RECORDED, ids=lambda each: f"{each['kind']}-{each['apiVersion'].replace('/', '-')}"
)
def test_the_table_of_a_built_in_kind_is_that_of_a_real_server(recorded: JSONObject) -> None:
    objects = [row["object"] for row in recorded["rows"]]
    with ambient.use(At(datetime.fromisoformat(recorded["moment"]))):
        kind = KINDS[recorded["apiVersion"], recorded["kind"]]
        made = table(builtin(kind), objects, list_meta={}, include_object="Object")
    assert [{**each, "description": ""} for each in made["columnDefinitions"]] == [
        {**each, "description": ""} for each in recorded["columns"]
    ]
    assert made["rows"] == recorded["rows"]


def test_a_kind_without_columns_of_its_own_shows_when_it_was_made() -> None:
    role = {"metadata": {"name": "reader", "creationTimestamp": "2026-05-04T02:02:01Z"}}
    made = table(builtin(kind_of(rbac.Role)), [role], list_meta={})
    assert [each["name"] for each in made["columnDefinitions"]] == ["Name", "Created At"]
    assert made["rows"][0]["cells"] == ["reader", "2026-05-04T02:02:01Z"]


def test_a_table_has_the_metadata_of_its_list() -> None:
    made = table(builtin(kind_of(core.ConfigMap)), [], list_meta={"resourceVersion": "7", "continue": "x"})
    assert made["kind"] == "Table"
    assert made["apiVersion"] == "meta.k8s.io/v1"
    assert made["metadata"] == {"resourceVersion": "7", "continue": "x"}
    assert made["rows"] == []


def test_an_empty_table_of_a_kind_without_columns_of_its_own_has_null_for_rows() -> None:
    assert table(builtin(kind_of(rbac.Role)), [], list_meta={})["rows"] is None


def test_flow_schemas_are_in_the_order_in_which_they_are_tried() -> None:
    schemas = [
        {"metadata": {"name": name}, "spec": {"matchingPrecedence": precedence}}
        for name, precedence in [("late", 900), ("b", 5), ("a", 5), ("first", 1)]
    ]
    made = table(builtin(kind_of(flowcontrol.FlowSchema)), schemas, list_meta={})
    assert [row["cells"][0] for row in made["rows"]] == ["first", "a", "b", "late"]


def test_a_row_has_the_metadata_of_its_object() -> None:
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "c"}}
    made = table(builtin(kind_of(core.ConfigMap)), [thing], list_meta={})
    assert made["rows"][0]["object"] == {
        "apiVersion": "meta.k8s.io/v1",
        "kind": "PartialObjectMetadata",
        "metadata": {"name": "a"},
    }


def test_a_row_has_the_whole_object_or_nothing_of_it_when_asked_for() -> None:
    thing = {"metadata": {"name": "a"}, "data": {"b": "c"}}
    type_ = builtin(kind_of(core.ConfigMap))
    assert table(type_, [thing], list_meta={}, include_object="Object")["rows"][0]["object"] == thing
    assert table(type_, [thing], list_meta={}, include_object="None")["rows"][0]["object"] is None


def test_later_tables_of_a_watch_have_no_headers() -> None:
    made = table(builtin(kind_of(core.ConfigMap)), [{"metadata": {"name": "a"}}], list_meta={}, no_headers=True)
    assert made["columnDefinitions"] is None
    assert len(made["rows"][0]["cells"]) == 3


def test_an_object_of_which_the_store_holds_only_a_name_has_a_row_in_every_kind() -> None:
    for kind in KINDS.values():
        made = table(builtin(kind), [{"metadata": {"name": "bare"}}], list_meta={})
        assert len(made["rows"]) == 1, kind


def test_a_custom_kind_without_columns_shows_its_age() -> None:
    made = table(custom(), [website(1)], list_meta={})
    assert [(each["name"], each["type"]) for each in made["columnDefinitions"]] == [("Name", "string"), ("Age", "date")]
    assert made["rows"][0]["cells"] == ["shop", "60m"]


def test_a_custom_kind_with_columns_shows_no_age_of_its_own_accord() -> None:
    made = table(custom(column(".spec.value", "integer", priority=1, format="int32")), [website(3)], list_meta={})
    *_, last = made["columnDefinitions"]
    assert (last["name"], last["type"], last["format"], last["priority"]) == ("Shown", "integer", "int32", 1)
    assert made["rows"][0]["cells"] == ["shop", 3]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("words", "words"),
        ("", ""),
        (3, "3"),
        (2.5, "2.5"),
        (1234567.5, "1.2345675e+06"),
        (0.00001, "1e-05"),
        (True, "true"),
        (None, "<no value>"),
        ({"b": 1.0, "a": "<é>"}, '{"a":"\\u003cé\\u003e","b":1}'),
        ([1, 1e21, 1.5e-7], "[1,1e+21,1.5e-7]"),
    ],
)
def test_a_text_column_shows_any_value_as_go_prints_it(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_column_of_another_type_shows_only_what_is_of_that_type() -> None:
    values = ["3", 3, 3.7, True, None, [], "2026-05-04T03:01:31Z"]
    assert [shown(value, "integer") for value in values] == [None, 3, 3, None, None, None, None]
    assert [shown(value, "number") for value in values] == [None, 3, 3.7, None, None, None, None]
    assert [shown(value, "boolean") for value in values] == [None, None, None, True, None, None, None]
    assert [shown(value, "date") for value in values] == ["<invalid>", None, None, None, None, None, "30s"]


def test_what_a_column_does_not_find_is_null() -> None:
    made = table(custom(column(".spec.other"), column(".spec.other", "date")), [website(1)], list_meta={})
    assert made["rows"][0]["cells"] == ["shop", None, None]


def test_columns_after_one_that_can_not_be_read_are_left_out() -> None:
    made = table(custom(column(".spec.value"), column(".spec["), column(".spec")), [website("a")], list_meta={})
    assert made["rows"][0]["cells"] == ["shop", "a"]


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(seconds=-2), "<invalid>"),
        (timedelta(seconds=-1.5), "0s"),
        (timedelta(seconds=0.9), "0s"),
        (timedelta(seconds=119), "119s"),
        (timedelta(minutes=2), "2m"),
        (timedelta(minutes=9, seconds=59), "9m59s"),
        (timedelta(minutes=10, seconds=59), "10m"),
        (timedelta(minutes=179), "179m"),
        (timedelta(hours=3), "3h"),
        (timedelta(hours=7, minutes=59), "7h59m"),
        (timedelta(hours=8, minutes=59), "8h"),
        (timedelta(hours=47), "47h"),
        (timedelta(hours=48), "2d"),
        (timedelta(days=7, hours=23), "7d23h"),
        (timedelta(days=8, hours=23), "8d"),
        (timedelta(days=729), "729d"),
        (timedelta(days=730), "2y"),
        (timedelta(days=731), "2y1d"),
        (timedelta(days=8 * 365 + 5), "8y"),
    ],
)
def test_a_length_of_time_reads_as_kubectl_shows_it(length: timedelta, text: str) -> None:
    assert human_duration(length) == text


def test_an_age_is_counted_from_now() -> None:
    assert since("2026-05-04T03:00:00Z") == "2m1s"
    assert since(None) == "<unknown>"


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: f"{kind.api_version} {kind.name}")
def test_a_bookmark_which_is_nothing_but_a_version_has_a_row(kind: Kind) -> None:
    bookmark = {"kind": kind.name, "apiVersion": kind.api_version, "metadata": {"resourceVersion": "7"}}
    assert len(table(builtin(kind), [bookmark], list_meta={})["rows"]) == 1


def test_a_column_is_described_by_the_field_that_it_shows() -> None:
    shown = table(builtin(kind_of(core.Secret)), [], list_meta={})["columnDefinitions"]
    described = {each["name"]: each["description"] for each in shown}
    assert described["Name"].startswith("Name must be unique within a namespace.")
    assert described["Type"].startswith("Used to facilitate programmatic handling of secret data.")
