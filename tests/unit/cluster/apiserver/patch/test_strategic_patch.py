"""Strategic merge patch: lists merged by key, directives, order, and what a real API server makes of bad ones."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.custom_resources.schema import schema
from windvane.cluster.apiserver.failure import Failure
from windvane.cluster.apiserver.patch import strategic_patch
from windvane.k8s import apps, core

POD = schema(core.Pod, builtin=True)
DEPLOYMENT = schema(apps.Deployment, builtin=True)

A, B, C, D, E = ({"name": name} for name in "abcde")
RED_A = {"name": "a", "image": "red"}
DELETE, REPLACE = {"$patch": "delete"}, {"$patch": "replace"}


def refusal(document: Any, patch: Any) -> tuple[int, str]:
    with pytest.raises(Failure) as refused:
        strategic_patch.apply(document, patch, POD)
    return refused.value.status.code, refused.value.status.message


CONTAINERS = [  # the server's containers, the patch of spec, and what apimachinery v0.36.3 makes of them
    ([A], {"containers": [RED_A]}, [RED_A]),
    ([A, B], {"containers": [{"name": "b", "image": "red"}]}, [A, {"name": "b", "image": "red"}]),
    ([RED_A, B], {"containers": [{"name": "a", "image": None}]}, [A, B]),
    ([RED_A], {"containers": [{"name": "a", "tty": True}]}, [RED_A | {"tty": True}]),
    # New items come first, and what the patch names keeps the patch's order.
    ([A, B], {"containers": [C]}, [C, A, B]),
    ([A, B, C], {"containers": [C, A]}, [B, C, A]),
    ([A, B, C], {"containers": []}, [A, B, C]),
    # Deleted and replaced.
    ([A, B], {"containers": [A | DELETE]}, [B]),
    ([A, B], {"containers": [C | DELETE]}, [A, B]),
    ([A, B], {"containers": [A | DELETE, C]}, [C, B]),
    ([A, B], {"containers": [REPLACE, C, RED_A]}, [C, RED_A]),
    ([A, B], {"containers": [C, REPLACE]}, [C]),
    ([A, B], {"containers": [REPLACE]}, []),
    ([A, B], {"containers": [A | DELETE, RED_A]}, [RED_A, B]),
    # In an order that is given.
    ([A, B, C], {"$setElementOrder/containers": [C, B, A]}, [C, B, A]),
    ([A, B, C], {"$setElementOrder/containers": [C, A]}, [B, C, A]),
    ([A, B, C, D], {"$setElementOrder/containers": [D, B]}, [A, C, D, B]),
    ([A, B], {"$setElementOrder/containers": [C, B, A]}, [B, A]),
    ([A, B], {"$setElementOrder/containers": [B, C, A], "containers": [C]}, [B, C, A]),
    ([A, B, C], {"$setElementOrder/containers": [D, C], "containers": [D]}, [D, A, B, C]),
    ([A, B, C], {"$setElementOrder/containers": [D, C, B], "containers": [D, A | DELETE]}, [D, C, B]),
    # New ones that fill the place of deleted ones come after what only the server has; others come before it.
    ([A, B, C], {"$setElementOrder/containers": [D], "containers": [D, A | DELETE]}, [B, C, D]),
    ([A, B, C], {"$setElementOrder/containers": [D, E], "containers": [D, E, A | DELETE]}, [B, C, D, E]),
    ([A, B, C], {"$setElementOrder/containers": [E, D], "containers": [E, D]}, [E, D, A, B, C]),
    # Where there were none.
    (None, {"containers": [B, A | DELETE, {"name": "c", "image": None}]}, [B, C]),
    (None, {"$setElementOrder/containers": [A, B], "containers": [A, B, C | DELETE]}, [A, B]),
    ([A], {"containers": None}, None),
]


@pytest.mark.parametrize(("server", "patch", "result"), CONTAINERS)
def test_a_list_of_maps_is_merged_by_its_key(server: Any, patch: Any, result: Any) -> None:
    document = {"spec": {} if server is None else {"containers": server}}
    wanted = {"spec": {} if result is None else {"containers": result}}
    assert strategic_patch.apply(document, {"spec": patch}, POD) == wanted


FINALIZERS = [
    (["a", "b"], {"finalizers": ["c"]}, ["c", "a", "b"]),
    (["a", "b"], {"finalizers": ["b", "a"]}, ["b", "a"]),
    (["a", "b"], {"finalizers": []}, ["a", "b"]),
    (["a", "b"], {"$deleteFromPrimitiveList/finalizers": ["a", "x"]}, ["b"]),
    (["a", "b"], {"$deleteFromPrimitiveList/finalizers": "a"}, ["a", "b"]),
    (["a", "b"], {"$deleteFromPrimitiveList/finalizers": None}, None),
    (None, {"$deleteFromPrimitiveList/finalizers": ["a"]}, None),
    (["a", "b", "c"], {"$setElementOrder/finalizers": ["c", "a"]}, ["b", "c", "a"]),
    (["a", "b"], {"$setElementOrder/finalizers": ["c", "b"], "finalizers": ["c"]}, ["c", "a", "b"]),
    (
        ["a", "b", "c"],
        {
            "$setElementOrder/finalizers": ["d", "c"],
            "$deleteFromPrimitiveList/finalizers": ["a"],
            "finalizers": ["d"],
        },
        ["d", "b", "c"],
    ),
]


@pytest.mark.parametrize(("server", "patch", "result"), FINALIZERS)
def test_a_merged_list_of_strings_is_a_set_with_an_order(server: Any, patch: Any, result: Any) -> None:
    document = {"metadata": {} if server is None else {"finalizers": server}}
    wanted = {"metadata": {} if result is None else {"finalizers": result}}
    assert strategic_patch.apply(document, {"metadata": patch}, POD) == wanted


PODS = [
    # Maps are merged, null removes, and a null for nothing is nothing.
    ({"metadata": {"labels": {"a": "1", "b": "2"}}}, {"metadata": {"labels": {"a": None, "c": "3", "d": None}}},
     {"metadata": {"labels": {"b": "2", "c": "3"}}}),
    ({}, {"metadata": {"labels": {"a": None, "b": "2"}}}, {"metadata": {"labels": {"b": "2"}}}),
    ({"metadata": {"labels": {"a": "1"}}}, {"metadata": {"labels": {"$patch": "replace", "b": "2"}}},
     {"metadata": {"labels": {"b": "2"}}}),
    ({"metadata": {"labels": {"a": "1"}}}, {"metadata": {"labels": {"$patch": "delete"}}},
     {"metadata": {"labels": {}}}),
    ({"metadata": {}}, {"metadata": {"labels": {"$patch": "delete"}}}, {"metadata": {}}),
    ({"metadata": {}}, {"metadata": {"labels": {"$patch": None, "a": "1"}}}, {"metadata": {"labels": {"a": "1"}}}),
    # What is not to be merged, by the schema, is replaced.
    ({"spec": {"tolerations": [{"key": "a"}]}}, {"spec": {"tolerations": [{"key": "b"}]}},
     {"spec": {"tolerations": [{"key": "b"}]}}),
    ({"spec": {"containers": [{"name": "a", "args": ["x"]}]}}, {"spec": {"containers": [{"name": "a", "args": ["y"]}]}},
     {"spec": {"containers": [{"name": "a", "args": ["y"]}]}}),
    ({"spec": {"containers": [{"name": "a", "args": ["x", "y"]}]}},
     {"spec": {"containers": [{"name": "a", "$deleteFromPrimitiveList/args": ["x"]}]}},
     {"spec": {"containers": [{"name": "a", "args": ["y"]}]}}),
    # Lists in lists, each with a key of its own.
    ({"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}, {"containerPort": 81}]}]}},
     {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 81, "name": "web"}]}]}},
     {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}, {"containerPort": 81, "name": "web"}]}]}}),
    ({"metadata": {"ownerReferences": [{"uid": "1", "name": "x"}]}},
     {"metadata": {"ownerReferences": [{"uid": "2", "name": "x"}, {"uid": "1", "controller": True}]}},
     {"metadata": {"ownerReferences": [{"uid": "2", "name": "x"}, {"uid": "1", "name": "x", "controller": True}]}}),
    # One kind of volume in place of another.
    ({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
     {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}},
     {"spec": {"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]}}),
    ({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
     {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}, "$retainKeys": ["name", "hostPath"]}]}},
     {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}}),
    # A real server leaves the directive in an item that is new; it is an unknown field there.
    ({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
     {"spec": {"volumes": [{"name": "w", "emptyDir": {}, "$retainKeys": ["name", "emptyDir"]}]}},
     {"spec": {"volumes": [{"name": "w", "emptyDir": {}, "$retainKeys": ["name", "emptyDir"]},
                           {"name": "v", "emptyDir": {}}]}}),
    ({"spec": {"nodeName": "n"}}, {"spec": {"nodeName": {"a": 1}}}, {"spec": {"nodeName": {"a": 1}}}),
    ({"spec": {"nodeName": "n"}}, {"$patch": "delete"}, {}),
    ({"spec": {"nodeName": "n"}}, {"$patch": "replace", "spec": {"nodeName": None}}, {"spec": {"nodeName": None}}),
    ({"spec": {"nodeName": "n"}}, {"unknown": {"a": None, "b": 1}}, {"spec": {"nodeName": "n"}, "unknown": {"b": 1}}),
]  # fmt: skip


@pytest.mark.parametrize(("document", "patch", "result"), PODS)
def test_a_pod_is_patched_as_on_a_real_server(document: Any, patch: Any, result: Any) -> None:
    assert strategic_patch.apply(document, patch, POD) == result


def test_a_new_strategy_does_not_keep_the_fields_of_the_old_one() -> None:
    document = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert strategic_patch.apply(document, patch, DEPLOYMENT) == {"spec": {"strategy": {"type": "Recreate"}}}


def test_where_the_schema_says_nothing_maps_are_merged_and_lists_replaced() -> None:
    document = {"a": {"b": [1], "c": {"d": 1}}}
    patch = {"a": {"b": [2], "c": {"e": 2}}}
    assert strategic_patch.apply(document, patch, {}) == {"a": {"b": [2], "c": {"d": 1, "e": 2}}}


def test_a_field_whose_strategy_is_to_replace_is_replaced() -> None:
    silent = {"properties": {"a": {"type": "object", "x-kubernetes-patch-strategy": "replace"}}}
    assert strategic_patch.apply({"a": {"b": 1}}, {"a": {"c": 2}}, silent) == {"a": {"c": 2}}


def test_no_patch_at_all_changes_nothing() -> None:
    assert strategic_patch.apply({"spec": {}}, None, POD) == {"spec": {}}


REFUSALS = [
    (5, 400, "json: cannot unmarshal number into Go value of type map[string]interface {}"),
    ([], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ({"spec": {"$retainKeys": "x"}}, 400, "invalid patch format of retainKeys"),
    ({"spec": {"$retainKeys": ["a"], "nodeName": "x"}}, 400, "invalid patch format of retainKeys"),
    ({"spec": {"$setElementOrder": []}}, 400, "invalid patch format of setElementOrder list"),
    ({"metadata": {"$deleteFromPrimitiveList": ["a"]}}, 400, "invalid patch format of primitive list"),
    ({"spec": {"containers": [{"image": "x", "tty": True, "args": ["a", "b"]}]}}, 500,
     "map: map[args:[a b] image:x tty:true] does not contain declared merge key: name"),
    ({"spec": {"containers": [DELETE]}}, 500, "map: map[$patch:delete] does not contain declared merge key: name"),
    ({"spec": {"$patch": "bogus"}}, 500, "unknown patch type: bogus in map: map[$patch:bogus]"),
    ({"spec": {"$patch": "merge"}}, 500, "unknown patch type: merge in map: map[$patch:merge]"),
    ({"spec": {"$patch": 5}}, 500, "unknown patch type: %!s(int64=5) in map: map[$patch:5]"),
    ({"spec": {"$patch": None, "a": 1.5}}, 500, "unknown patch type: %!s(<nil>) in map: map[$patch:<nil> a:1.5]"),
    ({"spec": {"containers": [{"name": "c", "$patch": "bogus"}]}}, 500,
     "unknown patch type: bogus in map: map[$patch:bogus name:c]"),
    ({"spec": {"containers": [{"name": "c", "$patch": "merge"}]}}, 500,
     "merging lists cannot yet be specified in the patch"),
    ({"spec": {"$setElementOrder/containers": "x"}}, 500, "expected a []interface {}, but received a string"),
    ({"spec": {"$setElementOrder/containers": [], "containers": None}}, 500,
     "expected a []interface {}, but received a %!s(<nil>)"),
    ({"spec": {"$setElementOrder/volumes": [], "volumes": []}}, 500, "no elements in any of the given slices"),
    ({"spec": {"$setElementOrder/containers": [{"name": "d"}], "containers": [{"name": "c", "image": "z"}]}}, 500,
     "The order in patch list:\n[map[image:z name:c]]\n doesn't match $setElementOrder list:\n[map[name:d]]\n"),
    ({"metadata": {"$setElementOrder/finalizers": ["b", "a"], "finalizers": ["a", "b"]}}, 500,
     "The order in patch list:\n[a b]\n doesn't match $setElementOrder list:\n[b a]\n"),
    ({"spec": {"$setElementOrder/nodeName": []}}, 500, "expected slice or array type, but got: struct"),
    ({"metadata": {"labels": {"$setElementOrder/x": []}}}, 500,
     "merging an object in json but data type is not struct, instead is: map"),
    ({"metadata": {"finalizers": [5]}}, 500, "list element types are not identical: [[a b] [5]]"),
    ({"metadata": {"finalizers": [None]}}, 500, "list element types are not identical: [[a b] [<nil>]]"),
    ({"spec": {"$deleteFromPrimitiveList/tolerations": [{"key": "a"}]}}, 500,
     "cannot merge lists without merge key for struct"),
]  # fmt: skip
REFUSING: dict[str, Any] = {
    "metadata": {"finalizers": ["a", "b"], "labels": {"a": "1"}},
    "spec": {"containers": [A], "tolerations": [{"key": "a"}]},
}


@pytest.mark.parametrize(("patch", "code", "message"), REFUSALS)
def test_a_bad_patch_is_refused_in_the_words_of_a_real_server(patch: Any, code: int, message: str) -> None:
    assert refusal(REFUSING, patch) == (code, message)


def test_lists_of_lists_are_refused() -> None:
    words = "the server rejected our request due to an error in our request"
    assert refusal({"metadata": {"finalizers": []}}, {"metadata": {"finalizers": [["a"]]}}) == (422, words)


def test_an_unknown_list_has_no_order() -> None:
    code, message = refusal({"spec": {}}, {"spec": {"$setElementOrder/foo": []}})
    assert code == 500
    assert 'for the json field "foo"' in message


def test_a_patch_that_is_too_deep_is_a_bad_request() -> None:
    patch: dict[str, Any] = {}
    for _ in range(100_000):
        patch = {"a": patch}
    assert refusal({}, patch) == (400, "exceeded max depth")
    while patch:  # Python itself can't drop what is so deep in one go
        patch = patch.pop("a")


def test_long_lists_are_merged_in_time_that_grows_with_their_length_alone() -> None:
    many = [{"name": str(number)} for number in range(20_000)]
    patch = {"$setElementOrder/containers": many[::-1], "containers": many[:0:-1]}
    result = strategic_patch.apply({"spec": {"containers": many}}, {"spec": patch}, POD)
    assert result == {"spec": {"containers": many[::-1]}}


labels = st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"), max_size=3)
finalizers = st.lists(st.sampled_from(["x/a", "x/b", "x/c", "x/d"]), unique=True)


def listed(key: str, choices: str, fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[list[Any]]:
    item = st.fixed_dictionaries({key: st.sampled_from(choices)}, optional=fields)
    return st.lists(item, unique_by=lambda each: str(each[key]), max_size=5)


env = listed("name", "KLMN", {"value": st.sampled_from("xy")})
containers = listed(
    "name", "abcde", {"image": st.sampled_from("ij"), "env": env, "args": st.lists(st.sampled_from("xy"))}
)
volumes = listed("name", "vwx", {"emptyDir": st.just({}), "hostPath": st.just({"path": "/"})})
pods: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries({"labels": labels, "finalizers": finalizers}),
        "spec": st.fixed_dictionaries({"containers": containers, "volumes": volumes}),
    }
)


@st.composite
def patches(draw: st.DrawFn) -> Any:
    """A patch as kubectl makes them: with orders that have all the items in them, deletions and nulls."""
    patch = draw(pods)
    spec, metadata = patch["spec"], patch["metadata"]
    if spec["containers"] and draw(st.booleans()):
        order = [{"name": item["name"]} for item in spec["containers"]]
        others = [name for name in "abcde" if {"name": name} not in order]
        spec["$setElementOrder/containers"] = order + [
            {"name": name} for name in draw(st.lists(st.sampled_from("fgh")))
        ]
        spec["containers"] += [{"name": name, "$patch": "delete"} for name in others if draw(st.booleans())]
    spec["volumes"] += [REPLACE] if draw(st.booleans()) else []
    metadata["labels"] |= dict.fromkeys(draw(st.lists(st.sampled_from("cde"))))
    gone = [each for each in draw(finalizers) if each not in metadata["finalizers"]]
    metadata["$deleteFromPrimitiveList/finalizers"] = gone
    return patch


@given(pods, patches())
def test_a_patch_applied_twice_is_as_applied_once(document: Any, patch: Any) -> None:
    once = strategic_patch.apply(document, patch, POD)
    assert strategic_patch.apply(once, patch, POD) == once


@given(pods, patches())
def test_neither_document_nor_patch_is_ever_changed(document: Any, patch: Any) -> None:
    before = repr((document, patch))
    strategic_patch.apply(document, patch, POD)
    assert repr((document, patch)) == before


@given(pods)
def test_a_document_is_a_patch_that_changes_nothing_in_itself(document: Any) -> None:
    assert strategic_patch.apply(document, document, POD) == document
