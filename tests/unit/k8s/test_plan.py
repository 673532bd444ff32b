"""From definitions to classes: what is required, what has which default, what is marked how."""

from typing import Any

import pytest

from generate.kinds import Facts, Group
from generate.plan import Class, Field, Planner

KIND = {"x-kubernetes-group-version-kind": [{"group": "acme.io", "kind": "Widget", "version": "v1"}]}
HEAD = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
META = "#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1."
TEXT = {"type": ["string", "null"]}
FACTS = Facts("widgets")
TEXTS = {"type": ["array", "null"], "items": TEXT}


def plan(facts: Facts = FACTS, *, required: list[str] | None = None, **definitions: Any) -> dict[str, Class]:
    """The classes planned for a group whose only kind, Widget, is given by its properties."""
    structs = {f"acme.v1.{name}": definition for name, definition in definitions.items() if name != "Widget"}
    widget = {"properties": HEAD | definitions.get("Widget", {}), "required": required or [], **KIND}
    groups = [Group("acme", "acme.v1", {"Widget": facts})]
    (module,) = Planner({"acme.v1.Widget": widget, **structs}, groups).modules()
    return {each.name: each for each in [*module.structs, *module.kinds]}


def field(schema: dict[str, Any], *, required: bool = False) -> Field:
    """The one field of a Widget, as planned."""
    (only,) = plan(Widget={"size": schema}, required=["size"] if required else [])["Widget"].fields
    return only


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/acme.v1.{name}"}


def test_a_kind_inherits_its_head() -> None:
    assert plan(Widget={"colour": TEXT})["Widget"].fields == [Field("colour", "colour", "str | None", "None")]


def test_a_kind_says_where_it_is_served() -> None:
    facts = Facts("widgets", cluster=True, short="w wi", categories="all", subresources="scale status")
    assert plan(facts)["Widget"].keywords == {
        "group": '"acme.io"',
        "version": '"v1"',
        "plural": '"widgets"',
        "scope": '"Cluster"',
        "short_names": "('w', 'wi')",
        "categories": "('all',)",
        "subresources": "('scale', 'status')",
    }


def test_a_kind_with_a_status_but_no_way_to_write_it_says_so() -> None:
    assert plan(Widget={"status": ref("S")}, S={"properties": {}})["Widget"].keywords["subresources"] == "()"


def test_a_status_is_there_from_the_start() -> None:
    classes = plan(Widget={"status": ref("S")}, S={"properties": {"ready": TEXT}})
    assert classes["Widget"].fields == [Field("status", "status", "S", "field(default_factory=S)")]


def test_a_status_is_there_from_the_start_with_zeros_for_what_it_requires() -> None:
    classes = plan(Widget={"status": ref("S")}, S={"properties": {"ready": TEXT}, "required": ["ready"]})
    assert classes["Widget"].fields == [Field("status", "status", "S", "field(default_factory=S)")]
    assert classes["S"].fields == [Field("ready", "ready", "str", '""')]


def test_a_spec_that_needs_arguments_is_an_argument() -> None:
    classes = plan(Widget={"spec": ref("S")}, S={"properties": {"size": TEXT}, "required": ["size"]})
    assert classes["Widget"].fields == [Field("spec", "spec", "S", None)]


def test_a_spec_that_the_definition_requires_is_an_argument() -> None:
    classes = plan(Widget={"spec": ref("S")}, required=["spec"], S={"properties": {}})
    assert classes["Widget"].fields == [Field("spec", "spec", "S", None)]


def test_structs_are_planned_however_deep_they_are() -> None:
    assert plan(
        Widget={"parts": {"type": "array", "items": ref("Part")}},
        Part={"properties": {"screws": {"type": "object", "additionalProperties": ref("Screw")}}},
        Screw={"properties": {}},
        Unused={"properties": {}},
    ).keys() == {"Widget", "Part", "Screw"}


