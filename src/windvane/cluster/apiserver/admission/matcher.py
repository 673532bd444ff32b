"""What a webhook or a policy is asked about: requests that its rules name, of objects that its selectors pick.

All of it is said in the words of the API: `rules` or `resourceRules`, `matchPolicy`, `namespaceSelector` and
`objectSelector`. Rules name one version of a resource. Those that mean all of them (`matchPolicy: Equivalent`, the
default) also match a request for another version; then the object is looked at in the version of the rule.
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
"""The labels of the namespace of that name; it raises a `Failure` if there is none."""

REGISTRATION = "admissionregistration.k8s.io"
# No webhook is asked about what says which webhooks are asked: one bad configuration could never be taken back.
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
    """Some operations on some resources, as `rules` of webhooks and `resourceRules` of policies state them."""

    operations: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    api_versions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    """Such as `pods`, `pods/exec`, `*`, `*/scale`, `*/*`; `pods` alone means no subresource."""
    scope: str = "*"
    resource_names: tuple[str, ...] = ()
    """If there are any, only objects of these names; webhooks have none."""


class _Expression(Struct, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(Struct, frozen=True, rename="camel"):
    """A selector as objects state it."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[_Expression, ...] | None = None


class MatchResources(Struct, frozen=True, dict=True, rename="camel"):
    """What a webhook or a policy is for: a policy says it in `matchConstraints`, a webhook in several fields."""

    resource_rules: tuple[RuleWithOperations, ...] | None = None
    exclude_resource_rules: tuple[RuleWithOperations, ...] | None = None
    match_policy: str = "Equivalent"
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None

    @cached_property
    def namespaces(self) -> Selector:
        """The namespaces that are picked."""
        return _selector(self.namespace_selector)

    @cached_property
    def objects(self) -> Selector:
        """The objects that are picked."""
        return _selector(self.object_selector)


class MatchedVersion(NamedTuple):
    """The version of a resource in which a webhook or a policy wants an object, and the kind that it then has."""

    type: ResourceType
    api_version: str
    kind: str


def is_never_asked_about(type_: ResourceType) -> bool:
    """Whether webhooks and policies have no say in it, because it is one of their own configurations."""
    return type_.kind.group == REGISTRATION and type_.kind.name in NEVER_ASKED_ABOUT


def match_version(
    match: MatchResources, request: AdmissionRequest, catalog: Catalog, labels_of: LabelsOfNamespace
) -> MatchedVersion | None:
    """The version in which a webhook or a policy wants to be asked about a request; None if not at all.

    Without any rules, everything is asked about that the selectors pick.
    """
    rules = match.resource_rules
    found = _named(rules, match.match_policy, request, catalog) if rules else as_requested(request)
    if found is None or _named(match.exclude_resource_rules or (), match.match_policy, request, catalog):
        return None
    return found if _is_selected(match, request, labels_of) else None


def as_requested(request: AdmissionRequest) -> MatchedVersion:
    """The version that was asked for."""
    return _in_version(request, request.type)


def namespace_of(request: AdmissionRequest) -> str:
    """The namespace that a request is about: a Namespace is in itself."""
    return request.namespace or (request.name if request.type.kind.resource == "namespaces" else "")


def _named(
    rules: Sequence[RuleWithOperations], match_policy: str, request: AdmissionRequest, catalog: Catalog
) -> MatchedVersion | None:
    """The first version of the requested resource that a rule matches, the requested one before all others."""
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
    """Whether the selectors pick the object, as it is or as it shall be, and its namespace."""
    if match.objects.requirements and not any(
        match.objects.matches((each["metadata"] or {}).get("labels"))
        for each in (request.object, request.old)
        if each is not None and "metadata" in each  # what can have no labels, such as PodExecOptions, is never picked
    ):
        return False
    wanted = match.namespaces
    if not wanted.requirements:
        return True
    namespace = namespace_of(request)
    about_namespace = request.type.kind.plural == "namespaces"
    if not namespace and not about_namespace:
        return True  # what is in no namespace can't be exempted by one
    if about_namespace and not request.subresource and request.operation in ("CREATE", "UPDATE"):
        return wanted.matches(((request.object or {}).get("metadata") or {}).get("labels"))
    return wanted.matches(labels_of(namespace))


def _matches(rule: RuleWithOperations, request: AdmissionRequest, type_: ResourceType) -> bool:
    """Whether a rule names the request, had it been one for this version of the resource."""
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
    """The other versions of the resource that have the same subresource; they may be in another group."""
    for each in catalog.versions_of(request.type):
        if each is not request.type and (not request.subresource or request.subresource in each.kind.subresources):
            yield each


def _in_version(request: AdmissionRequest, type_: ResourceType) -> MatchedVersion:
    """What is sent to a subresource may be of a kind of its own, which is the same for all versions of the object."""
    shown = request.object or request.old or {}
    of_object = request.type.kind
    stated = shown.get("apiVersion", of_object.api_version), shown.get("kind", of_object.name)
    if stated != (of_object.api_version, of_object.name):
        return MatchedVersion(type_, *stated)
    return MatchedVersion(type_, type_.kind.api_version, type_.kind.name)


def _selector(stated: LabelSelector | None) -> Selector:
    """A selector that is not there selects everything, as the default of these fields is."""
    return Selector.from_label_selector(stated) if stated is not None else Selector()
