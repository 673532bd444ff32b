"""Writes an object of a built-in kind as the API server would write it back.

Null means absent, an amount is written in one way only (`0.5` is `500m`), a time in UTC and whole seconds, and what is
empty is not written: lists and maps, and in most fields also "", 0 and false. Where these say something else than
nothing, they stay.
"""

from datetime import datetime
from functools import cache
from typing import Any, get_args, get_origin

import msgspec

from windvane.api.custom_resources.schema import Schema
from windvane.api.hints import unwrap
from windvane.api.json_value import Wire
from windvane.api.kind import Kind
from windvane.api.quantity import Quantity
from windvane.api.time import format_time, parse_time
from windvane.cluster.apiserver.schema.shapes import class_of, fields_of, optional_fields_of

# Where an empty list is an answer, and an absent one is not, or asks for the default.
_TELLS_EMPTY = frozenset({"CustomResourceDefinitionSpec.versions", "HPAScalingRules.policies"})

# Lists that are written even if there is none.
_WRITTEN_AS_NULL = frozenset({"CustomResourceDefinitionStatus.conditions"})

_WITH_EMPTY_TEXT = """
AppArmorProfile.localhostProfile CSIVolumeSource.fsType ClusterTrustBundleProjection.name
ClusterTrustBundleProjection.signerName Condition.message Container.restartPolicy CronJobSpec.timeZone
Endpoint.hostname Endpoint.nodeName Endpoint.zone EndpointAddress.nodeName EndpointPort.appProtocol EndpointPort.name
Event.reportingComponent Event.reportingInstance GRPCAction.service HostPathVolumeSource.type
IngressClassParametersReference.apiGroup IngressClassParametersReference.namespace IngressSpec.ingressClassName
JobSpec.managedBy JobStatus.failedIndexes LeaseSpec.holderIdentity LeaseSpec.preferredHolder LeaseSpec.strategy
LocalVolumeSource.fsType MatchResources.matchPolicy MutatingAdmissionPolicySpec.failurePolicy
MutatingWebhook.failurePolicy MutatingWebhook.matchPolicy MutatingWebhook.reinvocationPolicy
MutatingWebhook.sideEffects NamedRuleWithOperations.scope PersistentVolumeClaimSpec.storageClassName
PersistentVolumeClaimSpec.volumeAttributesClassName PersistentVolumeSpec.volumeAttributesClassName
PodDNSConfigOption.value PodFailurePolicyOnExitCodesRequirement.containerName PodResourceClaim.resourceClaimName
PodResourceClaim.resourceClaimTemplateName PodSpec.hostnameOverride PodSpec.runtimeClassName RoleRef.apiGroup
RuleWithOperations.scope SeccompProfile.localhostProfile ServicePort.appProtocol ServiceReference.path
ServiceSpec.loadBalancerClass ServiceSpec.trafficDistribution StatefulSetSpec.serviceName
SuccessPolicyRule.succeededIndexes TypedLocalObjectReference.apiGroup TypedObjectReference.apiGroup
TypedObjectReference.namespace ValidatingAdmissionPolicySpec.failurePolicy ValidatingWebhook.failurePolicy
ValidatingWebhook.matchPolicy ValidatingWebhook.sideEffects Validation.reason WebhookClientConfig.url
WindowsSecurityContextOptions.gmsaCredentialSpec WindowsSecurityContextOptions.gmsaCredentialSpecName
WindowsSecurityContextOptions.runAsUserName
"""
_TELLS_EMPTY_TEXT = frozenset(_WITH_EMPTY_TEXT.split())
_WITHOUT_FALSE = """
globalDefault hostIPC hostNetwork hostPID insecureSkipTLSVerify paused publishNotReadyAddresses readOnly stdin
stdinOnce tty unschedulable
"""
_FALSE_IS_ABSENT = frozenset(_WITHOUT_FALSE.split())
_TELLS_FALSE = frozenset({"AzureDiskVolumeSource.readOnly", "CSIVolumeSource.readOnly"})
_WITHOUT_ZERO = """
ContainerPort.hostPort DaemonSetSpec.minReadySeconds DaemonSetStatus.numberAvailable
DaemonSetStatus.numberUnavailable DaemonSetStatus.updatedNumberScheduled DeploymentSpec.minReadySeconds
DeploymentStatus.availableReplicas DeploymentStatus.readyReplicas DeploymentStatus.replicas
DeploymentStatus.unavailableReplicas DeploymentStatus.updatedReplicas Event.count JobStatus.active JobStatus.failed
JobStatus.succeeded Probe.failureThreshold Probe.initialDelaySeconds Probe.periodSeconds Probe.successThreshold
Probe.timeoutSeconds ReplicaSetSpec.minReadySeconds ReplicaSetStatus.availableReplicas
ReplicaSetStatus.fullyLabeledReplicas ReplicaSetStatus.readyReplicas ReplicationControllerSpec.minReadySeconds
ServiceBackendPort.number ServicePort.nodePort ServiceSpec.healthCheckNodePort StatefulSetSpec.minReadySeconds
StatefulSetStatus.currentReplicas StatefulSetStatus.readyReplicas StatefulSetStatus.updatedReplicas
"""
_ZERO_IS_ABSENT = frozenset(_WITHOUT_ZERO.split())


