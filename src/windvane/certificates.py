"""A certificate authority, and the certificates for servers and clients that it signs.

All keys that it makes are P-256: made in a moment, and signed with in less. A client with a request has a key already.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes
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
PURPOSES = {"server auth": ExtendedKeyUsageOID.SERVER_AUTH, "client auth": ExtendedKeyUsageOID.CLIENT_AUTH}


class Pair(NamedTuple):
    """A key and what makes it known to others, a certificate or the public key; both as PEM."""

    key: bytes
    public: bytes


class Authority:
    """Signs certificates, none of which outlives it."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self._certificate = certificate
        self.pair = Pair(_pem(key), certificate.public_bytes(Encoding.PEM))

    @classmethod
    def new(cls) -> "Authority":
        """A new authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        # A name of its own for each: clients choose by it which of their certificates to show.
        name = _name(f"windvane-ca-{ambient.token(8)}")
        unsigned = (
            _unsigned(name, name, key.public_key(), ambient.now() - CLOCK_SKEW, ambient.now() + AUTHORITY_LIFE)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(digital_signature=True, key_cert_sign=True), critical=True)
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
    def issued(self) -> datetime:
        """When it was made."""
        return self._certificate.not_valid_before_utc + CLOCK_SKEW

    @property
    def expires(self) -> datetime:
        """Until when it can sign."""
        return self._certificate.not_valid_after_utc

    def server(self, name: str, addresses: Iterable[str], *, life: timedelta = CERTIFICATE_LIFE) -> Pair:
        """A certificate for a server that is reached under these host names and IP addresses."""
        names = x509.SubjectAlternativeName([_general_name(address) for address in addresses])
        return self._sign(_name(name), life, ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, user: str, *groups: str) -> Pair:
        """A certificate that Kubernetes takes as this user, a member of these groups."""
        return self._sign(_name(user, *groups), CERTIFICATE_LIFE, ExtendedKeyUsageOID.CLIENT_AUTH)

    def has_signed(self, certificate: "Certificate") -> bool:
        """Whether a certificate is one of its own."""
        return certificate.is_signed_by(self._certificate)

    def certify(
        self,
        subject: x509.Name,
        key: CertificatePublicKeyTypes,
        names: Sequence[x509.GeneralName],
        usages: Collection[str],
        *,
        begins: datetime,
        expires: datetime,
    ) -> bytes:
        """A certificate in PEM for a client that has a key already. `usages` are in Kubernetes' words."""
        purposes = [oid for name, oid in PURPOSES.items() if name in usages]
        signs, enciphers = "digital signature" in usages, "key encipherment" in usages
        unsigned = self._for(subject, key, begins, expires)
        unsigned = unsigned.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        if signs or enciphers:  # nothing said means anything; that nothing was allowed, OpenSSL would take as said
            key_usage = _key_usage(digital_signature=signs, key_encipherment=enciphers)
            unsigned = unsigned.add_extension(key_usage, critical=True)
        if names:
            unsigned = unsigned.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return unsigned.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)

    def _sign(
        self, subject: x509.Name, life: timedelta, usage: x509.ObjectIdentifier, *extensions: x509.ExtensionType
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        expires = ambient.now() + life
        unsigned = (
            self._for(subject, key.public_key(), ambient.now() - CLOCK_SKEW, expires)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(_key_usage(digital_signature=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        )
        for extension in extensions:
            unsigned = unsigned.add_extension(extension, critical=False)
        return Pair(_pem(key), unsigned.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def _for(
        self, subject: x509.Name, key: CertificatePublicKeyTypes, begins: datetime, expires: datetime
    ) -> x509.CertificateBuilder:
        # Python 3.13 and newer refuse a certificate that doesn't say which key signed it.
        signed_by = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            _unsigned(subject, self._certificate.subject, key, begins, min(expires, self.expires))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(signed_by, critical=False)
        )


class Certificate:
    """What can be read from the certificate of a server."""

    def __init__(self, certificate: x509.Certificate) -> None:
        self._certificate = certificate

    @classmethod
    def read(cls, pair: Pair) -> "Certificate":
        """The certificate of a pair; `ValueError` if that is none, or for another key."""
        key = load_pem_private_key(pair.key, password=None)
        certificate = x509.load_pem_x509_certificate(pair.public)
        if certificate.public_key() != key.public_key():
            raise ValueError("the certificate is not for the key")
        return cls(certificate)

    @property
    def issued(self) -> datetime:
        """When it was made."""
        return self._certificate.not_valid_before_utc + CLOCK_SKEW

    @property
    def expires(self) -> datetime:
        """Until when it is good."""
        return self._certificate.not_valid_after_utc

    @property
    def addresses(self) -> frozenset[str]:
        """The host names and IP addresses of the server; none if it names none."""
        try:
            names = self._certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except x509.ExtensionNotFound:
            return frozenset()
        hosts = names.get_values_for_type(x509.DNSName)
        return frozenset([*hosts, *map(str, names.get_values_for_type(x509.IPAddress))])

    def is_signed_by(self, authority: x509.Certificate) -> bool:
        """Whether that authority's key has signed it."""
        try:
            self._certificate.verify_directly_issued_by(authority)
        except (ValueError, TypeError, InvalidSignature):
            return False
        return True


def signing_key() -> Pair:
    """A key to sign tokens with, and the public key to check them with."""
    key = ec.generate_private_key(ec.SECP256R1())
    return Pair(_pem(key), key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: CertificatePublicKeyTypes, begins: datetime, expires: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(expires)
    )


def _name(user: str, *groups: str) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _general_name(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _key_usage(
    *, digital_signature: bool, key_encipherment: bool = False, key_cert_sign: bool = False
) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_encipherment=key_encipherment,
        key_cert_sign=key_cert_sign,
        crl_sign=False,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
