"""Signed tokens: JSON Web Tokens with one key and one algorithm, ES256.

Most libraries once trusted the algorithm that a token names. Here the token chooses nothing: what is not signed with
this key and algorithm is no token.
"""

import base64
import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

ALGORITHM = "ES256"
HALF = 32  # bytes; a signature is two numbers of this length
LONGEST = 64 * 1024
Claims = dict[str, Any]


class InvalidToken(Exception):
    """The token is not valid; the text says why, in the real server's words."""


BROKEN = "go-jose/go-jose: error in cryptographic primitive"


class SigningKey:
    """A P-256 key. It is read, as PEM, at the first use: the library that can takes longer to load than all else."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read

    @classmethod
    def new(cls) -> "SigningKey":
        """A new key."""

        def make() -> bytes:
            from windvane.certificates import signing_key

            return signing_key().key

        return cls(make)

    def sign(self, claims: Claims) -> str:
        """The token with these claims."""
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        head = {"alg": ALGORITHM, "kid": self.key_id}
        signed = ".".join(_encode(msgspec.json.encode(part, order="deterministic")) for part in (head, claims))
        r, s = decode_dss_signature(self._key.sign(signed.encode(), _ecdsa()))
        return f"{signed}.{_encode(r.to_bytes(HALF) + s.to_bytes(HALF))}"

    def verify(self, token: str) -> Claims:
        """The claims of a token that this key signed; `InvalidToken` for any other."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

        signed, _, signature = token.rpartition(".")
        try:
            head, claims = (msgspec.json.decode(_decode(part)) for part in signed.split("."))
            numbers = _decode(signature)
            if not isinstance(head, dict) or head.get("alg") != ALGORITHM or not isinstance(claims, dict):
                raise InvalidToken(BROKEN)
            if len(numbers) != 2 * HALF:
                raise InvalidToken(BROKEN)
            der = encode_dss_signature(int.from_bytes(numbers[:HALF]), int.from_bytes(numbers[HALF:]))
            self._key.public_key().verify(der, signed.encode(), _ecdsa())
        except (ValueError, msgspec.DecodeError, InvalidSignature):
            raise InvalidToken(BROKEN) from None
        return claims

    @cached_property
    def key_id(self) -> str:
        """The id of the key, which reveals nothing about it."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return _encode(hashlib.sha256(public).digest())

    @property
    def jwk(self) -> dict[str, str]:
        """The public key, for other programs that verify tokens."""
        numbers = self._key.public_key().public_numbers()
        x, y = (_encode(number.to_bytes(HALF)) for number in (numbers.x, numbers.y))
        return {"use": "sig", "kty": "EC", "kid": self.key_id, "crv": "P-256", "alg": ALGORITHM, "x": x, "y": y}

    @cached_property
    def _key(self) -> "EllipticCurvePrivateKey":
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        key = load_pem_private_key(self._read(), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
            raise TypeError("the key for service account tokens is not a P-256 key: remove it, and a new one is made")
        return key


def looks_like_token(text: str) -> bool:
    """Whether it has three parts, as a signed token does."""
    return text.count(".") == 2 and len(text) < LONGEST


def peek_issuer(token: str) -> str:
    """The issuer that a token claims, unverified."""
    try:
        claims = msgspec.json.decode(_decode(token.split(".")[1]))
    except (ValueError, msgspec.DecodeError):
        return ""
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    return issuer if isinstance(issuer, str) else ""


def _ecdsa() -> Any:
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.hashes import SHA256

    return ECDSA(SHA256())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    if not text.isascii() or "=" in text or "+" in text or "/" in text:
        raise ValueError("not base64url")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
