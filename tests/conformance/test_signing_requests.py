"""CertificateSigningRequests: they are approved or denied through one subresource, and answered through another."""

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.x509.oid import ExtensionOID, NameOID

from conformance.requests import Raw

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def requested(*groups: str, sort: serialization.Encoding = serialization.Encoding.PEM) -> bytes:
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
    made = x509.CertificateSigningRequestBuilder().subject_name(subject)
    return made.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(sort)


def signing_request(**spec: Any) -> dict[str, Any]:
    pem = encoded(requested())
    asked = {"request": pem, "signerName": "example.com/signer", "usages": ["client auth"], **spec}
    return {"metadata": {"generateName": "test-"}, "spec": asked}


async def new(raw: Raw) -> str:
    """The place of a new request."""
    made = await raw.ok(f"POST {REQUESTS}", signing_request())
    return f"{REQUESTS}/{made['metadata']['name']}"


def says(type_: str, status: str = "True", **rest: Any) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": type_, "status": status, "reason": "Test", **rest}]}}


async def test_a_request_is_approved(raw: Raw) -> None:
    place = await new(raw)
    change = says("Approved") | {"metadata": {"annotations": {"by": "me"}}, "spec": {"usages": ["any"]}}
    change["status"]["certificate"] = "YQ=="
    made = await raw.ok(f"PATCH {place}/approval", change, patch="merge")
    (condition,) = made["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Approved", "True", "Test")
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"] != ""
    assert made["metadata"]["annotations"] == {"by": "me"}
    # Nothing else can be said this way.
    assert "certificate" not in made["status"]
    assert made["spec"]["usages"] == ["client auth"]


async def test_whoever_applies_a_request_can_not_say_who_they_are(raw: Raw) -> None:
    head = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
    asked = {**head, "metadata": {"name": raw.namespace}, "spec": signing_request(username="liar")["spec"]}
    made = await raw.ok(f"PATCH {REQUESTS}/{raw.namespace}?fieldManager=me", asked, patch="apply")
    assert made["spec"]["username"] == "admin"


async def test_a_decision_stays(raw: Raw) -> None:
    place = await new(raw)
    await raw.ok(f"PATCH {place}/approval", says("Approved"), patch="merge")
    refused = (await raw(f"PATCH {place}/approval", says("Denied"), patch="merge")).refusal
    assert refused.causes == ["FieldValueForbidden status.conditions"]
    assert refused.message.endswith('updates may not remove a condition of type "Approved"')


async def test_a_decision_is_not_made_through_status(raw: Raw) -> None:
    place = await new(raw)
    refused = (await raw(f"PATCH {place}/status", says("Approved"), patch="merge")).refusal
    assert refused.message.endswith('status.conditions: Forbidden: updates may not add a condition of type "Approved"')
    refused = (await raw(f"PATCH {place}/status", says("Approved", "False"), patch="merge")).refusal
    places = ["FieldValueNotSupported status.conditions[0].status", "FieldValueForbidden status.conditions"]
    assert refused.causes == places


async def test_a_decision_is_true_or_not_there(raw: Raw) -> None:
    place = await new(raw)
    refused = (await raw(f"PATCH {place}/approval", says("Denied", "False"), patch="merge")).refusal
    assert refused.causes == ["FieldValueNotSupported status.conditions[0].status"]
    assert refused.message.endswith('Unsupported value: "False": supported values: "True"')


async def test_other_conditions_are_reported_through_status(raw: Raw) -> None:
    place = await new(raw)
    made = await raw.ok(f"PATCH {place}/status", says("Seen", "Unknown"), patch="merge")
    assert [each["type"] for each in made["status"]["conditions"]] == ["Seen"]


async def test_what_was_requested_stays(raw: Raw) -> None:
    place = await new(raw)
    changed = await raw.ok(f"PATCH {place}", {"spec": {"usages": ["any"]}, **says("Approved")}, patch="merge")
    assert changed["spec"]["usages"] == ["client auth"]
    assert "conditions" not in changed["status"]


async def test_a_request_says_what_for_and_for_how_long(raw: Raw) -> None:
    refused = (await raw(f"POST {REQUESTS}", signing_request(usages=[], expirationSeconds=60))).refusal
    assert refused.causes == ["FieldValueRequired spec.usages", "FieldValueInvalid spec.expirationSeconds"]


