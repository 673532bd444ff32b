"""Impersonation: `kubectl --as jane`. The requestor must be allowed to act as that user.

There are several modes. The old one is the verb `impersonate` on users, groups, uids and extras, which allows all that
the other user may do. The newer ones are constrained: they need the verb `impersonate:user-info`, say, on the user, and
`impersonate-on:user-info:list` on the action. Each is tried, first the one that the requestor last succeeded with; if
none works, the refusal is that of the first.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote

from windvane.api.names import label_problems, path_segment_problems, subdomain_problems
from windvane.api.wording import quoted
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authentication.service_account import ACCOUNT_PREFIX
from windvane.cluster.apiserver.authorization.attributes import Attributes
from windvane.cluster.apiserver.authorization.authorizer import Authorizer, refusal
from windvane.cluster.apiserver.authorization.rbac import SUPERUSERS
from windvane.cluster.apiserver.failure import Failure, bad_request

USER, GROUP, UID, EXTRA = "impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-"
AUTHENTICATION = "authentication.k8s.io"
NODE_PREFIX = "system:node:"
NODE_NAME = "authentication.kubernetes.io/node-name"
ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED = "system:anonymous", "system:authenticated", "system:unauthenticated"
REMEMBERED = 10_000  # users whose last mode is remembered


def wanted_user(headers: Mapping[str, str]) -> User | None:
    """The user in the impersonation headers of a request; None if there are none."""
    user = uid = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    for header, value in headers.items():
        name = header.lower()
        if not name.startswith("impersonate-"):
            continue
        if name == USER:
            user = user or value
        elif name == UID:
            uid = uid or value
        elif name == GROUP:
            groups.append(value)
        elif name.startswith(EXTRA):
            extra.setdefault(unquote(name.removeprefix(EXTRA)), []).append(value)
    if not user and (uid or groups or extra):
        shown = f'&user.DefaultInfo{{Name:"", UID:{quoted(uid)}, Groups:{_go_list(groups)}, Extra:{_go_map(extra)}}}'
        raise bad_request(f"requested {shown} without impersonating a user name")
    if not user:
        return None
    return User(user, tuple(groups), uid, tuple((key, tuple(extra[key])) for key in sorted(extra)))


@dataclass(frozen=True)
class _Mode:
    """One mode of impersonation."""

    name: str
    """Empty for the old mode."""
    serves: Callable[[User, User], bool]
    """Whether it applies to a requested user and a requestor."""

    @property
    def verb(self) -> str:
        return f"impersonate:{self.name}" if self.name else "impersonate"


class Impersonation:
    """Decides which users may impersonate which others."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._last: dict[str, _Mode] = {}  # by the requestor's name

    def user(self, headers: Mapping[str, str], attributes: Attributes) -> tuple[User, str] | None:
        """The impersonated user of a request, and the verb that allowed it, if it was a constrained one.

        None without impersonation headers; a `Failure` 403 if it is not allowed.
        """
        if (requested := wanted_user(headers)) is None:
            return None
        refused: Failure | None = None
        for mode in self._modes(attributes.user):
            if not mode.serves(requested, attributes.user):
                continue
            try:
                became = self._become(mode, requested, attributes)
            except Failure as error:
                refused = refused or error
                continue
            self._remember(attributes.user.name, mode)
            return became, mode.verb if mode.name else ""
        raise refused or refusal(attributes, "all impersonation modes failed")

    def _modes(self, requestor: User) -> Iterator[_Mode]:
        last = self._last.get(requestor.name)
        if last is not None:
            yield last
        yield from (mode for mode in MODES if mode is not last)

    def _remember(self, name: str, mode: _Mode) -> None:
        self._last.pop(name, None)
        self._last[name] = mode
        if len(self._last) > REMEMBERED:
            del self._last[next(iter(self._last))]

    def _become(self, mode: _Mode, requested: User, attributes: Attributes) -> User:
        if mode.name:
            self._authorizer.check(replace(attributes, verb=f"impersonate-on:{mode.name}:{attributes.verb}"))
            _check_sane(mode, requested, attributes.user)
        for each in _claims(mode, requested, attributes.user):
            self._authorizer.check(each)
        return _with_groups(mode, requested)


