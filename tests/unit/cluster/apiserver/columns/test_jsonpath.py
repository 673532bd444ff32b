"""JSON paths in Kubernetes' dialect. What is expected here is what k8s.io/client-go/util/jsonpath does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.cluster.apiserver.columns.jsonpath import JSONPath

WEBSITE = {
    "metadata": {"name": "shop", "annotations": {"example.com/team.name": "ann"}},
    "spec": {
        "list": ["a", "b", "c", "d"],
        "empty": [],
        "nothing": None,
        "matrix": [[1, 2], [3]],
        "parts": [
            {"name": "small", "size": 1},
            {"name": "large", "size": 7, "on": True},
            {"name": "it's )", "size": 9, "on": False},
        ],
    },
    "status": {"conditions": [{"type": "Synced", "status": "False"}, {"type": "Ready", "status": "True"}]},
}


def find(path: str) -> list[Any]:
    return JSONPath.parse(path).find(WEBSITE)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".metadata.name", ["shop"]),
        ("$.metadata.name", ["shop"]),
        (".metadata['name']", ["shop"]),
        (r".metadata.annotations.example\.com/team\.name", ["ann"]),
        (r".metadata.annotations['example\.com/team\.name']", ["ann"]),
        (".spec.list[0]", ["a"]),
        (".spec.list[-1]", ["d"]),
        (".spec.list[*]", ["a", "b", "c", "d"]),
        (".spec.list[1:3]", ["b", "c"]),
        (".spec.list[:2]", ["a", "b"]),
        (".spec.list[0:4:2]", ["a", "c"]),
        (".spec.list[3,0]", ["d", "a"]),
        (".spec.matrix[*][0]", [1, 3]),
        (".metadata['name','none']", ["shop"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type=='Ready')].status", ["True"]),
        ('.status.conditions[?(@.type != "Ready")].type', ["Synced"]),
        (".spec.parts[?(@.size > 1)].name", ["large", "it's )"]),
        (".spec.parts[?(@.size>=7)].size", [7, 9]),
        (".spec.parts[?(@.on)].name", ["large", "it's )"]),
        (".spec.parts[?(@.on == true)].name", ["large"]),
        (r".spec.parts[?(@.name == 'it\'s )')].size", [9]),
        ("..size", [1, 7, 9]),
        (".metadata.*", ["shop", {"example.com/team.name": "ann"}]),
    ],
)
def test_a_path_leads_to(path: str, found: list[Any]) -> None:
    assert find(path) == found


def test_a_field_that_is_null_is_found() -> None:
    assert find(".spec.nothing") == [None]


@pytest.mark.parametrize(
    "path", [".spec.none", ".spec.none.at.all", ".spec.nothing.inside", ".spec.empty[*]", "..none"]
)
def test_what_is_not_there_is_not_found(path: str) -> None:
    assert find(path) == []


@pytest.mark.parametrize(
    "path",
    [
        ".spec.list[7]",
        ".spec.empty[0]",
        ".metadata[0]",
        ".metadata[?(@.a)]",
        ".spec.parts[?(@.size > 1.5)].name",
        '.spec.parts[?(@.size == "7")].name',
        ".spec.parts[?(@.on < true)].name",
        ".spec.parts[?(@.size = 7)].name",
        ".spec.list[0:2:0]",
        ".spec word",
    ],
)
def test_what_can_not_be_followed_finds_nothing(path: str) -> None:
    assert find(path) == []


@pytest.mark.parametrize(
    ("path", "place", "problem"),
    [
        (".spec.list[", 11, "'[' without ']'"),
        (".spec.list[one]", 11, "neither an index"),
        ('.spec["list"]', 6, "a key in single quotes"),
        (".spec....list", 8, "'..' twice in a row"),
        (".spec,list", 6, "',' is not expected here"),
        (".spec.list[?(@.a==1]", 11, "does not end with ')]'"),
        (".spec.list[?(@.a=='x)]", 11, "does not end with ')]'"),
        (".spec.list[?(@.a==!)]", 19, "'!' is not expected here"),
        (".spec.list[?(@.a==1.2.3)]", 19, "'1.2.3' is not a number"),
        ('.spec.list[?(@.a=="\\q")]', 19, "means nothing in a text"),
        (".spec.size\\", 11, "nothing after the last backslash"),
    ],
)
def test_a_path_that_can_not_be_read_is_refused_with_the_place(path: str, place: int, problem: str) -> None:
    with pytest.raises(ValueError, match=f"character {place}: ") as refused:
        JSONPath.parse(path)
    assert problem in str(refused.value)


def test_what_can_not_be_followed_exists_in_a_filter() -> None:
    assert find(".spec.parts[?(@.name[0])].size") == [1, 7, 9]


def test_escapes_in_quotes_mean_what_they_mean_in_go() -> None:
    path = JSONPath.parse(r'[?(@ == "a\tb\x41\u00e9\"")]')
    assert path.find(['a\tbAé"', "other"]) == ['a\tbAé"']


def test_a_value_nested_deeper_than_the_stack_is_searched() -> None:
    deep: Any = {"size": 3}
    for _ in range(100_000):
        deep = [deep]
    assert JSONPath.parse("..size").find(deep) == [3]


@given(st.text(alphabet=".[]?(@='\"*:-0123456789ab\\ $!<>,\n{}", max_size=20))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        path = JSONPath.parse(text)
    except ValueError:
        return
    assert isinstance(path.find({"a": [{"b": 1}], "b": "a"}), list)
