"""What is filled into what several kinds of admission configuration have: webhooks and matching rules."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.defaults import fill

_NODE_INFO = (
    "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
    "machineID", "operatingSystem", "osImage", "systemUUID",
)  # fmt: skip


def _rules(holder: Wire) -> Iterator[Wire]:
    yield from holder.get("rules") or holder.get("resourceRules") or ()


def webhooks(obj: Wire, **more: str) -> None:
    for webhook in obj.get("webhooks") or ():
        for field, value in {
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "timeoutSeconds": 10,
            **more,
        }.items():
            webhook.setdefault(field, value)
        for selector in ("namespaceSelector", "objectSelector"):
            webhook.setdefault(selector, {})
        for rule in _rules(webhook):
            rule.setdefault("scope", "*")
        if (service := webhook.get("clientConfig", {}).get("service")) is not None:
            fill(service, "port", 443)


def _match_resources(match: Wire | None) -> None:
    if match is None:
        return
    match.setdefault("matchPolicy", "Equivalent")
    for selector in ("namespaceSelector", "objectSelector"):
        match.setdefault(selector, {})
    for rule in [*(match.get("resourceRules") or ()), *(match.get("excludeResourceRules") or ())]:
        rule.setdefault("scope", "*")


def admission_policy(obj: Wire) -> None:
    obj.setdefault("spec", {}).setdefault("failurePolicy", "Fail")
    _match_resources(obj["spec"].get("matchConstraints"))


def admission_binding(obj: Wire) -> None:
    _match_resources(obj.get("spec", {}).get("matchResources"))
