"""The rules of RBAC, as pure functions: whether a rule allows something, and whether rules cover other rules."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from windvane.api.wording import quoted_list
from windvane.cluster.apiserver.authorization.attributes import Attributes

ANY = "*"
GROUP = "rbac.authorization.k8s.io"
SUPERUSERS = "system:masters"


class Rule(Struct, frozen=True, rename={"groups": "apiGroups", "names": "resourceNames", "urls": "nonResourceURLs"}):
    """One rule of a role: it allows every combination of what it names, and never forbids."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


FULL_AUTHORITY = (
    Rule(verbs=(ANY,), groups=(ANY,), resources=(ANY,)),
    Rule(verbs=(ANY,), urls=(ANY,)),
)


def allows(rule: Rule, wanted: Attributes) -> bool:
    """Whether the rule allows what is wanted."""
    if ANY not in rule.verbs and wanted.verb not in rule.verbs:
        return False
    if (path := wanted.path) is not None:
        return any(_url_covers(url, path) for url in rule.urls)
    return (
        (ANY in rule.groups or wanted.group in rule.groups)
        and _resource_matches(rule.resources, wanted)
        and (not rule.names or wanted.name in rule.names)
    )


def _resource_matches(resources: Sequence[str], wanted: Attributes) -> bool:
    if ANY in resources or wanted.combined_resource in resources:
        return True
    return bool(wanted.subresource) and f"*/{wanted.subresource}" in resources


def _url_covers(url: str, path: str) -> bool:
    """A star at the end of a rule's URL stands for whatever follows."""
    return url == path or (url.endswith(ANY) and path.startswith(url.rstrip(ANY)))


def missing_rules(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """The parts of the wanted rules, each of one verb and one thing, that none of the owned rules covers."""
    parts = (part for rule in wanted for part in _break_down(rule))
    return [part for part in parts if not any(_covers(rule, part) for rule in owned)]


def _break_down(rule: Rule) -> Iterator[Rule]:
    for group in rule.groups:
        for resource in rule.resources:
            for verb in rule.verbs:
                for names in ((name,) for name in rule.names) if rule.names else ((),):
                    yield Rule(verbs=(verb,), groups=(group,), resources=(resource,), names=names)
    for url in rule.urls:
        for verb in rule.verbs:
            yield Rule(verbs=(verb,), urls=(url,))


def _covers(rule: Rule, part: Rule) -> bool:
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


def describe_missing(missing: Sequence[Rule]) -> str:
    """What is missing, a line for each resource, as the real server words it."""
    verbs: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    lines = set()
    for part in missing:
        if part.urls:
            lines.add(_line(part))
        else:
            verbs.setdefault((part.groups[0], part.resources[0], part.names), []).extend(part.verbs)
    for (group, resource, names), of_resource in verbs.items():
        lines.add(_line(Rule(tuple(of_resource), (group,), (resource,), names)))
    return "\n".join(sorted(lines))


def _line(rule: Rule) -> str:
    named = {
        "APIGroups": rule.groups,
        "Resources": rule.resources,
        "NonResourceURLs": rule.urls,
        "ResourceNames": rule.names,
        "Verbs": rule.verbs,
    }
    return "{" + ", ".join(f"{name}:{quoted_list(values)}" for name, values in named.items() if values) + "}"
