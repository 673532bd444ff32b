"""The strategy of Role, and what a ClusterRole has in common with it."""

from windvane.api.json_value import Wire
from windvane.api.names import path_segment_problems
from windvane.api.resource import Object
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import rbac

BOTH = "rules cannot apply to both regular resources and non-resource URLs"


class RoleStrategy(BuiltinStrategy):
    """A list of rules."""

    model: type[Object] = rbac.Role
    allow_create_on_update = True
    name_problems = staticmethod(path_segment_problems)
    defaults = {"rules": None}

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check that each rule has resources or, if it is cluster-scoped, URLs."""
        for index, rule in enumerate(obj.get("rules") or ()):
            path = f"rules[{index}]"
            if not rule.get("verbs"):
                problems.required(f"{path}.verbs", "verbs must contain at least one value")
            if urls := rule.get("nonResourceURLs"):
                if self.kind.namespaced:
                    rule_broken = "namespaced rules cannot apply to non-resource URLs"
                    problems.invalid(f"{path}.nonResourceURLs", urls, rule_broken)
                if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                    problems.invalid(f"{path}.nonResourceURLs", urls, BOTH)
                continue
            if not rule.get("apiGroups"):
                problems.required(f"{path}.apiGroups", "resource rules must supply at least one api group")
            if not rule.get("resources"):
                problems.required(f"{path}.resources", "resource rules must supply at least one resource")
