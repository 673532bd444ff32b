"""The Secrets of a cluster that speaks TLS: made once, renewed in time, made again if they are lost."""

from datetime import UTC, datetime, timedelta

from etcd_operator import tls, transport
from etcd_operator.api import EtcdCluster, EtcdClusterSpec
from etcd_operator.certificates import is_signed_by, new_leaf, read
from windvane import ObjectMeta, Quantity
from windvane.k8s import core

NOW = datetime(2026, 11, 16, 8, tzinfo=UTC)
Secrets = dict[str, core.Secret]


def a_cluster(rotate: str = "") -> EtcdCluster:
    annotations = {tls.ROTATE: rotate} if rotate else {}
    return EtcdCluster(
        metadata=ObjectMeta(name="prod", namespace="db", annotations=annotations),
        spec=EtcdClusterSpec(version="3.5.1", storage_size=Quantity("1Gi"), tls=True),
    )


def decide(existing: Secrets, now: datetime = NOW, *, at: bool = True, rotate: str = "") -> tls.Step:
    return tls.decide(a_cluster(rotate), existing, now=now, all_pods_at=at)


def by_name(step: tls.Step) -> Secrets:
    return {each.metadata.name: each for each in step.secrets}


def data(secrets: Secrets) -> dict[str, dict[str, bytes]]:
    return {name: secret.data for name, secret in secrets.items()}


def test_a_new_cluster_gets_an_authority_and_three_certificates_from_it() -> None:
    secrets = by_name(decide({}, at=False))
    assert list(secrets) == ["prod-ca", "prod-server-tls", "prod-peer-tls", "prod-client-tls"]
    authority = secrets["prod-ca"].data["tls.crt"]
    for name in ("prod-server-tls", "prod-peer-tls", "prod-client-tls"):
        assert secrets[name].data["ca.crt"] == authority
        assert is_signed_by(secrets[name].data["tls.crt"], authority)


def test_the_authoritys_key_is_in_no_secret_that_a_pod_has() -> None:
    secrets = by_name(decide({}))
    mounted = {each.secret.secret_name for each in transport.member_volumes("prod") if each.secret}
    assert mounted == {"prod-server-tls", "prod-peer-tls"}
    key = secrets["prod-ca"].data["tls.key"]
    assert all(key not in each.data.values() for name, each in secrets.items() if name != "prod-ca")


def test_what_is_as_it_should_be_stays_to_the_byte() -> None:
    secrets = by_name(decide({}))
    step = decide(secrets, NOW + timedelta(days=59))
    assert data(by_name(step)) == data(secrets)
    assert step.events == []


def test_it_says_when_something_is_due_next() -> None:
    secrets = by_name(decide({}))
    assert decide(secrets).again == NOW + timedelta(days=60)


def test_certificates_are_renewed_when_thirty_days_are_left_and_no_member_is_restarted() -> None:
    secrets = by_name(decide({}))
    later = NOW + timedelta(days=60, seconds=1)
    step = decide(secrets, later)
    renewed = by_name(step)
    assert renewed["prod-ca"].data == secrets["prod-ca"].data
    for name in list(secrets)[1:]:
        assert read(renewed[name].data["tls.crt"]).not_valid_after_utc == later + timedelta(days=90)
        assert renewed[name].data["tls.key"] != secrets[name].data["tls.key"]
        assert is_signed_by(renewed[name].data["tls.crt"], secrets["prod-ca"].data["tls.crt"])
    assert {reason for reason, _ in step.events} == {"CertificateRenewed"}
    assert tls.ca_digest("prod", renewed) == tls.ca_digest("prod", secrets)


def test_a_lost_certificate_is_issued_again_and_the_others_stay() -> None:
    secrets = by_name(decide({}))
    left = {name: secret for name, secret in secrets.items() if name != "prod-peer-tls"}
    again = by_name(decide(left, at=False))
    assert is_signed_by(again["prod-peer-tls"].data["tls.crt"], secrets["prod-ca"].data["tls.crt"])
    assert again["prod-server-tls"].data == secrets["prod-server-tls"].data
    assert tls.ca_digest("prod", again) == tls.ca_digest("prod", secrets)


def test_a_certificate_that_can_not_be_read_is_issued_again() -> None:
    secrets = by_name(decide({}))
    secrets["prod-server-tls"].data["tls.crt"] = b"nonsense"
    again = by_name(decide(secrets))
    assert is_signed_by(again["prod-server-tls"].data["tls.crt"], secrets["prod-ca"].data["tls.crt"])


def test_a_certificate_without_a_name_that_members_have_is_issued_again() -> None:
    secrets = by_name(decide({}))
    authority = tls.Authority.of(secrets["prod-ca"])
    assert authority is not None
    few = new_leaf(authority.newest, "prod", ["localhost"], NOW)
    secrets["prod-server-tls"].data |= {"tls.crt": few.certificate, "tls.key": few.key}
    again = by_name(decide(secrets))["prod-server-tls"]
    assert again.data["tls.crt"] != few.certificate


def test_the_operator_can_connect_with_the_secret_for_clients() -> None:
    secret = by_name(decide({}))["prod-client-tls"]
    context = transport.client_context(secret)
    assert context.check_hostname
    assert transport.client_context(secret) is context


def test_a_new_cluster_with_the_annotation_has_answered_it() -> None:
    secrets = by_name(decide({}, rotate="from a template"))
    step = decide(secrets, rotate="from a template")
    assert data(by_name(step)) == data(secrets)


def test_a_lost_authority_is_told_of() -> None:
    secrets = by_name(decide({}))
    del secrets["prod-ca"]
    assert [reason for reason, _ in decide(secrets).events] == ["CALost"]
