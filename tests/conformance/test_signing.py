"""Requests for certificates: who asked is written by the server, and who may approve them is asked by signer."""

import base64
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from conformance.access import Somebody, rule
from conformance.requests import Raw, Refused

GROUP = "certificates.k8s.io"
REQUESTS = f"/apis/{GROUP}/v1/certificatesigningrequests"
WRITES = rule(
    "get create update patch",
    "certificatesigningrequests certificatesigningrequests/approval certificatesigningrequests/status",
    GROUP,
)


@cache
def wanted() -> str:
    """A request as its maker encodes it."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    unsigned = x509.CertificateSigningRequestBuilder().subject_name(subject)
    signed = unsigned.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(signed.public_bytes(Encoding.PEM)).decode()


def asking(**spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "{ns}"},
        "spec": {"request": wanted(), "signerName": "example.com/a", "usages": ["client auth"], **spec},
    }


def condition(type_: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": type_, "status": "True", "reason": "r", "message": "m"}]}}


def who(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: spec[key] for key in ("username", "uid", "groups", "extra") if key in spec}


async def test_who_asked_is_what_the_server_knows(raw: Raw) -> None:
    lies = asking(username="fake", uid="fake", groups=["system:nodes"], extra={"a": ["b"]})
    made = await raw.ok(f"POST {REQUESTS}", {**lies, **condition("Approved")})
    assert who(made["spec"]) == {
        "username": "admin",
        "uid": "1",
        "groups": ["system:masters", "system:authenticated"],
    }
    assert made.get("status", {}) == {}


async def test_somebody_asks(raw: Raw) -> None:
    somebody = Somebody(raw, headers={"Impersonate-Group": "team", "Impersonate-Extra-Foo": "x"})
    await somebody.may_everywhere(WRITES)
    answer = await somebody(f"POST {REQUESTS}", asking())
    assert who(answer.json["spec"]) == {
        "username": raw.namespace,
        "groups": ["team", "system:authenticated"],
        "extra": {"foo": ["x"]},
    }


async def test_who_asked_for_what_can_not_be_changed(raw: Raw) -> None:
    made = await raw.ok(f"POST {REQUESTS}", asking())
    for place in ("", "/approval", "/status"):
        change = {"spec": {"username": "other", "signerName": "example.com/other"}}
        changed = await raw.ok(f"PATCH {REQUESTS}/{{ns}}{place}", change, patch="merge")
        assert changed["spec"] == made["spec"]


async def test_approving_takes_a_right_to_the_signer(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may_everywhere(WRITES)
    await raw.ok(f"POST {REQUESTS}", asking())
    answer = await somebody(f"PATCH {REQUESTS}/{{ns}}/approval", condition("Approved"), patch="merge")
    message = (
        f'certificatesigningrequests.{GROUP} "{raw.namespace}" is forbidden: user not permitted to approve requests '
        'with signerName "example.com/a"'
    )
    about = f"certificatesigningrequests.{GROUP} {raw.namespace}"
    assert answer.refusal == Refused(403, "Forbidden", message, about)


async def test_the_right_to_one_signer(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may_everywhere(WRITES, rule("approve", "signers", GROUP, resourceNames=["example.com/a"]))
    await raw.ok(f"POST {REQUESTS}", asking())
    approved = await somebody(f"PATCH {REQUESTS}/{{ns}}/approval", condition("Approved"), patch="merge")
    [found] = approved.json["status"]["conditions"]
    assert found.pop("lastUpdateTime") == found.pop("lastTransitionTime")
    assert found == condition("Approved")["status"]["conditions"][0]


async def test_the_right_to_all_signers_of_a_domain(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may_everywhere(WRITES, rule("approve", "signers", GROUP, resourceNames=["example.com/*"]))
    await raw.ok(f"POST {REQUESTS}", asking())
    assert (await somebody(f"PATCH {REQUESTS}/{{ns}}/approval", condition("Denied"), patch="merge")).code == 200


async def test_what_is_decided_stays_decided(raw: Raw) -> None:
    await raw.ok(f"POST {REQUESTS}", asking())
    await raw.ok(f"PATCH {REQUESTS}/{{ns}}/approval", condition("Approved"), patch="merge")
    answer = await raw(f"PATCH {REQUESTS}/{{ns}}/approval", condition("Denied"), patch="merge")
    assert answer.refusal.message == (
        f'CertificateSigningRequest.{GROUP} "{raw.namespace}" is invalid: status.conditions: Forbidden: '
        'updates may not remove a condition of type "Approved"'
    )


async def test_nothing_is_decided_through_status(raw: Raw) -> None:
    await raw.ok(f"POST {REQUESTS}", asking())
    answer = await raw(f"PATCH {REQUESTS}/{{ns}}/status", condition("Approved"), patch="merge")
    assert answer.refusal.message == (
        f'CertificateSigningRequest.{GROUP} "{raw.namespace}" is invalid: status.conditions: Forbidden: '
        'updates may not add a condition of type "Approved"'
    )


async def test_a_status_in_which_nothing_is_signed_takes_no_right_to_the_signer(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may_everywhere(WRITES)
    await raw.ok(f"POST {REQUESTS}", asking())
    assert (await somebody(f"PATCH {REQUESTS}/{{ns}}/status", {"status": {}}, patch="merge")).code == 200


async def test_signing_takes_a_right_to_the_signer(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may_everywhere(WRITES)
    await raw.ok(f"POST {REQUESTS}", asking())
    answer = await somebody(f"PATCH {REQUESTS}/{{ns}}/status", condition("Failed"), patch="merge")
    assert answer.refusal.message == (
        f'certificatesigningrequests.{GROUP} "{raw.namespace}" is forbidden: user not permitted to sign requests '
        'with signerName "example.com/a"'
    )
