from hypothesis import given
from hypothesis import strategies as st

from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.rbac import (
    FULL_AUTHORITY,
    PolicyRule,
    allows,
    describe_missing,
    missing_rules,
)

JANE = User("jane")
verbs = st.sampled_from(["get", "list", "create", "*"])
groups = st.sampled_from(["", "apps", "*"])
resources = st.sampled_from(["pods", "pods/log", "nodes", "*/log", "*"])
names = st.sampled_from(["a", "b"])
urls = st.sampled_from(["/logs", "/logs/*", "/version", "*"])


def some(values: st.SearchStrategy[str], least: int = 1) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(values, min_size=least, max_size=3, unique=True).map(tuple)


resource_rules = st.builds(PolicyRule, some(verbs), some(groups), some(resources), some(names, 0))
url_rules = st.builds(lambda verbs, urls: PolicyRule(verbs=verbs, urls=urls), some(verbs), some(urls))
rules = st.lists(resource_rules | url_rules, max_size=4)
wishes = st.builds(
    lambda verb, group, resource, name: Attributes(
        JANE,
        verb,
        group=group,
        resource=resource.partition("/")[0],
        subresource=resource.partition("/")[2],
        name=name,
    ),
    st.sampled_from(["get", "list", "create", "delete"]),
    st.sampled_from(["", "apps", "batch"]),
    st.sampled_from(["pods", "pods/log", "nodes", "nodes/log", "secrets"]),
    st.sampled_from(["", "a", "b", "c"]),
) | st.builds(
    lambda verb, path: Attributes(JANE, verb, path),
    st.sampled_from(["get", "list"]),
    st.sampled_from(["/logs", "/logs/a", "/version", "/"]),
)


@given(rules)
def test_rules_cover_themselves(owned: list[PolicyRule]) -> None:
    assert missing_rules(owned, owned) == []


@given(rules)
def test_all_rights_cover_every_rule(wanted: list[PolicyRule]) -> None:
    assert missing_rules(FULL_AUTHORITY, wanted) == []


@given(rules, rules, wishes)
def test_what_is_covered_allows_nothing_new(
    owned: list[PolicyRule], granted: list[PolicyRule], wish: Attributes
) -> None:
    """The point of it all: who may only give what they have can't give anybody more than they may themselves."""
    if missing_rules(owned, granted) == [] and any(allows(rule, wish) for rule in granted):
        assert any(allows(rule, wish) for rule in owned)


@given(rules, wishes)
def test_what_is_missing_is_all_that_is_missing(granted: list[PolicyRule], wish: Attributes) -> None:
    parts = missing_rules([], granted)
    assert any(allows(rule, wish) for rule in granted) == any(allows(part, wish) for part in parts)


def test_what_is_missing_is_told_by_resource() -> None:
    missing = missing_rules(
        [], [PolicyRule(("get", "list"), ("",), ("pods", "secrets")), PolicyRule(("get",), urls=("/x",))]
    )
    assert describe_missing(missing).splitlines() == [
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ]
