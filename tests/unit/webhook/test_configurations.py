"""What API servers are told, from what an operator declares."""

from typing import Any

import msgspec
import pytest

from windvane import LabelSelector, Operator, Resource, Spec, Status, object_to_wire, only_metadata
from windvane.api.meta import LabelSelectorRequirement
from windvane.k8s.coordination import Lease
from windvane.k8s.core import Node, Pod, Secret
from windvane.webhook.configurations import (
    MORE_THAN_LETTING_GO,
    conversions,
    is_said,
    mutating,
    sparing,
    validating,
)
from windvane.webhook.endpoint import ServiceEndpoint, URLEndpoint, WebhookEndpoint

SERVICE = ServiceEndpoint("web", "hooks")


class Website(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    """A website."""


class OldWebsite(Resource[Spec, Status], group="demo.windvane.dev", version="v1beta1", kind="Website", stored=False):
    """A website, as it was."""


class Region(Resource[Spec, Status], group="demo.windvane.dev", version="v1", scope="Cluster"):
    """Where websites are."""


def nothing(thing: Any) -> None:
    pass


def validating_entry(what: Any, endpoint: WebhookEndpoint = SERVICE, namespace: str = "web", **how: Any) -> Any:
    operator = Operator("website")
    operator.validate(what, **how)(nothing)
    configuration = validating(operator, endpoint, b"CA", namespace)
    assert configuration is not None
    (entry,) = object_to_wire(configuration)["webhooks"]
    return entry


def test_a_whole_entry() -> None:
    assert validating_entry(Website) == {
        "name": "validate.websites.demo.windvane.dev",
        "clientConfig": {
            "service": {
                "namespace": "web",
                "name": "hooks",
                "port": 443,
                "path": "/validate/demo.windvane.dev/v1/websites",
            },
            "caBundle": "Q0E=",
        },
        "rules": [
            {
                "apiGroups": ["demo.windvane.dev"],
                "apiVersions": ["v1"],
                "resources": ["websites"],
                "operations": ["CREATE", "UPDATE"],
                "scope": "Namespaced",
            }
        ],
        "matchPolicy": "Equivalent",
        "matchConditions": [{"name": "more-than-letting-go", "expression": MORE_THAN_LETTING_GO.expression}],
        "namespaceSelector": {},
        "objectSelector": {},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": 5,
        "admissionReviewVersions": ["v1"],
    }


def test_a_configuration_says_whose_it_is() -> None:
    operator = Operator("website")
    operator.validate(Website)(nothing)
    operator.default(Website)(nothing)
    for configuration in (validating(operator, SERVICE, b"CA", "web"), mutating(operator, SERVICE, b"CA", "web")):
        assert configuration is not None
        assert configuration.metadata.name == "website"
        assert configuration.metadata.annotations == {"windvane.dev/webhooks-of": "web/website"}


def test_functions_that_fill_in_are_asked_again_when_others_have_changed_the_object() -> None:
    operator = Operator("website")
    operator.default(Website)(nothing)
    configuration = mutating(operator, URLEndpoint("https://192.0.2.7:9443/"), b"CA", "web")
    assert configuration is not None
    (entry,) = configuration.webhooks
    assert entry.name == "default.websites.demo.windvane.dev"
    assert entry.reinvocation_policy == "IfNeeded"
    assert entry.client_config.url == "https://192.0.2.7:9443/default/demo.windvane.dev/v1/websites"


def test_what_is_not_declared_has_no_configuration() -> None:
    assert mutating(Operator("website"), SERVICE, b"CA", "web") is None
    assert validating(Operator("website"), SERVICE, b"CA", "web") is None
    assert conversions(Operator("website"), SERVICE, b"CA") == {}


def test_a_guard_of_a_built_in_kind_leaves_the_system_and_the_operator_alone() -> None:
    entry = validating_entry(Pod)
    (excluded,) = entry["namespaceSelector"]["matchExpressions"]
    assert excluded["operator"] == "NotIn"
    assert excluded["values"] == ["kube-node-lease", "kube-public", "kube-system", "web"]
    assert entry["failurePolicy"] == "Ignore"
    assert entry["name"] == "validate.pods.core"


@pytest.mark.parametrize(
    ("what", "endpoint", "spared"),
    [
        (Pod, ServiceEndpoint("web", "hooks"), ["leases", "web"]),
        (Pod, URLEndpoint("https://192.0.2.7", home="web"), ["leases", "web"]),
        (Pod, URLEndpoint("https://192.0.2.7"), []),
        (Secret, URLEndpoint("https://192.0.2.7"), ["leases"]),
        (only_metadata(Secret), URLEndpoint("https://192.0.2.7"), ["leases"]),
        (Lease, URLEndpoint("https://192.0.2.7"), ["leases"]),
    ],
)
def test_a_guard_leaves_alone_where_pods_of_the_operator_are_and_what_it_writes_itself(
    what: Any, endpoint: WebhookEndpoint, spared: list[str]
) -> None:
    (excluded,) = validating_entry(what, endpoint, "leases")["namespaceSelector"]["matchExpressions"]
    assert excluded["values"] == sorted(["kube-node-lease", "kube-public", "kube-system", *spared])


def test_kinds_that_are_spared_in_the_operators_own_namespace_are_known() -> None:
    operator = Operator("website")
    for what in (Pod, Node, Website, Secret):
        operator.validate(what)(nothing)
    operator.default(Secret)(nothing)
    assert sparing(operator) == ["secrets"]


def test_what_the_control_plane_does_to_nodes_passes() -> None:
    names = [each["name"] for each in validating_entry(Node)["matchConditions"]]
    assert names == ["more-than-letting-go", "not-the-control-plane"]


def test_what_the_control_plane_does_to_pods_is_judged() -> None:
    assert [each["name"] for each in validating_entry(Pod)["matchConditions"]] == ["more-than-letting-go"]


def test_kinds_without_a_namespace_of_ones_own_are_judged_whoever_asks() -> None:
    entry = validating_entry(Region)
    assert entry["rules"][0]["scope"] == "Cluster"
    assert [each["name"] for each in entry["matchConditions"]] == ["more-than-letting-go"]


def test_a_rule_names_subresources_and_operations_that_are_declared() -> None:
    entry = validating_entry(Website, on=["delete"], subresources=["status"], timeout=1.5)
    assert entry["rules"][0]["resources"] == ["websites", "websites/status"]
    assert entry["rules"][0]["operations"] == ["DELETE"]
    assert "matchConditions" not in entry
    assert entry["timeoutSeconds"] == 2


def changed(**fields: Any) -> bool:
    """Whether an entry with other fields is still as it should be."""
    operator = Operator("website")
    operator.validate(Pod)(nothing)
    configuration = validating(operator, SERVICE, b"CA", "web")
    assert configuration is not None
    (wanted,) = configuration.webhooks
    selector = wanted.namespace_selector
    assert selector is not None
    assert is_said(wanted, wanted)
    more = [LabelSelectorRequirement(**each) for each in fields.pop("expressions", ())]
    expressions = [*selector.match_expressions, *more]
    labels = fields.pop("labels", {})
    fields.setdefault("namespace_selector", LabelSelector(match_labels=labels, match_expressions=expressions))
    return is_said(msgspec.structs.replace(wanted, **fields), wanted)


def test_a_platform_may_spare_more_namespaces() -> None:
    assert changed(expressions=[{"key": "control-plane", "operator": "NotIn", "values": ["true"]}])
    assert changed(expressions=[{"key": "control-plane", "operator": "DoesNotExist"}])


def test_nothing_else_may_be_changed() -> None:
    assert not changed(expressions=[{"key": "team", "operator": "In", "values": ["nobody"]}])
    assert not changed(namespace_selector=LabelSelector())
    assert not changed(labels={"team": "nobody"})
    assert not changed(failure_policy="Fail")
    assert not changed(rules=[])


def test_a_crd_is_told_where_versions_are_converted() -> None:
    operator = Operator("website")
    operator.convert(Website, OldWebsite)(lambda _: OldWebsite())
    assert conversions(operator, URLEndpoint("https://192.0.2.7"), b"CA") == {
        ("demo.windvane.dev", "Website"): {
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {"url": "https://192.0.2.7/convert", "caBundle": "Q0E="},
                "conversionReviewVersions": ["v1"],
            },
        }
    }


def test_the_certificate_is_for_the_names_under_which_the_server_is_reached() -> None:
    assert SERVICE.addresses == ("hooks.web.svc", "hooks.web.svc.cluster.local", "hooks.web")
    assert URLEndpoint("https://[fd00::7]:9443").addresses == ("fd00::7",)
    assert URLEndpoint("https://tunnel.example").addresses == ("tunnel.example",)


@pytest.mark.parametrize(
    "url", ["http://a", "a:9443", "https://", "https://a?b", "https://a#b", "https://u:p@a", "https://a:port"]
)
def test_what_no_api_server_calls_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"https://HOST:PORT|Port could not be cast"):
        URLEndpoint(url)


def test_a_host_is_written_as_certificates_have_it() -> None:
    with pytest.raises(ValueError, match=r"write the host in ASCII letters, 'xn--bcher-kva\.example'"):
        URLEndpoint("https://bücher.example")
