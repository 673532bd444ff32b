"""CertificateSigningRequests: they are approved or denied through one subresource, and answered through another."""

import base64
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from conformance.requests import Raw

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def signing_request(**spec: Any) -> dict[str, Any]:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
    made = x509.CertificateSigningRequestBuilder().subject_name(subject)
    signed = made.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    pem = base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()
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
