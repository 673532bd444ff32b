"""The etcd of an EtcdCluster with `tls` and `auth`, reached by who reads the Secrets again when nothing else helps."""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from etcd_operator import auth, names, tls
from etcd_operator.transport import client_context
from scenarios.gateway import Gateway, Refused
from scenarios.machine import NAMESPACE
from scenarios.reached import Reached
from scenarios.scene import Scene
from windvane import Client
from windvane.k8s import core

NOBODY = ("user name is empty", "invalid auth token", "permission denied", "invalid user ID or password")


class Keys:
    """What a client shows, and whom it trusts: as the Secrets were when it last had trouble."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self.context: ssl.SSLContext | None = None
        self.password = ""
        self.token = ""
        self.host = f"{names.client(name)}.{NAMESPACE}.svc"

    async def secret(self, name: str) -> core.Secret:
        """A Secret as it is now."""
        return await self._client.get(core.Secret, name, namespace=NAMESPACE)

    async def read(self) -> ssl.SSLContext:
        """Begin anew."""
        self.context = client_context(await self.secret(tls.client(self._name)))
        self.password = (await self.secret(auth.root(self._name))).data["password"].decode()
        self.token = ""
        return self.context


class SecureGateway(Gateway):
    """One address, at which one must show a certificate, and log in."""

    def __init__(self, session: aiohttp.ClientSession, address: str, keys: Keys, *, patience: float = 1.0) -> None:
        super().__init__(session, address, patience=patience)
        self.url = self.url.replace("http://", "https://")
        self._keys = keys

    async def ask(self, path: str, **body: Any) -> dict[str, Any]:
        """The answer. What fails because of certificates or passwords is tried once more, with those of now."""
        try:
            return await self._ask(path, body)
        except (ssl.SSLError, aiohttp.ClientOSError):
            pass
        except Refused as error:
            if not any(words in str(error) for words in NOBODY):
                raise
        await self._keys.read()
        return await self._ask(path, body)

    async def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        keys = self._keys
        context = keys.context or await keys.read()
        if not keys.token:
            said = await self._send("auth/authenticate", {"name": "root", "password": keys.password}, context)
            keys.token = said["token"]
        return await self._send(path, body, context)

    async def _send(self, path: str, body: dict[str, Any], context: ssl.SSLContext) -> dict[str, Any]:
        headers = {"Authorization": self._keys.token} if self._keys.token else {}
        async with self._session.post(
            f"{self.url}/v3/{path}",
            json=body,
            ssl=context,
            server_hostname=self._keys.host,
            headers=headers,
            timeout=self._timeout,
        ) as response:
            answer: dict[str, Any] = await response.json(content_type=None)
        if response.status != 200:
            raise Refused(answer.get("error", str(response.status)))
        return answer


def write(directory: Path, secret: core.Secret) -> None:
    """A Secret as files."""
    for name, value in secret.data.items():
        (directory / name).write_bytes(value)


@dataclass(frozen=True)
class SecureReached(Reached):
    """One etcd, with keys to it."""

    keys: Keys
    directory: Path
    """For etcdctl, which wants files."""

    async def service(self, *, patience: float = 1.0) -> Gateway:
        """Whichever member the Service for clients leads to."""
        service = await self.client.get(core.Service, names.client(self.name), namespace=NAMESPACE)
        return SecureGateway(self.session, service.spec.cluster_ip or "", self.keys, patience=patience)

    def _at(self, pod: core.Pod) -> Gateway:
        return SecureGateway(self.session, pod.status.pod_ip or "", self.keys, patience=5)

    async def environment(self) -> dict[str, str]:
        """What etcdctl must know, beside an address, which is in no certificate."""
        secret = await self.keys.secret(tls.client(self.name))
        write(self.directory, secret)
        return {
            "ETCDCTL_INSECURE_SKIP_TLS_VERIFY": "true",
            "ETCDCTL_CERT": f"{self.directory}/tls.crt",
            "ETCDCTL_KEY": f"{self.directory}/tls.key",
            "ETCDCTL_USER": "root",
            "ETCDCTL_PASSWORD": (await self.keys.secret(auth.root(self.name))).data["password"].decode(),
        }


class SecureScene(Scene):
    """A scenario whose etcd asks who comes."""

    def __init__(self, stage: Scene, directory: Path) -> None:
        super().__init__(stage.machine, stage.operator, stage.session, stage.seed, stage.figures)
        self._directory = directory
        self._keys: dict[str, Keys] = {}

    def etcd_of(self, name: str) -> Reached:
        """The etcd of an EtcdCluster."""
        client = self.machine.client
        keys = self._keys.setdefault(name, Keys(client, name))
        return SecureReached(client, self.session, name, keys, self._directory)
