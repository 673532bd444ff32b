"""Tokens of ServiceAccounts: asked for, used, bound, and gone with what they are bound to."""

import base64
import json
from datetime import datetime
from typing import Any

import pytest

from conformance.access import WHO_AM_I, Somebody, robot, robot_name, rule, token_for, with_token
from conformance.objects import pod
from conformance.requests import Raw, Refused
from conformance.servers import Server
from windvane import ambient

ISSUER = "https://kubernetes.default.svc.cluster.local"
REVIEW = "POST /apis/authentication.k8s.io/v1/tokenreviews"
ROBOT = ("POST serviceaccounts", {"metadata": {"name": "robot"}})
TOKEN = "POST serviceaccounts/robot/token"
CREDENTIAL = "authentication.kubernetes.io/credential-id"
A_WHILE = 60  # seconds; a server notes when it was asked, and later when it issues the token


def claims_of(token: str) -> dict[str, Any]:
    """What a token says."""
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return claims


async def reviewed(raw: Raw, token: str, *audiences: str) -> dict[str, Any]:
    """The `status` of a TokenReview."""
    answered = await raw.ok(REVIEW, {"spec": {"token": token, "audiences": list(audiences)}})
    status: dict[str, Any] = answered["status"]
    return status


def invalid(name: str, field: str, problem: str) -> Refused:
    about = f"TokenRequest.authentication.k8s.io {name}".strip()
    message = f'TokenRequest.authentication.k8s.io "{name}" is invalid: {field}: Invalid value: {problem}'
    return Refused(422, "Invalid", message, about, [f"FieldValueInvalid {field}"])


async def test_a_token_that_names_another_uid(raw: Raw) -> None:
    made = await raw.ok(*ROBOT)
    answer = await raw(TOKEN, {"metadata": {"uid": "other"}})
    uid = made["metadata"]["uid"]
    message = (
        'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request '
        f"(other) does not match the UID of the service account ({uid})"
    )
    assert answer.refusal == Refused(409, "Conflict", message, "TokenRequest.authentication.k8s.io robot")


async def test_what_a_token_says(raw: Raw) -> None:
    made = await raw.ok(*ROBOT)
    claims = claims_of(await token_for(raw, "robot"))
    assert claims.pop("jti")
    assert claims.pop("exp") - claims["iat"] == 3600
    assert claims.pop("nbf") == claims.pop("iat")
    assert claims == {
        "aud": [ISSUER],
        "iss": ISSUER,
        "kubernetes.io": {
            "namespace": raw.namespace,
            "serviceaccount": {"name": "robot", "uid": made["metadata"]["uid"]},
        },
        "sub": f"system:serviceaccount:{raw.namespace}:robot",
    }


async def test_a_token_request_says_when_the_token_expires(raw: Raw) -> None:
    await raw.ok(*ROBOT)
    answered = await raw.ok(TOKEN, {"spec": {"expirationSeconds": 1000}})
    expires = datetime.fromisoformat(answered["status"]["expirationTimestamp"]).timestamp()
    assert abs(expires - claims_of(answered["status"]["token"])["exp"]) <= A_WHILE


async def test_a_token_that_a_pod_s_node_asks_for_is_good_for_a_year(raw: Raw) -> None:
    await raw.ok(*ROBOT)
    await raw.ok("POST pods", pod("web", serviceAccountName="robot"))
    ref = {"kind": "Pod", "apiVersion": "v1", "name": "web"}
    answered = await raw.ok(TOKEN, {"spec": {"expirationSeconds": 3607, "boundObjectRef": ref}})
    claims = claims_of(answered["status"]["token"])
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607
    expires = datetime.fromisoformat(answered["status"]["expirationTimestamp"]).timestamp()
    assert abs(expires - claims["iat"] - 3607) <= A_WHILE


# Using one