def test_an_atomic_struct_says_so() -> None:
    classes = plan(Widget={"part": ref("Part")}, Part={"x-kubernetes-map-type": "atomic"})
    assert classes["Part"] == Class("Part", "Struct", {"atomic": "True"}, [])


@pytest.mark.parametrize(
    ("schema", "type_"),
    [
        ({"type": "string"}, "str"),
        ({"type": "string", "format": "byte"}, "bytes"),
        ({"type": "integer", "format": "int32"}, "Int32"),
        ({"type": "integer", "format": "int64"}, "int"),
        ({"type": "number", "format": "double"}, "float"),
        ({"type": "boolean"}, "bool"),
        ({"$ref": f"{META}LabelSelector"}, "LabelSelector"),
        ({"type": "array", "items": {"type": "array", "items": TEXT}}, "list[list[str]]"),
        ({"type": "object", "additionalProperties": TEXT}, "dict[str, str]"),
    ],
)
def test_a_required_field_is_an_argument_of_its_type(schema: dict[str, Any], type_: str) -> None:
    assert field(schema, required=True) == Field("size", "size", type_, None)


def test_an_optional_list_is_empty() -> None:
    assert field(TEXTS) == Field("size", "size", "list[str]", "[]")


def test_an_optional_map_is_empty() -> None:
    assert field({"type": "object", "additionalProperties": TEXT}) == Field("size", "size", "dict[str, str]", "{}")


def test_a_required_time_can_be_null_as_go_writes_it() -> None:
    planned = field({"$ref": f"{META}MicroTime"}, required=True)
    assert planned == Field("size", "size", "Annotated[MicroTime | None, Required()]", "None")


def test_a_free_form_value_is_kept() -> None:
    planned = field({"$ref": f"{META}FieldsV1"})
    assert planned == Field("size", "size", "Annotated[dict[str, Any] | None, PreserveUnknown()]", "None")


@pytest.mark.parametrize(
    ("keywords", "markers"),
    [
        ({"list-type": "set"}, "ListSet()"),
        ({"list-type": "atomic"}, "ListAtomic()"),
        ({"list-type": "map", "list-map-keys": ["port", "protocol"]}, 'ListMap("port", "protocol")'),
        ({"map-type": "atomic"}, "MapAtomic()"),
        ({"map-type": "granular"}, "MapGranular()"),
        ({"patch-strategy": "merge"}, 'Patch("merge")'),
        ({"patch-strategy": "merge,retainKeys", "patch-merge-key": "name"}, 'Patch("merge,retainKeys", "name")'),
        ({"list-type": "atomic", "patch-strategy": "merge"}, 'ListAtomic(), Patch("merge")'),
    ],
)
def test_how_a_field_is_merged_becomes_a_marker(keywords: dict[str, Any], markers: str) -> None:
    schema = TEXTS | {f"x-kubernetes-{key}": value for key, value in keywords.items()}
    assert field(schema).type == f"Annotated[list[str], {markers}]"


def test_bytes_are_no_list_although_go_says_so() -> None:
    assert field({"type": "string", "format": "byte", "x-kubernetes-list-type": "atomic"}).type == "bytes | None"


def test_the_key_of_a_list_has_the_default_that_the_server_gives_it() -> None:
    classes = plan(Widget={"port": ref("ServicePort")}, ServicePort={"properties": {"protocol": TEXT}})
    assert classes["ServicePort"].fields == [Field("protocol", "protocol", "str", '"TCP"')]


def test_a_struct_of_an_unknown_group_is_refused_with_what_to_do() -> None:
    groups = [Group("acme", "acme.v1", {"Widget": Facts("widgets")})]
    widget = {"properties": {"gear": {"$ref": "#/$defs/other.v1.Gear"}}, **KIND}
    with pytest.raises(LookupError, match=r"other\.v1\.Gear is in no group of kinds\.py; add its group"):
        Planner({"acme.v1.Widget": widget, "other.v1.Gear": {}}, groups).modules()
