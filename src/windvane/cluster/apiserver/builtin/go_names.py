"""What Go calls the types behind some fields, where its decoder's messages say more than JSON does.

A field that holds one of a few words has a type of its own in Go, and some structs have another one's fields folded in.
"""

from collections.abc import Mapping

import msgspec

from windvane.api.meta import ObjectMeta

_WORDS = """
AppArmorProfileType AppArmorProfile.type
AzureDataDiskCachingMode AzureDiskVolumeSource.cachingMode
CompletionMode JobSpec.completionMode
ConcurrencyPolicy CronJobSpec.concurrencyPolicy
ContainerRestartPolicy Container.restartPolicy
CoordinatedLeaseStrategy LeaseSpec.strategy
DNSPolicy PodSpec.dnsPolicy
DaemonSetUpdateStrategyType DaemonSetUpdateStrategy.type
DeletionPropagation DeleteOptions.propagationPolicy
DeploymentStrategyType DeploymentStrategy.type
FailurePolicyType ValidatingWebhook.failurePolicy MutatingWebhook.failurePolicy
FSGroupPolicy CSIDriverSpec.fsGroupPolicy
HPAScalingPolicyType HPAScalingPolicy.type
HostPathType HostPathVolumeSource.type
IPFamilyPolicy ServiceSpec.ipFamilyPolicy
LabelSelectorOperator LabelSelectorRequirement.operator
LimitType LimitRangeItem.type
MatchPolicyType ValidatingWebhook.matchPolicy MutatingWebhook.matchPolicy
MetricSourceType MetricSpec.type
MetricTargetType MetricTarget.type
MountPropagationMode VolumeMount.mountPropagation
NodeSelectorOperator NodeSelectorRequirement.operator
PathType HTTPIngressPath.pathType
PersistentVolumeMode PersistentVolumeSpec.volumeMode PersistentVolumeClaimSpec.volumeMode
PersistentVolumeReclaimPolicy PersistentVolumeSpec.persistentVolumeReclaimPolicy StorageClass.reclaimPolicy
PodConditionType PodCondition.type PodReadinessGate.conditionType
PodFSGroupChangePolicy PodSecurityContext.fsGroupChangePolicy
PodFailurePolicyAction PodFailurePolicyRule.action
PodManagementPolicyType StatefulSetSpec.podManagementPolicy
PodPhase PodStatus.phase
PodReplacementPolicy JobSpec.podReplacementPolicy
PreemptionPolicy PodSpec.preemptionPolicy PriorityClass.preemptionPolicy
ProcMountType SecurityContext.procMount
Protocol ContainerPort.protocol ServicePort.protocol EndpointPort.protocol NetworkPolicyPort.protocol
PullPolicy Container.imagePullPolicy ImageVolumeSource.pullPolicy
ReinvocationPolicyType MutatingWebhook.reinvocationPolicy
ResourceList PersistentVolumeSpec.capacity ResourceRequirements.limits ResourceRequirements.requests
ResourceList VolumeResourceRequirements.limits VolumeResourceRequirements.requests ResourceQuotaSpec.hard
ResourceList PodSpec.overhead NodeStatus.capacity NodeStatus.allocatable LimitRangeItem.max LimitRangeItem.min
ResourceList LimitRangeItem.default LimitRangeItem.defaultRequest LimitRangeItem.maxLimitRequestRatio
ResourceName ResourceMetricSource.name ContainerResourceMetricSource.name
RestartPolicy PodSpec.restartPolicy
ScalingPolicySelect HPAScalingRules.selectPolicy
ScopeType RuleWithOperations.scope
SeccompProfileType SeccompProfile.type
SecretType Secret.type
ServiceAffinity ServiceSpec.sessionAffinity
ServiceExternalTrafficPolicy ServiceSpec.externalTrafficPolicy
ServiceInternalTrafficPolicy ServiceSpec.internalTrafficPolicy
ServiceType ServiceSpec.type
SideEffectClass ValidatingWebhook.sideEffects MutatingWebhook.sideEffects
StatefulSetUpdateStrategyType StatefulSetUpdateStrategy.type
StorageMedium EmptyDirVolumeSource.medium
TaintEffect Taint.effect Toleration.effect
TerminationMessagePolicy Container.terminationMessagePolicy
TolerationOperator Toleration.operator
URIScheme HTTPGetAction.scheme
UnhealthyPodEvictionPolicyType PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy
UnsatisfiableConstraintAction TopologySpreadConstraint.whenUnsatisfiable
VolumeBindingMode StorageClass.volumeBindingMode
Capability Capabilities.add Capabilities.drop
FinalizerName NamespaceSpec.finalizers
IPFamily ServiceSpec.ipFamilies
OperationType RuleWithOperations.operations
PersistentVolumeAccessMode PersistentVolumeSpec.accessModes PersistentVolumeClaimSpec.accessModes
PolicyType NetworkPolicySpec.policyTypes
ResourceQuotaScope ResourceQuotaSpec.scopes
"""

WORD_TYPES: Mapping[str, str] = {
    field: f"v1.{words[0]}" for words in map(str.split, _WORDS.strip().splitlines()) for field in words[1:]
} | dict.fromkeys(("ObjectMeta.uid", "ObjectReference.uid", "OwnerReference.uid", "Preconditions.uid"), "types.UID")
"""From `PodSpec.restartPolicy` to `v1.RestartPolicy`; for a list it is the type of the items."""

_HANDLERS = frozenset({"exec", "httpGet", "tcpSocket", "grpc"})
_VOLUME_SPEC = frozenset(
    {
        "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
        "storageClassName", "volumeAttributesClassName", "volumeMode",
    }
)  # fmt: skip
_REFERRING = frozenset(
    {
        "ConfigMapEnvSource", "ConfigMapKeySelector", "ConfigMapProjection", "ConfigMapVolumeSource", "SecretEnvSource",
        "SecretKeySelector", "SecretProjection",
    }
)  # fmt: skip


def folded_in(struct: str, field: str) -> str:
    """The struct whose fields are folded into this one, if the field is one of them; messages name it in the path."""
    if struct == "Volume" and field != "name":
        return "VolumeSource"
    if struct == "PersistentVolumeSpec" and field not in _VOLUME_SPEC:
        return "PersistentVolumeSource"
    if struct == "Probe" and field in _HANDLERS:
        return "ProbeHandler"
    if struct == "EphemeralContainer" and field != "targetContainerName":
        return "EphemeralContainerCommon"
    if struct in _REFERRING and field == "name":
        return "LocalObjectReference"
    if struct == "RuleWithOperations" and field != "operations":
        return "Rule"
    return ""


def struct_name(cls: type[msgspec.Struct], version: str) -> str:
    """The name of a struct with that of its package, which in Kubernetes is the version of its group."""
    package = "v1" if issubclass(cls, ObjectMeta) or cls.__module__.endswith((".core", ".meta")) else version
    return f"{package}.{cls.__name__}"
