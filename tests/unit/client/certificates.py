"""Certificates for servers and clients that live as long as one test."""

from collections.abc import Sequence
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

# A century: no clock is read.
START, END = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)


class Pair(NamedTuple):
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority.

    It writes what a certificate needs and no more, as many clusters' own authorities do: no key identifiers and no
    key usage, which OpenSSL's strict mode (Python's default since 3.13) insists on.
    """

    def __init__(self, name: str = "cluster-ca") -> None:
        self._name = _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        unsigned = _unsigned(self._name, self._name, self._key, END)
        basic = x509.BasicConstraints(ca=True, path_length=None)
        self.pem = (
            unsigned.add_extension(basic, critical=True).sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)
        )

    def sign(self, name: str, addresses: Sequence[str] = (), *, until: datetime = END) -> Pair:
        """A certificate for a user, or for a server at these addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        unsigned = _unsigned(_name(name), self._name, key, until)
        if addresses:
            names = x509.SubjectAlternativeName([_general_name(address) for address in addresses])
            unsigned = unsigned.add_extension(names, critical=False)
        return Pair(
            unsigned.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM),
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        )


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, until: datetime
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=START,
        not_valid_after=until,
    )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general_name(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(address))
    except ValueError:
        return x509.DNSName(address)
