"""Schemas: what is refused, with the path and what to write instead. What is accepted, a real server judges."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest

from everything import Everything, EverythingSpec
from windvane import (
    Default,
    ExactlyOneOf,
    Ge,
    Gt,
    ListMap,
    ListSet,
    MinLength,
    Pattern,
    PreserveUnknown,
    Quantity,
    Required,
    Rule,
    SchemaError,
    Struct,
    field,
    schema,
)
from windvane.k8s import apps, core


class Leaf(Struct):
    key: str | None = None


class Node(Struct):
    children: list["Node"] = []


def of(annotation: Any) -> Callable[[], dict[str, Any]]:
    def make() -> dict[str, Any]:
        class Thing(Struct):
            field: annotation

        Thing.__annotations__["field"] = annotation
        return schema(Thing)

    return make


REFUSED: list[tuple[Any, str]] = [
    (Any, r"Thing.field: Any has no schema; write Annotated\[Any, PreserveUnknown\(\)\]"),
    (dict[str, Any], r"Thing.field: .* write dict\[str, str\], say, or Annotated\[dict\[str, Any\]"),
    (dict[int, str], r"Thing.field: a map's keys are strings; write dict\[str, str\]"),
    (dict, r"Thing.field: the server would empty a map"),
    (list, r"Thing.field: a list needs the type of its items; write list\[str\]"),
    (list[Any], r"Thing.field\[\]: Any has no schema"),
    (set[str], r"Thing.field: .*write Annotated\[list\[...\], ListSet\(\)\]"),
    (tuple[int, int], r"Thing.field: .*write list\[...\] with MinItems and MaxItems"),
    (int | float, r"Thing.field: .*one field has one type; .*ExactlyOneOf"),
    (Leaf | str, r"one field has one type"),
    (complex, r"Thing.field: complex has no structural schema; write a Struct"),
    (Literal["a", 1], r"must all be strings or all be integers"),
    (Node, r"Thing.field.children\[\]: Node contains itself"),
    (Annotated[str, Ge(1)], r"Thing.field: Ge is for integer or number, and this is string"),
    (Annotated[int, MinLength(1)], r"MinLength is for string, and this is integer"),
    (Annotated[str, ListSet()], r"ListSet is for array"),
    (Annotated[int, Ge(1), Gt(2)], r"Gt sets 'minimum' a second time"),
    (Annotated[list[Leaf], ListSet()], r"ListSet is for scalars and atomic structs; write ListMap"),
    (Annotated[list[Leaf], ListMap("name")], r"ListMap\('name'\): the items' fields are key"),
    (Annotated[list[Leaf], ListMap("key")], r"ListMap\('key'\): that field must be required or have a default"),
    (Annotated[list[str], ListMap("key")], r"the items' fields are none"),
]


@pytest.mark.parametrize(("annotation", "message"), REFUSED, ids=[str(annotation) for annotation, _ in REFUSED])
def test_what_can_not_be_structural_is_refused_with_path_and_remedy(annotation: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        of(annotation)()


def test_a_rule_over_fields_that_are_not_there_is_refused() -> None:
    with pytest.raises(SchemaError, match="Choice: ExactlyOneOf names c; the fields are a, b"):

        class Choice(Struct, rules=[ExactlyOneOf("a", "c")]):
            a: str | None = None
            b: str | None = None


def test_required_with_a_default_that_is_never_sent_is_refused() -> None:
    class Never(Struct):
        text: Annotated[str, Required()] = "x"

    with pytest.raises(SchemaError, match=r"Never.text: .* write field\(default_factory=...\)"):
        schema(Never)


def test_optional_is_not_nullable() -> None:
    assert of(str | None)()["properties"]["field"] == {"type": "string"}


def test_markers_on_items_and_values_stay_there() -> None:
    made = of(dict[str, list[Annotated[str, Pattern("^a")]]])()["properties"]["field"]
    assert made["additionalProperties"]["items"] == {"type": "string", "pattern": "^a"}


def test_defaults_are_written_as_the_wire_has_them_and_empty_ones_not_at_all() -> None:
    class Defaults(Struct):
        size: Quantity = Quantity("1.5Gi")
        count: int = 0
        text: str = ""
        items: list[str] = []
        leaf: Leaf = field(default_factory=Leaf)
        stated: Annotated[int | None, Default(4)] = None

    properties = schema(Defaults)["properties"]
    assert {name: inner["default"] for name, inner in properties.items() if "default" in inner} == {
        "size": "1536Mi",
        "count": 0,
        "stated": 4,
    }


def test_a_struct_with_defaults_inside_is_filled_in() -> None:
    limits = schema(EverythingSpec)["properties"]["limits"]
    assert limits["default"] == {}
    assert limits["properties"]["burst"]["default"] == 2


def test_rules_of_base_classes_are_kept() -> None:
    class Base(Struct, rules=[Rule("true", "base")]):
        a: int = 1

    class Derived(Base, rules=[Rule("true", "derived")]):
        b: int = 1

    assert [rule["message"] for rule in schema(Derived)["x-kubernetes-validations"]] == ["base", "derived"]


def test_reserved_words_are_spelled_out_in_rules() -> None:
    source = schema(EverythingSpec)["properties"]["source"]
    assert "has(self.__namespace__)" in source["x-kubernetes-validations"][0]["rule"]


def test_field_docs_come_from_the_string_under_the_field() -> None:
    image = schema(EverythingSpec)["properties"]["image"]
    assert image["description"] == "The container image to serve.\n\nA second paragraph."


def test_what_editors_show_of_a_built_in_class_is_no_description() -> None:
    assert core.ResourceRequirements.__doc__ == "See `kubectl explain pods.spec.resources`."
    assert "description" not in schema(core.ResourceRequirements)


def test_docs_of_inherited_fields_are_kept() -> None:
    status = schema(Everything)["properties"]["status"]
    assert status["properties"]["conditions"]["description"] == "What is true of the object now."


def test_patch_keywords_are_for_built_in_kinds_only() -> None:
    containers = schema(core.PodSpec, builtin=True)["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-patch-strategy"] == "merge"
    assert "x-kubernetes-patch-merge-key" not in schema(core.PodSpec)["properties"]["containers"]


def test_a_whole_built_in_kind_has_a_schema() -> None:
    deployment = schema(apps.Deployment)
    assert deployment["properties"]["spec"]["required"] == ["selector", "template"]


def test_anything_goes_where_the_author_says_so() -> None:
    assert of(Annotated[Any, PreserveUnknown()])()["properties"]["field"] == {
        "x-kubernetes-preserve-unknown-fields": True
    }
