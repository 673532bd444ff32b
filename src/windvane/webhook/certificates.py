"""The certificates that webhooks are served with: what there is, and what has to come in its place. No I/O.

An authority signs a certificate for the server. API servers are told, in webhook configurations and CRDs, to trust the
authorities in the bundle. Certificates are renewed in good time, and the authority, after years, in steps, so that no
server ever shows what an API server does not trust yet:

    one authority ──▶ a second one is trusted, too ──▶ the second one signs ──▶ the first one is trusted no more
                      (its turn has come)              (all API servers         (when the next certificate
                                                        know the bundle)         is made)
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.x509 import load_pem_x509_certificate

from windvane import ambient
from windvane.certificates import CLOCK_SKEW, Authority, Certificate, Pair

LIFE = timedelta(days=90)
RENEW_AFTER = LIFE * 2 / 3
RENEW_AUTHORITY_BEFORE = timedelta(days=365)
COMMON_NAME = "windvane-webhooks"

# The keys of the Secret; the first three are those of every Secret that cert-manager makes.
CERTIFICATE, KEY, BUNDLE = "tls.crt", "tls.key", "ca.crt"
AUTHORITY_KEY, NEXT_KEY = "ca.key", "next-ca.key"

UNREADABLE = (ValueError, TypeError, UnsupportedAlgorithm)  # not PEM, or a key with a password, or of another kind
PEM = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\n?")


class Damaged(Exception):
    """These are no certificates that can be served with; the message says why."""


@dataclass(frozen=True)
class Certificates:
    """What all replicas of an operator share."""

    authority: Authority
    """Signs certificates."""
    next: Authority | None
    """Will sign them; until then API servers get to know it."""
    previous: tuple[bytes, ...]
    """Authorities (PEM) that have signed what a replica may still show."""
    server: Pair
    """What the server shows, and its key."""

    @property
    def bundle(self) -> bytes:
        """All authorities to trust, as PEM."""
        coming = [self.next.pair.public] if self.next else []
        return b"".join([self.authority.pair.public, *coming, *self.previous])

    @property
    def certificate(self) -> Certificate:
        """What the server shows, to be read."""
        return Certificate.read(self.server)


def new(addresses: Iterable[str]) -> Certificates:
    """Certificates of a new authority, for a server at these host names and IP addresses."""
    authority = Authority.new()
    return Certificates(authority, None, (), _signed(authority, addresses))


def to_secret(held: Certificates) -> dict[str, bytes]:
    """The data of the Secret that keeps them."""
    data = {
        CERTIFICATE: held.server.public,
        KEY: held.server.key,
        BUNDLE: held.bundle,
        AUTHORITY_KEY: held.authority.pair.key,
    }
    return data | ({NEXT_KEY: held.next.pair.key} if held.next else {})


def from_secret(data: Mapping[str, bytes]) -> Certificates:
    """What the data of a Secret say; `Damaged` if they can't be what `to_secret` wrote."""
    if missing := [key for key in (CERTIFICATE, KEY, BUNDLE, AUTHORITY_KEY) if not data.get(key)]:
        raise Damaged(f"{', '.join(missing)} is missing")
    bundle = PEM.findall(data[BUNDLE])
    server = Pair(data[KEY], data[CERTIFICATE])
    try:
        authority = _owner(bundle, data[AUTHORITY_KEY], AUTHORITY_KEY)
        coming = _owner(bundle, data[NEXT_KEY], NEXT_KEY) if data.get(NEXT_KEY) else None
        certificate = Certificate.read(server)
    except UNREADABLE as error:
        raise Damaged(str(error)) from error
    if not authority.has_signed(certificate):
        raise Damaged(f"{CERTIFICATE} is not signed with {AUTHORITY_KEY}")
    known = {authority.pair.public, coming.pair.public if coming else b""}
    # API servers take no bundle in which one certificate is none.
    previous = tuple(each for each in bundle if each not in known and _is_certificate(each))
    held = Certificates(authority, coming, previous, server)
    if not is_trusted(held):
        raise Damaged(f"the authority in {BUNDLE} is good from {_begins(authority)} to {authority.expires}, not now")
    return held


def is_trusted(held: Certificates) -> bool:
    """Whether its authority is good now. It may be so only later, if it was made by a clock that was wrong then."""
    return _begins(held.authority) <= ambient.now() < held.authority.expires


def successor(held: Certificates, addresses: Iterable[str], *, known: bool) -> Certificates | None:
    """What has to come in place of `held` now; None if it is good for a while yet.

    `known` says whether all API servers have its bundle.
    """
    now = ambient.now()
    if held.next is not None and known:
        # The authority that goes is trusted until the next certificate is made: another replica may be slow to change.
        return Certificates(held.next, None, (held.authority.pair.public,), _signed(held.next, addresses))
    if held.next is None and now >= held.authority.expires - RENEW_AUTHORITY_BEFORE:
        return replace(held, next=Authority.new())
    certificate = held.certificate
    if now < _begins(certificate) or now >= certificate.issued + RENEW_AFTER:
        return replace(held, previous=(), server=_signed(held.authority, addresses))
    if missing := set(addresses) - certificate.addresses:
        # Together with those it had: an older replica, told of another Service, may still be reached there.
        return replace(held, server=_signed(held.authority, certificate.addresses | missing))
    return None


def seconds_to_renewal(held: Certificates) -> float:
    """In how many seconds a successor is due, by time alone."""
    due = held.certificate.issued + RENEW_AFTER
    if held.next is None:
        due = min(due, held.authority.expires - RENEW_AUTHORITY_BEFORE)
    return (due - ambient.now()).total_seconds()


def _signed(authority: Authority, addresses: Iterable[str]) -> Pair:
    return authority.server(COMMON_NAME, sorted(addresses), life=LIFE)


def _begins(what: Authority | Certificate) -> datetime:
    """From when on it is good: a little before it was made."""
    return what.issued - CLOCK_SKEW


def _is_certificate(pem: bytes) -> bool:
    try:
        load_pem_x509_certificate(pem)
    except UNREADABLE:
        return False
    return True


def _owner(bundle: Iterable[bytes], key: bytes, name: str) -> Authority:
    """The authority of the bundle that has this key."""
    for each in bundle:
        with suppress(*UNREADABLE):
            return Authority.read(Pair(key, each))
    raise ValueError(f"{name} is the key of no certificate in {BUNDLE}")