def _claims(mode: _Mode, requested: User, requestor: User) -> Iterator[Attributes]:
    """The attributes that the requestor must be allowed."""
    about = Attributes(requestor, mode.verb, group=AUTHENTICATION if mode.name else "", version="v1")
    account, node = account_of(requested.name), node_of(requested.name)
    if account:
        yield replace(about, resource="serviceaccounts", namespace=account[0], name=account[1])
    elif mode.name and node:
        yield replace(about, resource="nodes", name="*" if mode.name == "associated-node" else node)
    else:
        yield replace(about, resource="users", name=requested.name)
    if requested.uid:
        yield replace(about, group=AUTHENTICATION, resource="uids", name=requested.uid)
    for group in requested.groups:
        yield replace(about, resource="groups", name=group)
    for key, values in requested.extra:
        for value in values:
            yield replace(about, group=AUTHENTICATION, resource="userextras", subresource=key, name=value)


def _check_sane(mode: _Mode, requested: User, requestor: User) -> None:
    """Refuse what the constrained modes never allow."""
    groups = Attributes(requestor, mode.verb, group=AUTHENTICATION, resource="groups")
    if "" in requested.groups:
        raise refusal(groups, "impersonating the empty string group is not allowed")
    if SUPERUSERS in requested.groups:
        raise refusal(replace(groups, name=SUPERUSERS), "impersonating the system:masters group is not allowed")
    for key, values in requested.extra:
        extra = replace(groups, resource="userextras")
        prefix, slash, path = key.partition("/")
        if not slash or subdomain_problems(prefix) or not path or path_segment_problems(path):
            raise refusal(extra, "impersonating an invalid key in extra is not allowed")
        if "" in values:
            raise refusal(extra, "impersonating the empty string value in extra is not allowed")


def _with_groups(mode: _Mode, requested: User) -> User:
    groups = requested.groups
    if not groups and (account := account_of(requested.name)):
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{account[0]}")
    elif mode.name and node_of(requested.name):
        groups = ("system:nodes",)
    if requested.name == ANONYMOUS:
        groups = groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
    elif UNAUTHENTICATED not in groups and AUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    return replace(requested, groups=groups)


def account_of(name: str) -> tuple[str, str] | None:
    """The namespace and name of the ServiceAccount with this user name; None if it is not one."""
    if not name.startswith(ACCOUNT_PREFIX):
        return None
    parts = name.removeprefix(ACCOUNT_PREFIX).split(":")
    if len(parts) != 2 or label_problems(parts[0]) or subdomain_problems(parts[1]):
        return None
    return parts[0], parts[1]


def node_of(name: str) -> str:
    """The node with this user name; empty if it is not one."""
    node = name.removeprefix(NODE_PREFIX)
    return "" if node == name or subdomain_problems(node) else node


def _only_named(requested: User) -> bool:
    return not (requested.uid or requested.groups or requested.extra)


def _own_node(requested: User, requestor: User) -> bool:
    node = node_of(requested.name)
    return bool(node) and account_of(requestor.name) is not None and dict(requestor.extra).get(NODE_NAME) == (node,)


MODES = (
    _Mode("associated-node", lambda requested, requestor: _only_named(requested) and _own_node(requested, requestor)),
    _Mode("arbitrary-node", lambda requested, _: _only_named(requested) and bool(node_of(requested.name))),
    _Mode("serviceaccount", lambda requested, _: _only_named(requested) and account_of(requested.name) is not None),
    _Mode("user-info", lambda requested, _: not node_of(requested.name) and account_of(requested.name) is None),
    _Mode("", lambda _, __: True),
)


def _go_list(values: list[str]) -> str:
    return f"[]string{{{', '.join(map(quoted, values))}}}" if values else "[]string(nil)"


def _go_map(values: Mapping[str, list[str]]) -> str:
    if not values:
        return "map[string][]string(nil)"
    return f"map[string][]string{{{', '.join(f'{quoted(key)}:{_go_list(values[key])}' for key in sorted(values))}}}"
