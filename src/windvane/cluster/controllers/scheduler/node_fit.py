"""Whether a pod may be on a node: node selectors, required node affinity, taints and tolerations."""

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from windvane import Requirement
from windvane.k8s.core import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration

OPERATORS: Mapping[str, Literal["in", "notin", "exists", "!", ">", "<"]] = {
    "In": "in",
    "NotIn": "notin",
    "Exists": "exists",
    "DoesNotExist": "!",
    "Gt": ">",
    "Lt": "<",
}
NAME_FIELD = "metadata.name"


def is_wanted_on(spec: PodSpec, node: Node) -> bool:
    """Whether a pod's node selector and its required node affinity allow the node."""
    if not spec.node_selector.items() <= node.metadata.labels.items():
        return False
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return required is None or selects(required, node)


def selects(selector: NodeSelector, node: Node) -> bool:
    """Whether one of the terms fits the node. One that asks for nothing fits none."""
    return any(selects_term(each, node) for each in selector.node_selector_terms)


def selects_term(term: NodeSelectorTerm, node: Node) -> bool:
    """Whether a term fits the node."""
    if not term.match_expressions and not term.match_fields:
        return False
    return all(_label_fits(each, node) for each in term.match_expressions) and all(
        _field_fits(each, node) for each in term.match_fields
    )


def _label_fits(required: NodeSelectorRequirement, node: Node) -> bool:
    try:
        requirement = Requirement(required.key, OPERATORS[required.operator], tuple(required.values))
    except (KeyError, ValueError):
        return False  # what makes no sense fits nothing
    return requirement.matches(node.metadata.labels)


def _field_fits(required: NodeSelectorRequirement, node: Node) -> bool:
    if required.key != NAME_FIELD or len(required.values) != 1:
        return False
    same = required.values[0] == node.metadata.name
    return same if required.operator == "In" else not same if required.operator == "NotIn" else False


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a pod with that toleration does not mind that taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in (None, "", "Equal") and (toleration.value or "") == (taint.value or "")


def keeps_off(taints: Iterable[Taint], tolerations: Collection[Toleration], effects: Collection[str]) -> Taint | None:
    """The first taint with one of these effects that is not tolerated."""
    return next(
        (each for each in taints if each.effect in effects and not any(tolerates(one, each) for one in tolerations)),
        None,
    )
