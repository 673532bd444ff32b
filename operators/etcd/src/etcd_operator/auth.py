"""Root's password: clients must log in from the moment that it is set, and it is what a Secret says.

The Secret C-root has `username` and `password`. If its user writes another password, etcd is told; for that one must
log in with the one before, so the operator notes in two more keys what etcd may have been told:

    password   what should be: the user's to write, the operator's only if there is no Secret at all
    current    what etcd has accepted
    next       what etcd is being told: noted before it is told, for the operator may be killed in between

One of the three always works, whatever happens when. Of whether somebody must log in nothing is remembered: a member is
asked for something without logging in, and says.
"""

import asyncio
import base64
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import aiohttp

from etcd_operator import names
from etcd_operator.api import EtcdCluster
from etcd_operator.etcd import CHANGE_TIMEOUT, READ_TIMEOUT, Endpoint, Etcd, EtcdError
from windvane import ObjectMeta
from windvane.k8s import core

ROOT = "root"
"""The user, and the role, that may do everything."""
PASSWORD, CURRENT, NEXT = "password", "current", "next"

Record = Callable[[dict[str, Any]], Awaitable[object]]
"""Sends a merge patch for the Secret to the API server."""


class Gateway(Protocol):
    """What is needed of a client of a member: that of one with a vote."""

    token: str

    async def call(self, path: str, body: Mapping[str, Any], *, timeout: float = ...) -> dict[str, Any]:
        """Ask for something; EtcdError with etcd's words if it refuses."""


class PasswordRefused(EtcdError):
    """None of the passwords in the Secret is root's."""


class PasswordMissing(Exception):
    """The Secret has no password that could be used."""


def root(cluster: str) -> str:
    """The Secret with root's password."""
    return f"{cluster}-root"


def new_root(cluster: EtcdCluster) -> core.Secret:
    """The Secret, with a password that nobody knows yet. To be created, not applied: what is in it is its user's.

    It must not be owned by the EtcdCluster if volumes are kept: without it nobody would be let into the data.
    """
    mine = cluster.metadata
    return core.Secret(
        metadata=ObjectMeta(name=root(mine.name), namespace=mine.namespace, labels=names.labels(mine.name)),
        type="kubernetes.io/basic-auth",
        data={"username": ROOT.encode(), PASSWORD: secrets.token_hex(16).encode()},
    )


async def ensure(
    member: Gateway, secret: core.Secret, record: Record, announce: Callable[[str], None] = lambda _: None
) -> list[tuple[str, str]]:
    """Have clients log in, with the password that the Secret says. What is new, as reasons and sentences.

    `member` must not be logged in. If all is as it should be, this costs one question, and nothing is written. What is
    about to be changed in etcd is announced.
    """
    password = _password(secret)
    name = secret.metadata.name
    if not await is_enabled(member):
        announce("having clients log in")
        await record(_patch({NEXT: password}))
        await _enable(member, password)
        await _check(member, password, record)
        return [("AuthEnabled", f"clients must log in from now on; the password of root is in Secret {name}")]
    if _value(secret, CURRENT) == password and NEXT not in secret.data:
        return []
    accepted, token = await _log_in(member, secret)
    if accepted == password:
        await record(_patch({CURRENT: password, NEXT: None}))
        return []
    announce("changing the password of root")
    await record(_patch({CURRENT: accepted, NEXT: password}))
    member.token = token
    try:
        await member.call("auth/user/changepw", {"name": ROOT, "password": password}, timeout=CHANGE_TIMEOUT)
    finally:
        member.token = ""
    await _check(member, password, record)
    return [("PasswordChanged", f"the password of root is the one in Secret {name} now")]


async def is_enabled(member: Gateway) -> bool:
    """Whether clients must log in. Asked in a way that every version of etcd knows; the answer is the quorum's."""
    try:
        await member.call("kv/range", {"key": _encode("\0")})
    except EtcdError as error:
        if is_logged_out(error):
            return True
        raise
    return False