async def test_who_comes_with_a_token(server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        user = (await asker.ok(WHO_AM_I, {}))["status"]["userInfo"]
        account = await raw.ok("GET serviceaccounts/robot")
        credential = user.pop("extra")[CREDENTIAL]
    assert [one.partition("=")[0] for one in credential] == ["JTI"]
    assert user == {
        "username": robot_name(raw),
        "uid": account["metadata"]["uid"],
        "groups": ["system:serviceaccounts", f"system:serviceaccounts:{raw.namespace}", "system:authenticated"],
    }


async def test_a_service_account_may_what_its_roles_allow(server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        message = (
            f'pods is forbidden: User "{robot_name(raw)}" cannot list resource "pods" in API group "" '
            f'in the namespace "{raw.namespace}"'
        )
        assert (await asker("GET pods")).refusal == Refused(403, "Forbidden", message, "pods")
        await Somebody(raw, robot_name(raw)).may(rule("list", "pods"))
        assert (await asker("GET pods")).code == 200


async def test_a_token_for_others_does_not_get_in(server: Server, raw: Raw) -> None:
    await raw.ok(*ROBOT)
    async with with_token(server, raw, await token_for(raw, "robot", audiences=["vault"])) as asker:
        assert (await asker("GET /api")).refusal == Refused(401, "Unauthorized", "Unauthorized")


async def test_a_token_that_was_tampered_with_does_not_get_in(server: Server, raw: Raw) -> None:
    await raw.ok(*ROBOT)
    head, claims, signature = (await token_for(raw, "robot")).split(".")
    other = base64.urlsafe_b64encode(
        json.dumps(
            {**claims_of(f"{head}.{claims}.{signature}"), "sub": "system:serviceaccount:kube-system:root"}
        ).encode()
    )
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    forged = other.rstrip(b"=").decode()
    for wrong in (
        f"{head}.{forged}.{signature}",
        f"{unsigned}.{claims}.",
        f"{head}.{claims}.",
        f"{head}.{claims}",
        f"{head}.{claims}.{signature[:-4]}AAAA",
        f"{head}.{claims}.{signature}.{signature}",
        f"{unsigned}.{forged}.{signature}",
    ):
        async with with_token(server, raw, wrong) as asker:
            assert (await asker("GET /api")).code == 401, wrong


# Reviewing one


async def test_a_review_of_a_token(raw: Raw) -> None:
    made = await raw.ok(*ROBOT)
    token = await token_for(raw, "robot")
    assert await reviewed(raw, token) == {
        "authenticated": True,
        "user": {
            "username": robot_name(raw),
            "uid": made["metadata"]["uid"],
            "groups": ["system:serviceaccounts", f"system:serviceaccounts:{raw.namespace}", "system:authenticated"],
            "extra": {CREDENTIAL: [f"JTI={claims_of(token)['jti']}"]},
        },
        "audiences": [ISSUER],
    }


async def test_a_review_of_an_administrator_s_token(server: Server, raw: Raw) -> None:
    assert await reviewed(raw, server.token) == {
        "authenticated": True,
        "user": {"username": "admin", "uid": "1", "groups": ["system:masters", "system:authenticated"]},
        "audiences": [ISSUER],
    }
    assert await reviewed(raw, server.token, "x") == {"user": {}, "error": "invalid bearer token"}


async def test_a_review_of_nobody_s_token(raw: Raw) -> None:
    assert await reviewed(raw, "nope") == {"user": {}, "error": "invalid bearer token"}


async def test_a_review_says_which_audiences_a_token_is_for(raw: Raw) -> None:
    await raw.ok(*ROBOT)
    token = await token_for(raw, "robot", audiences=["x", "y"])
    assert (await reviewed(raw, token, "y", "z"))["audiences"] == ["y"]
    problem = f'token audiences ["x" "y"] is invalid for the target audiences ["{ISSUER}"]'
    assert await reviewed(raw, token) == {"user": {}, "error": f"[invalid bearer token, {problem}]"}


async def test_a_review_of_a_token_that_was_tampered_with(raw: Raw) -> None:
    await raw.ok(*ROBOT)
    problem = "go-jose/go-jose: error in cryptographic primitive"
    token = await token_for(raw, "robot")
    assert await reviewed(raw, f"{token[:-4]}AAAA") == {"user": {}, "error": f"[invalid bearer token, {problem}]"}


# Gone with what they are bound to


async def once_refused(raw: Raw, tokens: list[str]) -> dict[str, Any]:
    """What is told of the first of these tokens that is not good any more; there must be one.

    The real server sees a moment later that something is gone, and remembers for ten seconds whom it let in before.
    It may even see only later that the thing was there. There are tokens for more than a minute.
    """
    pause = 0.1
    status = await reviewed(raw, tokens.pop())
    while tokens and status.get("authenticated"):
        await ambient.sleep(pause)
        pause *= 1.2
        status = await reviewed(raw, tokens.pop())
    return status


async def test_a_token_goes_with_its_account(raw: Raw) -> None:
    made = await raw.ok(*ROBOT)
    tokens = [await token_for(raw, "robot") for _ in range(30)]
    await raw.ok("DELETE serviceaccounts/robot")
    problem = 'serviceaccounts "robot" not found'
    assert await once_refused(raw, tokens) == {"user": {}, "error": f"[invalid bearer token, {problem}]"}
    again = await raw.ok(*ROBOT)
    problem = f"service account UID ({again['metadata']['uid']}) does not match claim ({made['metadata']['uid']})"
    assert await once_refused(raw, tokens) == {"user": {}, "error": f"[invalid bearer token, {problem}]"}


async def test_a_token_goes_with_its_secret(raw: Raw) -> None:
    await raw.ok(*ROBOT)
    made = await raw.ok("POST secrets", {"metadata": {"name": "s"}})
    ref = {"kind": "Secret", "apiVersion": "v1", "name": "s"}
    first, *tokens = [await token_for(raw, "robot", boundObjectRef=ref) for _ in range(30)]
    assert claims_of(first)["kubernetes.io"]["secret"] == {"name": "s", "uid": made["metadata"]["uid"]}
    assert (await reviewed(raw, first))["authenticated"]
    await raw.ok("DELETE secrets/s")
    problem = "service account token has been invalidated"
    assert await once_refused(raw, tokens) == {"user": {}, "error": f"[invalid bearer token, {problem}]"}
    again = await raw.ok("POST secrets", {"metadata": {"name": "s"}})
    problem = (
        f"secret UID ({again['metadata']['uid']}) does not match service account secret ref claim "
        f"({made['metadata']['uid']})"
    )
    assert await once_refused(raw, tokens) == {"user": {}, "error": f"[invalid bearer token, {problem}]"}


async def test_a_token_goes_with_its_pod(raw: Raw) -> None:
    await raw.ok(*ROBOT)
    node = await raw.ok("POST /api/v1/nodes", {"metadata": {"name": "node-{ns}"}})
    made = await raw.ok("POST pods", pod("web", serviceAccountName="robot", nodeName="node-{ns}"))
    ref = {"kind": "Pod", "apiVersion": "v1", "name": "web"}
    first, *tokens = [await token_for(raw, "robot", boundObjectRef=ref) for _ in range(30)]
    status = await reviewed(raw, first)
    extra = {f"authentication.kubernetes.io/{key}": [value] for key, value in (
        ("credential-id", f"JTI={claims_of(first)['jti']}"),
        ("node-name", node["metadata"]["name"]), ("node-uid", node["metadata"]["uid"]),
        ("pod-name", "web"), ("pod-uid", made["metadata"]["uid"]),
    )}  # fmt: skip
    assert status["user"]["extra"] == extra
    await raw.ok("DELETE pods/web?gracePeriodSeconds=0")
    problem = "service account token has been invalidated"
    assert await once_refused(raw, tokens) == {"user": {}, "error": f"[invalid bearer token, {problem}]"}


async def test_a_token_goes_with_its_node(raw: Raw) -> None:
    await raw.ok(*ROBOT)
    made = await raw.ok("POST /api/v1/nodes", {"metadata": {"name": "node-{ns}"}})
    ref = {"kind": "Node", "apiVersion": "v1", "name": "node-{ns}"}
    tokens = [await token_for(raw, "robot", boundObjectRef=ref) for _ in range(30)]
    bound = {"name": made["metadata"]["name"], "uid": made["metadata"]["uid"]}
    assert claims_of(tokens[0])["kubernetes.io"]["node"] == bound
    assert (await reviewed(raw, tokens.pop()))["authenticated"]
    await raw.ok("DELETE /api/v1/nodes/node-{ns}")
    problem = "service account token has been invalidated"
    assert await once_refused(raw, tokens) == {"user": {}, "error": f"[invalid bearer token, {problem}]"}


# For others who check them


async def test_the_issuer_s_documents(raw: Raw) -> None:
    configuration = await raw("GET /.well-known/openid-configuration")
    assert configuration.content_type == "application/json"
    document = configuration.json
    assert document.pop("jwks_uri").endswith("/openid/v1/jwks")
    [algorithm] = document.pop("id_token_signing_alg_values_supported")
    assert document == {
        "issuer": ISSUER,
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
    }
    keys = await raw("GET /openid/v1/jwks")
    assert keys.content_type == "application/jwk-set+json"
    [key] = keys.json["keys"]
    assert (key["use"], key["alg"]) == ("sig", algorithm)
    assert "d" not in key
    await raw.ok(*ROBOT)
    head = json.loads(base64.urlsafe_b64decode((await token_for(raw, "robot")).split(".")[0] + "=="))
    assert head == {"alg": algorithm, "kid": key["kid"]}


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/openid/v1/jwks"])
async def test_service_accounts_may_see_them(path: str, server: Server, raw: Raw) -> None:
    async with robot(server, raw) as asker:
        assert (await asker(f"GET {path}")).code == 200
    assert (await Somebody(raw)(f"GET {path}")).code == 403
    assert (await raw(f"POST {path}", {})).code == 405
