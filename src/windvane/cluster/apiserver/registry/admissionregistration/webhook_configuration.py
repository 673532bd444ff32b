"""What the configurations of validating and of mutating webhooks have in common; and where webhooks are."""

from collections.abc import Sequence
from typing import Any

from windvane.api.json_value import Wire
from windvane.api.names import service_name_problems, subdomain_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, count
from windvane.cluster.apiserver.registry.admissionregistration.match_rules import match_conditions, rule_with_operations
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill
from windvane.cluster.apiserver.registry.validation import url as url_syntax
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import Problems

FORM = "; desired format: https://host[/path]"
REVIEW_VERSIONS = ("v1", "v1beta1")
WITHOUT_SIDE_EFFECTS = ("None", "NoneOnDryRun")


class WebhookConfigurationStrategy(BuiltinStrategy):
    """A list of webhooks."""

    has_generation = True
    allow_unconditional_update = False
    is_costly = True
    columns = (NAME, Column("Webhooks", count("webhooks"), "integer"), AGE)

    def set_defaults(self, obj: Wire) -> None:
        for webhook in obj.get("webhooks") or ():
            for field, value in {"failurePolicy": "Fail", "matchPolicy": "Equivalent", "timeoutSeconds": 10}.items():
                webhook.setdefault(field, value)
            for selector in ("namespaceSelector", "objectSelector"):
                webhook.setdefault(selector, {})
            for rule in webhook.get("rules") or ():
                rule.setdefault("scope", "*")
            if (service := webhook.get("clientConfig", {}).get("service")) is not None:
                fill(service, "port", 443)

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        _webhooks(obj, None, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """The same, but unchanged conditions may stay invalid."""
        _webhooks(obj, old, problems)


def client_url(url: str, path: str, problems: Problems) -> None:
    """Check the URL of a webhook."""
    try:
        parts = url_syntax.parse(url)
    except url_syntax.BadURL as error:
        problems.required(path, f"url must be a valid URL: {error}{FORM}")
        return
    if parts.scheme != "https":
        problems.invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{FORM}")
    if not parts.host:
        problems.invalid(path, parts.host, f"host must be specified{FORM}")
    for value, what in (
        (parts.user, "user information is"),
        (parts.fragment, "fragments are"),
        (parts.query, "query parameters are"),
    ):
        if value:
            problems.invalid(path, value, f"{what} not permitted in the URL")


def client_service(service: Wire, path: str, problems: Problems) -> None:
    """Check the Service that a webhook is behind. That the name is told where the namespace is missing is literal."""
    for told, field in (("name", "namespace"), ("namespace", "name")):
        if not service.get(field):
            problems.required(f"{path}.{told}")
    if not 0 < service["port"] < 65536:
        why = "port is not valid: must be between 1 and 65535, inclusive"
        problems.invalid(f"{path}.port", service["port"], why)
    stated = service.get("path") or ""
    if stated in ("", "/"):
        return
    if stated == "//":
        problems.invalid(f"{path}.path", stated, "segment[0] may not be empty")
        return
    if not stated.startswith("/"):
        problems.invalid(f"{path}.path", stated, "must start with a '/'")
    for index, step in enumerate(stated[1:].removesuffix("/").split("/")):
        if not step:
            problems.invalid(f"{path}.path", stated, f"segment[{index}] may not be empty")
            continue
        for problem in subdomain_problems(step):
            problems.invalid(f"{path}.path", stated, f"segment[{index}]: {problem}")


def _webhooks(obj: Wire, old: Wire | None, problems: Problems) -> None:
    webhooks = obj.get("webhooks") or []
    names = [webhook.get("name") or "" for webhook in webhooks]
    same_conditions = old is not None and _conditions(obj) == _conditions(old)
    for index, webhook in enumerate(webhooks):
        path = f"webhooks[{index}]"
        _webhook(webhook, path, problems)
        if not same_conditions:
            match_conditions(webhook.get("matchConditions") or (), f"{path}.matchConditions", problems)
        _review_versions(webhook.get("admissionReviewVersions") or [], f"{path}.admissionReviewVersions", problems)
        if names[index] and names[index] in names[:index]:
            problems.duplicate(f"{path}.name", names[index])


def _conditions(obj: Wire) -> list[Any]:
    return [webhook.get("matchConditions") for webhook in obj.get("webhooks") or ()]


def _webhook(webhook: Wire, path: str, problems: Problems) -> None:
    _name(webhook.get("name") or "", f"{path}.name", problems)
    for index, rule in enumerate(webhook.get("rules") or ()):
        rule_with_operations(rule, f"{path}.rules[{index}]", problems)
    for field, supported in (
        ("failurePolicy", ("Fail", "Ignore")),
        ("matchPolicy", ("Equivalent", "Exact")),
        ("sideEffects", WITHOUT_SIDE_EFFECTS),
    ):
        if webhook.get(field) is None:
            problems.required(f"{path}.{field}", f"must specify one of {', '.join(supported)}")
        elif webhook[field] not in supported:
            problems.unsupported(f"{path}.{field}", webhook[field], supported)
    if not 1 <= webhook["timeoutSeconds"] <= 30:
        why = "the timeout value must be between 1 and 30 seconds"
        problems.invalid(f"{path}.timeoutSeconds", webhook["timeoutSeconds"], why)
    for selector in ("namespaceSelector", "objectSelector"):
        label_selector(webhook.get(selector), f"{path}.{selector}", problems)
    again = webhook.get("reinvocationPolicy", "Never")
    if again not in ("IfNeeded", "Never"):
        problems.unsupported(f"{path}.reinvocationPolicy", again, ("IfNeeded", "Never"))
    client = webhook.get("clientConfig") or {}
    if ("url" in client) == ("service" in client):
        problems.required(f"{path}.clientConfig", "exactly one of url or service is required")
    elif "url" in client:
        client_url(client["url"], f"{path}.clientConfig.url", problems)
    else:
        client_service(client["service"], f"{path}.clientConfig.service", problems)


def _name(name: str, path: str, problems: Problems) -> None:
    if not name:
        problems.required(path)
    elif wrong := subdomain_problems(name):
        problems.all_invalid(path, name, wrong)
    elif name.count(".") < 2:
        problems.invalid(path, name, "should be a domain with at least three segments separated by dots")


def _review_versions(versions: Sequence[str], path: str, problems: Problems) -> None:
    if not versions:
        problems.required(path, f"must specify one of {', '.join(REVIEW_VERSIONS)}")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            problems.invalid(f"{path}[{index}]", version, "duplicate version")
        else:
            problems.all_invalid(f"{path}[{index}]", version, service_name_problems(version))
    if not set(versions) & set(REVIEW_VERSIONS):
        problems.invalid(path, list(versions), f"must include at least one of {', '.join(REVIEW_VERSIONS)}")