async def log_in(member: Gateway, secret: core.Secret) -> str:
    """A token for the header Authorization. Members forget it if it is not used for minutes, or when they restart."""
    return (await _log_in(member, secret))[1]


def is_logged_out(error: EtcdError) -> bool:
    """Whether that is what a member says to somebody who should log in, or log in again."""
    return any(
        words in str(error)
        for words in ("invalid auth token", "user name is empty", "permission denied", "revision of auth store is old")
    )


class Login:
    """The token for all calls to the members of a cluster, got when the first of them is refused."""

    def __init__(self, secret: core.Secret) -> None:
        self._secret = secret
        self._alone = asyncio.Lock()
        self.token = ""

    async def renew(self, member: Gateway, refused: str) -> None:
        """Have another token than the one that was refused."""
        async with self._alone:
            if self.token == refused:
                self.token = await log_in(member, self._secret)


class LoggedIn(Etcd):
    """A member that is asked as root; whoever asks need not know whether that is necessary."""

    def __init__(self, session: aiohttp.ClientSession, endpoint: Endpoint, login: Login) -> None:
        super().__init__(session, endpoint)
        self._login = login
        self._door = Etcd(session, endpoint)

    async def call(self, path: str, body: Mapping[str, Any], *, timeout: float = READ_TIMEOUT) -> dict[str, Any]:
        """Ask for something, and once more after logging in if a member wants to know who asks."""
        self.token = used = self._login.token
        try:
            return await super().call(path, body, timeout=timeout)
        except EtcdError as error:
            if not is_logged_out(error):
                raise
        await self._login.renew(self._door, used)
        self.token = self._login.token
        return await super().call(path, body, timeout=timeout)


async def _enable(member: Gateway, password: str) -> None:
    """Each of these may have been done before."""

    async def call(path: str, body: dict[str, str], done: str = "") -> bool:
        try:
            await member.call(path, body, timeout=CHANGE_TIMEOUT)
        except EtcdError as error:
            if not done or done not in str(error):
                raise
            return False
        return True

    if not await call("auth/user/add", {"name": ROOT, "password": password}, "user name already exists"):
        await call("auth/user/changepw", {"name": ROOT, "password": password})
    await call("auth/role/add", {"name": ROOT}, "role name already exists")
    await call("auth/user/grant", {"user": ROOT, "role": ROOT})
    await call("auth/enable", {})


async def _check(member: Gateway, password: str, record: Record) -> None:
    """Note that etcd knows the password, once it has been seen to."""
    await _authenticate(member, password)
    await record(_patch({CURRENT: password, NEXT: None}))


async def _log_in(member: Gateway, secret: core.Secret) -> tuple[str, str]:
    """The password that works, and a token."""
    for password in dict.fromkeys(filter(None, (_value(secret, key) for key in (PASSWORD, CURRENT, NEXT)))):
        try:
            return password, await _authenticate(member, password)
        except EtcdError as error:
            if "invalid user ID or password" not in str(error):
                raise
    raise PasswordRefused(
        f"etcd refuses the password in Secret {secret.metadata.name}: if root has another one, from a snapshot, say, "
        f"or because somebody told etcd, put that one into the key {CURRENT}"
    )


async def _authenticate(member: Gateway, password: str) -> str:
    body = {"name": ROOT, "password": password}
    token: str = (await member.call("auth/authenticate", body, timeout=CHANGE_TIMEOUT))["token"]
    return token


def _password(secret: core.Secret) -> str:
    if password := _value(secret, PASSWORD):
        return password
    raise PasswordMissing(f"Secret {secret.metadata.name} has no text under the key {PASSWORD}: write a password there")


def _value(secret: core.Secret, key: str) -> str:
    try:
        return secret.data.get(key, b"").decode()
    except UnicodeDecodeError:
        return ""


def _patch(values: dict[str, str | None]) -> dict[str, Any]:
    return {"data": {key: None if value is None else _encode(value) for key, value in values.items()}}


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
