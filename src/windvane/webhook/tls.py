"""What connections to the webhook server begin with: the certificate that it shows, and those that it asks for.

Both may change while it runs: new connections get what is newest, open ones go on.
"""

import logging
import ssl
from pathlib import Path

from windvane import ambient
from windvane.certificates import Pair
from windvane.client.tls import load_certificate

log = logging.getLogger(__name__)

QUIET = 60.0
"""Seconds before clients that are refused for the same reason are worth another word: any client can try."""
REMEDY = (
    "An API server shows a certificate if the configuration of its --admission-control-config-file names a "
    "kubeConfigFile with one for this host, and the file of --webhook-client-ca must have the authority that signed it"
)

Stamp = tuple[int, int, int]
"""Of a file: another one if it was written, or has been replaced by another file."""


class ServerTLS:
    """The server's certificate, and the file with the authorities of its clients, if only those are to be answered."""

    def __init__(self, client_ca: Path | None = None) -> None:
        """OSError or ValueError if there are no certificates in the file."""
        self._pair: Pair | None = None
        self._client_ca = client_ca
        self._trusted = ""
        self._stamp: Stamp | None = None
        self._refused: dict[str, float] = {}  # when each reason was last told
        if client_ca is not None:
            self._stamp = _stamp(client_ca)
            self._trusted = read_authorities(client_ca)
        self._context = self._new()

    @property
    def asks(self) -> bool:
        """Whether clients have to show a certificate."""
        return self._client_ca is not None

    def show(self, pair: Pair) -> None:
        """Show this certificate from the next connection on."""
        load_certificate(self._context, pair.public, pair.key)
        self._pair = pair

    def context(self) -> ssl.SSLContext:
        """What the next connection begins with."""
        if self._client_ca is not None:
            self._read_again(self._client_ca)
        return self._context

    def log_refusal(self, why: str) -> None:
        """Log that a client was refused for its certificate, or for having none."""
        now = ambient.monotonic()
        if why not in self._refused or now >= self._refused[why] + QUIET:
            self._refused[why] = now
            log.warning("a client of the webhooks was refused: %s. %s", why, REMEDY)

    def _read_again(self, file: Path) -> None:
        try:
            stamp = _stamp(file)
        except OSError:
            stamp = None
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            trusted = read_authorities(file)
        except (OSError, ValueError) as error:
            log.warning("clients of the webhooks are judged by what was in --webhook-client-ca before: %s", error)
            return
        if trusted != self._trusted:
            self._trusted = trusted
            self._context = self._new()  # for a context never forgets what it has trusted
            log.info("--webhook-client-ca has changed: clients of the webhooks are judged by what is in %s now", file)

    def _new(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        if self._pair is not None:
            load_certificate(context, self._pair.public, self._pair.key)
        if self._trusted:
            context.load_verify_locations(cadata=self._trusted)
            # A client that shows none is told so in plain words, and may have to be answered: see server.py.
            context.verify_mode = ssl.CERT_OPTIONAL
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # an authority need not be a root, as in Kubernetes
        return context


def read_authorities(file: Path) -> str:
    """The certificates in a file, as PEM; OSError or ValueError, which name the file, if there are none."""
    try:
        pem = file.read_text("ascii")
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError) as error:
        raise ValueError(f"{str(file)!r} has no certificates in PEM form: there is no certificate in it") from error
    except OSError as error:
        raise OSError(f"{str(file)!r} has no certificates in PEM form: {error.strerror}") from error
    return pem


def _stamp(file: Path) -> Stamp:
    status = file.stat()
    return status.st_mtime_ns, status.st_ino, status.st_size
