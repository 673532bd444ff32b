"""Credentials: what a request carries so that the API server knows which user sends it.

A kubeconfig or a pod decides which kind there is (`config.py`); the client only sees `Credentials`. It
asks for headers before each request, and after a 401 it says so and tries once more:

    headers = await credentials.headers()       # may run a plugin, so it comes before the connection
    if credentials.generation != generation:    # a plugin gave another client certificate:
        ...                                     # open new connections with credentials.client_certificate()
    response = await send(headers)
    if response.status == 401 and await credentials.invalidate():
        ...                                     # once more from the top, once
"""

import base64
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from windvane import ambient
from windvane.client.errors import ClientError

log = logging.getLogger(__name__)

# A token file is read again after so many seconds. The kubelet replaces a pod's token well before it expires.
REREAD_AFTER = 10.0


class CredentialsError(ClientError):
    """Credentials could not be had; the message says from where, why, and what to do."""


class Credentials(Protocol):
    """Proof of identity that may change while the program runs."""

    @property
    def generation(self) -> int:
        """A number that changes exactly when `client_certificate()` does.

        Connections keep the certificate that they were opened with. So remember the number when you open
        them, compare it after each `headers()`, and when it differs, leave the old ones to their requests
        and open new ones.
        """
        ...

    async def headers(self) -> Mapping[str, str]:
        """The headers to send now, perhaps none; `CredentialsError` if there are no credentials.

        Cheap, except when it is time to renew.
        """
        ...

    async def invalidate(self) -> bool:
        """The server answered 401: forget what is cached. True if it is worth asking `headers()` again.

        Retry once, not more: True says that fresh credentials may help, not that they will.
        """
        ...

    def client_certificate(self) -> tuple[bytes, bytes] | None:
        """Certificate and key (PEM) for new connections, as of the last `headers()`; None if there is none.

        A certificate that stands in the kubeconfig is not here but in `ClientConfig`: it never changes.
        """
        ...


class _Fixed:
    """Credentials that stay what they are: if the server refuses them once, it will refuse them again."""

    generation = 0

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    async def headers(self) -> Mapping[str, str]:
        return self._headers

    async def invalidate(self) -> bool:
        return False

    def client_certificate(self) -> tuple[bytes, bytes] | None:
        return None


class Anonymous(_Fixed):
    """No headers: the client certificate says who we are, or nothing does."""

    def __init__(self) -> None:
        super().__init__({})


class BearerToken(_Fixed):
    """A token that never changes."""

    def __init__(self, token: str) -> None:
        super().__init__(bearer(token, "The token"))


class BasicAuth(_Fixed):
    """A user name and a password. Kubernetes itself no longer takes them; proxies in front of it may."""

    def __init__(self, username: str, password: str) -> None:
        pair = base64.b64encode(f"{username}:{password}".encode()).decode()
        super().__init__({"Authorization": f"Basic {pair}"})


class TokenFile:
    """A token in a file that is replaced now and then: in a pod, by the kubelet.

    `initial` is used until the file can be read. After that, a file that can't be read for a while doesn't
    matter as long as the last token is good.
    """

    generation = 0

    def __init__(self, path: Path, *, initial: str = "") -> None:
        self._path = path
        self._headers = bearer(initial, "The token") if initial else None
        self._read_at: float | None = None

    async def headers(self) -> Mapping[str, str]:
        now = ambient.monotonic()
        if self._headers is None or self._read_at is None or now - self._read_at >= REREAD_AFTER:
            try:
                self._headers = self._read()
            except CredentialsError as error:
                if self._headers is None:
                    raise
                log.warning("%s Going on with the last token.", error)
            self._read_at = now
        return self._headers

    async def invalidate(self) -> bool:
        # Worth a second try even if the file is as it was: the request may have carried an older token.
        self._read_at = None
        return True

    def client_certificate(self) -> tuple[bytes, bytes] | None:
        return None

    def _read(self) -> Mapping[str, str]:
        try:
            token = self._path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise CredentialsError(f"Cannot read the token file {self._path}: {reason}.") from error
        return bearer(token, f"The token file {self._path}")


def bearer(token: str, where: str) -> Mapping[str, str]:
    """The header that carries `token`; `where` begins the message if it can't be one."""
    token = token.strip()
    if not token:
        raise CredentialsError(f"{where} is empty.")
    if not (token.isascii() and token.isprintable() and " " not in token):
        # The token stays out of the message, and a line break out of the headers.
        raise CredentialsError(f"{where} holds more than one word, or characters that no token has.")
    return {"Authorization": f"Bearer {token}"}
