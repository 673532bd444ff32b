"""What each signer asks of a request for a certificate."""

import ipaddress
from functools import cache

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from windvane.cluster.certificate_requests import Request
from windvane.cluster.controllers.certificates.signer_rules import CLIENT, KUBELET_CLIENT, KUBELET_SERVING, refusal

NODE, NODES = "system:node:a", "system:nodes"
DNS, IP = x509.DNSName("a"), x509.IPAddress(ipaddress.ip_address("10.0.0.1"))
EMAIL, URI = x509.RFC822Name("a@example.com"), x509.UniformResourceIdentifier("https://example.com")
NAMELESS = "subject common name does not begin with system:node:"
OUTSIDER = "subject organization is not system:nodes"


@cache
def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def request(name: str = NODE, group: str = NODES, *others: x509.GeneralName) -> Request:
    subject = [x509.NameAttribute(NameOID.COMMON_NAME, name), x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)]
    asked = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if others:
        asked = asked.add_extension(x509.SubjectAlternativeName(others), critical=False)
    return Request(asked.sign(key(), hashes.SHA256()))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (request(NODE, NODES, DNS), None),
        (request(NODE, NODES, IP), None),
        (request(NODE, "others", DNS), OUTSIDER),
        (request(NODE, NODES), "DNS or IP subjectAltName is required"),
        (request(NODE, NODES, DNS, EMAIL), "Email subjectAltNames are not allowed"),
        (request(NODE, NODES, DNS, URI), "URI subjectAltNames are not allowed"),
        (request("a", NODES, DNS), NAMELESS),
    ],
)
def test_what_a_node_is_served_with(asked: Request, why: str | None) -> None:
    usages = ["digital signature", "server auth"]
    assert refusal(KUBELET_SERVING, asked, usages) == why
    assert refusal(KUBELET_SERVING, asked, [*usages, "key encipherment"]) == why


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (request(), None),
        (request(NODE, "others"), OUTSIDER),
        (request(NODE, NODES, DNS), "DNS subjectAltNames are not allowed"),
        (request(NODE, NODES, IP), "IP subjectAltNames are not allowed"),
        (request(NODE, NODES, EMAIL), "Email subjectAltNames are not allowed"),
        (request(NODE, NODES, URI), "URI subjectAltNames are not allowed"),
        (request("a"), NAMELESS),
    ],
)
def test_what_a_node_logs_in_with(asked: Request, why: str | None) -> None:
    assert refusal(KUBELET_CLIENT, asked, ["digital signature", "client auth"]) == why


@pytest.mark.parametrize(
    ("signer", "usages", "why"),
    [
        (CLIENT, ["client auth"], None),
        (CLIENT, ["client auth", "server auth"], "invalid usage for client certificate: server auth"),
        (CLIENT, ["digital signature"], "missing required usage for client certificate: client auth"),
        (
            KUBELET_SERVING,
            ["digital signature", "client auth", "server auth"],
            "usages did not match [digital signature key encipherment server auth]",
        ),
        (
            KUBELET_SERVING,
            ["server auth"],
            "usages did not match [digital signature key encipherment server auth]",
        ),
    ],
)
def test_what_it_is_good_for(signer: str, usages: list[str], why: str | None) -> None:
    assert refusal(signer, request(NODE, NODES, DNS), usages) == why
