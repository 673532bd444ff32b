"""Configurations of webhooks: what a change of one is."""

from typing import Any

import pytest

from conformance.requests import Raw
from conformance.webhook_server import API, Thing

GOOD = {
    "name": "a.b.dev",
    "clientConfig": {"url": "https://x.dev/p"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
KINDS = pytest.mark.parametrize("kind", ["Mutating", "Validating"])


def webhook(**fields: Any) -> Thing:
    """The good one with other fields; None leaves one out."""
    return {name: value for name, value in {**GOOD, **fields}.items() if value is not None}


def url(text: str) -> Thing:
    return {"clientConfig": {"url": text}}


@KINDS
async def test_a_change_is_counted_and_checked(raw: Raw, kind: str) -> None:
    collection = f"{API}/{kind.lower()}webhookconfigurations"
    name = f"changed-{raw.namespace}"
    hook = webhook(namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": raw.namespace}})
    made = await raw.ok(f"POST {collection}", {"metadata": {"name": name}, "webhooks": [hook]})
    assert made["metadata"]["generation"] == 1
    changed = await raw.ok(f"PATCH {collection}/{name}", {"webhooks": [{**hook, "timeoutSeconds": 3}]}, patch="merge")
    assert changed["metadata"]["generation"] == 2
    labelled = await raw.ok(f"PATCH {collection}/{name}", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
    assert labelled["metadata"]["generation"] == 2
    refused = await raw(f"PATCH {collection}/{name}", {"webhooks": [{**hook, **url("http://x.dev")}]}, patch="merge")
    assert refused.code == 422
    await raw.ok(f"DELETE {collection}/{name}")
