"""What an authority signs, and what can be read from it."""

from datetime import timedelta

import pytest

from windvane import ambient
from windvane.certificates import Authority, Certificate, Pair


def test_a_servers_certificate_says_where_it_is_reached_and_for_how_long() -> None:
    pair = Authority.new().server("hooks", ["hooks.web.svc", "127.0.0.1", "::1"], life=timedelta(days=90))
    certificate = Certificate.read(pair)
    assert certificate.addresses == {"hooks.web.svc", "127.0.0.1", "::1"}
    assert timedelta(days=89, hours=23) < certificate.expires - ambient.now() <= timedelta(days=90)
    assert abs(certificate.issued - ambient.now()) < timedelta(minutes=1)


def test_a_clients_certificate_has_no_addresses() -> None:
    assert Certificate.read(Authority.new().client("jane")).addresses == frozenset()


def test_an_authority_knows_what_it_has_signed() -> None:
    one, other = Authority.new(), Authority.new()
    certificate = Certificate.read(one.server("hooks", ["localhost"]))
    assert one.has_signed(certificate)
    assert not other.has_signed(certificate)


def test_no_certificate_outlives_its_authority() -> None:
    authority = Authority.new()
    assert Certificate.read(authority.server("hooks", [], life=timedelta(days=9999))).expires == authority.expires


@pytest.mark.parametrize("public", [b"", b"garbled", Authority.new().pair.public])
def test_a_certificate_that_is_none_or_for_another_key_is_refused(public: bytes) -> None:
    key = Authority.new().server("hooks", ["localhost"]).key
    with pytest.raises(ValueError, match=r"."):
        Certificate.read(Pair(key, public))
