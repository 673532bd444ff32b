"""What is counted about webhooks at /metrics."""

import re

from conformance.objects import config_map
from conformance.requests import Raw
from conformance.webhook_server import Webhooks, answers, denied

PREFIX = "apiserver_admission_webhook_"
SAMPLE = re.compile(rf"{PREFIX}(\w+)\{{(.*)\}} (\S+)")


async def counted(raw: Raw, webhook: str) -> dict[str, dict[str, float]]:
    """By metric, the number for each set of labels, of those that are about a webhook of that name."""
    found: dict[str, dict[str, float]] = {}
    for line in (await raw("GET /metrics")).body.decode().splitlines():
        if (sample := SAMPLE.fullmatch(line)) is not None and f'"{webhook}.windvane.dev"' in sample[2]:
            labels = dict(re.findall(r'(\w+)="([^"]*)"', sample[2]))
            del labels["name"]
            told = " ".join(f"{label}={value}" for label, value in sorted(labels.items()) if label != "le")
            found.setdefault(sample[1], {})[told] = float(sample[3])
    return found


async def test_a_refusal_is_counted(raw: Raw, webhooks: Webhooks) -> None:
    name = raw.namespace
    await webhooks.install("Validating", webhooks.webhook(name, denied("no", code=403)))
    assert (await raw("POST configmaps", config_map())).code == 403
    found = await counted(raw, name)
    rejected = "error_type=no_error operation=CREATE rejection_code=403 type=validating"
    assert found["rejection_count"] == {rejected: 1}
    assert found["request_total"] == {"code=403 operation=CREATE rejected=true type=validating": 1}
    assert found["admission_duration_seconds_count"] == {"operation=CREATE rejected=true type=validating": 1}


async def test_a_failure_is_counted(raw: Raw, webhooks: Webhooks) -> None:
    name = raw.namespace
    await webhooks.install("Mutating", webhooks.webhook(name, answers("sorry", 500)))
    assert (await raw("POST configmaps", config_map())).code == 500
    found = await counted(raw, name)
    rejected = "error_type=calling_webhook_error operation=CREATE rejection_code=500 type=admit"
    assert found["rejection_count"] == {rejected: 1}


async def test_a_failure_that_is_passed_over_is_counted_as_such(raw: Raw, webhooks: Webhooks) -> None:
    name = raw.namespace
    await webhooks.install("Mutating", webhooks.webhook(name, answers("sorry", 500), failurePolicy="Ignore"))
    await raw.ok("POST configmaps", config_map())
    found = await counted(raw, name)
    assert found["fail_open_count"] == {"type=admit": 1}
    assert "rejection_count" not in found
    assert found["request_total"] == {"code=500 operation=CREATE rejected=false type=admit": 1}
