"""Rules for where pods want to run: near what, far from what, and how spread."""

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems
from windvane.cluster.apiserver.registry.validation.node_selector import node_selector, node_selector_term
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")


def affinity(found: Wire, path: str, problems: Problems) -> None:
    """Check the affinities of a pod."""
    node = found.get("nodeAffinity") or {}
    if REQUIRED in node:
        node_selector(node[REQUIRED], f"{path}.nodeAffinity.{REQUIRED}", problems)
    for index, term in enumerate(node.get(PREFERRED) or ()):
        here = f"{path}.nodeAffinity.{PREFERRED}[{index}]"
        _weight(term, here, problems)
        # A preference for what no node can be is warned about, and taken.
        node_selector_term(term.get("preference") or {}, f"{here}.preference", problems, any_value=True)
    for sort in ("podAffinity", "podAntiAffinity"):
        pods = found.get(sort) or {}
        for index, term in enumerate(pods.get(REQUIRED) or ()):
            _pod_term(term, f"{path}.{sort}.{REQUIRED}[{index}]", problems)
        for index, term in enumerate(pods.get(PREFERRED) or ()):
            here = f"{path}.{sort}.{PREFERRED}[{index}]"
            _weight(term, here, problems)
            _pod_term(term.get("podAffinityTerm") or {}, f"{here}.podAffinityTerm", problems)


def topology_spread(constraints: list[Wire], path: str, problems: Problems) -> None:
    """Check how pods are to be spread."""
    for index, constraint in enumerate(constraints):
        here = f"{path}[{index}]"
        if constraint.get("maxSkew", 0) <= 0:
            problems.invalid(f"{here}.maxSkew", constraint.get("maxSkew", 0), "must be greater than zero")
        if not constraint.get("topologyKey"):
            problems.required(f"{here}.topologyKey", "can not be empty")
        if constraint.get("whenUnsatisfiable") not in UNSATISFIABLE:
            problems.unsupported(f"{here}.whenUnsatisfiable", constraint.get("whenUnsatisfiable", ""), UNSATISFIABLE)
        label_selector(constraint.get("labelSelector"), f"{here}.labelSelector", problems)


def _weight(term: Wire, path: str, problems: Problems) -> None:
    if not 1 <= term.get("weight", 0) <= 100:
        problems.invalid(f"{path}.weight", term.get("weight", 0), "must be in the range 1-100")


def _pod_term(term: Wire, path: str, problems: Problems) -> None:
    label_selector(term.get("labelSelector"), f"{path}.labelSelector", problems)
    label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector", problems)
    key = term.get("topologyKey", "")
    if not key:
        problems.required(f"{path}.topologyKey", "can not be empty")
    problems.all_invalid(f"{path}.topologyKey", key, label_key_problems(key))
