"""Users with few rights, and roles for them, for tests of who may do what."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from conformance.requests import SECONDS, Answer, Raw
from conformance.servers import Server
from windvane import ambient

RBAC = "/apis/rbac.authorization.k8s.io/v1"
RBAC_GROUP = "rbac.authorization.k8s.io"
REVIEW = "POST /apis/authorization.k8s.io/v1/subjectaccessreviews"
WHO_AM_I = "POST /apis/authentication.k8s.io/v1/selfsubjectreviews"


class Somebody:
    """Sends requests as somebody else than the administrator. Without a name, they are called like the namespace."""

    def __init__(self, raw: Raw, name: str = "", headers: Mapping[str, str] | None = None) -> None:
        self.raw = raw
        self.name = name or raw.namespace
        self._headers = {"Impersonate-User": self.name, **(headers or {})}

    async def __call__(self, request: str, body: Any = None, **rest: Any) -> Answer:
        """The answer to one request; see `Raw`."""
        return await self.raw(request, body, headers=self._headers, **rest)

    async def may(self, *rules: Mapping[str, Any], name: str = "granted") -> None:
        """Give them these rules in the test's namespace, and wait until the server knows."""
        await self.raw.ok("POST roles", {"metadata": {"name": name}, "rules": [*rules, marker(name)]})
        await self.raw.ok("POST rolebindings", binding(name, "Role", name, self.name))
        await self._until_known(name, self.raw.namespace)

    async def may_everywhere(self, *rules: Mapping[str, Any]) -> None:
        """Give them these rules in the whole cluster, through a role called like the namespace."""
        name = self.raw.namespace
        await self.raw.ok(f"POST {RBAC}/clusterroles", {"metadata": {"name": name}, "rules": [*rules, marker(name)]})
        await self.raw.ok(f"POST {RBAC}/clusterrolebindings", binding(name, "ClusterRole", name, self.name))
        await self._until_known(name, "")

    async def _until_known(self, name: str, namespace: str) -> None:
        await until_allowed(self.raw, self.name, {**known(name), "namespace": namespace})


def rule(verbs: str, resources: str, group: str = "", **rest: Any) -> dict[str, Any]:
    """A rule, with words in place of lists."""
    return {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split(), **rest}


def marker(name: str) -> dict[str, Any]:
    """A rule for something that isn't there, which tells that the server knows the role that it is in."""
    return rule("know", name, "markers")


def known(name: str) -> dict[str, str]:
    """What `marker` allows."""
    return {"verb": "know", "group": "markers", "resource": name}


def binding(name: str, kind: str, role: str, user: str, subject: str = "User") -> dict[str, Any]:
    """A RoleBinding or ClusterRoleBinding."""
    group = {"apiGroup": RBAC_GROUP} if subject != "ServiceAccount" else {"namespace": "{ns}"}
    return {
        "metadata": {"name": name},
        "roleRef": {"kind": kind, "name": role, "apiGroup": RBAC_GROUP},
        "subjects": [{"kind": subject, "name": user, **group}],
    }


async def review(
    raw: Raw, user: str, attributes: Mapping[str, str], groups: Sequence[str] = (), **spec: Any
) -> dict[str, Any]:
    """The `status` of a SubjectAccessReview."""
    what = {"nonResourceAttributes" if "path" in attributes else "resourceAttributes": dict(attributes)}
    answered = await raw.ok(REVIEW, {"spec": {**what, "user": user, "groups": list(groups), **spec}})
    status: dict[str, Any] = answered["status"]
    return status


async def until_allowed(raw: Raw, user: str, attributes: Mapping[str, str], groups: Sequence[str] = ()) -> None:
    """Wait until the server knows the roles and bindings that allow this: a real one takes a moment."""
    async with asyncio.timeout(SECONDS):
        while not (await review(raw, user, attributes, groups))["allowed"]:
            await ambient.sleep(0.02)


async def token_for(raw: Raw, account: str, **spec: Any) -> str:
    """A new token of a ServiceAccount."""
    answered = await raw.ok(f"POST serviceaccounts/{account}/token", {"spec": spec})
    token: str = answered["status"]["token"]
    return token


@asynccontextmanager
async def with_token(server: Server, raw: Raw, token: str) -> AsyncIterator[Raw]:
    """Requests with that token, in the same namespace."""
    async with Raw(server.url, server.ca_file, token) as other:
        other.namespace = raw.namespace
        yield other


@asynccontextmanager
async def robot(server: Server, raw: Raw) -> AsyncIterator[Raw]:
    """A new ServiceAccount "robot" in the test's namespace, and its requests."""
    await raw.ok("POST serviceaccounts", {"metadata": {"name": "robot"}})
    async with with_token(server, raw, await token_for(raw, "robot")) as other:
        yield other


def robot_name(raw: Raw) -> str:
    """What that ServiceAccount is called as a user."""
    return f"system:serviceaccount:{raw.namespace}:robot"
