"""Requests for certificates: approved by somebody, or by their right, then signed or refused, and gone in the end."""

import dataclasses
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import cache
from ipaddress import ip_address
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from integration.controllers.cluster import Cluster
from windvane import Client, ambient
from windvane.api.meta import ObjectMeta
from windvane.certificates import Authority
from windvane.client.errors import NotFound
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.http.inprocess import InProcessTransport
from windvane.k8s.certificates import CertificateSigningRequest, CertificateSigningRequestSpec
from windvane.k8s.rbac import ClusterRoleBinding, RoleRef, Subject

CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
NODE = "system:node:a"
NODES = ("system:nodes",)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster that has a key to sign with."""
    cluster = Cluster()
    cluster.authority = cache(Authority.new)
    await cluster.begin()
    yield cluster
    await cluster.close()


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request, and whose key it is for."""

    pem: bytes
    key: ec.EllipticCurvePrivateKey


def asked(name: str = "jane", groups: tuple[str, ...] = ("team",), also: tuple[x509.GeneralName, ...] = ()) -> Asked:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if also:
        builder = builder.add_extension(x509.SubjectAlternativeName(also), critical=False)
    return Asked(builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM), key)


async def request(client: Client, made: Asked, signer: str = CLIENT, **spec: Any) -> None:
    usages = spec.pop("usages", ["client auth"])
    body = CertificateSigningRequestSpec(request=made.pem, signer_name=signer, usages=usages, **spec)
    await client.create(CertificateSigningRequest(metadata=ObjectMeta(name="mine"), spec=body))


async def decide(cluster: Cluster, verdict: str = "Approved") -> None:
    condition = {"type": verdict, "status": "True", "reason": "Test", "message": "because"}
    patch = {"status": {"conditions": [condition]}}
    await cluster.admin.patch(CertificateSigningRequest, "mine", patch, subresource="approval")
    await cluster.settled()


async def found(cluster: Cluster) -> CertificateSigningRequest:
    return await cluster.admin.get(CertificateSigningRequest, "mine")


async def is_gone(cluster: Cluster) -> bool:
    try:
        await found(cluster)
    except NotFound:
        return True
    return False


async def signed(cluster: Cluster) -> x509.Certificate:
    certificate = (await found(cluster)).status.certificate
    assert certificate is not None
    return x509.load_pem_x509_certificate(certificate)


async def why_it_failed(cluster: Cluster) -> str | None:
    status = (await found(cluster)).status
    assert status.certificate is None
    assert [(each.type, each.reason) for each in status.conditions][1:] == [("Failed", "SignerValidationFailure")]
    return status.conditions[1].message


async def test_what_was_approved_is_signed(cluster: Cluster) -> None:
    mine = asked()
    await request(cluster.admin, mine, usages=["digital signature", "key encipherment", "client auth"])
    await decide(cluster)
    certificate = await signed(cluster)
    assert certificate.subject.rfc4514_string() == "CN=jane,O=team"
    assert certificate.public_key() == mine.key.public_key()
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    assert (usage.digital_signature, usage.key_encipherment, usage.key_cert_sign) == (True, True, False)
    purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(purposes) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert cluster.authority is not None
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(cluster.authority().pair.public))


async def test_a_key_that_nothing_was_said_about_may_do_anything(cluster: Cluster) -> None:
    await request(cluster.admin, asked(), usages=["client auth"])
    await decide(cluster)
    with pytest.raises(x509.ExtensionNotFound):
        (await signed(cluster)).extensions.get_extension_for_class(x509.KeyUsage)


async def test_nothing_is_signed_that_nobody_approved(cluster: Cluster) -> None:
    await request(cluster.admin, asked())
    await cluster.settled()
    assert (await found(cluster)).status.certificate is None


async def test_nothing_is_signed_that_was_denied(cluster: Cluster) -> None:
    await request(cluster.admin, asked())
    await decide(cluster, "Denied")
    assert (await found(cluster)).status.certificate is None


async def test_another_signer_signs_its_own(cluster: Cluster) -> None:
    await request(cluster.admin, asked(), signer="example.com/mine")
    await decide(cluster)
    assert [each.type for each in (await found(cluster)).status.conditions] == ["Approved"]


@pytest.mark.parametrize(
    ("seconds", "lives"),
    [
        (None, timedelta(days=365) - timedelta(minutes=5)),
        (3600, timedelta(hours=1)),
        (86400, timedelta(days=1) - timedelta(minutes=5)),
        (10**9, timedelta(days=365) - timedelta(minutes=5)),
    ],
)
async def test_a_certificate_is_good_for_as_long_as_was_asked(
    cluster: Cluster, seconds: int | None, lives: timedelta
) -> None:
    await request(cluster.admin, asked(), expiration_seconds=seconds)
    began = ambient.now()
    await decide(cluster)
    certificate = await signed(cluster)
    assert abs(certificate.not_valid_after_utc - began - lives) < timedelta(seconds=10)
    assert abs(began - certificate.not_valid_before_utc - timedelta(minutes=5)) < timedelta(seconds=10)


async def test_a_client_certificate_is_for_clients(cluster: Cluster) -> None:
    await request(cluster.admin, asked(), usages=["client auth", "server auth"])
    await decide(cluster)
    assert await why_it_failed(cluster) == "invalid usage for client certificate: server auth"


