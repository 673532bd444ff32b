"""How an API server comes to webhooks: what is said, what can be known without, and what is missing."""

from dataclasses import replace

import pytest

from windvane.cli.webhooks import WebhookOrders, WebhookPlace, WebhookPlaceUnknown, not_reached, place, read_service
from windvane.webhook.endpoint import ServiceEndpoint, URLEndpoint

NOTHING_SAID = WebhookOrders(host="", port=9443, service="", url="", client_ca=None, in_pod=False)
ELSEWHERE = "https://203.0.113.7:6443"


def found(server: str = ELSEWHERE, **said: object) -> WebhookPlace:
    return place(replace(NOTHING_SAID, **said), "website", server=server, namespace="web", home="pods")  # type: ignore[arg-type]


@pytest.mark.parametrize("server", ["https://127.0.0.1:6443", "https://localhost", "https://[::1]:6443"])
def test_an_api_server_on_this_machine_comes_by_itself(server: str) -> None:
    assert found(server) == WebhookPlace("127.0.0.1", 9443, None)


def test_an_api_server_elsewhere_has_to_be_told_how() -> None:
    with pytest.raises(WebhookPlaceUnknown) as error:
        found()
    assert "https://203.0.113.7:6443 has to reach them here" in str(error.value)
    assert "--webhook-url https://HOST:PORT" in str(error.value)
    assert "--no-webhooks" in str(error.value)


def test_a_pod_without_a_service_is_told_which_one_it_needs() -> None:
    with pytest.raises(WebhookPlaceUnknown) as error:
        found(in_pod=True, port=10250)
    assert "--webhook-service website-webhooks" in str(error.value)
    assert "metadata: {name: website-webhooks, namespace: web}" in str(error.value)
    assert "ports: [{port: 443, targetPort: 10250}]" in str(error.value)


def test_a_service_leads_to_all_addresses_of_a_pod_and_goes_on_for_a_while() -> None:
    there = found(in_pod=True, service="hooks")
    assert there == WebhookPlace("0.0.0.0", 9443, ServiceEndpoint("web", "hooks", 443))
    assert there.leave_within == 5.0


def test_a_url_of_another_machine_leads_to_all_addresses_of_this_one() -> None:
    there = found(url="https://192.0.2.7:9443")
    assert there == WebhookPlace("0.0.0.0", 9443, URLEndpoint("https://192.0.2.7:9443"))
    assert there.leave_within == 0.0
    assert found(url="https://localhost:9443").host == "127.0.0.1"
    assert found(url="https://192.0.2.7:9443", in_pod=True).endpoint == URLEndpoint(
        "https://192.0.2.7:9443", home="pods"
    )
    assert found(url="https://192.0.2.7:9443", host="192.0.2.7").host == "192.0.2.7"


def test_who_is_not_reached_by_a_service_is_told_of_pods() -> None:
    said = not_reached(NOTHING_SAID, "website", ServiceEndpoint("web", "hooks"), 'service "hooks" not found')
    assert 'Service web/hooks port 443. It says:\n  service "hooks" not found\nA Service leads to pods.' in said


def test_a_service_and_a_url_are_one_too_many() -> None:
    with pytest.raises(WebhookPlaceUnknown, match="either"):
        found(service="hooks", url="https://192.0.2.7")


@pytest.mark.parametrize(
    ("text", "service"),
    [
        ("hooks", ServiceEndpoint("web", "hooks", 443)),
        ("hooks:8443", ServiceEndpoint("web", "hooks", 8443)),
        ("site/hooks", ServiceEndpoint("site", "hooks", 443)),
        ("site/hooks:8443", ServiceEndpoint("site", "hooks", 8443)),
    ],
)
def test_how_a_service_is_written(text: str, service: ServiceEndpoint) -> None:
    assert read_service(text, "web") == service


@pytest.mark.parametrize(
    "text", ["", "/hooks", "site/", "hooks:", "hooks:http", "hooks:0", "hooks:65536", "a/b/c", "A_b"]
)
def test_what_names_no_service_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write NAME, NAMESPACE/NAME or NAMESPACE/NAME:PORT"):
        read_service(text, "web")