async def test_a_request_is_a_request_in_pem(raw: Raw) -> None:
    for wrong in (b"", b"a", requested().replace(b"CERTIFICATE REQUEST", b"CERTIFICATE")):
        refused = (await raw(f"POST {REQUESTS}", signing_request(request=encoded(wrong)))).refusal
        assert refused.causes == ["FieldValueInvalid spec.request"]
        assert refused.message.endswith("PEM block type must be CERTIFICATE REQUEST")


async def test_a_request_is_signed_with_the_key_that_it_is_for(raw: Raw) -> None:
    der = requested(sort=serialization.Encoding.DER)
    forged = der.replace(b"somebody", b"anybody!")
    pem = b"-----BEGIN CERTIFICATE REQUEST-----\n" + base64.encodebytes(forged) + b"-----END CERTIFICATE REQUEST-----\n"
    refused = (await raw(f"POST {REQUESTS}", signing_request(request=encoded(pem)))).refusal
    assert refused.message.endswith(": x509: ECDSA verification failure")


async def test_usages_are_known_and_named_once(raw: Raw) -> None:
    refused = (await raw(f"POST {REQUESTS}", signing_request(usages=["client auth", "fun", "client auth"]))).refusal
    assert refused.causes == ["FieldValueNotSupported spec.usages[1]", "FieldValueDuplicate spec.usages[2]"]
    assert '"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign"' in refused.message
    assert '"ocsp signing", "s/mime", "server auth", "signing", "timestamping"' in refused.message


