"""Certificates for a control plane that lives as long as one test run: an authority, and what it signs.

They are valid for a century instead of from now on: no clock is read, and a wrong one fails no test.
"""

import datetime
import ipaddress
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID_FROM = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
VALID_UNTIL = datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)


class Authority:
    """A certificate authority. What it signs goes to one directory, as NAME.crt with NAME.key beside it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("windvane-reference-ca")
        public_key = self._key.public_key()
        certificate = (
            _unsigned(self._name, self._name, public_key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = directory / "ca.crt"
        self.file.write_bytes(certificate.public_bytes(Encoding.PEM))

    def issue_server(self, name: str, *addresses: str, until: datetime.datetime = VALID_UNTIL) -> tuple[Path, Path]:
        """A certificate for a server that is reached under these host names and IP addresses."""
        names = x509.SubjectAlternativeName([_general_name(address) for address in addresses])
        return self._issue(name, _name(name), ExtendedKeyUsageOID.SERVER_AUTH, names, until=until)

    def issue_client(self, user: str, *groups: str) -> tuple[Path, Path]:
        """A certificate that Kubernetes takes as this user, a member of these groups."""
        return self._issue(user, _name(user, *groups), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self,
        file_name: str,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        *extensions: x509.ExtensionType,
        until: datetime.datetime = VALID_UNTIL,
    ) -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        # Python 3.13 and newer refuse a certificate that doesn't say which key signed it.
        signed_by = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            _unsigned(subject, self._name, key.public_key(), until)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(signed_by, critical=False)
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        certificate_file = self._directory / f"{file_name}.crt"
        certificate_file.write_bytes(certificate.public_bytes(Encoding.PEM))
        return certificate_file, _write_key(self._directory / f"{file_name}.key", key)


def issue_signing_key(file: Path) -> Path:
    """A key to sign service account tokens with; RSA, as in most clusters, for tokens name the algorithm."""
    return _write_key(file, rsa.generate_private_key(public_exponent=65537, key_size=2048))


def issue_token() -> str:
    """A bearer token that nobody guesses."""
    # The cryptography package makes 159 random bits for serial numbers, and we have it here anyway.
    return f"{x509.random_serial_number():040x}"


def write_private(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read, and that nobody else could read even for a moment."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(content)


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, until: datetime.datetime = VALID_UNTIL
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(VALID_FROM)
        .not_valid_after(until)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(user: str, *groups: str) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _general_name(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(address))
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


def _write_key(file: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> Path:
    write_private(file, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return file
