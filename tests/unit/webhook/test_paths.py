"""Where the webhook server is asked what."""

from windvane import Kind
from windvane.k8s import core
from windvane.webhook.paths import default_path, validate_path, webhook_name

WEBSITE = Kind(group="demo.windvane.dev", version="v1", name="Website", plural="websites")


def test_a_path_names_what_is_asked_and_about_what() -> None:
    assert default_path(WEBSITE) == "/default/demo.windvane.dev/v1/websites"
    assert validate_path(WEBSITE) == "/validate/demo.windvane.dev/v1/websites"


def test_the_core_group_has_a_name_here() -> None:
    assert validate_path(core.Pod.__kind__) == "/validate/core/v1/pods"


def test_a_webhook_has_a_name_with_dots_enough_for_api_servers() -> None:
    assert webhook_name("validate", WEBSITE) == "validate.websites.demo.windvane.dev"
    assert webhook_name("default", core.Pod.__kind__) == "default.pods.core"
