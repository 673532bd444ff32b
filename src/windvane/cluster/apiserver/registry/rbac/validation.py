"""Rules for roles and bindings."""

from windvane.api.json_value import Wire
from windvane.api.names import path_segment_problems, subdomain_problems
from windvane.cluster.apiserver.registry.validation.problems import Problems

RBAC = "rbac.authorization.k8s.io"
BOTH = "rules cannot apply to both regular resources and non-resource URLs"


def changed_binding(obj: Wire, old: Wire, problems: Problems) -> None:
    """Check that a binding stays with its role: otherwise who may bind one role could take any."""
    if obj.get("roleRef") != old.get("roleRef"):
        ref = obj.get("roleRef", {})
        shown = {"APIGroup": ref.get("apiGroup", ""), "Kind": ref.get("kind", ""), "Name": ref.get("name", "")}
        problems.invalid("roleRef", shown, "cannot change roleRef")


def rules(obj: Wire, problems: Problems, *, namespaced: bool) -> None:
    for index, rule in enumerate(obj.get("rules") or ()):
        path = f"rules[{index}]"
        if not rule.get("verbs"):
            problems.required(f"{path}.verbs", "verbs must contain at least one value")
        if urls := rule.get("nonResourceURLs"):
            if namespaced:
                rule_broken = "namespaced rules cannot apply to non-resource URLs"
                problems.invalid(f"{path}.nonResourceURLs", urls, rule_broken)
            if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                problems.invalid(f"{path}.nonResourceURLs", urls, BOTH)
            continue
        if not rule.get("apiGroups"):
            problems.required(f"{path}.apiGroups", "resource rules must supply at least one api group")
        if not rule.get("resources"):
            problems.required(f"{path}.resources", "resource rules must supply at least one resource")


def binding(obj: Wire, kinds: tuple[str, ...], problems: Problems, *, namespaced: bool) -> None:
    ref = obj.get("roleRef", {})
    if ref.get("apiGroup") != RBAC:
        problems.unsupported("roleRef.apiGroup", ref.get("apiGroup", ""), (RBAC,))
    if ref.get("kind") not in kinds:
        problems.unsupported("roleRef.kind", ref.get("kind", ""), kinds)
    if not ref.get("name"):
        problems.required("roleRef.name")
    else:
        problems.all_invalid("roleRef.name", ref["name"], path_segment_problems(ref["name"]))
    for index, subject in enumerate(obj.get("subjects") or ()):
        _subject(subject, f"subjects[{index}]", problems, namespaced=namespaced)


def _subject(subject: Wire, path: str, problems: Problems, *, namespaced: bool) -> None:
    name, group = subject.get("name", ""), subject.get("apiGroup", "")
    if not name:
        problems.required(f"{path}.name")
    kind = subject.get("kind", "")
    if kind == "ServiceAccount":
        if name:
            problems.all_invalid(f"{path}.name", name, subdomain_problems(name))
        if group:
            problems.unsupported(f"{path}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            problems.required(f"{path}.namespace")
    elif kind in ("User", "Group"):
        if group != RBAC:
            problems.unsupported(f"{path}.apiGroup", group, (RBAC,))
    else:
        problems.unsupported(f"{path}.kind", kind, ("ServiceAccount", "User", "Group"))
