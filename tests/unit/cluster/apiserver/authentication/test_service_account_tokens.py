import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from unit.cluster.apiserver.servers import ask, running
from windvane import ambient
from windvane.cluster.apiserver.authentication.jwt import InvalidToken, SigningKey
from windvane.cluster.apiserver.server import APIServer

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


class Clock(ambient.Reality):
    """The real world, some time later."""

    later = timedelta()

    def now(self) -> datetime:
        return super().now() + self.later


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with ambient.use(clock):
        yield clock


async def issued(server: APIServer, **spec: Any) -> str:
    await ask(server, f"POST {ACCOUNTS}", {"metadata": {"name": "robot"}})
    answer = await ask(server, f"POST {ACCOUNTS}/robot/token", {"spec": spec})
    assert answer.code == 201, answer.body
    token: str = json.loads(answer.body)["status"]["token"]
    return token


async def test_a_token_expires(clock: Clock) -> None:
    async with running() as server:
        token = await issued(server, expirationSeconds=600)
        clock.later = timedelta(seconds=650)  # clocks may differ by a minute
        assert server.tokens.get(token) is not None
        clock.later = timedelta(seconds=670)
        assert server.tokens.get(token) is None
        problem = "[invalid bearer token, service account token has expired]"
        assert server.tokens.review(token, ()) == {"user": {}, "error": problem}


async def test_a_token_is_not_good_before_its_time(clock: Clock) -> None:
    async with running() as server:
        token = await issued(server)
        clock.later = timedelta(seconds=-90)
        problem = "[invalid bearer token, service account token is not valid yet]"
        assert server.tokens.review(token, ()) == {"user": {}, "error": problem}


async def test_a_token_that_a_pod_s_node_asks_for_outlives_what_was_asked(clock: Clock) -> None:
    async with running() as server:
        await ask(server, f"POST {ACCOUNTS}", {"metadata": {"name": "robot"}})
        pod = {
            "metadata": {"name": "web"},
            "spec": {"serviceAccountName": "robot", "containers": [{"name": "a", "image": "b"}]},
        }
        assert (await ask(server, "POST /api/v1/namespaces/default/pods", pod)).code == 201
        ref = {"kind": "Pod", "apiVersion": "v1", "name": "web"}
        token = await issued(server, expirationSeconds=3607, boundObjectRef=ref)
        clock.later = timedelta(days=300)
        assert server.tokens.get(token) is not None
        clock.later = timedelta(days=366)
        assert server.tokens.get(token) is None


async def test_a_warning_is_counted_from_when_the_token_was_issued() -> None:
    class Ticking(Clock):
        """Every look at it is in another second."""

        def now(self) -> datetime:
            self.later += timedelta(seconds=1)
            return super().now()

    with ambient.use(Ticking()):
        async with running() as server:
            await ask(server, f"POST {ACCOUNTS}", {"metadata": {"name": "robot"}})
            spec = {"serviceAccountName": "robot", "containers": [{"name": "a", "image": "b"}]}
            await ask(server, "POST /api/v1/namespaces/default/pods", {"metadata": {"name": "web"}, "spec": spec})
            ref = {"kind": "Pod", "apiVersion": "v1", "name": "web"}
            token = await issued(server, expirationSeconds=3607, boundObjectRef=ref)
    claims = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607


async def test_an_account_that_is_held_by_a_finalizer_is_gone_after_a_minute(clock: Clock) -> None:
    async with running() as server:
        held = {"metadata": {"name": "robot", "finalizers": ["example.com/wait"]}}
        assert (await ask(server, f"POST {ACCOUNTS}", held)).code == 201
        token = await issued(server)
        await ask(server, f"DELETE {ACCOUNTS}/robot")
        assert server.tokens.get(token) is not None
        clock.later = timedelta(seconds=90)
        assert server.tokens.get(token) is None


async def test_a_token_of_another_cluster_is_no_token() -> None:
    async with running() as one, running() as other:
        token = await issued(one)
        await issued(other)
        assert one.tokens.get(token) is not None
        assert other.tokens.get(token) is None


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        "e30.e30.",
        "e30.e30.AAAA",
        "e30.W10." + "A" * 86,
        "ü.ü.ü",
        "e30=.e30=.AA==",
        "a" * 9999,
    ],
)
def test_what_is_no_token(token: str) -> None:
    with pytest.raises(InvalidToken):
        SigningKey.new().verify(token)


def test_an_algorithm_is_not_the_token_s_to_choose() -> None:
    key = SigningKey.new()
    head, claims, signature = key.sign({"a": 1}).split(".")
    assert SigningKey.new().key_id != key.key_id
    for other in ('{"alg":"none"}', '{"alg":"HS256"}', '{"alg":"RS256"}', "{}", "[]", '{"alg":["ES256"]}'):
        forged = urlsafe_b64encode(other.encode()).rstrip(b"=").decode()
        with pytest.raises(InvalidToken):
            key.verify(f"{forged}.{claims}.{signature}")
    assert key.verify(f"{head}.{claims}.{signature}") == {"a": 1}
