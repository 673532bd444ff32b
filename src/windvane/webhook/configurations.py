"""What API servers are told about an operator's webhooks, derived from what it declares. No I/O.

One MutatingWebhookConfiguration and one ValidatingWebhookConfiguration for each operator, with one entry for each kind,
and spec.conversion of the CRDs whose versions it converts. Rules name exactly what is declared, never `*`; and nothing
here can keep a cluster from starting or an operator from coming back:

- a request that only takes a finalizer off what is being deleted is not asked about, or that might never go;
- of kinds that are not the operator's own, the namespaces of the system and of the operator's pods are left alone, and
  what the control plane and the nodes do to those without a namespace passes;
- what the operator itself has to write is left alone, wherever it runs.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any, TypeAlias

import msgspec

from windvane.api import codec
from windvane.api.kind import Kind
from windvane.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from windvane.api.resource import Resource, kind_of
from windvane.k8s.admissionregistration import (
    MatchCondition,
    MutatingWebhook,
    MutatingWebhookConfiguration,
    RuleWithOperations,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
)
from windvane.k8s.coordination import Lease
from windvane.k8s.core import Secret
from windvane.runtime.admission import AdmissionHook
from windvane.runtime.conversion import GroupKind
from windvane.runtime.operator import Operator
from windvane.webhook.endpoint import WebhookEndpoint
from windvane.webhook.paths import CONVERT_PATH, default_path, validate_path, webhook_name

Configuration: TypeAlias = MutatingWebhookConfiguration | ValidatingWebhookConfiguration
Entry: TypeAlias = MutatingWebhook | ValidatingWebhook

OWNER = "windvane.dev/webhooks-of"
"""The annotation that says whose configuration it is: the operator's namespace and name."""
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that every namespace has."""
EXCLUDING = ("DoesNotExist", "NotIn")
SYSTEM_NAMESPACES = ("kube-node-lease", "kube-public", "kube-system")
WRITTEN_AT_HOME = (kind_of(Lease), kind_of(Secret))
"""What an operator writes in its own namespace, and can't work without."""

MORE_THAN_LETTING_GO = MatchCondition(
    name="more-than-letting-go",
    # Any other change is judged as ever. An object can be kept in its deletion by a finalizer of one's own, for as long
    # as one likes, and works meanwhile: else that would be the way around every guard.
    expression=(
        "request.operation != 'UPDATE' || !has(object.metadata.deletionTimestamp) || "
        "object.exists(key, !(key == 'metadata' || (key == 'status' && !has(request.subResource)) || "
        "(key in oldObject && object[key] == oldObject[key]))) || "
        "oldObject.exists(key, key != 'status' && !(key in object)) || "
        "['annotations', 'labels'].exists(key, (key in object.metadata) != (key in oldObject.metadata) || "
        "(key in object.metadata && object.metadata[key] != oldObject.metadata[key]))"
    ),
)
NOT_THE_CONTROL_PLANE = MatchCondition(
    name="not-the-control-plane",
    expression=(
        "request.userInfo.username != 'system:apiserver' && !request.userInfo.username.startsWith('system:kube-') && "
        "!(has(request.userInfo.groups) && request.userInfo.groups.exists(group, "
        "group in ['system:nodes', 'system:serviceaccounts:kube-system']))"
    ),
)


def owner_of(operator: Operator, namespace: str) -> str:
    """What stands in the annotation `OWNER`."""
    return f"{namespace}/{operator.name}"


def mutating(
    operator: Operator, endpoint: WebhookEndpoint, bundle: bytes, namespace: str
) -> MutatingWebhookConfiguration | None:
    """The configuration for all of `@operator.default`; None if there is none. `namespace` is the operator's own."""
    webhooks = [
        MutatingWebhook(
            name=webhook_name("default", hook.kind),
            client_config=endpoint.client_config(default_path(hook.kind), bundle),
            reinvocation_policy="IfNeeded",
            **_entry(hook, endpoint, namespace),
        )
        for hook in operator.defaulting.values()
    ]
    metadata = _metadata(operator, namespace)
    return MutatingWebhookConfiguration(metadata=metadata, webhooks=webhooks) if webhooks else None


