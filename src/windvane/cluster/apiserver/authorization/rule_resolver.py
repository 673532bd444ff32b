"""The roles and bindings in the store, as an index: which rules a user has, and through which binding.

Bindings are indexed by subject, again when one has changed; roles are decoded when a binding refers to them, and cached
until they change. If nothing has changed, a request reads only four numbers from the store.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
from msgspec import Struct

from windvane.api.wording import quoted
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authentication.service_account import account_name
from windvane.cluster.apiserver.authorization.rbac import GROUP, PolicyRule
from windvane.cluster.apiserver.storage.record import Entry, Key
from windvane.cluster.apiserver.storage.store import Store

ROLES, CLUSTER_ROLES = f"{GROUP}/roles", f"{GROUP}/clusterroles"
BINDINGS, CLUSTER_BINDINGS = f"{GROUP}/rolebindings", f"{GROUP}/clusterrolebindings"


class Subject(Struct, frozen=True):
    """A subject of a binding."""

    kind: str = ""
    name: str = ""
    namespace: str = ""


class RoleRef(Struct, frozen=True, rename="camel"):
    """The role that a binding gives."""

    kind: str = ""
    name: str = ""
    api_group: str = GROUP


class _Binding(Struct, frozen=True, rename={"role": "roleRef"}):
    role: RoleRef
    subjects: tuple[Subject, ...] | None = None


class _Role(Struct, frozen=True):
    rules: tuple[PolicyRule, ...] | None = None


_binding_decoder = msgspec.json.Decoder(_Binding)
_role_decoder = msgspec.json.Decoder(_Role)


@dataclass(frozen=True, slots=True)
class Grant:
    """A binding that applies to a user, with the first subject that does."""

    order: int
    binding: str
    namespace: str
    """Of the binding; empty if it is for the whole cluster."""
    role: RoleRef
    subject: Subject

    def __str__(self) -> str:
        name = f"{self.binding}/{self.namespace}" if self.namespace else self.binding
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        whom = self.subject.name
        if self.subject.kind == "ServiceAccount":
            whom = f"{whom}/{self.subject.namespace or self.namespace}"
        return (
            f"{kind} {quoted(name)} of {self.role.kind} {quoted(self.role.name)} to {self.subject.kind} {quoted(whom)}"
        )


class NoSuchRole(Exception):
    """A role that a binding refers to is not there; the text is the real server's."""


Kind = Literal["User", "Group"]
_Index = dict[tuple[Kind, str], list[Grant]]


class RuleResolver:
    """What the store's roles and bindings say."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._indexes: dict[str, tuple[int, _Index]] = {}  # by namespace, each with the revision that it is of
        self._rules: dict[Key, tuple[int, tuple[PolicyRule, ...]]] = {}  # of each role, with its revision

    def grants(self, user: User, namespace: str) -> Iterator[Grant]:
        """The bindings that apply to a user, first those of the whole cluster, then those of the namespace."""
        yield from self._of(user, "")
        if namespace:
            yield from self._of(user, namespace)

    def rules(self, role: RoleRef, namespace: str) -> Sequence[PolicyRule]:
        """The rules of a role that a binding in `namespace` refers to; `NoSuchRole` if it is not there."""
        if role.kind == "Role":
            key = Key(ROLES, namespace, role.name)
        elif role.kind == "ClusterRole":
            key = Key(CLUSTER_ROLES, "", role.name)
        else:
            raise NoSuchRole(f"unsupported role reference kind: {quoted(role.kind)}")
        entry = self._store.get(key)
        if entry is None:
            self._rules.pop(key, None)
            raise NoSuchRole(f"{role.kind.lower()}.{GROUP} {quoted(role.name)} not found")
        known = self._rules.get(key)
        if known is None or known[0] != entry.revision:
            known = self._rules[key] = (entry.revision, _role_decoder.decode(entry.value).rules or ())
        return known[1]

    def _of(self, user: User, namespace: str) -> list[Grant]:
        index = self._index(namespace)
        if not index:
            return []
        found = [*index.get(("User", user.name), ())]
        for group in user.groups:
            found += index.get(("Group", group), ())
        found.sort(key=lambda grant: grant.order)
        first: dict[str, Grant] = {}
        for grant in found:  # the order within one binding is that of its subjects
            first.setdefault(grant.binding, grant)
        return list(first.values())

    def _index(self, namespace: str) -> _Index:
        collection = BINDINGS if namespace else CLUSTER_BINDINGS
        revision = self._store.changed(collection)
        known = self._indexes.get(namespace)
        if known is None or known[0] != revision:
            entries = self._store.entries(collection, namespace)
            if not entries and namespace:
                # Namespaces that do not exist must not fill the cache.
                self._indexes.pop(namespace, None)
                return {}
            known = self._indexes[namespace] = (revision, _sort_by_subject(entries))
        return known[1]


def _sort_by_subject(entries: Sequence[Entry]) -> _Index:
    index: _Index = {}
    order = 0
    for entry in entries:
        binding = _binding_decoder.decode(entry.value)
        for subject in binding.subjects or ():
            namespace = entry.key.namespace
            match subject.kind:
                case "User" | "Group" as kind:
                    whom: tuple[Kind, str] = (kind, subject.name)
                case "ServiceAccount" if subject.namespace or namespace:
                    whom = "User", account_name(subject.namespace or namespace, subject.name)
                case _:
                    continue
            order += 1
            index.setdefault(whom, []).append(Grant(order, entry.key.name, namespace, binding.role, subject))
    return index
