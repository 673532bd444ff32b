"""A certificate authority, and the certificates for servers and clients that it signs.

All keys are P-256: made in a moment, and signed with in less.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from windvane import ambient

AUTHORITY_LIFE = timedelta(days=3650)
CERTIFICATE_LIFE = timedelta(days=365)
CLOCK_SKEW = timedelta(hours=1)  # another clock may be behind ours


class Pair(NamedTuple):
    """A key and what makes it known to others, a certificate or the public key; both as PEM."""

    key: bytes
    public: bytes


class Authority:
    """Signs certificates that are good for a year, or for as long as it is itself."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self._certificate = certificate
        self.pair = Pair(_pem(key), certificate.public_bytes(Encoding.PEM))

    @classmethod
    def new(cls) -> "Authority":
        """An authority that nobody knows yet."""
        key = ec.generate_private_key(ec.SECP256R1())
        # A name of its own for each: clients choose by it which of their certificates to show.
        name = _name(f"windvane-ca-{ambient.token(8)}")
        unsigned = (
            _unsigned(name, name, key, ambient.now() + AUTHORITY_LIFE)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(signs_certificates=True), critical=True)
        )
        return cls(key, unsigned.sign(key, hashes.SHA256()))

    @classmethod
    def read(cls, pair: Pair) -> "Authority":
        """The authority that these are of; `ValueError` if they are of none."""
        key = load_pem_private_key(pair.key, password=None)
        certificate = x509.load_pem_x509_certificate(pair.public)
        if not isinstance(key, ec.EllipticCurvePrivateKey) or certificate.public_key() != key.public_key():
            raise ValueError("the certificate is not for the key")
        return cls(key, certificate)

    @property
    def expires(self) -> datetime:
        """Until when it can sign."""
        return self._certificate.not_valid_after_utc

    def server(self, name: str, addresses: Iterable[str]) -> Pair:
        """A certificate for a server that is reached under these host names and IP addresses."""
        names = x509.SubjectAlternativeName([_general_name(address) for address in addresses])
        return self._sign(_name(name), ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, user: str, *groups: str) -> Pair:
        """A certificate that Kubernetes takes as this user, a member of these groups."""
        return self._sign(_name(user, *groups), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _sign(self, subject: x509.Name, usage: x509.ObjectIdentifier, *extensions: x509.ExtensionType) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        expires = min(ambient.now() + CERTIFICATE_LIFE, self.expires)
        # Python 3.13 and newer refuse a certificate that doesn't say which key signed it.
        signed_by = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        unsigned = (
            _unsigned(subject, self._certificate.subject, key, expires)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(signed_by, critical=False)
        )
        for extension in extensions:
            unsigned = unsigned.add_extension(extension, critical=False)
        return Pair(_pem(key), unsigned.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))


def signing_key() -> Pair:
    """A key to sign tokens with, and the public key to check them with."""
    key = ec.generate_private_key(ec.SECP256R1())
    return Pair(_pem(key), key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, expires: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ambient.now() - CLOCK_SKEW)
        .not_valid_after(expires)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(user: str, *groups: str) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _general_name(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