def make_canonical(kind: Kind, obj: Wire) -> None:
    """Rewrite an object in place. Its types are right: `decode_problem` has found nothing."""
    if cls := class_of(kind):
        _struct(cls, obj)


def _struct(cls: type[msgspec.Struct], value: Wire) -> None:
    types = _types_of(cls)
    for name, each in list(value.items()):
        if name not in types or (each is None and f"{cls.__name__}.{name}" in _WRITTEN_AS_NULL):
            continue
        type_ = types[name]
        if type_ is not Any and _is_absent(cls, name, type_, each):
            del value[name]
        else:
            value[name] = _value(type_, each)


@cache
def _types_of(cls: type[msgspec.Struct]) -> dict[str, Any]:
    return {name: unwrap(annotated)[0] for name, annotated in fields_of(cls).items()}


@cache
def _inner(type_: Any) -> tuple[Any, Any]:
    """What a list or a map is of: `list` or `dict`, and the type of what is in it; else None twice."""
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is list or (origin is dict and arguments[1] is not Any):
        return origin, unwrap(arguments[-1])[0]
    return None, None


def _is_absent(cls: type[msgspec.Struct], name: str, type_: Any, value: Any) -> bool:
    """Whether the field means the same as if it weren't there."""
    field = f"{cls.__name__}.{name}"
    if value is None:
        return True
    if isinstance(value, list | dict) and get_origin(type_) in (list, dict):
        return not value and field not in _TELLS_EMPTY
    if value is False:
        return name in _FALSE_IS_ABSENT and field not in _TELLS_FALSE
    if value == "":
        return type_ in (str, bytes) and name in optional_fields_of(cls) and field not in _TELLS_EMPTY_TEXT
    return value == 0 and field in _ZERO_IS_ABSENT


def _value(type_: Any, value: Any) -> Any:
    if type_ is str or type_ is int or type_ is bool:
        return value
    origin, inner = _inner(type_)
    if origin is list:
        return [_value(inner, _zero(inner) if each is None else each) for each in value]
    if origin is dict:
        if inner is Quantity:
            return {name: _whole_milli(each) for name, each in value.items()}
        return {name: _value(inner, _zero(inner) if each is None else each) for name, each in value.items()}
    if type_ is bytes:
        return value.replace("\r", "").replace("\n", "")
    if type_ is Quantity:
        return str(Quantity.from_wire(value))
    if type_ is datetime:
        return _whole_second(value)
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        _struct(type_, value)
    return value


def _zero(type_: Any) -> Any:
    """What Go reads from null where something must be."""
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return {}
    return {str: "", bytes: "", int: 0, bool: False}.get(type_)


def _whole_second(text: str) -> str:
    """A time in UTC, of which nothing finer than a second is kept."""
    try:
        return format_time(parse_time(text))
    except (ValueError, OverflowError):
        return text  # Go knows the year 0 and zones of 24 hours


def _whole_milli(value: Any) -> str:
    """An amount of a resource, of which nothing finer than a thousandth is counted."""
    quantity = Quantity.from_wire("0" if value is None else value)
    return str(Quantity(f"{quantity.milli()}m") if quantity.value * 1000 % 1 else quantity)


def drop_empty(value: Any, schema: Schema) -> None:
    """Remove lists and maps with nothing in them: Go doesn't write those. An empty struct says something, and stays."""
    if isinstance(value, list):
        for item in value:
            drop_empty(item, schema.get("items", {}))
        return
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    values = schema.get("additionalProperties", {})
    for key, inner in list(value.items()):
        part = properties.get(key, values)
        if inner is None and part is values and part.get("type") == "string":
            value[key] = ""
        elif (inner == [] and part.get("type") == "array") or (inner == {} and "additionalProperties" in part):
            del value[key]
        elif isinstance(inner, (dict, list)):
            drop_empty(inner, part)
