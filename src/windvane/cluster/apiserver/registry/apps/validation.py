"""Rules that workloads share: a selector, and the template whose pods it must select."""

from typing import Any

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.core.pod.validation import UNMATCHED, always_restarted, template
from windvane.cluster.apiserver.registry.defaults import fill
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.apiserver.registry.validation.selector import matches, shown_selector, sorted_map


def rolling_update(strategy: Wire, **defaults: Any) -> None:
    """Fill in the parameters of a rolling update."""
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        for field, value in defaults.items():
            fill(rolling, field, value)


def changed_selector(obj: Wire, old: Wire, problems: Problems) -> None:
    """Check that a selector stays as it is."""
    now, was = (shown_selector(each["spec"].get("selector")) for each in (obj, old))
    problems.immutable("spec.selector", now, was)


def selected_template(spec: Wire, words: str, problems: Problems, *, invalid: str = "invalid label selector") -> None:
    """Check a selector, and the template whose pods it must select."""
    selector = spec.get("selector")
    if selector is None:
        problems.required("spec.selector")
    else:
        label_selector(selector, "spec.selector", problems)
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            problems.invalid("spec.selector", shown_selector(selector), f"empty selector is invalid for {words}")
    found = spec["template"]["metadata"].get("labels") or {}
    matching = matches(selector, found)
    if matching is None:
        problems.invalid("spec.selector", shown_selector(selector), invalid)
        return
    if not matching:
        problems.invalid("spec.template.metadata.labels", sorted_map(found) or None, UNMATCHED)
    template(spec["template"], "spec.template", problems)
    if words == "deployment":
        always_restarted(spec, "ReplicaSet", problems)
