"""Certificates are good for what they should be good for, and for nothing else."""

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import PolicyBuilder, Store

from etcd_operator import names
from etcd_operator.certificates import (
    LEAF_LIFE,
    Pair,
    bundle,
    hosts_of,
    is_signed_by,
    member_hosts,
    new_authority,
    new_leaf,
    read,
    unbundle,
)

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)
HOSTS = member_hosts("prod", "db")


def test_a_members_certificate_is_valid_for_each_of_its_names() -> None:
    authority = new_authority("prod", NOW)
    leaf = read(new_leaf(authority, "prod", HOSTS, NOW).certificate)
    verifier = PolicyBuilder().store(Store([read(authority.certificate)])).time(NOW + LEAF_LIFE)
    for host in ("prod-8.prod-peers.db.svc", "prod-0.prod-peers.db.svc.cluster.local", "prod-client", "localhost"):
        verifier.build_server_verifier(x509.DNSName(host)).verify(leaf, [])


def test_a_members_certificate_names_all_places_a_member_can_have_and_no_wildcard() -> None:
    assert {names.host("prod", "db", ordinal) for ordinal in range(9)} <= set(HOSTS)
    assert {"prod-client", "prod-client.db", "prod-client.db.svc", "prod-client.db.svc.cluster.local"} <= set(HOSTS)
    assert {"localhost", "127.0.0.1"} <= set(HOSTS)
    assert not any("*" in host for host in HOSTS)
    assert hosts_of(new_leaf(new_authority("prod", NOW), "prod", HOSTS, NOW).certificate) == HOSTS


def test_a_certificate_is_for_servers_and_for_clients() -> None:
    leaf = read(new_leaf(new_authority("prod", NOW), "prod", [], NOW).certificate)
    usage = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert set(usage) == {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}


def test_no_certificate_has_a_common_name_which_etcd_would_take_for_a_user() -> None:
    leaf = read(new_leaf(new_authority("prod", NOW), "prod", HOSTS, NOW).certificate)
    assert leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME) == []


def test_a_certificate_does_not_outlive_its_authority() -> None:
    authority = new_authority("prod", NOW)
    shortly_before = authority.ends - timedelta(days=3)
    assert new_leaf(authority, "prod", [], shortly_before).ends == authority.ends


def test_two_authorities_of_one_cluster_are_told_apart() -> None:
    one, other = new_authority("prod", NOW), new_authority("prod", NOW)
    leaf = new_leaf(one, "prod", [], NOW).certificate
    assert is_signed_by(leaf, one.certificate)
    assert not is_signed_by(leaf, other.certificate)
    assert read(one.certificate).subject != read(other.certificate).subject


def test_a_bundle_has_each_authority_once() -> None:
    one, other = (new_authority("prod", NOW).certificate for _ in range(2))
    assert unbundle(bundle([one, other, one])) == [one, other]
    assert unbundle(b"nonsense") == []


def test_a_key_of_another_certificate_makes_no_pair() -> None:
    one, other = new_authority("prod", NOW), new_authority("prod", NOW)
    assert Pair.of(one.certificate, one.key) == one
    assert Pair.of(one.certificate, other.key) is None
    assert Pair.of(b"", one.key) is None
    assert Pair.of(one.certificate, b"nonsense") is None
