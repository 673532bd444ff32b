"""The strategy of ClusterRole."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.rbac.role import RoleStrategy
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import rbac


class ClusterRoleStrategy(RoleStrategy):
    """A role that may be made of others."""

    model = rbac.ClusterRole

    def validate(self, obj: Wire, problems: Problems) -> None:
        super().validate(obj, problems)
        if (aggregation := obj.get("aggregationRule")) is not None:
            path, selectors = "aggregationRule.clusterRoleSelectors", aggregation.get("clusterRoleSelectors") or []
            if not selectors:
                problems.required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")
            for index, selector in enumerate(selectors):
                before = len(problems)
                label_selector(selector, f"{path}[{index}]", problems)
                if len(problems) > before:
                    problems.invalid(f"{path}[{index}]", None, "invalid label selector.")
