"""The strategy of RoleBinding, and what a ClusterRoleBinding has in common with it."""

from collections.abc import Callable

from windvane.api.json_value import Wire
from windvane.api.names import path_segment_problems, subdomain_problems
from windvane.api.resource import Object
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, items, wide
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import rbac

RBAC = "rbac.authorization.k8s.io"


def _subjects(kind: str) -> Callable[[Wire], str]:
    return lambda binding: ", ".join(
        f"{each.get('namespace', '')}/{each['name']}" if kind == "ServiceAccount" else each["name"]
        for each in items(binding, "subjects")
        if each.get("kind") == kind
    )


def _role(binding: Wire) -> str:
    role = binding.get("roleRef") or {}
    return f"{role.get('kind', '')}/{role.get('name', '')}"


class RoleBindingStrategy(BuiltinStrategy):
    """A role, and the subjects that have it."""

    model: type[Object] = rbac.RoleBinding
    role_kinds: tuple[str, ...] = ("Role", "ClusterRole")
    allow_create_on_update = True
    name_problems = staticmethod(path_segment_problems)
    defaults = {"roleRef.apiGroup": RBAC}
    columns = (
        NAME,
        Column("Role", _role),
        AGE,
        wide("Users", _subjects("User")),
        wide("Groups", _subjects("Group")),
        wide("ServiceAccounts", _subjects("ServiceAccount")),
    )

    def set_defaults(self, obj: Wire) -> None:
        """Default the API group of the role and the subjects."""
        for subject in obj.get("subjects") or ():
            if subject.get("kind") in ("User", "Group"):
                fill(subject, "apiGroup", RBAC)

    def validate(self, obj: Wire, problems: Problems) -> None:
        ref = obj.get("roleRef", {})
        if ref.get("apiGroup") != RBAC:
            problems.unsupported("roleRef.apiGroup", ref.get("apiGroup", ""), (RBAC,))
        if ref.get("kind") not in self.role_kinds:
            problems.unsupported("roleRef.kind", ref.get("kind", ""), self.role_kinds)
        if not ref.get("name"):
            problems.required("roleRef.name")
        else:
            problems.all_invalid("roleRef.name", ref["name"], path_segment_problems(ref["name"]))
        for index, subject in enumerate(obj.get("subjects") or ()):
            _subject(subject, f"subjects[{index}]", problems, namespaced=self.kind.namespaced)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """The role is immutable: otherwise a client that may bind one role could bind any."""
        super().validate_change(obj, old, problems)
        if obj.get("roleRef") != old.get("roleRef"):
            ref = obj.get("roleRef", {})
            shown = {"APIGroup": ref.get("apiGroup", ""), "Kind": ref.get("kind", ""), "Name": ref.get("name", "")}
            problems.invalid("roleRef", shown, "cannot change roleRef")


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
