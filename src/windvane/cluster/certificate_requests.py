"""Requests for certificates as their makers write them (PKCS #10, in PEM), and what an authority makes of them."""

import binascii
import re
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

from windvane import ambient
from windvane.certificates import CERTIFICATE_LIFE
from windvane.certificates import Authority as Authority  # for those that hand one to `certify`

BACKDATED = timedelta(minutes=5)  # another clock may be behind ours
SHORT_LIFE = timedelta(hours=8)  # of which five minutes would be more than a hundredth
CURVES = (ec.SECP224R1, ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)  # those that Go knows
ASN1_NAMES: dict[type[x509.GeneralName], str] = {
    x509.DNSName: "dNSName",
    x509.RFC822Name: "rfc822Name",
    x509.UniformResourceIdentifier: "uniformResourceIdentifier",
}
BEGIN, END = b"-----BEGIN ", b"\n-----END "
FIRST_LINE = re.compile(rb"-----BEGIN ([^\n]*)-----\r?\n")


class Block(NamedTuple):
    """A part of a text of PEM."""

    sort: str
    """What it says it is, `CERTIFICATE`, say."""
    content: bytes
    headed: bool
    """Whether it says more about itself than that."""


class Request:
    """What the holder of a key wants to have certified (PKCS #10)."""

    def __init__(self, parsed: x509.CertificateSigningRequest) -> None:
        self.parsed = parsed

    @classmethod
    def read(cls, pem: bytes) -> "Request":
        """The request in a text of PEM; `ValueError` if there is none."""
        block = next(pem_blocks(pem), None)
        if block is None or block.sort != "CERTIFICATE REQUEST":
            raise ValueError("PEM block type must be CERTIFICATE REQUEST")
        try:
            found = cls(x509.load_der_x509_csr(block.content))
        except ValueError as error:  # what Go says depends on where its own parser stumbles; mostly it is this
            raise ValueError("asn1: syntax error: truncated tag or length") from error
        if isinstance(found._key, ec.EllipticCurvePublicKey) and not isinstance(found._key.curve, CURVES):
            raise ValueError("x509: unsupported elliptic curve")
        found._read_names()
        return found

    @property
    def problem(self) -> str:
        """Why it is not shown to come from the holder of the key, in Go's words; empty if it is."""
        if isinstance(self._key, rsa.RSAPublicKey):
            wrong = "crypto/rsa: verification error"
        elif isinstance(self._key, ec.EllipticCurvePublicKey):
            wrong = "x509: ECDSA verification failure"
        elif isinstance(self._key, ed25519.Ed25519PublicKey):
            wrong = "x509: Ed25519 verification failure"
        else:
            return "x509: cannot verify signature: algorithm unimplemented"
        try:
            return "" if self.parsed.is_signature_valid else wrong
        except (UnsupportedAlgorithm, ValueError):
            return wrong

    @property
    def _key(self) -> object:
        """What it is for; None if there is no such thing here."""
        try:
            return self.parsed.public_key()
        except (UnsupportedAlgorithm, ValueError):
            return None

    @property
    def common_name(self) -> str:
        """The subject's common name. If there are several, the last one is, as in Kubernetes."""
        return ["", *self._subject(NameOID.COMMON_NAME)][-1]

    @property
    def organizations(self) -> list[str]:
        """Their groups."""
        return self._subject(NameOID.ORGANIZATION_NAME)

    @property
    def names(self) -> list[x509.GeneralName]:
        """The host names, addresses, emails and URIs that it is also for."""
        return [*self.dns_names, *self.addresses, *self.emails, *self.uris]

    @property
    def dns_names(self) -> list[x509.DNSName]:
        """Those of them that are host names."""
        return [each for each in self._alternatives() if isinstance(each, x509.DNSName)]

    @property
    def addresses(self) -> list[x509.IPAddress]:
        """Those of them that are IP addresses."""
        return [each for each in self._alternatives() if isinstance(each, x509.IPAddress)]

    @property
    def emails(self) -> list[x509.RFC822Name]:
        """Those of them that are addresses for mail."""
        return [each for each in self._alternatives() if isinstance(each, x509.RFC822Name)]

    @property
    def uris(self) -> list[x509.UniformResourceIdentifier]:
        """Those of them that are URIs."""
        return [each for each in self._alternatives() if isinstance(each, x509.UniformResourceIdentifier)]

    def _read_names(self) -> None:
        """Look at all that is read only when it is asked for; `ValueError` if it can't be, in Go's words.

        Else it would be found by the signer, when it is too late to say so.
        """
        try:
            list(self.parsed.subject)
        except ValueError as error:
            raise ValueError("asn1: invalid UTF-8 string") from error
        try:
            names = self.names
        except x509.DuplicateExtension as error:
            raise ValueError("x509: certificate request contains duplicate requested extensions") from error
        except (ValueError, x509.UnsupportedGeneralNameType) as error:
            raise ValueError("x509: invalid subject alternative name") from error
        for each in names:
            if isinstance(each.value, str) and not each.value.isascii():
                raise ValueError(f"x509: SAN {ASN1_NAMES[type(each)]} is malformed")

    def _alternatives(self) -> list[x509.GeneralName]:
        try:
            return list(self.parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
        except x509.ExtensionNotFound:
            return []

    def _subject(self, oid: x509.ObjectIdentifier) -> list[str]:
        return [str(each.value) for each in self.parsed.subject.get_attributes_for_oid(oid)]


def pem_blocks(pem: bytes) -> Iterator[Block]:
    """The blocks in a text of PEM.

    As Go reads it: a block is from the last beginning before an end to that end. So each byte is looked at a few times
    at most; to look for an end after each beginning would take minutes for a megabyte of beginnings.
    """
    at = 0
    while (end := pem.find(END, at)) >= 0:
        begin = pem.rfind(BEGIN, at, end)
        begins_a_line = begin == 0 or (begin > 0 and pem[begin - 1 : begin] == b"\n")
        first = FIRST_LINE.match(pem, begin, end + 1) if begins_a_line else None
        at = end + len(END)
        if first is None or not pem.startswith(first[1] + b"-----", at):
            continue
        body = pem[first.end() : end + 1].replace(b"\r", b"")
        head, _, rest = body.partition(b"\n\n")
        headed = b":" in head
        written = (rest if headed else body).translate(None, b" \t\n")
        try:
            yield Block(first[1].decode(errors="replace"), binascii.a2b_base64(written, strict_mode=True), headed)
        except binascii.Error:  # it is passed over
            continue


def certify(authority: Authority, request: Request, usages: Collection[str], life: timedelta) -> bytes:
    """The certificate that was requested, in PEM, for a year at most; of the request, nothing counts but its names and
    its key. `ValueError` if it is not from the holder of that key.
    """
    if request.problem:
        raise ValueError(f"the request is not signed with the key that it is for: {request.problem}")
    now, life = ambient.now(), min(life, CERTIFICATE_LIFE)
    return authority.certify(
        request.parsed.subject,
        request.parsed.public_key(),
        request.names,
        usages,
        begins=now - BACKDATED,
        expires=now + (life if life < SHORT_LIFE else life - BACKDATED),
    )


def expiry(certificate: bytes) -> datetime | None:
    """Until when a certificate in PEM is good; None if it is no certificate."""
    try:
        return x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    except ValueError:
        return None


def problem_with_chain(pem: bytes) -> str | None:
    """Why a text is not one or more certificates in PEM, and nothing else; None if it is."""
    blocks = list(pem_blocks(pem))
    for block in blocks:
        if block.sort != "CERTIFICATE":
            return f'only CERTIFICATE PEM blocks are allowed, found "{block.sort}"'
        if block.headed:
            return "no PEM block headers are permitted"
        try:
            x509.load_der_x509_certificate(block.content)
        except ValueError:
            return "x509: malformed certificate"
    return None if blocks else "must contain at least one CERTIFICATE PEM block"
