"""Trust in outbound calls, and Go's errors for certificates that are not trusted.

The TLS library checks certificates when it connects, but its errors are not those of real servers. So after a failure
the certificate is fetched once more, and examined.
"""

import asyncio
import ssl
from collections.abc import Sequence
from datetime import datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING

from windvane import ambient
from windvane.api.wording import quoted

if TYPE_CHECKING:
    from cryptography.x509 import Certificate, SubjectAlternativeName

UNKNOWN = "x509: certificate signed by unknown authority"
SECONDS = 5.0
BEGIN = "-----BEGIN CERTIFICATE-----"


class BadBundle(ValueError):
    """A CA bundle has no certificate; the text is Go's."""


def trust(bundle: bytes) -> ssl.SSLContext:
    """The TLS context that trusts the bundle, or the system's roots if it is empty."""
    pem = bundle.decode(errors="replace")
    if bundle and BEGIN not in pem:
        raise BadBundle("unable to load root certificates: unable to parse bytes as PEM block")
    try:
        context = ssl.create_default_context(cadata=pem or None)
    except ssl.SSLError as error:
        raise BadBundle("unable to load root certificates: unable to parse bytes as PEM block") from error
    # As in Go: only subjectAltName counts, and every certificate of the bundle is trusted, even a server's own, or one
    # that newer Pythons find too lax.
    context.hostname_checks_common_name = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


async def problem_of(host: str, port: int, name: str, bundle: bytes) -> str:
    """What is wrong with the certificate of the server there, which should be for `name`."""
    # cryptography takes a while to load, and is hardly ever needed here
    from cryptography.x509 import load_der_x509_certificate, load_pem_x509_certificates

    shown = await _certificate(host, port, name)
    if shown is None:
        return UNKNOWN
    certificate = load_der_x509_certificate(shown)
    if problem := _out_of_time(certificate, ambient.now()) or _name_problem(certificate, name):
        return problem
    try:
        roots = load_pem_x509_certificates(bundle) if bundle else []
    except ValueError:
        roots = []
    return UNKNOWN + _candidate(certificate, roots)


async def _certificate(host: str, port: int, name: str) -> bytes | None:
    """The certificate that a server presents, unverified."""
    anybody = ssl.create_default_context()
    anybody.check_hostname = False
    anybody.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(host, port, ssl=anybody, server_hostname=name)
    except (OSError, TimeoutError):
        return None
    try:
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return shown if isinstance(shown, bytes) else None
    finally:
        writer.transport.abort()


def _out_of_time(certificate: "Certificate", now: datetime) -> str:
    message = "x509: certificate has expired or is not yet valid: current time"
    if now > certificate.not_valid_after_utc:
        return f"{message} {_written(now)} is after {_written(certificate.not_valid_after_utc)}"
    if now < certificate.not_valid_before_utc:
        return f"{message} {_written(now)} is before {_written(certificate.not_valid_before_utc)}"
    return ""


def _written(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _name_problem(certificate: "Certificate", name: str) -> str:
    from cryptography.x509 import DNSName, IPAddress
    from cryptography.x509.oid import NameOID

    names = _names(certificate)
    try:
        address = ip_address(name)
    except ValueError:
        allowed = names.get_values_for_type(DNSName) if names is not None else []
        if any(_covers(each, name) for each in allowed):
            return ""
        common = [str(each.value) for each in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        if names is None and any(_covers(each, name) for each in common):
            return "x509: certificate relies on legacy Common Name field, use SANs instead"
        if not allowed:
            return f"x509: certificate is not valid for any names, but wanted to match {name}"
        return f"x509: certificate is valid for {', '.join(allowed)}, not {name}"
    addresses = names.get_values_for_type(IPAddress) if names is not None else []
    if address in addresses:
        return ""
    if not addresses:
        return f"x509: cannot validate certificate for {name} because it doesn't contain any IP SANs"
    return f"x509: certificate is valid for {', '.join(map(str, addresses))}, not {name}"


def _names(certificate: "Certificate") -> "SubjectAlternativeName | None":
    from cryptography.x509 import ExtensionNotFound, SubjectAlternativeName

    try:
        return certificate.extensions.get_extension_for_class(SubjectAlternativeName).value
    except ExtensionNotFound:
        return None


def _covers(pattern: str, name: str) -> bool:
    pattern, name = pattern.lower(), name.lower().rstrip(".")
    first, _, rest = name.partition(".")
    return pattern == name or (pattern == f"*.{rest}" and bool(first))


def _candidate(certificate: "Certificate", roots: Sequence["Certificate"]) -> str:
    """The root that has the issuer's name but not its key: the bundle is older than the key of its authority."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.x509.oid import NameOID

    for root in roots:
        if root.subject == certificate.issuer:
            rsa = isinstance(root.public_key(), RSAPublicKey)
            why = "crypto/rsa: verification error" if rsa else "x509: ECDSA verification failure"
            named = [str(each.value) for each in root.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
            about = f"candidate authority certificate {quoted(named[0] if named else '')}"
            return f" (possibly because of {quoted(why)} while trying to verify {about})"
    return ""