def validating(
    operator: Operator, endpoint: WebhookEndpoint, bundle: bytes, namespace: str
) -> ValidatingWebhookConfiguration | None:
    """The configuration for all of `@operator.validate`; None if there is none. `namespace` is the operator's own."""
    webhooks = [
        ValidatingWebhook(
            name=webhook_name("validate", hook.kind),
            client_config=endpoint.client_config(validate_path(hook.kind), bundle),
            **_entry(hook, endpoint, namespace),
        )
        for hook in operator.validating.values()
    ]
    metadata = _metadata(operator, namespace)
    return ValidatingWebhookConfiguration(metadata=metadata, webhooks=webhooks) if webhooks else None


def conversions(operator: Operator, endpoint: WebhookEndpoint, bundle: bytes) -> Mapping[GroupKind, Mapping[str, Any]]:
    """What spec.conversion of CRDs says, for all kinds of `@operator.convert`."""
    webhook = {
        "clientConfig": codec.to_wire(endpoint.client_config(CONVERT_PATH, bundle)),
        "conversionReviewVersions": ["v1"],
    }
    return {kind: {"strategy": "Webhook", "webhook": webhook} for kind in operator.conversions.kinds}


def sparing(operator: Operator) -> list[str]:
    """The kinds whose objects are not asked about in the operator's own namespace, wherever it runs."""
    hooks = [*operator.defaulting.values(), *operator.validating.values()]
    return list(dict.fromkeys(hook.kind.resource for hook in hooks if _is_written_at_home(hook.kind)))


def is_said(there: Entry, wanted: Entry) -> bool:
    """Whether an entry says what it should.

    If it spares more namespaces, that is left so: some platforms protect their own by that, as AKS does, and would say
    it again and again.
    """
    ours, theirs = wanted.namespace_selector or LabelSelector(), there.namespace_selector or LabelSelector()
    more = [each for each in theirs.match_expressions if each not in ours.match_expressions]
    if any(each.operator not in EXCLUDING for each in more):
        return False
    spared = [each for each in theirs.match_expressions if each not in more]
    less = LabelSelector(match_labels=theirs.match_labels, match_expressions=spared)
    return msgspec.structs.replace(there, namespace_selector=less) == wanted


def _metadata(operator: Operator, namespace: str) -> ObjectMeta:
    return ObjectMeta(name=operator.name, annotations={OWNER: owner_of(operator, namespace)})


def _entry(hook: AdmissionHook, endpoint: WebhookEndpoint, namespace: str) -> dict[str, Any]:
    """What entries of both configurations have in common.

    Everything that an API server would fill in is said, so that what it shows can be compared with this.
    """
    kind = hook.kind
    rule = RuleWithOperations(
        api_groups=[kind.group],
        api_versions=[kind.version],
        resources=[kind.plural, *(f"{kind.plural}/{each}" for each in hook.subresources)],
        operations=[each.upper() for each in hook.operations],
        scope="Namespaced" if kind.namespaced else "Cluster",
    )
    own = issubclass(hook.what, Resource)
    conditions = [MORE_THAN_LETTING_GO] if "update" in hook.operations else []
    if not own and not kind.namespaced:
        conditions.append(NOT_THE_CONTROL_PLANE)
    return {
        "rules": [rule],
        "match_policy": "Equivalent",
        "match_conditions": conditions,
        "namespace_selector": LabelSelector() if own else _elsewhere(kind, endpoint.home, namespace),
        "object_selector": LabelSelector(),
        "failure_policy": hook.failure_policy,
        "side_effects": "None",
        "timeout_seconds": ceil(hook.timeout),
        "admission_review_versions": ["v1"],
    }


def _elsewhere(kind: Kind, home: str, namespace: str) -> LabelSelector:
    """All namespaces but the system's, that of the operator's pods, and that in which it has to write such an object.

    An operator that runs in no pod is not brought back by anything in its namespace; and that is likely to be
    `default`, where people try out their functions.
    """
    spared = {*SYSTEM_NAMESPACES}
    if home:
        spared |= {home, namespace}
    elif _is_written_at_home(kind):
        spared |= {namespace}
    requirement = LabelSelectorRequirement(key=NAMESPACE_NAME, operator="NotIn", values=sorted(spared))
    return LabelSelector(match_expressions=[requirement])


def _is_written_at_home(kind: Kind) -> bool:
    return any((kind.group, kind.name) == (each.group, each.name) for each in WRITTEN_AT_HOME)
