"""What is trusted and how the client proves who it is: TLS, from what a `ClientConfig` says."""

import os
import ssl
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from windvane.client.config import ClientConfig
from windvane.client.errors import Untrusted

# OpenSSL's numbers (X509_V_ERR_...) for what can be wrong with a certificate that is from the right authority.
ANOTHER_NAME = (62, 64)  # host name, IP address
NOT_NOW = (9, 10)  # not yet valid, expired


def certificate_problem(error: Exception, config: ClientConfig) -> str:
    """What is wrong with the server's certificate, and what to correct."""
    code = getattr(error, "verify_code", None)
    reason = getattr(error, "verify_message", error)
    if code in ANOTHER_NAME:
        return f"the server's certificate is for another name ({reason}); set tls-server-name to its name"
    if code in NOT_NOW:
        return f"the server's certificate is not valid now ({reason}); renew it, or correct this machine's clock"
    authority = "the certificate authority in the configuration" if config.ca else "an authority this system trusts"
    return f"the server's certificate is not signed by {authority} ({reason}); correct certificate-authority"


def tls_context(config: ClientConfig) -> ssl.SSLContext | bool:
    """What connections are opened with; False for a server that speaks plain HTTP."""
    if not config.server.startswith("https:"):
        return False
    try:
        # Without a text, Python would trust the system's authorities; "-" is one that has no certificate.
        cadata = None if config.ca is None else config.ca.decode("ascii", "ignore") or "-"
        context = ssl.create_default_context(cadata=cadata)
    except ssl.SSLError as error:
        problem = f"the certificate authority from {config.source} can't be read: {error}"
        raise Untrusted(f"{problem}; correct certificate-authority") from error
    # Python 3.13 and newer insist on extensions that the certificates of many clusters lack. kubectl does not.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if config.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if config.client_cert is not None and config.client_key is not None:
        certificate: tuple[bytes, bytes] | None = (config.client_cert, config.client_key)
    else:
        certificate = config.credentials.client_certificate()
    if certificate is not None:
        try:
            load_certificate(context, *certificate)
        except ssl.SSLError as error:
            raise Untrusted(f"the client certificate and key from {config.source} don't work: {error}") from error
    return context


def load_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Have `context` show this certificate from the next connection on.

    OpenSSL reads certificates from files only: ours exists for a moment, for our eyes only.
    """
    with _file() as (descriptor, name):
        os.write(descriptor, certificate + b"\n" + key)
        context.load_cert_chain(name)


@contextmanager
def _file() -> Iterator[tuple[int, str]]:
    if sys.platform == "linux":  # where it can be in memory: the root of a pod may be read-only
        descriptor = os.memfd_create("certificate")
        name = f"/proc/self/fd/{descriptor}"
        try:
            yield descriptor, name
        finally:
            os.close(descriptor)
        return
    descriptor, name = tempfile.mkstemp()  # mode 0600
    try:
        yield descriptor, name
    finally:
        os.close(descriptor)
        Path(name).unlink()
