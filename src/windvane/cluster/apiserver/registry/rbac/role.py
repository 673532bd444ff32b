"""Role."""

from windvane.api.json_value import Wire
from windvane.api.names import path_segment_problems
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.rbac.validation import rules
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import rbac


class RoleStrategy(BuiltinStrategy):
    """Role."""

    model = rbac.Role
    allow_create_on_update = True
    name_problems = staticmethod(path_segment_problems)
    defaults = {"rules": None}

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check a Role."""
        rules(obj, problems, namespaced=True)
