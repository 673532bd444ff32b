"""The rules of RBAC, as pure functions: whether a rule allows something, and whether rules cover other rules."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from windvane.api.wording import quoted_list
from windvane.cluster.apiserver.authorization.attributes import Attributes

ANY = "*"
GROUP = "rbac.authorization.k8s.io"
SUPERUSERS = "system:masters"


class PolicyRule(
    Struct, frozen=True, rename={"groups": "apiGroups", "names": "resourceNames", "urls": "nonResourceURLs"}
):
    """One rule of a role: it allows every combination of what it names, and never forbids."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


FULL_AUTHORITY = (
    PolicyRule(verbs=(ANY,), groups=(ANY,), resources=(ANY,)),
    PolicyRule(verbs=(ANY,), urls=(ANY,)),
)


def allows(rule: PolicyRule, attributes: Attributes) -> bool:
    """Whether the rule allows the request."""
    if ANY not in rule.verbs and attributes.verb not in rule.verbs:
        return False
    if (path := attributes.path) is not None:
        return any(_url_covers(url, path) for url in rule.urls)
    return (
        (ANY in rule.groups or attributes.group in rule.groups)
        and _resource_matches(rule.resources, attributes)
        and (not rule.names or attributes.name in rule.names)
    )


def _resource_matches(resources: Sequence[str], attributes: Attributes) -> bool:
    if ANY in resources or attributes.combined_resource in resources:
        return True
    return bool(attributes.subresource) and f"*/{attributes.subresource}" in resources


def _url_covers(url: str, path: str) -> bool:
    """A star at the end of a rule's URL stands for whatever follows."""
    return url == path or (url.endswith(ANY) and path.startswith(url.rstrip(ANY)))


def missing_rules(owned: Sequence[PolicyRule], required: Iterable[PolicyRule]) -> list[PolicyRule]:
    """The parts of the required rules, each of one verb and one thing, that none of the owned rules covers."""
    parts = (part for rule in required for part in _break_down(rule))
    return [part for part in parts if not any(_covers(rule, part) for rule in owned)]


def _break_down(rule: PolicyRule) -> Iterator[PolicyRule]:
    for group in rule.groups:
        for resource in rule.resources:
            for verb in rule.verbs:
                for names in ((name,) for name in rule.names) if rule.names else ((),):
                    yield PolicyRule(verbs=(verb,), groups=(group,), resources=(resource,), names=names)
    for url in rule.urls:
        for verb in rule.verbs:
            yield PolicyRule(verbs=(verb,), urls=(url,))


def _covers(rule: PolicyRule, part: PolicyRule) -> bool:
    """Whether a rule covers one that `_break_down` made."""
    if ANY not in rule.verbs and part.verbs[0] not in rule.verbs:
        return False
    if part.urls:
        return any(_url_covers(url, part.urls[0]) for url in rule.urls)
    group, resource = part.groups[0], part.resources[0]
    if ANY not in rule.groups and group not in rule.groups:
        return False
    _, slash, subresource = resource.partition("/")
    if not {ANY, resource} & set(rule.resources) and not (slash and f"*/{subresource}" in rule.resources):
        return False
    # A rule for some names does not cover one for all; one for all covers each.
    return not rule.names or bool(part.names and part.names[0] in rule.names)


def describe_missing(missing: Sequence[PolicyRule]) -> str:
    """What is missing, a line for each resource, as the real server words it."""
    verbs: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    lines = set()
    for part in missing:
        if part.urls:
            lines.add(_line(part))
        else:
            verbs.setdefault((part.groups[0], part.resources[0], part.names), []).extend(part.verbs)
    for (group, resource, names), of_resource in verbs.items():
        lines.add(_line(PolicyRule(tuple(of_resource), (group,), (resource,), names)))
    return "\n".join(sorted(lines))


def _line(rule: PolicyRule) -> str:
    named = {
        "APIGroups": rule.groups,
        "Resources": rule.resources,
        "NonResourceURLs": rule.urls,
        "ResourceNames": rule.names,
        "Verbs": rule.verbs,
    }
    return "{" + ", ".join(f"{name}:{quoted_list(values)}" for name, values in named.items() if values) + "}"
