"""The certificates of webhook servers: when they are renewed, and how an authority gives way to the next."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from windvane import ambient
from windvane.certificates import Authority
from windvane.sim.time import BEGINNING, VirtualTime
from windvane.webhook.certificates import (
    AUTHORITY_KEY,
    BUNDLE,
    CERTIFICATE,
    KEY,
    NEXT_KEY,
    Certificates,
    Damaged,
    from_secret,
    new,
    seconds_to_renewal,
    successor,
    to_secret,
)

ADDRESSES = ["hooks.web.svc", "hooks.web"]
SOON = timedelta(days=1)


class Clock(VirtualTime):
    """A time of day that tests set."""

    at: datetime = BEGINNING

    def now(self) -> datetime:
        return self.at

    def pass_by(self, days: float) -> None:
        self.at += timedelta(days=days)


@pytest.fixture(autouse=True)
def clock() -> Iterator[Clock]:
    clock = Clock()
    with ambient.use(clock):
        yield clock


def later(held: Certificates, *, known: bool = False) -> Certificates:
    found = successor(held, ADDRESSES, known=known)
    assert found is not None
    return found


def trusts(held: Certificates, *others: Certificates) -> bool:
    """Whether who knows the bundle of `held` trusts what these show."""
    return all(other.authority.pair.public in held.bundle for other in others)


def test_new_certificates_are_for_the_servers_addresses_and_trusted_with_the_bundle() -> None:
    held = new(ADDRESSES)
    assert held.certificate.addresses == set(ADDRESSES)
    assert held.authority.has_signed(held.certificate)
    assert held.bundle == held.authority.pair.public


def test_what_is_read_from_a_secret_is_what_was_written() -> None:
    held = new(ADDRESSES)
    read = from_secret(to_secret(held))
    assert (read.server, read.bundle, read.next) == (held.server, held.bundle, None)
    assert read.authority.pair == held.authority.pair


def test_a_certificate_is_renewed_after_two_thirds_of_its_life(clock: Clock) -> None:
    held = new(ADDRESSES)
    clock.pass_by(59.9)
    assert successor(held, ADDRESSES, known=True) is None
    assert 0 < seconds_to_renewal(held) < SOON.total_seconds()
    clock.pass_by(0.2)
    assert seconds_to_renewal(held) < 0
    renewed = later(held)
    assert renewed.server != held.server
    assert renewed.bundle == held.bundle
    assert renewed.certificate.expires == clock.at + timedelta(days=90)


def test_an_authority_gives_way_in_steps_and_nothing_untrusted_is_ever_shown(clock: Clock) -> None:
    clock.pass_by(0)
    first = new(ADDRESSES)
    clock.pass_by(3650 - 365)
    announced = later(first)
    assert announced.server == first.server
    assert announced.next is not None
    assert trusts(announced, first)

    assert later(announced).next == announced.next, "as long as not all know it, only certificates are renewed"

    taken_over = later(announced, known=True)
    assert trusts(announced, taken_over), "who knew the bundle before trusts what is shown now"
    assert taken_over.bundle != announced.bundle
    assert trusts(taken_over, first), "another replica may still show the old one"

    assert successor(taken_over, ADDRESSES, known=True) is None
    clock.pass_by(60)
    renewed = later(taken_over, known=True)
    assert renewed.bundle == taken_over.authority.pair.public, "the first one is trusted no more"


def test_the_turn_of_an_authority_may_come_before_that_of_its_certificate(clock: Clock) -> None:
    held = new(ADDRESSES)
    clock.pass_by(3650 - 365 - 10)
    held = later(held)
    assert timedelta(seconds=seconds_to_renewal(held)) == timedelta(days=10)
    clock.pass_by(10)
    announced = later(held)
    assert timedelta(seconds=seconds_to_renewal(announced)) == timedelta(days=50)


def test_every_step_is_kept_in_the_secret(clock: Clock) -> None:
    held = new(ADDRESSES)
    clock.pass_by(3650 - 365)
    for known in (False, True):
        held = later(held, known=known)
        read = from_secret(to_secret(held))
        assert (read.server, read.previous) == (held.server, held.previous)
        assert sorted(read.bundle.split(b"-----END")) == sorted(held.bundle.split(b"-----END"))
        assert (read.next and read.next.pair) == (held.next and held.next.pair)


def test_a_certificate_for_other_addresses_is_replaced_by_one_for_both() -> None:
    held = new(["hooks.old.svc"])
    renewed = later(held)
    assert renewed.certificate.addresses == {"hooks.old.svc", *ADDRESSES}
    assert renewed.bundle == held.bundle


def test_an_expired_certificate_is_renewed_by_the_same_authority(clock: Clock) -> None:
    held = new(ADDRESSES)
    clock.pass_by(200)
    assert later(from_secret(to_secret(held))).bundle == held.bundle


STRANGER = Authority.new()


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (CERTIFICATE, b"", "tls.crt is missing"),
        (KEY, b"", "tls.key is missing"),
        (BUNDLE, b"", "ca.crt is missing"),
        (AUTHORITY_KEY, b"", "ca.key is missing"),
        (CERTIFICATE, b"garbled", "."),
        (KEY, b"garbled", "."),
        (BUNDLE, b"garbled", "ca.key is the key of no certificate in ca.crt"),
        (BUNDLE, STRANGER.pair.public, "ca.key is the key of no certificate in ca.crt"),
        (AUTHORITY_KEY, b"garbled", "ca.key is the key of no certificate in ca.crt"),
        (NEXT_KEY, b"garbled", "next-ca.key is the key of no certificate in ca.crt"),
        (KEY, STRANGER.pair.key, "the certificate is not for the key"),
    ],
)
def test_a_secret_that_was_tampered_with_is_damaged(key: str, value: bytes, problem: str) -> None:
    with pytest.raises(Damaged, match=problem):
        from_secret(to_secret(new(ADDRESSES)) | {key: value})


def test_a_certificate_of_a_stranger_is_damage() -> None:
    pair = STRANGER.server("hooks", ADDRESSES)
    with pytest.raises(Damaged, match=r"tls.crt is not signed with ca.key"):
        from_secret(to_secret(new(ADDRESSES)) | {CERTIFICATE: pair.public, KEY: pair.key})


def test_an_authority_that_has_expired_is_damage(clock: Clock) -> None:
    data = to_secret(new(ADDRESSES))
    clock.pass_by(3651)
    with pytest.raises(Damaged, match="not now"):
        from_secret(data)


def test_an_authority_that_was_made_by_a_clock_ahead_of_time_is_damage(clock: Clock) -> None:
    data = to_secret(new(ADDRESSES))
    clock.pass_by(-1 / 24)
    assert successor(from_secret(data), ADDRESSES, known=True) is None, "clocks are an hour apart now and then"
    clock.pass_by(-400)
    with pytest.raises(Damaged, match="not now"):
        from_secret(data)


def test_a_certificate_that_was_made_by_a_clock_ahead_of_time_is_replaced(clock: Clock) -> None:
    held = new(ADDRESSES)
    clock.pass_by(400)
    ahead = later(held)
    clock.pass_by(-400)
    assert later(ahead).certificate.issued == held.certificate.issued
    assert later(ahead).bundle == held.bundle


def test_what_is_no_certificate_in_the_bundle_is_not_passed_on() -> None:
    held = new(ADDRESSES)
    garbled = b"-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"
    assert from_secret(to_secret(held) | {BUNDLE: held.bundle + garbled}).bundle == held.bundle
