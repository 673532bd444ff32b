"""Acting as somebody else: `kubectl --as jane`. Whoever asks must be allowed to be that somebody.

There are two ways to be allowed. The old one is the verb `impersonate` on users, groups, uids and extras, and once
one has it one may do all that they may. The newer ones are narrower: `impersonate:user-info`, say, on whom to be, and
`impersonate-on:user-info:list` on what to do as them. Each is tried, first the one that a user succeeded with last;
if none works, the refusal is that of the first that was tried.
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
REMEMBERED = 10_000  # users whose last way of impersonating is known


def wanted_user(headers: Mapping[str, str]) -> User | None:
    """Whom the headers of a request ask to be; None if nobody else."""
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
    """One way to be allowed to act as somebody."""

    name: str
    """Empty for the old way."""
    serves: Callable[[User, User], bool]
    """Whether it is for such a wanted user and such an asker."""

    @property
    def verb(self) -> str:
        return f"impersonate:{self.name}" if self.name else "impersonate"


class Impersonation:
    """Decides who may be whom."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._last: dict[str, _Mode] = {}  # by the asker's name

    def user(self, headers: Mapping[str, str], wanted: Attributes) -> tuple[User, str] | None:
        """Who is taken to be asking for what is wanted, if the headers name somebody else and it is allowed.

        With them comes the verb that allowed it, if it was one of the narrow ones. None if it is about nobody else.
        """
        if (somebody := wanted_user(headers)) is None:
            return None
        refused: Failure | None = None
        for mode in self._modes(wanted.user):
            if not mode.serves(somebody, wanted.user):
                continue
            try:
                became = self._become(mode, somebody, wanted)
            except Failure as error:
                refused = refused or error
                continue
            self._remember(wanted.user.name, mode)
            return became, mode.verb if mode.name else ""
        raise refused or refusal(wanted, "all impersonation modes failed")

    def _modes(self, asker: User) -> Iterator[_Mode]:
        last = self._last.get(asker.name)
        if last is not None:
            yield last
        yield from (mode for mode in MODES if mode is not last)

    def _remember(self, name: str, mode: _Mode) -> None:
        self._last.pop(name, None)
        self._last[name] = mode
        if len(self._last) > REMEMBERED:
            del self._last[next(iter(self._last))]

    def _become(self, mode: _Mode, somebody: User, wanted: Attributes) -> User:
        if mode.name:
            self._authorizer.check(replace(wanted, verb=f"impersonate-on:{mode.name}:{wanted.verb}"))
            _check_sane(mode, somebody, wanted.user)
        for each in _claims(mode, somebody, wanted.user):
            self._authorizer.check(each)
        return _with_groups(mode, somebody)


def _claims(mode: _Mode, somebody: User, asker: User) -> Iterator[Attributes]:
    """All that the asker must be allowed to be."""
    about = Attributes(asker, mode.verb, group=AUTHENTICATION if mode.name else "", version="v1")
    account, node = account_of(somebody.name), node_of(somebody.name)
    if account:
        yield replace(about, resource="serviceaccounts", namespace=account[0], name=account[1])
    elif mode.name and node:
        yield replace(about, resource="nodes", name="*" if mode.name == "associated-node" else node)
    else:
        yield replace(about, resource="users", name=somebody.name)
    if somebody.uid:
        yield replace(about, group=AUTHENTICATION, resource="uids", name=somebody.uid)
    for group in somebody.groups:
        yield replace(about, resource="groups", name=group)
    for key, values in somebody.extra:
        for value in values:
            yield replace(about, group=AUTHENTICATION, resource="userextras", subresource=key, name=value)


def _check_sane(mode: _Mode, somebody: User, asker: User) -> None:
    """What the newer ways never allow."""
    groups = Attributes(asker, mode.verb, group=AUTHENTICATION, resource="groups")
    if "" in somebody.groups:
        raise refusal(groups, "impersonating the empty string group is not allowed")
    if SUPERUSERS in somebody.groups:
        raise refusal(replace(groups, name=SUPERUSERS), "impersonating the system:masters group is not allowed")
    for key, values in somebody.extra:
        extra = replace(groups, resource="userextras")
        prefix, slash, path = key.partition("/")
        if not slash or subdomain_problems(prefix) or not path or path_segment_problems(path):
            raise refusal(extra, "impersonating an invalid key in extra is not allowed")
        if "" in values:
            raise refusal(extra, "impersonating the empty string value in extra is not allowed")


def _with_groups(mode: _Mode, somebody: User) -> User:
    groups = somebody.groups
    if not groups and (account := account_of(somebody.name)):
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{account[0]}")
    elif mode.name and node_of(somebody.name):
        groups = ("system:nodes",)
    if somebody.name == ANONYMOUS:
        groups = groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
    elif UNAUTHENTICATED not in groups and AUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    return replace(somebody, groups=groups)


def account_of(name: str) -> tuple[str, str] | None:
    """Namespace and name of the ServiceAccount that a user of this name is; None if they are none."""
    if not name.startswith(ACCOUNT_PREFIX):
        return None
    parts = name.removeprefix(ACCOUNT_PREFIX).split(":")
    if len(parts) != 2 or label_problems(parts[0]) or subdomain_problems(parts[1]):
        return None
    return parts[0], parts[1]


def node_of(name: str) -> str:
    """The node that a user of this name is; empty if they are none."""
    node = name.removeprefix(NODE_PREFIX)
    return "" if node == name or subdomain_problems(node) else node


def _only_named(somebody: User) -> bool:
    return not (somebody.uid or somebody.groups or somebody.extra)


def _own_node(somebody: User, asker: User) -> bool:
    node = node_of(somebody.name)
    return bool(node) and account_of(asker.name) is not None and dict(asker.extra).get(NODE_NAME) == (node,)


MODES = (
    _Mode("associated-node", lambda somebody, asker: _only_named(somebody) and _own_node(somebody, asker)),
    _Mode("arbitrary-node", lambda somebody, _: _only_named(somebody) and bool(node_of(somebody.name))),
    _Mode("serviceaccount", lambda somebody, _: _only_named(somebody) and account_of(somebody.name) is not None),
    _Mode("user-info", lambda somebody, _: not node_of(somebody.name) and account_of(somebody.name) is None),
    _Mode("", lambda _, __: True),
)


def _go_list(values: list[str]) -> str:
    return f"[]string{{{', '.join(map(quoted, values))}}}" if values else "[]string(nil)"


def _go_map(values: Mapping[str, list[str]]) -> str:
    if not values:
        return "map[string][]string(nil)"
    return f"map[string][]string{{{', '.join(f'{quoted(key)}:{_go_list(values[key])}' for key in sorted(values))}}}"
