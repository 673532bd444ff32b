from windvane.cluster.apiserver.registry.resource.lists import check_list, check_map, check_set, shortened
from windvane.cluster.apiserver.registry.validation.problems import Problems


def complain(item: object, path: str, problems: Problems) -> None:
    problems.invalid(path, item, "is wrong")


def test_what_is_too_long_is_not_looked_at() -> None:
    problems = Problems()
    assert not check_list(["a"] * 3, 2, complain, "spec.list", problems)
    check_set(["a"] * 3, 2, complain, str, "spec.set", problems)
    check_map({"a": 1, "b": 2}, 1, 10, "spec.map", problems, key=complain, value=complain)
    assert [(each.field, each.reason) for each in problems] == [
        ("spec.list", "FieldValueTooMany"),
        ("spec.set", "FieldValueTooMany"),
        ("spec.map", "FieldValueTooMany"),
    ]


def test_duplicates_are_told_after_all_items() -> None:
    problems = Problems()
    check_set(["a", "a"], 2, complain, str, "spec", problems)
    assert [(each.field, each.reason) for each in problems] == [
        ("spec[0]", "FieldValueInvalid"),
        ("spec[1]", "FieldValueInvalid"),
        ("spec[1]", "FieldValueDuplicate"),
    ]


def test_keys_are_told_of_the_map_and_values_of_their_places() -> None:
    problems = Problems()
    check_map({"k": 1}, None, 10, "spec", problems, key=complain, value=complain)
    assert [each.field for each in problems] == ["spec", "spec[k]"]


def test_a_long_key_loses_its_middle() -> None:
    assert shortened("a" * 20, 20) == "a" * 20
    assert shortened("abcdefghijklmnopqrstuvwxyz", 20) == "abcdefghi...stuvwxyz"
    assert len(shortened("x" * 30, 1)) == 16
