"""How the operator reaches members: at their pods' addresses, with what TLS and authentication ask for.

So it has to run where those addresses lead somewhere: in the cluster. `kubectl port-forward` would be no way from
outside: it leads to a pod's 127.0.0.1, and members listen on the pod's own address only.
"""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from etcd_operator import names
from etcd_operator.auth import LoggedIn, Login
from etcd_operator.etcd import Endpoint, Etcd
from windvane.k8s import core


class Access:
    """Opens doors to members, for the length of one pass. Nothing is sent before somebody asks for something."""

    def __init__(self, session: aiohttp.ClientSession, context: ssl.SSLContext | None, login: Login | None) -> None:
        self._session = session
        self._context = context
        self._login = login

    def door(self, pod: core.Pod, host: str) -> Etcd:
        """A client of the member in a pod, which has that name."""
        if self._login is None:
            return self.stranger(pod, host)
        return LoggedIn(self._session, self._endpoint(pod, host), self._login)

    def stranger(self, pod: core.Pod, host: str) -> Etcd:
        """One that does not say who it is."""
        return Etcd(self._session, self._endpoint(pod, host))

    def _endpoint(self, pod: core.Pod, host: str) -> Endpoint:
        return Endpoint(pod.status.pod_ip or "", names.CLIENT_PORT, self._context, host if self._context else "")


@asynccontextmanager
async def access(context: ssl.SSLContext | None, login: Login | None) -> AsyncIterator[Access]:
    """Ways to members, until the end of the block."""
    async with aiohttp.ClientSession() as session:
        yield Access(session, context, login)
