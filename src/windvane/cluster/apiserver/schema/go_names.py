"""Go's names for the types of some fields, which its decoder's messages use.

An enumerated field has a type of its own in Go, and some structs embed others.
"""

from collections.abc import Mapping

import msgspec

from windvane.api.meta import ObjectMeta

_WORDS = """
APIServiceConditionType APIServiceCondition.type
AddressType EndpointSlice.addressType
AppArmorProfileType AppArmorProfile.type
AzureDataDiskCachingMode AzureDiskVolumeSource.cachingMode
AzureDataDiskKind AzureDiskVolumeSource.kind
Capability Capabilities.add Capabilities.drop
ClaimResourceStatus PersistentVolumeClaimStatus.allocatedResourceStatuses
CompletionMode JobSpec.completionMode
ConcurrencyPolicy CronJobSpec.concurrencyPolicy
ConditionStatus APIServiceCondition.status CertificateSigningRequestCondition.status
ConditionStatus CustomResourceDefinitionCondition.status DaemonSetCondition.status DeploymentCondition.status
ConditionStatus FlowSchemaCondition.status HorizontalPodAutoscalerCondition.status JobCondition.status
ConditionStatus NamespaceCondition.status NodeCondition.status PersistentVolumeClaimCondition.status
ConditionStatus PodCondition.status PodFailurePolicyOnPodConditionsPattern.status
ConditionStatus PriorityLevelConfigurationCondition.status ReplicaSetCondition.status
ConditionStatus ReplicationControllerCondition.status StatefulSetCondition.status
ContainerRestartPolicy Container.restartPolicy EphemeralContainer.restartPolicy
ContainerRestartRuleAction ContainerRestartRule.action
ContainerRestartRuleOnExitCodesOperator ContainerRestartRuleOnExitCodes.operator
ConversionStrategyType CustomResourceConversion.strategy
CoordinatedLeaseStrategy LeaseSpec.strategy
CustomResourceDefinitionConditionType CustomResourceDefinitionCondition.type
DNSPolicy PodSpec.dnsPolicy
DaemonSetConditionType DaemonSetCondition.type
DaemonSetUpdateStrategyType DaemonSetUpdateStrategy.type
DeletionPropagation DeleteOptions.propagationPolicy
DeploymentConditionType DeploymentCondition.type
DeploymentStrategyType DeploymentStrategy.type
FSGroupPolicy CSIDriverSpec.fsGroupPolicy
FailurePolicyType MutatingAdmissionPolicySpec.failurePolicy MutatingWebhook.failurePolicy
FailurePolicyType ValidatingAdmissionPolicySpec.failurePolicy ValidatingWebhook.failurePolicy
FieldSelectorOperator FieldSelectorRequirement.operator
FieldValueErrorReason ValidationRule.reason
FinalizerName NamespaceSpec.finalizers
FlowDistinguisherMethodType FlowDistinguisherMethod.type
FlowSchemaConditionType FlowSchemaCondition.type
v2.HPAScalingPolicyType HPAScalingPolicy.type
v2.HorizontalPodAutoscalerConditionType HorizontalPodAutoscalerCondition.type
HostPathType HostPathVolumeSource.type
IPFamily ServiceSpec.ipFamilies
IPFamilyPolicy ServiceSpec.ipFamilyPolicy
JSONSchemaURL JSONSchemaProps.$schema
JobConditionType JobCondition.type
KeyUsage CertificateSigningRequestSpec.usages
LabelSelectorOperator LabelSelectorRequirement.operator
LimitResponseType LimitResponse.type
LimitType LimitRangeItem.type
LoadBalancerIPMode LoadBalancerIngress.ipMode
ManagedFieldsOperationType ManagedFieldsEntry.operation
MatchPolicyType MatchResources.matchPolicy MutatingWebhook.matchPolicy ValidatingWebhook.matchPolicy
v2.MetricSourceType MetricSpec.type MetricStatus.type
v2.MetricTargetType MetricTarget.type
MountPropagationMode VolumeMount.mountPropagation
NamespaceConditionType NamespaceCondition.type
NamespacePhase NamespaceStatus.phase
NodeAddressType NodeAddress.type
NodeConditionType NodeCondition.type
NodeInclusionPolicy TopologySpreadConstraint.nodeAffinityPolicy TopologySpreadConstraint.nodeTaintsPolicy
NodePhase NodeStatus.phase
NodeSelectorOperator NodeSelectorRequirement.operator
OSName PodOS.name
OperationType NamedRuleWithOperations.operations RuleWithOperations.operations
ParameterNotFoundActionType ParamRef.parameterNotFoundAction
PatchType Mutation.patchType
PathType HTTPIngressPath.pathType
PersistentVolumeAccessMode PersistentVolumeClaimSpec.accessModes PersistentVolumeClaimStatus.accessModes
PersistentVolumeAccessMode PersistentVolumeSpec.accessModes
PersistentVolumeClaimConditionType PersistentVolumeClaimCondition.type
PersistentVolumeClaimModifyVolumeStatus ModifyVolumeStatus.status
PersistentVolumeClaimPhase PersistentVolumeClaimStatus.phase
PersistentVolumeClaimRetentionPolicyType StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted
PersistentVolumeClaimRetentionPolicyType StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled
PersistentVolumeMode PersistentVolumeClaimSpec.volumeMode PersistentVolumeSpec.volumeMode
PersistentVolumePhase PersistentVolumeStatus.phase
PersistentVolumeReclaimPolicy PersistentVolumeSpec.persistentVolumeReclaimPolicy StorageClass.reclaimPolicy
PodConditionType PodCondition.type PodFailurePolicyOnPodConditionsPattern.type PodReadinessGate.conditionType
PodFSGroupChangePolicy PodSecurityContext.fsGroupChangePolicy
PodFailurePolicyAction PodFailurePolicyRule.action
PodFailurePolicyOnExitCodesOperator PodFailurePolicyOnExitCodesRequirement.operator
PodManagementPolicyType StatefulSetSpec.podManagementPolicy
PodPhase PodStatus.phase
PodQOSClass PodStatus.qosClass
PodReplacementPolicy JobSpec.podReplacementPolicy
PodResizeStatus PodStatus.resize
PodSELinuxChangePolicy PodSecurityContext.seLinuxChangePolicy
PolicyType NetworkPolicySpec.policyTypes
PreemptionPolicy PodSpec.preemptionPolicy PriorityClass.preemptionPolicy
PriorityLevelConfigurationConditionType PriorityLevelConfigurationCondition.type
PriorityLevelEnablement PriorityLevelConfigurationSpec.type
ProcMountType SecurityContext.procMount
Protocol ContainerPort.protocol EndpointPort.protocol IngressPortStatus.protocol NetworkPolicyPort.protocol
Protocol PortStatus.protocol ServicePort.protocol
PullPolicy Container.imagePullPolicy EphemeralContainer.imagePullPolicy ImageVolumeSource.pullPolicy
RecursiveReadOnlyMode VolumeMount.recursiveReadOnly VolumeMountStatus.recursiveReadOnly
ReinvocationPolicyType MutatingAdmissionPolicySpec.reinvocationPolicy MutatingWebhook.reinvocationPolicy
ReplicaSetConditionType ReplicaSetCondition.type
ReplicationControllerConditionType ReplicationControllerCondition.type
RequestConditionType CertificateSigningRequestCondition.type
ResourceHealthStatus ResourceHealth.health
ResourceID ResourceHealth.resourceID
ResourceName ContainerResizePolicy.resourceName ContainerResourceMetricSource.name ContainerResourceMetricStatus.name
ResourceName ResourceMetricSource.name ResourceMetricStatus.name ResourceStatus.name
ResourceQuotaScope ResourceQuotaSpec.scopes ScopedResourceSelectorRequirement.scopeName
ResourceResizeRestartPolicy ContainerResizePolicy.restartPolicy
ResourceScope CustomResourceDefinitionSpec.scope
RestartPolicy PodSpec.restartPolicy
v2.ScalingPolicySelect HPAScalingRules.selectPolicy
ScopeSelectorOperator ScopedResourceSelectorRequirement.operator
ScopeType NamedRuleWithOperations.scope RuleWithOperations.scope
SeccompProfileType SeccompProfile.type
SecretType Secret.type
ServiceAffinity ServiceSpec.sessionAffinity
ServiceExternalTrafficPolicy ServiceSpec.externalTrafficPolicy
ServiceInternalTrafficPolicy ServiceSpec.internalTrafficPolicy
ServiceType ServiceSpec.type
SideEffectClass MutatingWebhook.sideEffects ValidatingWebhook.sideEffects
Signal ContainerStatus.stopSignal Lifecycle.stopSignal
StatefulSetConditionType StatefulSetCondition.type
StatefulSetUpdateStrategyType StatefulSetUpdateStrategy.type
StatusReason Validation.reason
StorageMedium EmptyDirVolumeSource.medium
SupplementalGroupsPolicy PodSecurityContext.supplementalGroupsPolicy
TaintEffect Taint.effect Toleration.effect
TerminationMessagePolicy Container.terminationMessagePolicy EphemeralContainer.terminationMessagePolicy
TolerationOperator Toleration.operator
types.UID AdmissionResponse.uid ConfigMapNodeConfigSource.uid ObjectMeta.uid ObjectReference.uid OwnerReference.uid
types.UID Preconditions.uid UncountedTerminatedPods.failed UncountedTerminatedPods.succeeded
URIScheme HTTPGetAction.scheme
UnhealthyPodEvictionPolicyType PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy
UniqueVolumeName AttachedVolume.name NodeStatus.volumesInUse
UnsatisfiableConstraintAction TopologySpreadConstraint.whenUnsatisfiable
ValidationAction ValidatingAdmissionPolicyBindingSpec.validationActions
VolumeBindingMode StorageClass.volumeBindingMode
VolumeLifecycleMode CSIDriverSpec.volumeLifecycleModes
"""

