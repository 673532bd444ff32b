"""Root's password is what the Secret says, whenever it is changed, and wherever the operator is killed."""

import base64
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etcd_operator import auth
from etcd_operator.api import EtcdCluster, EtcdClusterSpec
from etcd_operator.etcd import EtcdError
from windvane import ObjectMeta, Quantity
from windvane.k8s import core


class Killed(BaseException):
    """The operator's end, at this place."""


class Store:
    """What etcd keeps of users, in its words; and a Secret. Either may be the last that the operator reaches."""

    def __init__(self, **data: str) -> None:
        metadata = ObjectMeta(name="prod-root", namespace="db")
        self.secret = core.Secret(metadata=metadata, data={key: value.encode() for key, value in data.items()})
        self.passwords: dict[str, str] = {}
        self.roles: set[str] = set()
        self.granted = False
        self.enabled = False
        self.tokens: set[str] = set()
        self.token = ""
        self.writes: list[str] = []
        self.last = 1_000

    def _still_alive(self) -> None:
        if self.last == 0:
            raise Killed
        self.last -= 1

    async def record(self, patch: dict[str, Any]) -> None:
        self._still_alive()
        self.writes.append("Secret")
        for key, value in patch["data"].items():
            if value is None:
                self.secret.data.pop(key, None)
            else:
                self.secret.data[key] = base64.b64decode(value)

    async def call(self, path: str, body: Mapping[str, Any], *, timeout: float = 1) -> dict[str, Any]:
        self._still_alive()
        if path == "auth/authenticate":
            return self._authenticate(body)
        allowed = not self.enabled or self.token in self.tokens
        if not allowed:
            raise EtcdError("invalid auth token" if self.token else "user name is empty")
        if path == "kv/range":
            return {}
        self.writes.append(path)
        getattr(self, "_" + path.removeprefix("auth/").replace("/", "_"))(body)
        return {}

    def _authenticate(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if not self.enabled:
            raise EtcdError("authentication is not enabled")
        if self.passwords[body["name"]] != body["password"]:
            raise EtcdError("authentication failed, invalid user ID or password")
        self.tokens.add(f"token.{len(self.tokens)}")
        return {"token": f"token.{len(self.tokens) - 1}"}

    def _user_add(self, body: Mapping[str, Any]) -> None:
        if body["name"] in self.passwords:
            raise EtcdError("user name already exists")
        self.passwords[body["name"]] = body["password"]

    def _user_changepw(self, body: Mapping[str, Any]) -> None:
        self.passwords[body["name"]] = body["password"]
        self.tokens.clear()

    def _role_add(self, body: Mapping[str, Any]) -> None:
        if body["name"] in self.roles:
            raise EtcdError("role name already exists")
        self.roles.add(body["name"])

    def _user_grant(self, body: Mapping[str, Any]) -> None:
        assert body["role"] in self.roles
        self.granted = True

    def _enable(self, body: Mapping[str, Any]) -> None:
        if not self.granted:
            raise EtcdError("root user does not have root role")
        self.enabled = True

    async def ensure(self) -> list[str]:
        return [reason for reason, _ in await auth.ensure(self, self.secret, self.record)]

    async def live(self, operations: int) -> None:
        """An operator that is killed after so many calls and writes."""
        self.last = operations
        try:
            await self.ensure()
        except Killed:
            pass
        finally:
            self.last, self.token = 1_000, ""

    def wish(self, password: str) -> None:
        self.secret.data["password"] = password.encode()


async def test_clients_must_log_in_with_the_password_of_the_secret() -> None:
    store = Store(password="one")
    assert await store.ensure() == ["AuthEnabled"]
    assert store.enabled
    assert await auth.log_in(store, store.secret) in store.tokens
    assert store.secret.data == {"password": b"one", "current": b"one"}


async def test_what_is_as_it_should_be_costs_no_write() -> None:
    store = Store(password="one")
    await store.ensure()
    store.writes.clear()
    assert await store.ensure() == []
    assert store.writes == []


async def test_another_password_in_the_secret_is_told_to_etcd() -> None:
    store = Store(password="one")
    await store.ensure()
    store.wish("two")
    assert await store.ensure() == ["PasswordChanged"]
    assert store.passwords == {"root": "two"}
    assert store.secret.data == {"password": b"two", "current": b"two"}


async def test_a_root_that_was_there_before_gets_the_password_of_the_secret() -> None:
    store = Store(password="one")
    store.passwords["root"] = "from the time before"
    await store.ensure()
    assert store.passwords == {"root": "one"}


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("one", "two", "three", "four")), st.integers(0, 12)), max_size=8))
async def test_wherever_it_is_killed_and_whenever_the_password_changes_root_is_not_locked_out(
    lives: list[tuple[str, int]],
) -> None:
    store = Store(password="zero")
    for password, operations in lives:
        store.wish(password)
        await store.live(operations)
    await store.ensure()
    wanted = store.secret.data["password"]
    assert store.passwords == {"root": wanted.decode()}
    assert store.secret.data == {"password": wanted, "current": wanted}


async def test_a_password_that_etcd_does_not_know_is_refused_with_the_remedy() -> None:
    store = Store(password="one")
    await store.ensure()
    restored = Store(password="two")
    restored.passwords, restored.enabled = store.passwords, True
    with pytest.raises(auth.PasswordRefused, match=r"Secret prod-root: .* put that one into the key current"):
        await restored.ensure()
    restored.secret.data["current"] = b"one"
    assert await restored.ensure() == ["PasswordChanged"]


async def test_a_password_that_somebody_told_etcd_is_known_again_when_the_secret_has_it() -> None:
    store = Store(password="one")
    await store.ensure()
    store.passwords["root"] = "by hand"
    with pytest.raises(auth.PasswordRefused):
        await auth.log_in(store, store.secret)
    store.wish("by hand")
    assert await store.ensure() == []
    assert store.secret.data == {"password": b"by hand", "current": b"by hand"}


async def test_a_secret_without_a_password_is_told_of() -> None:
    with pytest.raises(auth.PasswordMissing, match="prod-root has no text under the key password"):
        await Store(user="root").ensure()


async def test_a_member_that_can_not_answer_is_no_reason_to_begin_anew() -> None:
    store = Store(password="one")

    async def silent(path: str, body: Mapping[str, Any], *, timeout: float = 1) -> dict[str, Any]:
        raise EtcdError("no answer within 3 s")

    store.call = silent  # type: ignore[method-assign]
    with pytest.raises(EtcdError, match="no answer"):
        await store.ensure()
    assert store.writes == []


def test_a_new_password_is_long_and_another_each_time() -> None:
    spec = EtcdClusterSpec(version="3.5.1", storage_size=Quantity("1Gi"), auth=True)
    cluster = EtcdCluster(metadata=ObjectMeta(name="prod", namespace="db"), spec=spec)
    one, other = auth.new_root(cluster), auth.new_root(cluster)
    assert (one.metadata.name, one.data["username"]) == ("prod-root", b"root")
    assert len(one.data["password"]) == 32
    assert one.data["password"] != other.data["password"]
