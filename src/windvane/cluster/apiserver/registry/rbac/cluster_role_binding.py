"""ClusterRoleBinding."""

from windvane.api.json_value import Wire
from windvane.api.names import path_segment_problems
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.rbac.columns import ROLE_BINDING
from windvane.cluster.apiserver.registry.rbac.defaults import role_binding
from windvane.cluster.apiserver.registry.rbac.validation import binding, changed_binding
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import rbac


class ClusterRoleBindingStrategy(BuiltinStrategy):
    """ClusterRoleBinding."""

    model = rbac.ClusterRoleBinding
    allow_create_on_update = True
    name_problems = staticmethod(path_segment_problems)
    defaults = {"roleRef.apiGroup": "rbac.authorization.k8s.io"}
    columns = ROLE_BINDING

    def set_defaults(self, obj: Wire) -> None:
        """Fill in what is absent."""
        role_binding(obj)

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check a ClusterRoleBinding."""
        binding(obj, ("ClusterRole",), problems, namespaced=False)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check a changed object."""
        super().validate_change(obj, old, problems)
        changed_binding(obj, old, problems)