async def test_a_client_certificate_must_be_for_clients(cluster: Cluster) -> None:
    await request(cluster.admin, asked(), usages=["digital signature"])
    await decide(cluster)
    assert await why_it_failed(cluster) == "missing required usage for client certificate: client auth"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (asked(NODE, ()), "subject organization is not system:nodes"),
        (asked(NODE, ("system:nodes", "team")), "subject organization is not system:nodes"),
        (asked("jane", NODES), "subject common name does not begin with system:node:"),
        (asked(NODE, NODES, also=(x509.DNSName("a"),)), "DNS subjectAltNames are not allowed"),
        (asked(NODE, NODES), "usages did not match [client auth digital signature key encipherment]"),
    ],
)
async def test_a_nodes_client_certificate_is_a_nodes(cluster: Cluster, made: Asked, why: str) -> None:
    await request(cluster.admin, made, signer=KUBELET_CLIENT)
    await decide(cluster)
    assert await why_it_failed(cluster) == why


async def test_a_nodes_serving_certificate_has_its_names(cluster: Cluster) -> None:
    names = (x509.DNSName("a.example.com"), x509.IPAddress(ip_address("10.0.0.1")))
    await request(
        cluster.admin,
        asked(NODE, NODES, also=names),
        signer=KUBELET_SERVING,
        usages=["digital signature", "server auth"],
    )
    await decide(cluster)
    extensions = (await signed(cluster)).extensions
    assert tuple(extensions.get_extension_for_class(x509.SubjectAlternativeName).value) == names
    assert list(extensions.get_extension_for_class(x509.ExtendedKeyUsage).value) == [ExtendedKeyUsageOID.SERVER_AUTH]


async def test_a_nodes_serving_certificate_needs_names(cluster: Cluster) -> None:
    await request(
        cluster.admin, asked(NODE, NODES), signer=KUBELET_SERVING, usages=["digital signature", "server auth"]
    )
    await decide(cluster)
    assert await why_it_failed(cluster) == "DNS or IP subjectAltName is required"


def node(cluster: Cluster, name: str) -> Client:
    groups = ("system:nodes", "system:masters", "system:authenticated")
    return Client(InProcessTransport(cluster.server.handle, User(name, groups)))


async def test_a_node_that_renews_its_own_certificate_is_approved(cluster: Cluster) -> None:
    await request(
        node(cluster, NODE),
        asked(NODE, NODES),
        signer=KUBELET_CLIENT,
        usages=["digital signature", "client auth"],
    )
    await cluster.settled()
    (approved,) = (await found(cluster)).status.conditions
    assert approved.reason == "AutoApproved"
    assert approved.message == "Auto approving self kubelet client certificate after SubjectAccessReview."
    assert (await signed(cluster)).subject.rfc4514_string() == "CN=system:node:a,O=system:nodes"


@pytest.mark.parametrize(("name", "signer"), [("jane", KUBELET_CLIENT), (NODE, CLIENT)])
async def test_nothing_else_is_approved_though_whoever_asks_has_the_right(
    cluster: Cluster, name: str, signer: str
) -> None:
    await request(node(cluster, NODE), asked(name, NODES), signer=signer, usages=["digital signature", "client auth"])
    await cluster.settled()
    assert (await found(cluster)).status.conditions == []


async def test_who_has_no_right_to_a_nodes_certificate_waits_until_somebody_has(cluster: Cluster) -> None:
    creator = ClusterRoleBinding(
        metadata=ObjectMeta(name="creator"),
        role_ref=RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="system:node-bootstrapper"),
        subjects=[Subject(api_group="rbac.authorization.k8s.io", kind="User", name="joiner")],
    )
    await cluster.admin.create(creator)
    joiner = Client(InProcessTransport(cluster.server.handle, User("joiner", ("system:authenticated",))))
    await request(joiner, asked(NODE, NODES), signer=KUBELET_CLIENT, usages=["digital signature", "client auth"])
    await cluster.settled()
    assert (await found(cluster)).status.conditions == []
    creator.metadata = ObjectMeta(name="approved")
    creator.role_ref.name = "system:certificates.k8s.io:certificatesigningrequests:nodeclient"
    await cluster.admin.create(creator)
    await ambient.sleep(60)
    assert (await found(cluster)).status.certificate is not None
    (approved,) = (await found(cluster)).status.conditions
    assert approved.message == "Auto approving kubelet client certificate after SubjectAccessReview."


async def test_an_answered_request_goes_after_an_hour(cluster: Cluster) -> None:
    await request(cluster.admin, asked())
    await decide(cluster)
    await ambient.sleep(3500)
    assert not await is_gone(cluster)
    await ambient.sleep(110)
    assert await is_gone(cluster)


async def test_a_denied_request_goes_after_an_hour(cluster: Cluster) -> None:
    await request(cluster.admin, asked())
    await decide(cluster, "Denied")
    await ambient.sleep(3610)
    assert await is_gone(cluster)


async def test_a_request_goes_with_its_certificate(cluster: Cluster) -> None:
    await request(cluster.admin, asked(), expiration_seconds=600)
    await decide(cluster)
    await ambient.sleep(610)
    assert await is_gone(cluster)
