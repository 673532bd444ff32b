"""How the operator reaches members: at their pods' addresses, with what TLS and authentication ask for.

So it has to run where those addresses lead somewhere: in the cluster. `kubectl port-forward` would be no way from
outside: it leads to a pod's 127.0.0.1, and members listen on the pod's own address only.
"""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from etcd_operator import names
from etcd_operator.etcd import Endpoint, Etcd
from windvane.k8s import core


class Access:
    """Opens doors to members, for the length of one pass."""

    def __init__(self, session: aiohttp.ClientSession, context: ssl.SSLContext | None = None, token: str = "") -> None:
        self._session = session
        self._context = context
        self._token = token

    async def door(self, pod: core.Pod, name: str) -> Etcd:
        """A client of the member in a pod. Nothing is sent yet."""
        endpoint = Endpoint(pod.status.pod_ip or "", names.CLIENT_PORT, self._context, name if self._context else "")
        return Etcd(self._session, endpoint, token=self._token)


@asynccontextmanager
async def access(context: ssl.SSLContext | None = None, token: str = "") -> AsyncIterator[Access]:
    """Ways to members, until the end of the block."""
    async with aiohttp.ClientSession() as session:
        yield Access(session, context, token)