@pytest.mark.parametrize(
    ("signer", "why"),
    [
        ("", "Required value"),
        ("example.com", "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
        ("a.b/c/d", "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
        ("example/a", "should be a domain with at least two segments separated by dots"),
        ("kubernetes.io/legacy-unknown", "the legacy signerName is not allowed via this API version"),
    ],
)
async def test_a_signer_is_a_domain_and_a_name(raw: Raw, signer: str, why: str) -> None:
    refused = (await raw(f"POST {REQUESTS}", signing_request(signerName=signer))).refusal
    assert len(refused.causes) == 1
    assert refused.message.endswith(why)


async def test_the_name_of_a_signer_has_labels(raw: Raw) -> None:
    refused = (await raw(f"POST {REQUESTS}", signing_request(signerName="A.b/C"))).refusal
    assert refused.causes == ["FieldValueInvalid spec.signerName"] * 2
    assert 'Invalid value: "A.b": validating label "A": a lowercase RFC 1123 label' in refused.message
    assert 'Invalid value: "C": validating label "C": a lowercase RFC 1123 subdomain' in refused.message


async def test_a_certificate_is_a_certificate(raw: Raw) -> None:
    place = await new(raw)
    for wrong, why in (
        (b"a", "must contain at least one CERTIFICATE PEM block"),
        (requested(), 'only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"'),
        (b"-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n", "x509: malformed certificate"),
    ):
        change = {"status": {"certificate": encoded(wrong)}}
        refused = (await raw(f"PATCH {place}/status", change, patch="merge")).refusal
        assert refused.message.endswith(f'status.certificate: Invalid value: "<certificate data>": {why}')


async def test_nobody_becomes_an_administrator_by_a_request(raw: Raw) -> None:
    signer = "kubernetes.io/kube-apiserver-client"
    wanted = signing_request(signerName=signer, request=encoded(requested("team", "system:masters")))
    refused = (await raw(f"POST {REQUESTS}", wanted)).refusal
    assert (refused.code, refused.reason) == (403, "Forbidden")
    assert refused.message.endswith(f"is forbidden: use of {signer} signer with system:masters group is not allowed")
    assert (await raw(f"POST {REQUESTS}", signing_request(request=wanted["spec"]["request"]))).code == 201


BEGINNINGS = b"-----BEGIN X-----\n"


@pytest.mark.parametrize(
    ("before", "code"),
    [
        (b"words\n", 201),
        (b"words ", 422),
        (BEGINNINGS, 201),
        (BEGINNINGS * 50_000, 201),  # of which none has an end: to look for it each time would take minutes
        (BEGINNINGS + b"YQ==\n-----END Y-----\n", 201),
        (BEGINNINGS + b"!\n-----END X-----\n", 201),
        (BEGINNINGS + b"YQ==\n-----END X-----\n", 422),
    ],
)
async def test_what_comes_before_a_request_in_pem(raw: Raw, before: bytes, code: int) -> None:
    asked = signing_request(request=encoded(before + requested()))
    answer = await raw(f"POST {REQUESTS}?dryRun=All&timeout=30s", asked)
    assert answer.code == code, answer.json["message"][-200:]


async def test_a_request_in_pem_may_have_headers(raw: Raw) -> None:
    first, rest = requested().split(b"\n", 1)
    asked = signing_request(request=encoded(first + b"\nA: b\n\n" + rest))
    assert (await raw(f"POST {REQUESTS}?dryRun=All", asked)).code == 201


@pytest.mark.parametrize(
    ("key", "broken", "problem"),
    [
        (lambda: rsa.generate_private_key(65537, 2048), True, "crypto/rsa: verification error"),
        (lambda: ec.generate_private_key(ec.SECP521R1()), True, "x509: ECDSA verification failure"),
        (ed25519.Ed25519PrivateKey.generate, True, "x509: Ed25519 verification failure"),
        (lambda: dsa.generate_private_key(1024), False, "x509: cannot verify signature: algorithm unimplemented"),
        (lambda: ec.generate_private_key(ec.SECP256K1()), False, "x509: unsupported elliptic curve"),
    ],
)
async def test_a_request_must_be_signed_in_a_way_that_is_known(raw: Raw, key: Any, broken: bool, problem: str) -> None:
    made, private = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])), key()
    digest = None if isinstance(private, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    content = bytearray(made.sign(private, digest).public_bytes(serialization.Encoding.DER))
    content[-1] ^= broken
    text = b"-----BEGIN CERTIFICATE REQUEST-----\n%b-----END CERTIFICATE REQUEST-----\n" % base64.encodebytes(content)
    answer = await raw(f"POST {REQUESTS}?dryRun=All", signing_request(request=encoded(text)))
    assert (answer.code, answer.json["message"].rpartition('": ')[2]) == (422, problem)


def also_for(*names: bytes, times: int = 1) -> bytes:
    """A request for more names, each as it is encoded in ASN.1; who reads it may find that it is none."""
    value = b"".join(names)
    extension = x509.UnrecognizedExtension(ExtensionOID.SUBJECT_ALTERNATIVE_NAME, bytes([0x30, len(value)]) + value)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
    made = x509.CertificateSigningRequestBuilder(subject, [x509.Extension(extension.oid, False, extension)] * times)
    return made.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


EMAIL, DNS, URI, IP = b"\x81", b"\x82", b"\x86", b"\x87"
UMLAUT = b"\x02\xc3\xa4"


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ([b"\xff"], "x509: invalid subject alternative name"),
        ([DNS + UMLAUT], "x509: SAN dNSName is malformed"),
        ([EMAIL + UMLAUT], "x509: SAN rfc822Name is malformed"),
        ([URI + UMLAUT], "x509: SAN uniformResourceIdentifier is malformed"),
        ([IP + b"\x03\x01\x02\x03"], ""),  # the real one says how long it is
    ],
)
async def test_the_names_in_a_request_are_names(raw: Raw, names: list[bytes], problem: str) -> None:
    refused = (await raw(f"POST {REQUESTS}", signing_request(request=encoded(also_for(*names))))).refusal
    assert refused.causes == ["FieldValueInvalid spec.request"]
    assert refused.message.endswith(problem)


async def test_a_request_says_once_what_else_it_is_for(raw: Raw) -> None:
    asked = signing_request(request=encoded(also_for(DNS + b"\x01a", times=2)))
    refused = (await raw(f"POST {REQUESTS}", asked)).refusal
    assert refused.message.endswith(": x509: certificate request contains duplicate requested extensions")


async def test_a_request_is_for_somebody_whose_name_can_be_read(raw: Raw) -> None:
    broken = requested(sort=serialization.Encoding.DER).replace(b"somebody", b"somebod\xff")
    text = b"-----BEGIN CERTIFICATE REQUEST-----\n%b-----END CERTIFICATE REQUEST-----\n" % base64.encodebytes(broken)
    refused = (await raw(f"POST {REQUESTS}", signing_request(request=encoded(text)))).refusal
    assert refused.message.endswith(": asn1: invalid UTF-8 string")
