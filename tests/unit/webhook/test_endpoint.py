"""Where a webhook configuration leads: what an operator wrote into it can be read from it."""

import pytest

from windvane.api.kind import Kind
from windvane.k8s.admissionregistration import WebhookClientConfig
from windvane.webhook.endpoint import ByService, ByURL, Reach, reach_of
from windvane.webhook.paths import default_path, validate_path

WEBSITES = Kind(group="demo.windvane.dev", version="v1", name="Website", plural="websites")


@pytest.mark.parametrize("path", [default_path(WEBSITES), validate_path(WEBSITES)])
@pytest.mark.parametrize(
    "reach",
    [
        ByURL("https://127.0.0.1:9443"),
        ByURL("https://tunnel.example/a/validate/b"),
        ByService("web", "hooks"),
        ByService("web", "hooks", 8443),
    ],
    ids=str,
)
def test_what_was_written_is_read(reach: Reach, path: str) -> None:
    assert reach_of(reach.client_config(path, b"")) == reach


@pytest.mark.parametrize("url", [None, "", "https://a/elsewhere", "nonsense/validate/a/v1/b"])
def test_what_nobody_of_us_wrote_leads_nowhere_that_we_know(url: str | None) -> None:
    assert reach_of(WebhookClientConfig(url=url)) is None