WORD_TYPES: Mapping[str, str] = {
    field: words[0] if "." in words[0] else f"v1.{words[0]}"
    for words in map(str.split, _WORDS.strip().splitlines())
    for field in words[1:]
}
"""From `PodSpec.restartPolicy` to `v1.RestartPolicy`; for a list or a map it is the type of what is in it."""

_RESOURCE_LISTS = """
ContainerStatus.allocatedResources LimitRangeItem.default LimitRangeItem.defaultRequest LimitRangeItem.max
LimitRangeItem.maxLimitRequestRatio LimitRangeItem.min NodeStatus.allocatable NodeStatus.capacity Overhead.podFixed
PersistentVolumeClaimStatus.allocatedResources PersistentVolumeClaimStatus.capacity PersistentVolumeSpec.capacity
PodSpec.overhead PodStatus.allocatedResources ResourceQuotaSpec.hard ResourceQuotaStatus.hard
ResourceQuotaStatus.used ResourceRequirements.limits ResourceRequirements.requests VolumeResourceRequirements.limits
VolumeResourceRequirements.requests
"""

WHOLE_TYPES: Mapping[str, str] = {
    **dict.fromkeys(_RESOURCE_LISTS.split(), "v1.ResourceList"),
    **dict.fromkeys(
        ("CertificateSigningRequestSpec.extra", "SubjectAccessReviewSpec.extra", "UserInfo.extra"),
        "map[string]v1.ExtraValue",
    ),
    "JSONSchemaProps.definitions": "v1.JSONSchemaDefinitions",
    "JSONSchemaProps.dependencies": "v1.JSONSchemaDependencies",
    "JSONSchemaProps.enum": "[]v1.JSON",
    "JSONSchemaProps.x-kubernetes-validations": "v1.ValidationRules",
    "NodeAllocatableResourceClaimStatus.resources": "map[v1.ResourceName]resource.Quantity",
    "PersistentVolumeClaimStatus.allocatedResourceStatuses": "map[v1.ResourceName]v1.ClaimResourceStatus",
    "PodDisruptionBudgetStatus.disruptedPods": "map[string]v1.Time",
}
"""The types of lists and maps that don't follow from their elements."""

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
    """The embedded struct that the field is of, if any; messages name it in the path."""
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
    if struct == "NamedRuleWithOperations" and field != "resourceNames":
        return "RuleWithOperations" if field == "operations" else "RuleWithOperations.Rule"
    if struct == "IngressRule" and field == "http":
        return "IngressRuleValue"
    if struct == "PersistentVolumeClaim" and field in ("apiVersion", "kind"):
        return "TypeMeta"
    return ""


def struct_name(cls: type[msgspec.Struct], version: str) -> str:
    """The name of a struct with that of its package, which in Kubernetes is the version of its group."""
    package = "v1" if issubclass(cls, ObjectMeta) or cls.__module__.endswith((".core", ".meta")) else version
    return f"{package}.{cls.__name__}"
