"""Whether a request matches a webhook or a policy, by its `rules` or `resourceRules`, `matchPolicy` and selectors.

A rule names one version of a resource. With `matchPolicy: Equivalent`, the default, it also matches requests for other
versions; then the object is converted to the version of the rule.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from windvane.api.selector import Selector
from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.resource_type import ResourceType

LabelsOfNamespace = Callable[[str], Mapping[str, str]]
"""Returns the labels of a namespace; raises a `Failure` if there is none."""

REGISTRATION = "admissionregistration.k8s.io"
# Webhooks never see webhook configurations: a bad one could not be deleted.
NEVER_ASKED_ABOUT = frozenset(
    {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    }
)


class RuleWithOperations(Struct, frozen=True, rename="camel"):
    """An entry of `rules` of webhooks or `resourceRules` of policies."""

    operations: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    api_versions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    """Such as `pods`, `pods/exec`, `*`, `*/scale`, `*/*`; `pods` alone means no subresource."""
    scope: str = "*"
    resource_names: tuple[str, ...] = ()
    """If not empty, only objects of these names; webhooks have none."""


class _Expression(Struct, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(Struct, frozen=True, rename="camel"):
    """A label selector as the API has it."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[_Expression, ...] | None = None


class MatchResources(Struct, frozen=True, dict=True, rename="camel"):
    """`matchConstraints` of a policy, or the same from the fields of a webhook."""

    resource_rules: tuple[RuleWithOperations, ...] | None = None
    exclude_resource_rules: tuple[RuleWithOperations, ...] | None = None
    match_policy: str = "Equivalent"
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None

    @cached_property
    def namespaces(self) -> Selector:
        """The namespaceSelector."""
        return _selector(self.namespace_selector)

    @cached_property
    def objects(self) -> Selector:
        """The objectSelector."""
        return _selector(self.object_selector)


class MatchedVersion(NamedTuple):
    """The version of a resource that a rule matched, and the kind of its object there."""

    type: ResourceType
    api_version: str
    kind: str


def is_excluded(type_: ResourceType) -> bool:
    """Whether it is a kind that configures webhooks and policies, which they never see."""
    return type_.kind.group == REGISTRATION and type_.kind.name in NEVER_ASKED_ABOUT


def match_version(
    match: MatchResources, request: AdmissionRequest, catalog: Catalog, labels_of: LabelsOfNamespace
) -> MatchedVersion | None:
    """The version that a webhook or a policy gets for a request; None if it does not match.

    Without rules, every request matches that the selectors select.
    """
    rules = match.resource_rules
    found = _named(rules, match.match_policy, request, catalog) if rules else as_requested(request)
    if found is None or _named(match.exclude_resource_rules or (), match.match_policy, request, catalog):
        return None
    return found if _is_selected(match, request, labels_of) else None


def as_requested(request: AdmissionRequest) -> MatchedVersion:
    """The version of the request itself."""
    return _in_version(request, request.type)


def namespace_of(request: AdmissionRequest) -> str:
    """The namespace that a request is about: a Namespace is in itself."""
    return request.namespace or (request.name if request.type.kind.resource == "namespaces" else "")


def _named(
    rules: Sequence[RuleWithOperations], match_policy: str, request: AdmissionRequest, catalog: Catalog
) -> MatchedVersion | None:
    """The first version that a rule matches; the requested one comes first."""
    if any(_matches(rule, request, request.type) for rule in rules):
        return as_requested(request)
    if match_policy != "Equivalent":
        return None
    for rule in rules:  # an earlier rule counts more than an earlier version
        for type_ in _equivalents(request, catalog):
            if _matches(rule, request, type_):
                return _in_version(request, type_)
    return None


def _is_selected(match: MatchResources, request: AdmissionRequest, labels_of: LabelsOfNamespace) -> bool:
    """Whether the selectors select the namespace, and the old or the new object."""
    if match.objects.requirements and not any(
        match.objects.matches((each["metadata"] or {}).get("labels"))
        for each in (request.object, request.old)
        if each is not None and "metadata" in each  # objects without labels, such as PodExecOptions, are never selected
    ):
        return False
    wanted = match.namespaces
    if not wanted.requirements:
        return True
    namespace = namespace_of(request)
    about_namespace = request.type.kind.plural == "namespaces"
    if not namespace and not about_namespace:
        return True  # cluster-scoped objects match any namespaceSelector
    if about_namespace and not request.subresource and request.operation in ("CREATE", "UPDATE"):
        return wanted.matches(((request.object or {}).get("metadata") or {}).get("labels"))
    return wanted.matches(labels_of(namespace))


def _matches(rule: RuleWithOperations, request: AdmissionRequest, type_: ResourceType) -> bool:
    """Whether a rule would match the request if it were for this version of the resource."""
    kind = type_.kind
    return (
        ("*" in rule.operations or request.operation in rule.operations)
        and ("*" in rule.api_groups or kind.group in rule.api_groups)
        and ("*" in rule.api_versions or kind.version in rule.api_versions)
        and any(_names(each, kind.plural, request.subresource) for each in rule.resources)
        and (not rule.resource_names or request.name in rule.resource_names)
        and _is_in_scope(rule.scope, request)
    )


def _names(resource: str, plural: str, subresource: str) -> bool:
    wanted, _, part = resource.partition("/")
    return wanted in ("*", plural) and part in ("*", subresource)


def _is_in_scope(scope: str, request: AdmissionRequest) -> bool:
    namespaced = bool(request.namespace) and request.type.kind.resource != "namespaces"
    return scope == "*" or scope == ("Namespaced" if namespaced else "Cluster")


def _equivalents(request: AdmissionRequest, catalog: Catalog) -> Iterator[ResourceType]:
    """The other versions of the resource with the same subresource, perhaps in another group."""
    for each in catalog.versions_of(request.type):
        if each is not request.type and (not request.subresource or request.subresource in each.kind.subresources):
            yield each


def _in_version(request: AdmissionRequest, type_: ResourceType) -> MatchedVersion:
    """The matched version. A subresource may have a kind of its own, which is the same in all versions."""
    shown = request.object or request.old or {}
    of_object = request.type.kind
    stated = shown.get("apiVersion", of_object.api_version), shown.get("kind", of_object.name)
    if stated != (of_object.api_version, of_object.name):
        return MatchedVersion(type_, *stated)
    return MatchedVersion(type_, type_.kind.api_version, type_.kind.name)


def _selector(stated: LabelSelector | None) -> Selector:
    """A selector; one that is absent selects everything, as is the default of these fields."""
    return Selector.from_label_selector(stated) if stated is not None else Selector()
