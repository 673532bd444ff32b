"""ClusterRole."""

from windvane.api.json_value import Wire
from windvane.api.names import path_segment_problems
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.rbac.validation import rules
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import rbac


class ClusterRoleStrategy(BuiltinStrategy):
    """ClusterRole."""

    model = rbac.ClusterRole
    allow_create_on_update = True
    name_problems = staticmethod(path_segment_problems)
    defaults = {"rules": None}

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check a ClusterRole."""
        rules(obj, problems, namespaced=False)
        if (aggregation := obj.get("aggregationRule")) is not None:
            path, selectors = "aggregationRule.clusterRoleSelectors", aggregation.get("clusterRoleSelectors") or []
            if not selectors:
                problems.required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")
            for index, selector in enumerate(selectors):
                before = len(problems)
                label_selector(selector, f"{path}[{index}]", problems)
                if len(problems) > before:
                    problems.invalid(f"{path}[{index}]", None, "invalid label selector.")
