"""The strategy of ClusterRoleBinding."""

from windvane.cluster.apiserver.registry.rbac.role_binding import RoleBindingStrategy
from windvane.k8s import rbac


class ClusterRoleBindingStrategy(RoleBindingStrategy):
    """A role in all namespaces."""

    model = rbac.ClusterRoleBinding
    role_kinds = ("ClusterRole",)
