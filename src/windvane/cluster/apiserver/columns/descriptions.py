"""What each column of a built-in kind is about: the field whose documentation the real server shows as its description.

Columns that are not here are described in sentences of the real server's own, and have no description in ours.
"""

from collections.abc import Mapping

from windvane.cluster.apiserver.documentation import field_description

METADATA: Mapping[str, str] = {
    "Name": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.name",
    "Age": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.creationTimestamp",
    "Created At": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.creationTimestamp",
}

FIELDS: Mapping[str, Mapping[str, str]] = {
    "CSIDriver": {
        "AttachRequired": "storage.v1.CSIDriverSpec.attachRequired",
        "PodInfoOnMount": "storage.v1.CSIDriverSpec.podInfoOnMount",
        "StorageCapacity": "storage.v1.CSIDriverSpec.storageCapacity",
        "TokenRequests": "storage.v1.CSIDriverSpec.tokenRequests",
        "RequiresRepublish": "storage.v1.CSIDriverSpec.requiresRepublish",
        "Modes": "storage.v1.CSIDriverSpec.volumeLifecycleModes",
    },
    "CertificateSigningRequest": {
        "RequestedDuration": "certificates.v1.CertificateSigningRequestSpec.expirationSeconds"
    },
    "ConfigMap": {"Data": "core.v1.ConfigMap.data"},
    "ControllerRevision": {"Revision": "apps.v1.ControllerRevision.revision"},
    "CronJob": {
        "Schedule": "batch.v1.CronJobSpec.schedule",
        "Timezone": "batch.v1.CronJobSpec.timeZone",
        "Suspend": "batch.v1.CronJobSpec.suspend",
        "Active": "batch.v1.CronJobStatus.active",
        "Last Schedule": "batch.v1.CronJobStatus.lastScheduleTime",
        "Selector": "batch.v1.JobSpec.selector",
    },
    "DaemonSet": {
        "Desired": "apps.v1.DaemonSetStatus.desiredNumberScheduled",
        "Current": "apps.v1.DaemonSetStatus.currentNumberScheduled",
        "Ready": "apps.v1.DaemonSetStatus.numberReady",
        "Up-to-date": "apps.v1.DaemonSetStatus.updatedNumberScheduled",
        "Available": "apps.v1.DaemonSetStatus.numberAvailable",
        "Node Selector": "core.v1.PodSpec.nodeSelector",
        "Selector": "apps.v1.DaemonSetSpec.selector",
    },
    "Deployment": {
        "Up-to-date": "apps.v1.DeploymentStatus.updatedReplicas",
        "Available": "apps.v1.DeploymentStatus.availableReplicas",
        "Selector": "apps.v1.DeploymentSpec.selector",
    },
    "EndpointSlice": {
        "AddressType": "discovery.v1.EndpointSlice.addressType",
        "Ports": "discovery.v1.EndpointSlice.ports",
        "Endpoints": "discovery.v1.EndpointSlice.endpoints",
    },
    "Endpoints": {"Endpoints": "core.v1.Endpoints.subsets"},
    "Event": {
        "Last Seen": "core.v1.Event.lastTimestamp",
        "Type": "core.v1.Event.type",
        "Reason": "core.v1.Event.reason",
        "Object": "core.v1.Event.involvedObject",
        "Subobject": "core.v1.ObjectReference.fieldPath",
        "Source": "core.v1.Event.source",
        "Message": "core.v1.Event.message",
        "First Seen": "core.v1.Event.firstTimestamp",
        "Count": "core.v1.Event.count",
    },
    "FlowSchema": {
        "PriorityLevel": "flowcontrol.v1.PriorityLevelConfigurationReference.name",
        "MatchingPrecedence": "flowcontrol.v1.FlowSchemaSpec.matchingPrecedence",
        "DistinguisherMethod": "flowcontrol.v1.FlowSchemaSpec.distinguisherMethod",
    },
    "HorizontalPodAutoscaler": {
        "Reference": "autoscaling.v2.HorizontalPodAutoscalerSpec.scaleTargetRef",
        "Targets": "autoscaling.v2.HorizontalPodAutoscalerSpec.metrics",
        "MinPods": "autoscaling.v2.HorizontalPodAutoscalerSpec.minReplicas",
        "MaxPods": "autoscaling.v2.HorizontalPodAutoscalerSpec.maxReplicas",
        "Replicas": "autoscaling.v2.HorizontalPodAutoscalerStatus.currentReplicas",
    },
    "IPAddress": {"ParentRef": "networking.v1.IPAddressSpec.parentRef"},
    "Job": {"Completions": "batch.v1.JobStatus.succeeded", "Selector": "batch.v1.JobSpec.selector"},
    "Lease": {"Holder": "coordination.v1.LeaseSpec.holderIdentity"},
    "NetworkPolicy": {"Pod-Selector": "networking.v1.NetworkPolicySpec.podSelector"},
    "Node": {
        "Version": "core.v1.NodeSystemInfo.kubeletVersion",
        "Internal-IP": "core.v1.NodeStatus.addresses",
        "External-IP": "core.v1.NodeStatus.addresses",
        "OS-Image": "core.v1.NodeSystemInfo.osImage",
        "Kernel-Version": "core.v1.NodeSystemInfo.kernelVersion",
        "Container-Runtime": "core.v1.NodeSystemInfo.containerRuntimeVersion",
    },
    "PersistentVolume": {
        "Capacity": "core.v1.PersistentVolumeSpec.capacity",
        "Access Modes": "core.v1.PersistentVolumeSpec.accessModes",
        "Reclaim Policy": "core.v1.PersistentVolumeSpec.persistentVolumeReclaimPolicy",
        "Status": "core.v1.PersistentVolumeStatus.phase",
        "Claim": "core.v1.PersistentVolumeSpec.claimRef",
        "Reason": "core.v1.PersistentVolumeStatus.reason",
        "VolumeMode": "core.v1.PersistentVolumeSpec.volumeMode",
    },
    "PersistentVolumeClaim": {
        "Status": "core.v1.PersistentVolumeClaimStatus.phase",
        "Volume": "core.v1.PersistentVolumeClaimSpec.volumeName",
        "Capacity": "core.v1.PersistentVolumeClaimStatus.capacity",
        "Access Modes": "core.v1.PersistentVolumeClaimStatus.accessModes",
        "VolumeMode": "core.v1.PersistentVolumeClaimSpec.volumeMode",
    },
    "Pod": {
        "IP": "core.v1.PodStatus.podIP",
        "Node": "core.v1.PodSpec.nodeName",
        "Nominated Node": "core.v1.PodStatus.nominatedNodeName",
        "Readiness Gates": "core.v1.PodSpec.readinessGates",
    },
    "PriorityClass": {
        "Value": "scheduling.v1.PriorityClass.value",
        "Global-Default": "scheduling.v1.PriorityClass.globalDefault",
        "PreemptionPolicy": "scheduling.v1.PriorityClass.preemptionPolicy",
    },
    "PriorityLevelConfiguration": {
        "Type": "flowcontrol.v1.PriorityLevelConfigurationSpec.type",
        "NominalConcurrencyShares": "flowcontrol.v1.LimitedPriorityLevelConfiguration.nominalConcurrencyShares",
        "Queues": "flowcontrol.v1.QueuingConfiguration.queues",
        "HandSize": "flowcontrol.v1.QueuingConfiguration.handSize",
        "QueueLengthLimit": "flowcontrol.v1.QueuingConfiguration.queueLengthLimit",
    },
    "ReplicaSet": {
        "Desired": "apps.v1.ReplicaSetSpec.replicas",
        "Current": "apps.v1.ReplicaSetStatus.replicas",
        "Ready": "apps.v1.ReplicaSetStatus.readyReplicas",
        "Selector": "apps.v1.ReplicaSetSpec.selector",
    },
    "ReplicationController": {
        "Desired": "core.v1.ReplicationControllerSpec.replicas",
        "Current": "core.v1.ReplicationControllerStatus.replicas",
        "Ready": "core.v1.ReplicationControllerStatus.readyReplicas",
        "Selector": "core.v1.ReplicationControllerSpec.selector",
    },
    "Secret": {"Type": "core.v1.Secret.type", "Data": "core.v1.Secret.data"},
    "Service": {
        "Type": "core.v1.ServiceSpec.type",
        "Cluster-IP": "core.v1.ServiceSpec.clusterIP",
        "External-IP": "core.v1.ServiceSpec.externalIPs",
        "Port(s)": "core.v1.ServiceSpec.ports",
        "Selector": "core.v1.ServiceSpec.selector",
    },
    "ServiceCIDR": {"CIDRs": "networking.v1.ServiceCIDRSpec.cidrs"},
    "StorageClass": {
        "Provisioner": "storage.v1.StorageClass.provisioner",
        "ReclaimPolicy": "storage.v1.StorageClass.reclaimPolicy",
        "VolumeBindingMode": "storage.v1.StorageClass.volumeBindingMode",
        "AllowVolumeExpansion": "storage.v1.StorageClass.allowVolumeExpansion",
    },
    "VolumeAttachment": {
        "Attacher": "storage.v1.VolumeAttachmentSpec.attacher",
        "PV": "storage.v1.VolumeAttachmentSource.persistentVolumeName",
        "Node": "storage.v1.VolumeAttachmentSpec.nodeName",
        "Attached": "storage.v1.VolumeAttachmentStatus.attached",
    },
    "VolumeAttributesClass": {"DriverName": "storage.v1.VolumeAttributesClass.driverName"},
}
"""By kind and column; `io.k8s.api.` is left out."""


def describe(kind: str, column: str) -> str:
    """The description of a built-in kind's column; empty if there is none."""
    if (field := FIELDS.get(kind, {}).get(column)) is not None:
        return field_description(f"io.k8s.api.{field}")
    return field_description(METADATA[column]) if column in METADATA else ""
