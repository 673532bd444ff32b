"""Where a webhook configuration leads: what an operator wrote into it can be read from it."""

import pytest

from windvane.api.kind import Kind
from windvane.k8s.admissionregistration import WebhookClientConfig
from windvane.webhook.endpoint import ServiceEndpoint, URLEndpoint, WebhookEndpoint, endpoint_of
from windvane.webhook.paths import default_path, validate_path

WEBSITES = Kind(group="demo.windvane.dev", version="v1", name="Website", plural="websites")


@pytest.mark.parametrize("path", [default_path(WEBSITES), validate_path(WEBSITES)])
@pytest.mark.parametrize(
    "endpoint",
    [
        URLEndpoint("https://127.0.0.1:9443"),
        URLEndpoint("https://tunnel.example/a/validate/b"),
        ServiceEndpoint("web", "hooks"),
        ServiceEndpoint("web", "hooks", 8443),
    ],
    ids=str,
)
def test_what_was_written_is_read(endpoint: WebhookEndpoint, path: str) -> None:
    assert endpoint_of(endpoint.client_config(path, b"")) == endpoint


@pytest.mark.parametrize("url", [None, "", "https://a/elsewhere", "nonsense/validate/a/v1/b"])
def test_what_nobody_of_us_wrote_leads_nowhere_that_we_know(url: str | None) -> None:
    assert endpoint_of(WebhookClientConfig(url=url)) is None
