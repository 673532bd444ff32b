"""Certificates: an authority of a cluster's own, and what it issues to members and clients.

Nothing here knows the time, or keeps anything: whoever asks says when it is, and gets PEM.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, Self

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from etcd_operator import names

AUTHORITY_LIFE = timedelta(days=3653)
LEAF_LIFE = timedelta(days=90)
MOST_MEMBERS = 9
"""As many as an EtcdCluster can have: each certificate is good for all of them, so scaling issues none."""

# Clocks differ: what is issued now must be valid for whoever is a little behind.
_BACKDATED = timedelta(minutes=5)


class Pair(NamedTuple):
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes

    @classmethod
    def of(cls, certificate: bytes, key: bytes) -> Self | None:
        """The two, if they are of the kind that is issued here, and belong together; None otherwise."""
        try:
            parsed, private = read(certificate), load_pem_private_key(key, password=None)
        except (ValueError, TypeError):
            return None
        if not isinstance(private, ec.EllipticCurvePrivateKey) or parsed.public_key() != private.public_key():
            return None
        return cls(parsed.public_bytes(Encoding.PEM), key)

    @property
    def begins(self) -> datetime:
        """Since when it is valid."""
        return read(self.certificate).not_valid_before_utc

    @property
    def ends(self) -> datetime:
        """Until when it is valid."""
        return read(self.certificate).not_valid_after_utc

    def left(self, now: datetime) -> timedelta:
        """For how long it is still valid."""
        return self.ends - now


@lru_cache(maxsize=1024)  # the same few in every pass, over every cluster
def read(pem: bytes) -> x509.Certificate:
    """The certificate that PEM stands for; ValueError if it is none."""
    return x509.load_pem_x509_certificate(pem)


def new_authority(cluster: str, now: datetime) -> Pair:
    """An authority that signs certificates for one cluster."""
    key = ec.generate_private_key(ec.SECP256R1())
    # The serial number is part of the name: a chain is found by names, and two authorities of one cluster need two.
    serial = x509.random_serial_number()
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, cluster),
            x509.NameAttribute(NameOID.COMMON_NAME, f"etcd authority {serial:040x}"[:64]),
        ]
    )
    usage = x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _builder(name, name, key, now, AUTHORITY_LIFE)
        .serial_number(serial)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    return _pair(certificate, key)


def new_leaf(authority: Pair, cluster: str, hosts: Sequence[str], now: datetime) -> Pair:
    """A certificate for servers and clients alike, for etcd's gateway dials its own server with the server's.

    It has no common name. etcd takes that for the name of a user who needs no password, in a client's certificate and,
    for who comes by the gateway without an Accept header, in the server's own. Here it says only who may knock.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = read(authority.certificate)
    life = min(LEAF_LIFE, authority.left(now))
    builder = _builder(
        x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, cluster)]), issuer.subject, key, now, life
    )
    builder = (
        builder.serial_number(x509.random_serial_number())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(
                issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
            ),
            critical=False,
        )
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName(map(_general_name, hosts)), critical=False)
    signer = load_pem_private_key(authority.key, password=None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)  # noqa: S101 - as Pair.of has seen to
    return _pair(builder.sign(signer, hashes.SHA256()), key)


def member_hosts(cluster: str, namespace: str) -> list[str]:
    """Every name that a member is called by, whichever it is: its own, and those of the Service for clients.

    A member also looks up the address of each other one that calls it, and wants its name in that one's certificate.
    DNS answers with the whole name, .cluster.local included; if that is another domain, each name here is looked up.
    """
    service = names.client(cluster)
    members = [names.host(cluster, namespace, ordinal) for ordinal in range(MOST_MEMBERS)]
    return [
        *members,
        *(f"{host}.cluster.local" for host in members),
        service,
        f"{service}.{namespace}",
        f"{service}.{namespace}.svc",
        f"{service}.{namespace}.svc.cluster.local",
        "localhost",
        "127.0.0.1",
    ]


def hosts_of(pem: bytes) -> list[str]:
    """The names that a certificate is good for, in its order."""
    try:
        names_in = read(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(each.value) for each in names_in]


@lru_cache(maxsize=1024)
def is_signed_by(leaf: bytes, authority: bytes) -> bool:
    """Whether the one certificate was issued by the other."""
    try:
        read(leaf).verify_directly_issued_by(read(authority))
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def bundle(authorities: Iterable[bytes]) -> bytes:
    """Several certificates in one file, each once, in the order given."""
    return b"".join(dict.fromkeys(authorities))


def unbundle(pem: bytes) -> list[bytes]:
    """The certificates of a bundle; none if it is not one."""
    try:
        return [each.public_bytes(Encoding.PEM) for each in x509.load_pem_x509_certificates(pem)]
    except ValueError:
        return []


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder(subject_name=subject, issuer_name=issuer, public_key=key.public_key())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Pair(certificate.public_bytes(Encoding.PEM), private)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
