"""The fields of Kubernetes' protobuf messages: facts about Kubernetes v1.36.3, never edited.

Written by tools/generate/protobuf.py. A field is `number:name in JSON:type`. One without a name is a message whose
fields are among those of the outer one in JSON. A type is a scalar or a message, or `[]` (a list) or `{}` (a map from
strings) of it; the package of a message is left out if it is the same. A field with `?` is left out of JSON if it is
zero, false or empty.
"""

KINDS = {
    "admissionregistration.k8s.io/v1": """
        admissionregistration.v1.MutatingAdmissionPolicy admissionregistration.v1.MutatingAdmissionPolicyBinding
        admissionregistration.v1.MutatingWebhookConfiguration admissionregistration.v1.ValidatingAdmissionPolicy
        admissionregistration.v1.ValidatingAdmissionPolicyBinding
        admissionregistration.v1.ValidatingWebhookConfiguration""",
    "apiextensions.k8s.io/v1": """apiextensions.v1.CustomResourceDefinition""",
    "apiregistration.k8s.io/v1": """apiregistration.v1.APIService""",
    "apps/v1": """
        apps.v1.ControllerRevision apps.v1.DaemonSet apps.v1.Deployment apps.v1.ReplicaSet apps.v1.StatefulSet""",
    "authentication.k8s.io/v1": """
        authentication.v1.SelfSubjectReview authentication.v1.TokenRequest authentication.v1.TokenReview""",
    "authorization.k8s.io/v1": """
        authorization.v1.LocalSubjectAccessReview authorization.v1.SelfSubjectAccessReview
        authorization.v1.SelfSubjectRulesReview authorization.v1.SubjectAccessReview""",
    "autoscaling/v1": """autoscaling.v1.Scale""",
    "autoscaling/v2": """autoscaling.v2.HorizontalPodAutoscaler""",
    "batch/v1": """batch.v1.CronJob batch.v1.Job""",
    "certificates.k8s.io/v1": """certificates.v1.CertificateSigningRequest""",
    "coordination.k8s.io/v1": """coordination.v1.Lease""",
    "discovery.k8s.io/v1": """discovery.v1.EndpointSlice""",
    "events.k8s.io/v1": """events.v1.Event""",
    "flowcontrol.apiserver.k8s.io/v1": """
        flowcontrol.v1.FlowSchema flowcontrol.v1.PriorityLevelConfiguration""",
    "networking.k8s.io/v1": """
        networking.v1.IPAddress networking.v1.Ingress networking.v1.IngressClass networking.v1.NetworkPolicy
        networking.v1.ServiceCIDR""",
    "node.k8s.io/v1": """node.v1.RuntimeClass""",
    "policy/v1": """policy.v1.Eviction policy.v1.PodDisruptionBudget""",
    "rbac.authorization.k8s.io/v1": """
        rbac.v1.ClusterRole rbac.v1.ClusterRoleBinding rbac.v1.Role rbac.v1.RoleBinding""",
    "resource.k8s.io/v1": """
        resource.v1.DeviceClass resource.v1.ResourceClaim resource.v1.ResourceClaimTemplate
        resource.v1.ResourceSlice""",
    "scheduling.k8s.io/v1": """scheduling.v1.PriorityClass""",
    "storage.k8s.io/v1": """
        storage.v1.CSIDriver storage.v1.CSINode storage.v1.CSIStorageCapacity storage.v1.StorageClass
        storage.v1.VolumeAttachment storage.v1.VolumeAttributesClass""",
    "storagemigration.k8s.io/v1beta1": """storagemigration.v1beta1.StorageVersionMigration""",
    "v1": """
        core.v1.Binding core.v1.ComponentStatus core.v1.ConfigMap core.v1.Endpoints core.v1.Event core.v1.LimitRange
        core.v1.Namespace core.v1.Node core.v1.PersistentVolume core.v1.PersistentVolumeClaim core.v1.Pod
        core.v1.PodTemplate core.v1.ReplicationController core.v1.ResourceQuota core.v1.Secret core.v1.Service
        core.v1.ServiceAccount""",
}

MESSAGES = {
    "admissionregistration.v1.ApplyConfiguration": """1:expression:string?""",
    "admissionregistration.v1.AuditAnnotation": """1:key:string 2:valueExpression:string""",
    "admissionregistration.v1.ExpressionWarning": """2:fieldRef:string 3:warning:string""",
    "admissionregistration.v1.JSONPatch": """1:expression:string?""",
    "admissionregistration.v1.MatchCondition": """1:name:string 2:expression:string""",
    "admissionregistration.v1.MatchResources": """
        1:namespaceSelector:meta.v1.LabelSelector 2:objectSelector:meta.v1.LabelSelector
        3:resourceRules:[]NamedRuleWithOperations 4:excludeResourceRules:[]NamedRuleWithOperations
        7:matchPolicy:string""",
    "admissionregistration.v1.MutatingAdmissionPolicy": """
        1:metadata:meta.v1.ObjectMeta 2:spec:MutatingAdmissionPolicySpec""",
    "admissionregistration.v1.MutatingAdmissionPolicyBinding": """
        1:metadata:meta.v1.ObjectMeta 2:spec:MutatingAdmissionPolicyBindingSpec""",
    "admissionregistration.v1.MutatingAdmissionPolicyBindingSpec": """
        1:policyName:string? 2:paramRef:ParamRef 3:matchResources:MatchResources""",
    "admissionregistration.v1.MutatingAdmissionPolicySpec": """
        1:paramKind:ParamKind 2:matchConstraints:MatchResources 3:variables:[]Variable 4:mutations:[]Mutation
        5:failurePolicy:string 6:matchConditions:[]MatchCondition 7:reinvocationPolicy:string?""",
    "admissionregistration.v1.MutatingWebhook": """
        1:name:string 2:clientConfig:WebhookClientConfig 3:rules:[]RuleWithOperations 4:failurePolicy:string
        9:matchPolicy:string 5:namespaceSelector:meta.v1.LabelSelector 11:objectSelector:meta.v1.LabelSelector
        6:sideEffects:string 7:timeoutSeconds:int32 8:admissionReviewVersions:[]string 10:reinvocationPolicy:string
        12:matchConditions:[]MatchCondition""",
    "admissionregistration.v1.MutatingWebhookConfiguration": """
        1:metadata:meta.v1.ObjectMeta 2:webhooks:[]MutatingWebhook""",
    "admissionregistration.v1.Mutation": """
        2:patchType:string 3:applyConfiguration:ApplyConfiguration 4:jsonPatch:JSONPatch""",
    "admissionregistration.v1.NamedRuleWithOperations": """1:resourceNames:[]string 2::RuleWithOperations""",
    "admissionregistration.v1.ParamKind": """1:apiVersion:string? 2:kind:string?""",
    "admissionregistration.v1.ParamRef": """
        1:name:string? 2:namespace:string? 3:selector:meta.v1.LabelSelector 4:parameterNotFoundAction:string""",
    "admissionregistration.v1.Rule": """
        1:apiGroups:[]string 2:apiVersions:[]string 3:resources:[]string 4:scope:string""",
    "admissionregistration.v1.RuleWithOperations": """1:operations:[]string 2::Rule""",
    "admissionregistration.v1.ServiceReference": """
        1:namespace:string 2:name:string 3:path:string 4:port:int32""",
    "admissionregistration.v1.TypeChecking": """1:expressionWarnings:[]ExpressionWarning""",
    "admissionregistration.v1.ValidatingAdmissionPolicy": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ValidatingAdmissionPolicySpec 3:status:ValidatingAdmissionPolicyStatus""",
    "admissionregistration.v1.ValidatingAdmissionPolicyBinding": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ValidatingAdmissionPolicyBindingSpec""",
    "admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec": """
        1:policyName:string? 2:paramRef:ParamRef 3:matchResources:MatchResources 4:validationActions:[]string""",
    "admissionregistration.v1.ValidatingAdmissionPolicySpec": """
        1:paramKind:ParamKind 2:matchConstraints:MatchResources 3:validations:[]Validation 4:failurePolicy:string
        5:auditAnnotations:[]AuditAnnotation 6:matchConditions:[]MatchCondition 7:variables:[]Variable""",
    "admissionregistration.v1.ValidatingAdmissionPolicyStatus": """
        1:observedGeneration:int64? 2:typeChecking:TypeChecking 3:conditions:[]meta.v1.Condition""",
    "admissionregistration.v1.ValidatingWebhook": """
        1:name:string 2:clientConfig:WebhookClientConfig 3:rules:[]RuleWithOperations 4:failurePolicy:string
        9:matchPolicy:string 5:namespaceSelector:meta.v1.LabelSelector 10:objectSelector:meta.v1.LabelSelector
        6:sideEffects:string 7:timeoutSeconds:int32 8:admissionReviewVersions:[]string
        11:matchConditions:[]MatchCondition""",
    "admissionregistration.v1.ValidatingWebhookConfiguration": """
        1:metadata:meta.v1.ObjectMeta 2:webhooks:[]ValidatingWebhook""",
    "admissionregistration.v1.Validation": """
        1:expression:string 2:message:string? 3:reason:string 4:messageExpression:string?""",
    "admissionregistration.v1.Variable": """1:name:string 2:expression:string""",
    "admissionregistration.v1.WebhookClientConfig": """
        3:url:string 1:service:ServiceReference 2:caBundle:bytes?""",
    "apiextensions.v1.CustomResourceColumnDefinition": """
        1:name:string 2:type:string 3:format:string? 4:description:string? 5:priority:int32? 6:jsonPath:string""",
    "apiextensions.v1.CustomResourceConversion": """1:strategy:string 2:webhook:WebhookConversion""",
    "apiextensions.v1.CustomResourceDefinition": """
        1:metadata:meta.v1.ObjectMeta 2:spec:CustomResourceDefinitionSpec 3:status:CustomResourceDefinitionStatus""",
    "apiextensions.v1.CustomResourceDefinitionCondition": """
        1:type:string 2:status:string 3:lastTransitionTime:meta.v1.Time 4:reason:string? 5:message:string?
        6:observedGeneration:int64?""",
    "apiextensions.v1.CustomResourceDefinitionNames": """
        1:plural:string 2:singular:string? 3:shortNames:[]string 4:kind:string 5:listKind:string?
        6:categories:[]string""",
    "apiextensions.v1.CustomResourceDefinitionSpec": """
        1:group:string 3:names:CustomResourceDefinitionNames 4:scope:string
        7:versions:[]CustomResourceDefinitionVersion 9:conversion:CustomResourceConversion
        10:preserveUnknownFields:bool?""",
    "apiextensions.v1.CustomResourceDefinitionStatus": """
        1:conditions:[]CustomResourceDefinitionCondition 2:acceptedNames:CustomResourceDefinitionNames
        3:storedVersions:[]string 4:observedGeneration:int64?""",
    "apiextensions.v1.CustomResourceDefinitionVersion": """
        1:name:string 2:served:bool 3:storage:bool 7:deprecated:bool? 8:deprecationWarning:string
        4:schema:CustomResourceValidation 5:subresources:CustomResourceSubresources
        6:additionalPrinterColumns:[]CustomResourceColumnDefinition 9:selectableFields:[]SelectableField""",
    "apiextensions.v1.CustomResourceSubresourceScale": """
        1:specReplicasPath:string 2:statusReplicasPath:string 3:labelSelectorPath:string""",
    "apiextensions.v1.CustomResourceSubresourceStatus": """""",
    "apiextensions.v1.CustomResourceSubresources": """
        1:status:CustomResourceSubresourceStatus 2:scale:CustomResourceSubresourceScale""",
    "apiextensions.v1.CustomResourceValidation": """1:openAPIV3Schema:JSONSchemaProps""",
    "apiextensions.v1.ExternalDocumentation": """1:description:string? 2:url:string?""",
    "apiextensions.v1.JSON": """1:raw:json""",
    "apiextensions.v1.JSONSchemaProps": """
        1:id:string? 2:$schema:string? 3:$ref:string 4:description:string? 5:type:string? 6:format:string?
        7:title:string? 8:default:JSON 9:maximum:double 10:exclusiveMaximum:bool? 11:minimum:double
        12:exclusiveMinimum:bool? 13:maxLength:int64 14:minLength:int64 15:pattern:string? 16:maxItems:int64
        17:minItems:int64 18:uniqueItems:bool? 19:multipleOf:double 20:enum:[]JSON 21:maxProperties:int64
        22:minProperties:int64 23:required:[]string 24:items:JSONSchemaPropsOrArray 25:allOf:[]JSONSchemaProps
        26:oneOf:[]JSONSchemaProps 27:anyOf:[]JSONSchemaProps 28:not:JSONSchemaProps 29:properties:{}JSONSchemaProps
        30:additionalProperties:JSONSchemaPropsOrBool 31:patternProperties:{}JSONSchemaProps
        32:dependencies:{}JSONSchemaPropsOrStringArray 33:additionalItems:JSONSchemaPropsOrBool
        34:definitions:{}JSONSchemaProps 35:externalDocs:ExternalDocumentation 36:example:JSON 37:nullable:bool?
        38:x-kubernetes-preserve-unknown-fields:bool 39:x-kubernetes-embedded-resource:bool?
        40:x-kubernetes-int-or-string:bool? 41:x-kubernetes-list-map-keys:[]string 42:x-kubernetes-list-type:string
        43:x-kubernetes-map-type:string 44:x-kubernetes-validations:[]ValidationRule""",
    "apiextensions.v1.JSONSchemaPropsOrArray": """
        1:schema:JSONSchemaProps 2:jSONSchemas:[]JSONSchemaProps""",
    "apiextensions.v1.JSONSchemaPropsOrBool": """1:allows:bool 2:schema:JSONSchemaProps""",
    "apiextensions.v1.JSONSchemaPropsOrStringArray": """1:schema:JSONSchemaProps 2:property:[]string""",
    "apiextensions.v1.SelectableField": """1:jsonPath:string""",
    "apiextensions.v1.ServiceReference": """
        1:namespace:string 2:name:string 3:path:string 4:port:int32""",
    "apiextensions.v1.ValidationRule": """
        1:rule:string 2:message:string? 3:messageExpression:string? 4:reason:string 5:fieldPath:string?
        6:optionalOldSelf:bool""",
    "apiextensions.v1.WebhookClientConfig": """
        3:url:string 1:service:ServiceReference 2:caBundle:bytes?""",
    "apiextensions.v1.WebhookConversion": """
        2:clientConfig:WebhookClientConfig 3:conversionReviewVersions:[]string""",
    "apiregistration.v1.APIService": """
        1:metadata:meta.v1.ObjectMeta 2:spec:APIServiceSpec 3:status:APIServiceStatus""",
    "apiregistration.v1.APIServiceCondition": """
        1:type:string 2:status:string 3:lastTransitionTime:meta.v1.Time 4:reason:string? 5:message:string?""",
    "apiregistration.v1.APIServiceSpec": """
        1:service:ServiceReference 2:group:string? 3:version:string? 4:insecureSkipTLSVerify:bool? 5:caBundle:bytes?
        7:groupPriorityMinimum:int32 8:versionPriority:int32""",
    "apiregistration.v1.APIServiceStatus": """1:conditions:[]APIServiceCondition""",
    "apiregistration.v1.ServiceReference": """1:namespace:string? 2:name:string? 3:port:int32""",
    "apps.v1.ControllerRevision": """
        1:metadata:meta.v1.ObjectMeta 2:data:runtime.RawExtension 3:revision:int64""",
    "apps.v1.DaemonSet": """
        1:metadata:meta.v1.ObjectMeta 2:spec:DaemonSetSpec 3:status:DaemonSetStatus""",
    "apps.v1.DaemonSetCondition": """
        1:type:string 2:status:string 3:lastTransitionTime:meta.v1.Time 4:reason:string? 5:message:string?""",
    "apps.v1.DaemonSetSpec": """
        1:selector:meta.v1.LabelSelector 2:template:core.v1.PodTemplateSpec 3:updateStrategy:DaemonSetUpdateStrategy
        4:minReadySeconds:int32? 6:revisionHistoryLimit:int32""",
    "apps.v1.DaemonSetStatus": """
        1:currentNumberScheduled:int32 2:numberMisscheduled:int32 3:desiredNumberScheduled:int32 4:numberReady:int32
        5:observedGeneration:int64? 6:updatedNumberScheduled:int32? 7:numberAvailable:int32?
        8:numberUnavailable:int32? 9:collisionCount:int32 10:conditions:[]DaemonSetCondition""",
    "apps.v1.DaemonSetUpdateStrategy": """
        1:type:string? 2:rollingUpdate:RollingUpdateDaemonSet""",
    "apps.v1.Deployment": """
        1:metadata:meta.v1.ObjectMeta 2:spec:DeploymentSpec 3:status:DeploymentStatus""",
    "apps.v1.DeploymentCondition": """
        1:type:string 2:status:string 6:lastUpdateTime:meta.v1.Time 7:lastTransitionTime:meta.v1.Time
        4:reason:string? 5:message:string?""",
    "apps.v1.DeploymentSpec": """
        1:replicas:int32 2:selector:meta.v1.LabelSelector 3:template:core.v1.PodTemplateSpec
        4:strategy:DeploymentStrategy 5:minReadySeconds:int32? 6:revisionHistoryLimit:int32 7:paused:bool?
        9:progressDeadlineSeconds:int32""",
    "apps.v1.DeploymentStatus": """
        1:observedGeneration:int64? 2:replicas:int32? 3:updatedReplicas:int32? 7:readyReplicas:int32?
        4:availableReplicas:int32? 5:unavailableReplicas:int32? 9:terminatingReplicas:int32
        6:conditions:[]DeploymentCondition 8:collisionCount:int32""",
    "apps.v1.DeploymentStrategy": """
        1:type:string? 2:rollingUpdate:RollingUpdateDeployment""",
    "apps.v1.ReplicaSet": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ReplicaSetSpec 3:status:ReplicaSetStatus""",
    "apps.v1.ReplicaSetCondition": """
        1:type:string 2:status:string 3:lastTransitionTime:meta.v1.Time 4:reason:string? 5:message:string?""",
    "apps.v1.ReplicaSetSpec": """
        1:replicas:int32 4:minReadySeconds:int32? 2:selector:meta.v1.LabelSelector
        3:template:core.v1.PodTemplateSpec""",
    "apps.v1.ReplicaSetStatus": """
        1:replicas:int32 2:fullyLabeledReplicas:int32? 4:readyReplicas:int32? 5:availableReplicas:int32?
        7:terminatingReplicas:int32 3:observedGeneration:int64? 6:conditions:[]ReplicaSetCondition""",
    "apps.v1.RollingUpdateDaemonSet": """
        1:maxUnavailable:intstr.IntOrString 2:maxSurge:intstr.IntOrString""",
    "apps.v1.RollingUpdateDeployment": """
        1:maxUnavailable:intstr.IntOrString 2:maxSurge:intstr.IntOrString""",
    "apps.v1.RollingUpdateStatefulSetStrategy": """
        1:partition:int32 2:maxUnavailable:intstr.IntOrString""",
    "apps.v1.StatefulSet": """
        1:metadata:meta.v1.ObjectMeta 2:spec:StatefulSetSpec 3:status:StatefulSetStatus""",
    "apps.v1.StatefulSetCondition": """
        1:type:string 2:status:string 3:lastTransitionTime:meta.v1.Time 4:reason:string? 5:message:string?""",
    "apps.v1.StatefulSetOrdinals": """1:start:int32""",
    "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": """1:whenDeleted:string? 2:whenScaled:string?""",
    "apps.v1.StatefulSetSpec": """
        1:replicas:int32 2:selector:meta.v1.LabelSelector 3:template:core.v1.PodTemplateSpec
        4:volumeClaimTemplates:[]core.v1.PersistentVolumeClaim 5:serviceName:string 6:podManagementPolicy:string?
        7:updateStrategy:StatefulSetUpdateStrategy 8:revisionHistoryLimit:int32 9:minReadySeconds:int32?
        10:persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy
        11:ordinals:StatefulSetOrdinals""",
    "apps.v1.StatefulSetStatus": """
        1:observedGeneration:int64? 2:replicas:int32 3:readyReplicas:int32? 4:currentReplicas:int32?
        5:updatedReplicas:int32? 6:currentRevision:string? 7:updateRevision:string? 9:collisionCount:int32
        10:conditions:[]StatefulSetCondition 11:availableReplicas:int32""",
    "apps.v1.StatefulSetUpdateStrategy": """
        1:type:string? 2:rollingUpdate:RollingUpdateStatefulSetStrategy""",
    "authentication.v1.BoundObjectReference": """
        1:kind:string? 2:apiVersion:string? 3:name:string? 4:uid:string?""",
    "authentication.v1.ExtraValue": """1:items:[]string""",
    "authentication.v1.SelfSubjectReview": """
        1:metadata:meta.v1.ObjectMeta 2:status:SelfSubjectReviewStatus""",
    "authentication.v1.SelfSubjectReviewStatus": """1:userInfo:UserInfo""",
    "authentication.v1.TokenRequest": """
        1:metadata:meta.v1.ObjectMeta 2:spec:TokenRequestSpec 3:status:TokenRequestStatus""",
    "authentication.v1.TokenRequestSpec": """
        1:audiences:[]string 4:expirationSeconds:int64 3:boundObjectRef:BoundObjectReference""",
    "authentication.v1.TokenRequestStatus": """1:token:string 2:expirationTimestamp:meta.v1.Time""",
    "authentication.v1.TokenReview": """
        1:metadata:meta.v1.ObjectMeta 2:spec:TokenReviewSpec 3:status:TokenReviewStatus""",
    "authentication.v1.TokenReviewSpec": """1:token:string? 2:audiences:[]string""",
    "authentication.v1.TokenReviewStatus": """
        1:authenticated:bool? 2:user:UserInfo 4:audiences:[]string 3:error:string?""",
    "authentication.v1.UserInfo": """
        1:username:string? 2:uid:string? 3:groups:[]string 4:extra:{}ExtraValue""",
    "authorization.v1.ExtraValue": """1:items:[]string""",
    "authorization.v1.FieldSelectorAttributes": """
        1:rawSelector:string? 2:requirements:[]meta.v1.FieldSelectorRequirement""",
    "authorization.v1.LabelSelectorAttributes": """
        1:rawSelector:string? 2:requirements:[]meta.v1.LabelSelectorRequirement""",
    "authorization.v1.LocalSubjectAccessReview": """
        1:metadata:meta.v1.ObjectMeta 2:spec:SubjectAccessReviewSpec 3:status:SubjectAccessReviewStatus""",
    "authorization.v1.NonResourceAttributes": """1:path:string? 2:verb:string?""",
    "authorization.v1.NonResourceRule": """1:verbs:[]string 2:nonResourceURLs:[]string""",
    "authorization.v1.ResourceAttributes": """
        1:namespace:string? 2:verb:string? 3:group:string? 4:version:string? 5:resource:string?
        6:subresource:string? 7:name:string? 8:fieldSelector:FieldSelectorAttributes
        9:labelSelector:LabelSelectorAttributes""",
    "authorization.v1.ResourceRule": """
        1:verbs:[]string 2:apiGroups:[]string 3:resources:[]string 4:resourceNames:[]string""",
    "authorization.v1.SelfSubjectAccessReview": """
        1:metadata:meta.v1.ObjectMeta 2:spec:SelfSubjectAccessReviewSpec 3:status:SubjectAccessReviewStatus""",
    "authorization.v1.SelfSubjectAccessReviewSpec": """
        1:resourceAttributes:ResourceAttributes 2:nonResourceAttributes:NonResourceAttributes""",
    "authorization.v1.SelfSubjectRulesReview": """
        1:metadata:meta.v1.ObjectMeta 2:spec:SelfSubjectRulesReviewSpec 3:status:SubjectRulesReviewStatus""",
    "authorization.v1.SelfSubjectRulesReviewSpec": """1:namespace:string?""",
    "authorization.v1.SubjectAccessReview": """
        1:metadata:meta.v1.ObjectMeta 2:spec:SubjectAccessReviewSpec 3:status:SubjectAccessReviewStatus""",
    "authorization.v1.SubjectAccessReviewSpec": """
        1:resourceAttributes:ResourceAttributes 2:nonResourceAttributes:NonResourceAttributes 3:user:string?
        4:groups:[]string 5:extra:{}ExtraValue 6:uid:string?""",
    "authorization.v1.SubjectAccessReviewStatus": """
        1:allowed:bool 4:denied:bool? 2:reason:string? 3:evaluationError:string?""",
    "authorization.v1.SubjectRulesReviewStatus": """
        1:resourceRules:[]ResourceRule 2:nonResourceRules:[]NonResourceRule 3:incomplete:bool
        4:evaluationError:string?""",
    "autoscaling.v1.Scale": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ScaleSpec 3:status:ScaleStatus""",
    "autoscaling.v1.ScaleSpec": """1:replicas:int32?""",
    "autoscaling.v1.ScaleStatus": """1:replicas:int32 2:selector:string?""",
    "autoscaling.v2.ContainerResourceMetricSource": """
        1:name:string 2:target:MetricTarget 3:container:string""",
    "autoscaling.v2.ContainerResourceMetricStatus": """
        1:name:string 2:current:MetricValueStatus 3:container:string""",
    "autoscaling.v2.CrossVersionObjectReference": """1:kind:string 2:name:string 3:apiVersion:string?""",
    "autoscaling.v2.ExternalMetricSource": """1:metric:MetricIdentifier 2:target:MetricTarget""",
    "autoscaling.v2.ExternalMetricStatus": """
        1:metric:MetricIdentifier 2:current:MetricValueStatus""",
    "autoscaling.v2.HPAScalingPolicy": """1:type:string 2:value:int32 3:periodSeconds:int32""",
    "autoscaling.v2.HPAScalingRules": """
        3:stabilizationWindowSeconds:int32 1:selectPolicy:string 2:policies:[]HPAScalingPolicy
        4:tolerance:resource.Quantity""",
    "autoscaling.v2.HorizontalPodAutoscaler": """
        1:metadata:meta.v1.ObjectMeta 2:spec:HorizontalPodAutoscalerSpec 3:status:HorizontalPodAutoscalerStatus""",
    "autoscaling.v2.HorizontalPodAutoscalerBehavior": """
        1:scaleUp:HPAScalingRules 2:scaleDown:HPAScalingRules""",
    "autoscaling.v2.HorizontalPodAutoscalerCondition": """
        1:type:string 2:status:string 3:lastTransitionTime:meta.v1.Time 4:reason:string? 5:message:string?""",
    "autoscaling.v2.HorizontalPodAutoscalerSpec": """
        1:scaleTargetRef:CrossVersionObjectReference 2:minReplicas:int32 3:maxReplicas:int32 4:metrics:[]MetricSpec
        5:behavior:HorizontalPodAutoscalerBehavior""",
    "autoscaling.v2.HorizontalPodAutoscalerStatus": """
        1:observedGeneration:int64 2:lastScaleTime:meta.v1.Time 3:currentReplicas:int32? 4:desiredReplicas:int32
        5:currentMetrics:[]MetricStatus 6:conditions:[]HorizontalPodAutoscalerCondition""",
    "autoscaling.v2.MetricIdentifier": """1:name:string 2:selector:meta.v1.LabelSelector""",
    "autoscaling.v2.MetricSpec": """
        1:type:string 2:object:ObjectMetricSource 3:pods:PodsMetricSource 4:resource:ResourceMetricSource
        7:containerResource:ContainerResourceMetricSource 5:external:ExternalMetricSource""",
    "autoscaling.v2.MetricStatus": """
        1:type:string 2:object:ObjectMetricStatus 3:pods:PodsMetricStatus 4:resource:ResourceMetricStatus
        7:containerResource:ContainerResourceMetricStatus 5:external:ExternalMetricStatus""",
    "autoscaling.v2.MetricTarget": """
        1:type:string 2:value:resource.Quantity 3:averageValue:resource.Quantity 4:averageUtilization:int32""",
    "autoscaling.v2.MetricValueStatus": """
        1:value:resource.Quantity 2:averageValue:resource.Quantity 3:averageUtilization:int32""",
    "autoscaling.v2.ObjectMetricSource": """
        1:describedObject:CrossVersionObjectReference 2:target:MetricTarget 3:metric:MetricIdentifier""",
    "autoscaling.v2.ObjectMetricStatus": """
        1:metric:MetricIdentifier 2:current:MetricValueStatus 3:describedObject:CrossVersionObjectReference""",
    "autoscaling.v2.PodsMetricSource": """1:metric:MetricIdentifier 2:target:MetricTarget""",
    "autoscaling.v2.PodsMetricStatus": """
        1:metric:MetricIdentifier 2:current:MetricValueStatus""",
    "autoscaling.v2.ResourceMetricSource": """1:name:string 2:target:MetricTarget""",
    "autoscaling.v2.ResourceMetricStatus": """1:name:string 2:current:MetricValueStatus""",
    "batch.v1.CronJob": """
        1:metadata:meta.v1.ObjectMeta 2:spec:CronJobSpec 3:status:CronJobStatus""",
    "batch.v1.CronJobSpec": """
        1:schedule:string 8:timeZone:string 2:startingDeadlineSeconds:int64 3:concurrencyPolicy:string?
        4:suspend:bool 5:jobTemplate:JobTemplateSpec 6:successfulJobsHistoryLimit:int32
        7:failedJobsHistoryLimit:int32""",
    "batch.v1.CronJobStatus": """
        1:active:[]core.v1.ObjectReference 4:lastScheduleTime:meta.v1.Time 5:lastSuccessfulTime:meta.v1.Time""",
    "batch.v1.Job": """
        1:metadata:meta.v1.ObjectMeta 2:spec:JobSpec 3:status:JobStatus""",
    "batch.v1.JobCondition": """
        1:type:string 2:status:string 3:lastProbeTime:meta.v1.Time 4:lastTransitionTime:meta.v1.Time
        5:reason:string? 6:message:string?""",
    "batch.v1.JobSpec": """
        1:parallelism:int32 2:completions:int32 3:activeDeadlineSeconds:int64 11:podFailurePolicy:PodFailurePolicy
        16:successPolicy:SuccessPolicy 7:backoffLimit:int32 12:backoffLimitPerIndex:int32 13:maxFailedIndexes:int32
        4:selector:meta.v1.LabelSelector 5:manualSelector:bool 6:template:core.v1.PodTemplateSpec
        8:ttlSecondsAfterFinished:int32 9:completionMode:string 10:suspend:bool 14:podReplacementPolicy:string
        15:managedBy:string""",
    "batch.v1.JobStatus": """
        1:conditions:[]JobCondition 2:startTime:meta.v1.Time 3:completionTime:meta.v1.Time 4:active:int32?
        5:succeeded:int32? 6:failed:int32? 11:terminating:int32 7:completedIndexes:string? 10:failedIndexes:string
        8:uncountedTerminatedPods:UncountedTerminatedPods 9:ready:int32""",
    "batch.v1.JobTemplateSpec": """1:metadata:meta.v1.ObjectMeta 2:spec:JobSpec""",
    "batch.v1.PodFailurePolicy": """1:rules:[]PodFailurePolicyRule""",
    "batch.v1.PodFailurePolicyOnExitCodesRequirement": """
        1:containerName:string 2:operator:string 3:values:[]int32""",
    "batch.v1.PodFailurePolicyOnPodConditionsPattern": """1:type:string 2:status:string""",
    "batch.v1.PodFailurePolicyRule": """
        1:action:string 2:onExitCodes:PodFailurePolicyOnExitCodesRequirement
        3:onPodConditions:[]PodFailurePolicyOnPodConditionsPattern""",
    "batch.v1.SuccessPolicy": """1:rules:[]SuccessPolicyRule""",
    "batch.v1.SuccessPolicyRule": """1:succeededIndexes:string 2:succeededCount:int32""",
    "batch.v1.UncountedTerminatedPods": """1:succeeded:[]string 2:failed:[]string""",
    "certificates.v1.CertificateSigningRequest": """
        1:metadata:meta.v1.ObjectMeta 2:spec:CertificateSigningRequestSpec 3:status:CertificateSigningRequestStatus""",
    "certificates.v1.CertificateSigningRequestCondition": """
        1:type:string 6:status:string 2:reason:string? 3:message:string? 4:lastUpdateTime:meta.v1.Time
        5:lastTransitionTime:meta.v1.Time""",
    "certificates.v1.CertificateSigningRequestSpec": """
        1:request:bytes 7:signerName:string 8:expirationSeconds:int32 5:usages:[]string 2:username:string?
        3:uid:string? 4:groups:[]string 6:extra:{}ExtraValue""",
    "certificates.v1.CertificateSigningRequestStatus": """
        1:conditions:[]CertificateSigningRequestCondition 2:certificate:bytes?""",
    "certificates.v1.ExtraValue": """1:items:[]string""",
    "coordination.v1.Lease": """1:metadata:meta.v1.ObjectMeta 2:spec:LeaseSpec""",
    "coordination.v1.LeaseSpec": """
        1:holderIdentity:string 2:leaseDurationSeconds:int32 3:acquireTime:meta.v1.MicroTime
        4:renewTime:meta.v1.MicroTime 5:leaseTransitions:int32 6:strategy:string 7:preferredHolder:string""",
    "core.v1.AWSElasticBlockStoreVolumeSource": """
        1:volumeID:string 2:fsType:string? 3:partition:int32? 4:readOnly:bool?""",
    "core.v1.Affinity": """
        1:nodeAffinity:NodeAffinity 2:podAffinity:PodAffinity 3:podAntiAffinity:PodAntiAffinity""",
    "core.v1.AppArmorProfile": """1:type:string 2:localhostProfile:string""",
    "core.v1.AttachedVolume": """1:name:string 2:devicePath:string""",
    "core.v1.AzureDiskVolumeSource": """
        1:diskName:string 2:diskURI:string 3:cachingMode:string 4:fsType:string 5:readOnly:bool 6:kind:string""",
    "core.v1.AzureFilePersistentVolumeSource": """
        1:secretName:string 2:shareName:string 3:readOnly:bool? 4:secretNamespace:string""",
    "core.v1.AzureFileVolumeSource": """
        1:secretName:string 2:shareName:string 3:readOnly:bool?""",
    "core.v1.Binding": """
        1:metadata:meta.v1.ObjectMeta 2:target:ObjectReference""",
    "core.v1.CSIPersistentVolumeSource": """
        1:driver:string 2:volumeHandle:string 3:readOnly:bool? 4:fsType:string? 5:volumeAttributes:{}string
        6:controllerPublishSecretRef:SecretReference 7:nodeStageSecretRef:SecretReference
        8:nodePublishSecretRef:SecretReference 9:controllerExpandSecretRef:SecretReference
        10:nodeExpandSecretRef:SecretReference""",
    "core.v1.CSIVolumeSource": """
        1:driver:string 2:readOnly:bool 3:fsType:string 4:volumeAttributes:{}string
        5:nodePublishSecretRef:LocalObjectReference""",
    "core.v1.Capabilities": """1:add:[]string 2:drop:[]string""",
    "core.v1.CephFSPersistentVolumeSource": """
        1:monitors:[]string 2:path:string? 3:user:string? 4:secretFile:string? 5:secretRef:SecretReference
        6:readOnly:bool?""",
    "core.v1.CephFSVolumeSource": """
        1:monitors:[]string 2:path:string? 3:user:string? 4:secretFile:string? 5:secretRef:LocalObjectReference
        6:readOnly:bool?""",
    "core.v1.CinderPersistentVolumeSource": """
        1:volumeID:string 2:fsType:string? 3:readOnly:bool? 4:secretRef:SecretReference""",
    "core.v1.CinderVolumeSource": """
        1:volumeID:string 2:fsType:string? 3:readOnly:bool? 4:secretRef:LocalObjectReference""",
    "core.v1.ClientIPConfig": """1:timeoutSeconds:int32""",
    "core.v1.ClusterTrustBundleProjection": """
        1:name:string 2:signerName:string 3:labelSelector:meta.v1.LabelSelector 5:optional:bool 4:path:string""",
    "core.v1.ComponentCondition": """
        1:type:string 2:status:string 3:message:string? 4:error:string?""",
    "core.v1.ComponentStatus": """
        1:metadata:meta.v1.ObjectMeta 2:conditions:[]ComponentCondition""",
    "core.v1.ConfigMap": """
        1:metadata:meta.v1.ObjectMeta 4:immutable:bool 2:data:{}string 3:binaryData:{}bytes""",
    "core.v1.ConfigMapEnvSource": """1::LocalObjectReference 2:optional:bool""",
    "core.v1.ConfigMapKeySelector": """
        1::LocalObjectReference 2:key:string 3:optional:bool""",
    "core.v1.ConfigMapNodeConfigSource": """
        1:namespace:string 2:name:string 3:uid:string? 4:resourceVersion:string? 5:kubeletConfigKey:string""",
    "core.v1.ConfigMapProjection": """
        1::LocalObjectReference 2:items:[]KeyToPath 4:optional:bool""",
    "core.v1.ConfigMapVolumeSource": """
        1::LocalObjectReference 2:items:[]KeyToPath 3:defaultMode:int32 4:optional:bool""",
    "core.v1.Container": """
        1:name:string 2:image:string? 3:command:[]string 4:args:[]string 5:workingDir:string?
        6:ports:[]ContainerPort 19:envFrom:[]EnvFromSource 7:env:[]EnvVar 8:resources:ResourceRequirements
        23:resizePolicy:[]ContainerResizePolicy 24:restartPolicy:string 25:restartPolicyRules:[]ContainerRestartRule
        9:volumeMounts:[]VolumeMount 21:volumeDevices:[]VolumeDevice 10:livenessProbe:Probe 11:readinessProbe:Probe
        22:startupProbe:Probe 12:lifecycle:Lifecycle 13:terminationMessagePath:string?
        20:terminationMessagePolicy:string? 14:imagePullPolicy:string? 15:securityContext:SecurityContext
        16:stdin:bool? 17:stdinOnce:bool? 18:tty:bool?""",
    "core.v1.ContainerExtendedResourceRequest": """
        1:containerName:string 2:resourceName:string 3:requestName:string""",
    "core.v1.ContainerImage": """1:names:[]string 2:sizeBytes:int64?""",
    "core.v1.ContainerPort": """
        1:name:string? 2:hostPort:int32? 3:containerPort:int32 4:protocol:string? 5:hostIP:string?""",
    "core.v1.ContainerResizePolicy": """1:resourceName:string 2:restartPolicy:string""",
    "core.v1.ContainerRestartRule": """
        1:action:string? 2:exitCodes:ContainerRestartRuleOnExitCodes""",
    "core.v1.ContainerRestartRuleOnExitCodes": """1:operator:string? 2:values:[]int32""",
    "core.v1.ContainerState": """
        1:waiting:ContainerStateWaiting 2:running:ContainerStateRunning 3:terminated:ContainerStateTerminated""",
    "core.v1.ContainerStateRunning": """1:startedAt:meta.v1.Time""",
    "core.v1.ContainerStateTerminated": """
        1:exitCode:int32 2:signal:int32? 3:reason:string? 4:message:string? 5:startedAt:meta.v1.Time
        6:finishedAt:meta.v1.Time 7:containerID:string?""",
    "core.v1.ContainerStateWaiting": """1:reason:string? 2:message:string?""",
    "core.v1.ContainerStatus": """
        1:name:string 2:state:ContainerState 3:lastState:ContainerState 4:ready:bool 5:restartCount:int32
        6:image:string 7:imageID:string 8:containerID:string? 9:started:bool
        10:allocatedResources:{}resource.Quantity 11:resources:ResourceRequirements
        12:volumeMounts:[]VolumeMountStatus 13:user:ContainerUser 14:allocatedResourcesStatus:[]ResourceStatus
        15:stopSignal:string""",
    "core.v1.ContainerUser": """1:linux:LinuxContainerUser""",
    "core.v1.DaemonEndpoint": """1:Port:int32""",
    "core.v1.DownwardAPIProjection": """1:items:[]DownwardAPIVolumeFile""",
    "core.v1.DownwardAPIVolumeFile": """
        1:path:string 2:fieldRef:ObjectFieldSelector 3:resourceFieldRef:ResourceFieldSelector 4:mode:int32""",
    "core.v1.DownwardAPIVolumeSource": """
        1:items:[]DownwardAPIVolumeFile 2:defaultMode:int32""",
    "core.v1.EmptyDirVolumeSource": """1:medium:string? 2:sizeLimit:resource.Quantity""",
    "core.v1.EndpointAddress": """
        1:ip:string 3:hostname:string? 4:nodeName:string 2:targetRef:ObjectReference""",
    "core.v1.EndpointPort": """
        1:name:string? 2:port:int32 3:protocol:string? 4:appProtocol:string""",
    "core.v1.EndpointSubset": """
        1:addresses:[]EndpointAddress 2:notReadyAddresses:[]EndpointAddress 3:ports:[]EndpointPort""",
    "core.v1.Endpoints": """
        1:metadata:meta.v1.ObjectMeta 2:subsets:[]EndpointSubset""",
    "core.v1.EnvFromSource": """
        1:prefix:string? 2:configMapRef:ConfigMapEnvSource 3:secretRef:SecretEnvSource""",
    "core.v1.EnvVar": """
        1:name:string 2:value:string? 3:valueFrom:EnvVarSource""",
    "core.v1.EnvVarSource": """
        1:fieldRef:ObjectFieldSelector 2:resourceFieldRef:ResourceFieldSelector
        3:configMapKeyRef:ConfigMapKeySelector 4:secretKeyRef:SecretKeySelector 5:fileKeyRef:FileKeySelector""",
    "core.v1.EphemeralContainer": """
        1::EphemeralContainerCommon 2:targetContainerName:string?""",
    "core.v1.EphemeralContainerCommon": """
        1:name:string 2:image:string? 3:command:[]string 4:args:[]string 5:workingDir:string?
        6:ports:[]ContainerPort 19:envFrom:[]EnvFromSource 7:env:[]EnvVar 8:resources:ResourceRequirements
        23:resizePolicy:[]ContainerResizePolicy 24:restartPolicy:string 25:restartPolicyRules:[]ContainerRestartRule
        9:volumeMounts:[]VolumeMount 21:volumeDevices:[]VolumeDevice 10:livenessProbe:Probe 11:readinessProbe:Probe
        22:startupProbe:Probe 12:lifecycle:Lifecycle 13:terminationMessagePath:string?
        20:terminationMessagePolicy:string? 14:imagePullPolicy:string? 15:securityContext:SecurityContext
        16:stdin:bool? 17:stdinOnce:bool? 18:tty:bool?""",
    "core.v1.EphemeralVolumeSource": """
        1:volumeClaimTemplate:PersistentVolumeClaimTemplate""",
    "core.v1.Event": """
        1:metadata:meta.v1.ObjectMeta 2:involvedObject:ObjectReference 3:reason:string? 4:message:string?
        5:source:EventSource 6:firstTimestamp:meta.v1.Time 7:lastTimestamp:meta.v1.Time 8:count:int32?
        9:type:string? 10:eventTime:meta.v1.MicroTime 11:series:EventSeries 12:action:string?
        13:related:ObjectReference 14:reportingComponent:string 15:reportingInstance:string""",
    "core.v1.EventSeries": """
        1:count:int32? 2:lastObservedTime:meta.v1.MicroTime""",
    "core.v1.EventSource": """1:component:string? 2:host:string?""",
    "core.v1.ExecAction": """1:command:[]string""",
    "core.v1.FCVolumeSource": """
        1:targetWWNs:[]string 2:lun:int32 3:fsType:string? 4:readOnly:bool? 5:wwids:[]string""",
    "core.v1.FileKeySelector": """
        1:volumeName:string 2:path:string 3:key:string 4:optional:bool""",
    "core.v1.FlexPersistentVolumeSource": """
        1:driver:string 2:fsType:string? 3:secretRef:SecretReference 4:readOnly:bool? 5:options:{}string""",
    "core.v1.FlexVolumeSource": """
        1:driver:string 2:fsType:string? 3:secretRef:LocalObjectReference 4:readOnly:bool? 5:options:{}string""",
    "core.v1.FlockerVolumeSource": """1:datasetName:string? 2:datasetUUID:string?""",
    "core.v1.GCEPersistentDiskVolumeSource": """
        1:pdName:string 2:fsType:string? 3:partition:int32? 4:readOnly:bool?""",
    "core.v1.GRPCAction": """1:port:int32 2:service:string""",
    "core.v1.GitRepoVolumeSource": """
        1:repository:string 2:revision:string? 3:directory:string?""",
    "core.v1.GlusterfsPersistentVolumeSource": """
        1:endpoints:string 2:path:string 3:readOnly:bool? 4:endpointsNamespace:string""",
    "core.v1.GlusterfsVolumeSource": """1:endpoints:string 2:path:string 3:readOnly:bool?""",
    "core.v1.HTTPGetAction": """
        1:path:string? 2:port:intstr.IntOrString 3:host:string? 4:scheme:string? 5:httpHeaders:[]HTTPHeader""",
    "core.v1.HTTPHeader": """1:name:string 2:value:string""",
    "core.v1.HostAlias": """1:ip:string 2:hostnames:[]string""",
    "core.v1.HostIP": """1:ip:string""",
    "core.v1.HostPathVolumeSource": """1:path:string 2:type:string""",
    "core.v1.ISCSIPersistentVolumeSource": """
        1:targetPortal:string 2:iqn:string 3:lun:int32 4:iscsiInterface:string? 5:fsType:string? 6:readOnly:bool?
        7:portals:[]string 8:chapAuthDiscovery:bool? 11:chapAuthSession:bool? 10:secretRef:SecretReference
        12:initiatorName:string""",
    "core.v1.ISCSIVolumeSource": """
        1:targetPortal:string 2:iqn:string 3:lun:int32 4:iscsiInterface:string? 5:fsType:string? 6:readOnly:bool?
        7:portals:[]string 8:chapAuthDiscovery:bool? 11:chapAuthSession:bool? 10:secretRef:LocalObjectReference
        12:initiatorName:string""",
    "core.v1.ImageVolumeSource": """1:reference:string? 2:pullPolicy:string?""",
    "core.v1.ImageVolumeStatus": """1:imageRef:string?""",
    "core.v1.KeyToPath": """1:key:string 2:path:string 3:mode:int32""",
    "core.v1.Lifecycle": """
        1:postStart:LifecycleHandler 2:preStop:LifecycleHandler 3:stopSignal:string""",
    "core.v1.LifecycleHandler": """
        1:exec:ExecAction 2:httpGet:HTTPGetAction 3:tcpSocket:TCPSocketAction 4:sleep:SleepAction""",
    "core.v1.LimitRange": """
        1:metadata:meta.v1.ObjectMeta 2:spec:LimitRangeSpec""",
    "core.v1.LimitRangeItem": """
        1:type:string 2:max:{}resource.Quantity 3:min:{}resource.Quantity 4:default:{}resource.Quantity
        5:defaultRequest:{}resource.Quantity 6:maxLimitRequestRatio:{}resource.Quantity""",
    "core.v1.LimitRangeSpec": """1:limits:[]LimitRangeItem""",
    "core.v1.LinuxContainerUser": """
        1:uid:int64 2:gid:int64 3:supplementalGroups:[]int64""",
    "core.v1.LoadBalancerIngress": """
        1:ip:string? 2:hostname:string? 3:ipMode:string 4:ports:[]PortStatus""",
    "core.v1.LoadBalancerStatus": """1:ingress:[]LoadBalancerIngress""",
    "core.v1.LocalObjectReference": """1:name:string?""",
    "core.v1.LocalVolumeSource": """1:path:string 2:fsType:string""",
    "core.v1.ModifyVolumeStatus": """
        1:targetVolumeAttributesClassName:string? 2:status:string""",
    "core.v1.NFSVolumeSource": """1:server:string 2:path:string 3:readOnly:bool?""",
    "core.v1.Namespace": """
        1:metadata:meta.v1.ObjectMeta 2:spec:NamespaceSpec 3:status:NamespaceStatus""",
    "core.v1.NamespaceCondition": """
        1:type:string 2:status:string 4:lastTransitionTime:meta.v1.Time 5:reason:string? 6:message:string?""",
    "core.v1.NamespaceSpec": """1:finalizers:[]string""",
    "core.v1.NamespaceStatus": """1:phase:string? 2:conditions:[]NamespaceCondition""",
    "core.v1.Node": """
        1:metadata:meta.v1.ObjectMeta 2:spec:NodeSpec 3:status:NodeStatus""",
    "core.v1.NodeAddress": """1:type:string 2:address:string""",
    "core.v1.NodeAffinity": """
        1:requiredDuringSchedulingIgnoredDuringExecution:NodeSelector
        2:preferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm""",
    "core.v1.NodeAllocatableResourceClaimStatus": """
        1:resourceClaimName:string 2:containers:[]string 3:resources:{}resource.Quantity""",
    "core.v1.NodeCondition": """
        1:type:string 2:status:string 3:lastHeartbeatTime:meta.v1.Time 4:lastTransitionTime:meta.v1.Time
        5:reason:string? 6:message:string?""",
    "core.v1.NodeConfigSource": """2:configMap:ConfigMapNodeConfigSource""",
    "core.v1.NodeConfigStatus": """
        1:assigned:NodeConfigSource 2:active:NodeConfigSource 3:lastKnownGood:NodeConfigSource 4:error:string?""",
    "core.v1.NodeDaemonEndpoints": """1:kubeletEndpoint:DaemonEndpoint""",
    "core.v1.NodeFeatures": """1:supplementalGroupsPolicy:bool""",
    "core.v1.NodeRuntimeHandler": """
        1:name:string 2:features:NodeRuntimeHandlerFeatures""",
    "core.v1.NodeRuntimeHandlerFeatures": """
        1:recursiveReadOnlyMounts:bool 2:userNamespaces:bool""",
    "core.v1.NodeSelector": """1:nodeSelectorTerms:[]NodeSelectorTerm""",
    "core.v1.NodeSelectorRequirement": """1:key:string 2:operator:string 3:values:[]string""",
    "core.v1.NodeSelectorTerm": """
        1:matchExpressions:[]NodeSelectorRequirement 2:matchFields:[]NodeSelectorRequirement""",
    "core.v1.NodeSpec": """
        1:podCIDR:string? 7:podCIDRs:[]string 3:providerID:string? 4:unschedulable:bool? 5:taints:[]Taint
        6:configSource:NodeConfigSource 2:externalID:string?""",
    "core.v1.NodeStatus": """
        1:capacity:{}resource.Quantity 2:allocatable:{}resource.Quantity 3:phase:string?
        4:conditions:[]NodeCondition 5:addresses:[]NodeAddress 6:daemonEndpoints:NodeDaemonEndpoints
        7:nodeInfo:NodeSystemInfo 8:images:[]ContainerImage 9:volumesInUse:[]string
        10:volumesAttached:[]AttachedVolume 11:config:NodeConfigStatus 12:runtimeHandlers:[]NodeRuntimeHandler
        13:features:NodeFeatures 14:declaredFeatures:[]string""",
    "core.v1.NodeSwapStatus": """1:capacity:int64""",
    "core.v1.NodeSystemInfo": """
        1:machineID:string 2:systemUUID:string 3:bootID:string 4:kernelVersion:string 5:osImage:string
        6:containerRuntimeVersion:string 7:kubeletVersion:string 8:kubeProxyVersion:string 9:operatingSystem:string
        10:architecture:string 11:swap:NodeSwapStatus""",
    "core.v1.ObjectFieldSelector": """1:apiVersion:string? 2:fieldPath:string""",
    "core.v1.ObjectReference": """
        1:kind:string? 2:namespace:string? 3:name:string? 4:uid:string? 5:apiVersion:string?
        6:resourceVersion:string? 7:fieldPath:string?""",
    "core.v1.PersistentVolume": """
        1:metadata:meta.v1.ObjectMeta 2:spec:PersistentVolumeSpec 3:status:PersistentVolumeStatus""",
    "core.v1.PersistentVolumeClaim": """
        1:metadata:meta.v1.ObjectMeta 2:spec:PersistentVolumeClaimSpec 3:status:PersistentVolumeClaimStatus""",
    "core.v1.PersistentVolumeClaimCondition": """
        1:type:string 2:status:string 3:lastProbeTime:meta.v1.Time 4:lastTransitionTime:meta.v1.Time
        5:reason:string? 6:message:string?""",
    "core.v1.PersistentVolumeClaimSpec": """
        1:accessModes:[]string 4:selector:meta.v1.LabelSelector 2:resources:VolumeResourceRequirements
        3:volumeName:string? 5:storageClassName:string 6:volumeMode:string 7:dataSource:TypedLocalObjectReference
        8:dataSourceRef:TypedObjectReference 9:volumeAttributesClassName:string""",
    "core.v1.PersistentVolumeClaimStatus": """
        1:phase:string? 2:accessModes:[]string 3:capacity:{}resource.Quantity
        4:conditions:[]PersistentVolumeClaimCondition 5:allocatedResources:{}resource.Quantity
        7:allocatedResourceStatuses:{}string 8:currentVolumeAttributesClassName:string
        9:modifyVolumeStatus:ModifyVolumeStatus""",
    "core.v1.PersistentVolumeClaimTemplate": """
        1:metadata:meta.v1.ObjectMeta 2:spec:PersistentVolumeClaimSpec""",
    "core.v1.PersistentVolumeClaimVolumeSource": """1:claimName:string 2:readOnly:bool?""",
    "core.v1.PersistentVolumeSource": """
        1:gcePersistentDisk:GCEPersistentDiskVolumeSource 2:awsElasticBlockStore:AWSElasticBlockStoreVolumeSource
        3:hostPath:HostPathVolumeSource 4:glusterfs:GlusterfsPersistentVolumeSource 5:nfs:NFSVolumeSource
        6:rbd:RBDPersistentVolumeSource 7:iscsi:ISCSIPersistentVolumeSource 8:cinder:CinderPersistentVolumeSource
        9:cephfs:CephFSPersistentVolumeSource 10:fc:FCVolumeSource 11:flocker:FlockerVolumeSource
        12:flexVolume:FlexPersistentVolumeSource 13:azureFile:AzureFilePersistentVolumeSource
        14:vsphereVolume:VsphereVirtualDiskVolumeSource 15:quobyte:QuobyteVolumeSource
        16:azureDisk:AzureDiskVolumeSource 17:photonPersistentDisk:PhotonPersistentDiskVolumeSource
        18:portworxVolume:PortworxVolumeSource 19:scaleIO:ScaleIOPersistentVolumeSource 20:local:LocalVolumeSource
        21:storageos:StorageOSPersistentVolumeSource 22:csi:CSIPersistentVolumeSource""",
    "core.v1.PersistentVolumeSpec": """
        1:capacity:{}resource.Quantity 2::PersistentVolumeSource 3:accessModes:[]string 4:claimRef:ObjectReference
        5:persistentVolumeReclaimPolicy:string? 6:storageClassName:string? 7:mountOptions:[]string
        8:volumeMode:string 9:nodeAffinity:VolumeNodeAffinity 10:volumeAttributesClassName:string""",
    "core.v1.PersistentVolumeStatus": """
        1:phase:string? 2:message:string? 3:reason:string? 4:lastPhaseTransitionTime:meta.v1.Time""",
    "core.v1.PhotonPersistentDiskVolumeSource": """1:pdID:string 2:fsType:string?""",
    "core.v1.Pod": """
        1:metadata:meta.v1.ObjectMeta 2:spec:PodSpec 3:status:PodStatus""",
    "core.v1.PodAffinity": """
        1:requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
        2:preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm""",
    "core.v1.PodAffinityTerm": """
        1:labelSelector:meta.v1.LabelSelector 2:namespaces:[]string 3:topologyKey:string
        4:namespaceSelector:meta.v1.LabelSelector 5:matchLabelKeys:[]string 6:mismatchLabelKeys:[]string""",
    "core.v1.PodAntiAffinity": """
        1:requiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
        2:preferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm""",
    "core.v1.PodCertificateProjection": """
        1:signerName:string? 2:keyType:string? 3:maxExpirationSeconds:int32 4:credentialBundlePath:string?
        5:keyPath:string? 6:certificateChainPath:string? 7:userAnnotations:{}string""",
    "core.v1.PodCondition": """
        1:type:string 7:observedGeneration:int64? 2:status:string 3:lastProbeTime:meta.v1.Time
        4:lastTransitionTime:meta.v1.Time 5:reason:string? 6:message:string?""",
    "core.v1.PodDNSConfig": """
        1:nameservers:[]string 2:searches:[]string 3:options:[]PodDNSConfigOption""",
    "core.v1.PodDNSConfigOption": """1:name:string? 2:value:string""",
    "core.v1.PodExtendedResourceClaimStatus": """
        1:requestMappings:[]ContainerExtendedResourceRequest 2:resourceClaimName:string""",
    "core.v1.PodIP": """1:ip:string""",
    "core.v1.PodOS": """1:name:string""",
    "core.v1.PodReadinessGate": """1:conditionType:string""",
    "core.v1.PodResourceClaim": """
        1:name:string 3:resourceClaimName:string 4:resourceClaimTemplateName:string""",
    "core.v1.PodResourceClaimStatus": """1:name:string 2:resourceClaimName:string""",
    "core.v1.PodSchedulingGate": """1:name:string""",
    "core.v1.PodSchedulingGroup": """1:podGroupName:string""",
    "core.v1.PodSecurityContext": """
        1:seLinuxOptions:SELinuxOptions 8:windowsOptions:WindowsSecurityContextOptions 2:runAsUser:int64
        6:runAsGroup:int64 3:runAsNonRoot:bool 4:supplementalGroups:[]int64 12:supplementalGroupsPolicy:string
        5:fsGroup:int64 7:sysctls:[]Sysctl 9:fsGroupChangePolicy:string 10:seccompProfile:SeccompProfile
        11:appArmorProfile:AppArmorProfile 13:seLinuxChangePolicy:string""",
    "core.v1.PodSpec": """
        1:volumes:[]Volume 20:initContainers:[]Container 2:containers:[]Container
        34:ephemeralContainers:[]EphemeralContainer 3:restartPolicy:string? 4:terminationGracePeriodSeconds:int64
        5:activeDeadlineSeconds:int64 6:dnsPolicy:string? 7:nodeSelector:{}string 8:serviceAccountName:string?
        9:serviceAccount:string? 21:automountServiceAccountToken:bool 10:nodeName:string? 11:hostNetwork:bool?
        12:hostPID:bool? 13:hostIPC:bool? 27:shareProcessNamespace:bool 14:securityContext:PodSecurityContext
        15:imagePullSecrets:[]LocalObjectReference 16:hostname:string? 17:subdomain:string? 18:affinity:Affinity
        19:schedulerName:string? 22:tolerations:[]Toleration 23:hostAliases:[]HostAlias 24:priorityClassName:string?
        25:priority:int32 26:dnsConfig:PodDNSConfig 28:readinessGates:[]PodReadinessGate 29:runtimeClassName:string
        30:enableServiceLinks:bool 31:preemptionPolicy:string 32:overhead:{}resource.Quantity
        33:topologySpreadConstraints:[]TopologySpreadConstraint 35:setHostnameAsFQDN:bool 36:os:PodOS
        37:hostUsers:bool 38:schedulingGates:[]PodSchedulingGate 39:resourceClaims:[]PodResourceClaim
        40:resources:ResourceRequirements 41:hostnameOverride:string 43:schedulingGroup:PodSchedulingGroup""",
    "core.v1.PodStatus": """
        17:observedGeneration:int64? 1:phase:string? 2:conditions:[]PodCondition 3:message:string? 4:reason:string?
        11:nominatedNodeName:string? 5:hostIP:string? 16:hostIPs:[]HostIP 6:podIP:string? 12:podIPs:[]PodIP
        7:startTime:meta.v1.Time 10:initContainerStatuses:[]ContainerStatus 8:containerStatuses:[]ContainerStatus
        9:qosClass:string? 13:ephemeralContainerStatuses:[]ContainerStatus 14:resize:string?
        15:resourceClaimStatuses:[]PodResourceClaimStatus
        18:extendedResourceClaimStatus:PodExtendedResourceClaimStatus 19:allocatedResources:{}resource.Quantity
        20:resources:ResourceRequirements
        21:nodeAllocatableResourceClaimStatuses:[]NodeAllocatableResourceClaimStatus""",
    "core.v1.PodTemplate": """
        1:metadata:meta.v1.ObjectMeta 2:template:PodTemplateSpec""",
    "core.v1.PodTemplateSpec": """1:metadata:meta.v1.ObjectMeta 2:spec:PodSpec""",
    "core.v1.PortStatus": """1:port:int32 2:protocol:string 3:error:string""",
    "core.v1.PortworxVolumeSource": """
        1:volumeID:string 2:fsType:string? 3:readOnly:bool?""",
    "core.v1.PreferredSchedulingTerm": """1:weight:int32 2:preference:NodeSelectorTerm""",
    "core.v1.Probe": """
        1::ProbeHandler 2:initialDelaySeconds:int32? 3:timeoutSeconds:int32? 4:periodSeconds:int32?
        5:successThreshold:int32? 6:failureThreshold:int32? 7:terminationGracePeriodSeconds:int64""",
    "core.v1.ProbeHandler": """
        1:exec:ExecAction 2:httpGet:HTTPGetAction 3:tcpSocket:TCPSocketAction 4:grpc:GRPCAction""",
    "core.v1.ProjectedVolumeSource": """1:sources:[]VolumeProjection 2:defaultMode:int32""",
    "core.v1.QuobyteVolumeSource": """
        1:registry:string 2:volume:string 3:readOnly:bool? 4:user:string? 5:group:string? 6:tenant:string?""",
    "core.v1.RBDPersistentVolumeSource": """
        1:monitors:[]string 2:image:string 3:fsType:string? 4:pool:string? 5:user:string? 6:keyring:string?
        7:secretRef:SecretReference 8:readOnly:bool?""",
    "core.v1.RBDVolumeSource": """
        1:monitors:[]string 2:image:string 3:fsType:string? 4:pool:string? 5:user:string? 6:keyring:string?
        7:secretRef:LocalObjectReference 8:readOnly:bool?""",
    "core.v1.ReplicationController": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ReplicationControllerSpec 3:status:ReplicationControllerStatus""",
    "core.v1.ReplicationControllerCondition": """
        1:type:string 2:status:string 3:lastTransitionTime:meta.v1.Time 4:reason:string? 5:message:string?""",
    "core.v1.ReplicationControllerSpec": """
        1:replicas:int32 4:minReadySeconds:int32? 2:selector:{}string 3:template:PodTemplateSpec""",
    "core.v1.ReplicationControllerStatus": """
        1:replicas:int32 2:fullyLabeledReplicas:int32? 4:readyReplicas:int32? 5:availableReplicas:int32?
        3:observedGeneration:int64? 6:conditions:[]ReplicationControllerCondition""",
    "core.v1.ResourceClaim": """1:name:string 2:request:string?""",
    "core.v1.ResourceFieldSelector": """
        1:containerName:string? 2:resource:string 3:divisor:resource.Quantity""",
    "core.v1.ResourceHealth": """
        1:resourceID:string 2:health:string? 6:message:string""",
    "core.v1.ResourceQuota": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ResourceQuotaSpec 3:status:ResourceQuotaStatus""",
    "core.v1.ResourceQuotaSpec": """
        1:hard:{}resource.Quantity 2:scopes:[]string 3:scopeSelector:ScopeSelector""",
    "core.v1.ResourceQuotaStatus": """
        1:hard:{}resource.Quantity 2:used:{}resource.Quantity""",
    "core.v1.ResourceRequirements": """
        1:limits:{}resource.Quantity 2:requests:{}resource.Quantity 3:claims:[]ResourceClaim""",
    "core.v1.ResourceStatus": """1:name:string 2:resources:[]ResourceHealth""",
    "core.v1.SELinuxOptions": """
        1:user:string? 2:role:string? 3:type:string? 4:level:string?""",
    "core.v1.ScaleIOPersistentVolumeSource": """
        1:gateway:string 2:system:string 3:secretRef:SecretReference 4:sslEnabled:bool? 5:protectionDomain:string?
        6:storagePool:string? 7:storageMode:string? 8:volumeName:string? 9:fsType:string? 10:readOnly:bool?""",
    "core.v1.ScaleIOVolumeSource": """
        1:gateway:string 2:system:string 3:secretRef:LocalObjectReference 4:sslEnabled:bool?
        5:protectionDomain:string? 6:storagePool:string? 7:storageMode:string? 8:volumeName:string? 9:fsType:string?
        10:readOnly:bool?""",
    "core.v1.ScopeSelector": """
        1:matchExpressions:[]ScopedResourceSelectorRequirement""",
    "core.v1.ScopedResourceSelectorRequirement": """
        1:scopeName:string 2:operator:string 3:values:[]string""",
    "core.v1.SeccompProfile": """1:type:string 2:localhostProfile:string""",
    "core.v1.Secret": """
        1:metadata:meta.v1.ObjectMeta 5:immutable:bool 2:data:{}bytes 4:stringData:{}string 3:type:string?""",
    "core.v1.SecretEnvSource": """1::LocalObjectReference 2:optional:bool""",
    "core.v1.SecretKeySelector": """
        1::LocalObjectReference 2:key:string 3:optional:bool""",
    "core.v1.SecretProjection": """
        1::LocalObjectReference 2:items:[]KeyToPath 4:optional:bool""",
    "core.v1.SecretReference": """1:name:string? 2:namespace:string?""",
    "core.v1.SecretVolumeSource": """
        1:secretName:string? 2:items:[]KeyToPath 3:defaultMode:int32 4:optional:bool""",
    "core.v1.SecurityContext": """
        1:capabilities:Capabilities 2:privileged:bool 3:seLinuxOptions:SELinuxOptions
        10:windowsOptions:WindowsSecurityContextOptions 4:runAsUser:int64 8:runAsGroup:int64 5:runAsNonRoot:bool
        6:readOnlyRootFilesystem:bool 7:allowPrivilegeEscalation:bool 9:procMount:string
        11:seccompProfile:SeccompProfile 12:appArmorProfile:AppArmorProfile""",
    "core.v1.Service": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ServiceSpec 3:status:ServiceStatus""",
    "core.v1.ServiceAccount": """
        1:metadata:meta.v1.ObjectMeta 2:secrets:[]ObjectReference 3:imagePullSecrets:[]LocalObjectReference
        4:automountServiceAccountToken:bool""",
    "core.v1.ServiceAccountTokenProjection": """
        1:audience:string? 2:expirationSeconds:int64 3:path:string""",
    "core.v1.ServicePort": """
        1:name:string? 2:protocol:string? 6:appProtocol:string 3:port:int32 4:targetPort:intstr.IntOrString
        5:nodePort:int32?""",
    "core.v1.ServiceSpec": """
        1:ports:[]ServicePort 2:selector:{}string 3:clusterIP:string? 18:clusterIPs:[]string 4:type:string?
        5:externalIPs:[]string 7:sessionAffinity:string? 8:loadBalancerIP:string?
        9:loadBalancerSourceRanges:[]string 10:externalName:string? 11:externalTrafficPolicy:string?
        12:healthCheckNodePort:int32? 13:publishNotReadyAddresses:bool?
        14:sessionAffinityConfig:SessionAffinityConfig 19:ipFamilies:[]string 17:ipFamilyPolicy:string
        20:allocateLoadBalancerNodePorts:bool 21:loadBalancerClass:string 22:internalTrafficPolicy:string
        23:trafficDistribution:string""",
    "core.v1.ServiceStatus": """
        1:loadBalancer:LoadBalancerStatus 2:conditions:[]meta.v1.Condition""",
    "core.v1.SessionAffinityConfig": """1:clientIP:ClientIPConfig""",
    "core.v1.SleepAction": """1:seconds:int64""",
    "core.v1.StorageOSPersistentVolumeSource": """
        1:volumeName:string? 2:volumeNamespace:string? 3:fsType:string? 4:readOnly:bool? 5:secretRef:ObjectReference""",
    "core.v1.StorageOSVolumeSource": """
        1:volumeName:string? 2:volumeNamespace:string? 3:fsType:string? 4:readOnly:bool?
        5:secretRef:LocalObjectReference""",
    "core.v1.Sysctl": """1:name:string 2:value:string""",
    "core.v1.TCPSocketAction": """1:port:intstr.IntOrString 2:host:string?""",
    "core.v1.Taint": """
        1:key:string 2:value:string? 3:effect:string 4:timeAdded:meta.v1.Time""",
    "core.v1.Toleration": """
        1:key:string? 2:operator:string? 3:value:string? 4:effect:string? 5:tolerationSeconds:int64""",
    "core.v1.TopologySelectorLabelRequirement": """1:key:string 2:values:[]string""",
    "core.v1.TopologySelectorTerm": """
        1:matchLabelExpressions:[]TopologySelectorLabelRequirement""",
    "core.v1.TopologySpreadConstraint": """
        1:maxSkew:int32 2:topologyKey:string 3:whenUnsatisfiable:string 4:labelSelector:meta.v1.LabelSelector
        5:minDomains:int32 6:nodeAffinityPolicy:string 7:nodeTaintsPolicy:string 8:matchLabelKeys:[]string""",
    "core.v1.TypedLocalObjectReference": """1:apiGroup:string 2:kind:string 3:name:string""",
    "core.v1.TypedObjectReference": """
        1:apiGroup:string 2:kind:string 3:name:string 4:namespace:string""",
    "core.v1.Volume": """1:name:string 2::VolumeSource""",
    "core.v1.VolumeDevice": """1:name:string 2:devicePath:string""",
    "core.v1.VolumeMount": """
        1:name:string 2:readOnly:bool? 7:recursiveReadOnly:string 3:mountPath:string 4:subPath:string?
        5:mountPropagation:string 6:subPathExpr:string?""",
    "core.v1.VolumeMountStatus": """
        1:name:string 2:mountPath:string 3:readOnly:bool? 4:recursiveReadOnly:string 5:volumeStatus:VolumeStatus""",
    "core.v1.VolumeNodeAffinity": """1:required:NodeSelector""",
    "core.v1.VolumeProjection": """
        1:secret:SecretProjection 2:downwardAPI:DownwardAPIProjection 3:configMap:ConfigMapProjection
        4:serviceAccountToken:ServiceAccountTokenProjection 5:clusterTrustBundle:ClusterTrustBundleProjection
        6:podCertificate:PodCertificateProjection""",
    "core.v1.VolumeResourceRequirements": """
        1:limits:{}resource.Quantity 2:requests:{}resource.Quantity""",
    "core.v1.VolumeSource": """
        1:hostPath:HostPathVolumeSource 2:emptyDir:EmptyDirVolumeSource
        3:gcePersistentDisk:GCEPersistentDiskVolumeSource 4:awsElasticBlockStore:AWSElasticBlockStoreVolumeSource
        5:gitRepo:GitRepoVolumeSource 6:secret:SecretVolumeSource 7:nfs:NFSVolumeSource 8:iscsi:ISCSIVolumeSource
        9:glusterfs:GlusterfsVolumeSource 10:persistentVolumeClaim:PersistentVolumeClaimVolumeSource
        11:rbd:RBDVolumeSource 12:flexVolume:FlexVolumeSource 13:cinder:CinderVolumeSource
        14:cephfs:CephFSVolumeSource 15:flocker:FlockerVolumeSource 16:downwardAPI:DownwardAPIVolumeSource
        17:fc:FCVolumeSource 18:azureFile:AzureFileVolumeSource 19:configMap:ConfigMapVolumeSource
        20:vsphereVolume:VsphereVirtualDiskVolumeSource 21:quobyte:QuobyteVolumeSource
        22:azureDisk:AzureDiskVolumeSource 23:photonPersistentDisk:PhotonPersistentDiskVolumeSource
        26:projected:ProjectedVolumeSource 24:portworxVolume:PortworxVolumeSource 25:scaleIO:ScaleIOVolumeSource
        27:storageos:StorageOSVolumeSource 28:csi:CSIVolumeSource 29:ephemeral:EphemeralVolumeSource
        30:image:ImageVolumeSource""",
    "core.v1.VolumeStatus": """1:image:ImageVolumeStatus""",
    "core.v1.VsphereVirtualDiskVolumeSource": """
        1:volumePath:string 2:fsType:string? 3:storagePolicyName:string? 4:storagePolicyID:string?""",
    "core.v1.WeightedPodAffinityTerm": """1:weight:int32 2:podAffinityTerm:PodAffinityTerm""",
    "core.v1.WindowsSecurityContextOptions": """
        1:gmsaCredentialSpecName:string 2:gmsaCredentialSpec:string 3:runAsUserName:string 4:hostProcess:bool""",
    "discovery.v1.Endpoint": """
        1:addresses:[]string 2:conditions:EndpointConditions 3:hostname:string 4:targetRef:core.v1.ObjectReference
        5:deprecatedTopology:{}string 6:nodeName:string 7:zone:string 8:hints:EndpointHints""",
    "discovery.v1.EndpointConditions": """1:ready:bool 2:serving:bool 3:terminating:bool""",
    "discovery.v1.EndpointHints": """1:forZones:[]ForZone 2:forNodes:[]ForNode""",
    "discovery.v1.EndpointPort": """
        1:name:string 2:protocol:string 3:port:int32 4:appProtocol:string""",
    "discovery.v1.EndpointSlice": """
        1:metadata:meta.v1.ObjectMeta 4:addressType:string 2:endpoints:[]Endpoint 3:ports:[]EndpointPort""",
    "discovery.v1.ForNode": """1:name:string""",
    "discovery.v1.ForZone": """1:name:string""",
    "events.v1.Event": """
        1:metadata:meta.v1.ObjectMeta 2:eventTime:meta.v1.MicroTime 3:series:EventSeries
        4:reportingController:string? 5:reportingInstance:string? 6:action:string? 7:reason:string?
        8:regarding:core.v1.ObjectReference 9:related:core.v1.ObjectReference 10:note:string? 11:type:string?
        12:deprecatedSource:core.v1.EventSource 13:deprecatedFirstTimestamp:meta.v1.Time
        14:deprecatedLastTimestamp:meta.v1.Time 15:deprecatedCount:int32?""",
    "events.v1.EventSeries": """
        1:count:int32 2:lastObservedTime:meta.v1.MicroTime""",
    "flowcontrol.v1.ExemptPriorityLevelConfiguration": """
        1:nominalConcurrencyShares:int32 2:lendablePercent:int32""",
    "flowcontrol.v1.FlowDistinguisherMethod": """1:type:string""",
    "flowcontrol.v1.FlowSchema": """
        1:metadata:meta.v1.ObjectMeta 2:spec:FlowSchemaSpec 3:status:FlowSchemaStatus""",
    "flowcontrol.v1.FlowSchemaCondition": """
        1:type:string? 2:status:string? 3:lastTransitionTime:meta.v1.Time 4:reason:string? 5:message:string?""",
    "flowcontrol.v1.FlowSchemaSpec": """
        1:priorityLevelConfiguration:PriorityLevelConfigurationReference 2:matchingPrecedence:int32
        3:distinguisherMethod:FlowDistinguisherMethod 4:rules:[]PolicyRulesWithSubjects""",
    "flowcontrol.v1.FlowSchemaStatus": """1:conditions:[]FlowSchemaCondition""",
    "flowcontrol.v1.GroupSubject": """1:name:string""",
    "flowcontrol.v1.LimitResponse": """1:type:string 2:queuing:QueuingConfiguration""",
    "flowcontrol.v1.LimitedPriorityLevelConfiguration": """
        1:nominalConcurrencyShares:int32 2:limitResponse:LimitResponse 3:lendablePercent:int32
        4:borrowingLimitPercent:int32""",
    "flowcontrol.v1.NonResourcePolicyRule": """1:verbs:[]string 6:nonResourceURLs:[]string""",
    "flowcontrol.v1.PolicyRulesWithSubjects": """
        1:subjects:[]Subject 2:resourceRules:[]ResourcePolicyRule 3:nonResourceRules:[]NonResourcePolicyRule""",
    "flowcontrol.v1.PriorityLevelConfiguration": """
        1:metadata:meta.v1.ObjectMeta 2:spec:PriorityLevelConfigurationSpec
        3:status:PriorityLevelConfigurationStatus""",
    "flowcontrol.v1.PriorityLevelConfigurationCondition": """
        1:type:string? 2:status:string? 3:lastTransitionTime:meta.v1.Time 4:reason:string? 5:message:string?""",
    "flowcontrol.v1.PriorityLevelConfigurationReference": """1:name:string""",
    "flowcontrol.v1.PriorityLevelConfigurationSpec": """
        1:type:string 2:limited:LimitedPriorityLevelConfiguration 3:exempt:ExemptPriorityLevelConfiguration""",
    "flowcontrol.v1.PriorityLevelConfigurationStatus": """
        1:conditions:[]PriorityLevelConfigurationCondition""",
    "flowcontrol.v1.QueuingConfiguration": """
        1:queues:int32 2:handSize:int32 3:queueLengthLimit:int32""",
    "flowcontrol.v1.ResourcePolicyRule": """
        1:verbs:[]string 2:apiGroups:[]string 3:resources:[]string 4:clusterScope:bool? 5:namespaces:[]string""",
    "flowcontrol.v1.ServiceAccountSubject": """1:namespace:string 2:name:string""",
    "flowcontrol.v1.Subject": """
        1:kind:string 2:user:UserSubject 3:group:GroupSubject 4:serviceAccount:ServiceAccountSubject""",
    "flowcontrol.v1.UserSubject": """1:name:string""",
    "intstr.IntOrString": """1:type:int64 2:intVal:int32 3:strVal:string""",
    "meta.v1.Condition": """
        1:type:string 2:status:string 3:observedGeneration:int64? 4:lastTransitionTime:Time 5:reason:string
        6:message:string""",
    "meta.v1.DeleteOptions": """
        1:gracePeriodSeconds:int64 2:preconditions:Preconditions 3:orphanDependents:bool 4:propagationPolicy:string
        5:dryRun:[]string 6:ignoreStoreReadErrorWithClusterBreakingPotential:bool""",
    "meta.v1.FieldSelectorRequirement": """1:key:string 2:operator:string 3:values:[]string""",
    "meta.v1.FieldsV1": """1:Raw:json""",
    "meta.v1.GroupResource": """1:group:string 2:resource:string""",
    "meta.v1.LabelSelector": """
        1:matchLabels:{}string 2:matchExpressions:[]LabelSelectorRequirement""",
    "meta.v1.LabelSelectorRequirement": """1:key:string 2:operator:string 3:values:[]string""",
    "meta.v1.ManagedFieldsEntry": """
        1:manager:string? 2:operation:string? 3:apiVersion:string? 4:time:Time 6:fieldsType:string?
        7:fieldsV1:FieldsV1 8:subresource:string?""",
    "meta.v1.MicroTime": """1:seconds:int64 2:nanos:int32""",
    "meta.v1.ObjectMeta": """
        1:name:string? 2:generateName:string? 3:namespace:string? 4:selfLink:string? 5:uid:string?
        6:resourceVersion:string? 7:generation:int64? 8:creationTimestamp:Time 9:deletionTimestamp:Time
        10:deletionGracePeriodSeconds:int64 11:labels:{}string 12:annotations:{}string
        13:ownerReferences:[]OwnerReference 14:finalizers:[]string 17:managedFields:[]ManagedFieldsEntry""",
    "meta.v1.OwnerReference": """
        5:apiVersion:string 1:kind:string 3:name:string 4:uid:string 6:controller:bool 7:blockOwnerDeletion:bool""",
    "meta.v1.Preconditions": """1:uid:string 2:resourceVersion:string""",
    "meta.v1.Time": """1:seconds:int64 2:nanos:int32""",
    "networking.v1.HTTPIngressPath": """
        1:path:string? 3:pathType:string 2:backend:IngressBackend""",
    "networking.v1.HTTPIngressRuleValue": """1:paths:[]HTTPIngressPath""",
    "networking.v1.IPAddress": """
        1:metadata:meta.v1.ObjectMeta 2:spec:IPAddressSpec""",
    "networking.v1.IPAddressSpec": """1:parentRef:ParentReference""",
    "networking.v1.IPBlock": """1:cidr:string 2:except:[]string""",
    "networking.v1.Ingress": """
        1:metadata:meta.v1.ObjectMeta 2:spec:IngressSpec 3:status:IngressStatus""",
    "networking.v1.IngressBackend": """
        4:service:IngressServiceBackend 3:resource:core.v1.TypedLocalObjectReference""",
    "networking.v1.IngressClass": """
        1:metadata:meta.v1.ObjectMeta 2:spec:IngressClassSpec""",
    "networking.v1.IngressClassParametersReference": """
        1:apiGroup:string 2:kind:string 3:name:string 4:scope:string 5:namespace:string""",
    "networking.v1.IngressClassSpec": """
        1:controller:string? 2:parameters:IngressClassParametersReference""",
    "networking.v1.IngressLoadBalancerIngress": """
        1:ip:string? 2:hostname:string? 4:ports:[]IngressPortStatus""",
    "networking.v1.IngressLoadBalancerStatus": """1:ingress:[]IngressLoadBalancerIngress""",
    "networking.v1.IngressPortStatus": """1:port:int32 2:protocol:string 3:error:string""",
    "networking.v1.IngressRule": """1:host:string? 2::IngressRuleValue""",
    "networking.v1.IngressRuleValue": """1:http:HTTPIngressRuleValue""",
    "networking.v1.IngressServiceBackend": """1:name:string 2:port:ServiceBackendPort""",
    "networking.v1.IngressSpec": """
        4:ingressClassName:string 1:defaultBackend:IngressBackend 2:tls:[]IngressTLS 3:rules:[]IngressRule""",
    "networking.v1.IngressStatus": """1:loadBalancer:IngressLoadBalancerStatus""",
    "networking.v1.IngressTLS": """1:hosts:[]string 2:secretName:string?""",
    "networking.v1.NetworkPolicy": """
        1:metadata:meta.v1.ObjectMeta 2:spec:NetworkPolicySpec""",
    "networking.v1.NetworkPolicyEgressRule": """
        1:ports:[]NetworkPolicyPort 2:to:[]NetworkPolicyPeer""",
    "networking.v1.NetworkPolicyIngressRule": """
        1:ports:[]NetworkPolicyPort 2:from:[]NetworkPolicyPeer""",
    "networking.v1.NetworkPolicyPeer": """
        1:podSelector:meta.v1.LabelSelector 2:namespaceSelector:meta.v1.LabelSelector 3:ipBlock:IPBlock""",
    "networking.v1.NetworkPolicyPort": """
        1:protocol:string 2:port:intstr.IntOrString 3:endPort:int32""",
    "networking.v1.NetworkPolicySpec": """
        1:podSelector:meta.v1.LabelSelector 2:ingress:[]NetworkPolicyIngressRule 3:egress:[]NetworkPolicyEgressRule
        4:policyTypes:[]string""",
    "networking.v1.ParentReference": """
        1:group:string? 2:resource:string? 3:namespace:string? 4:name:string?""",
    "networking.v1.ServiceBackendPort": """1:name:string? 2:number:int32?""",
    "networking.v1.ServiceCIDR": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ServiceCIDRSpec 3:status:ServiceCIDRStatus""",
    "networking.v1.ServiceCIDRSpec": """1:cidrs:[]string""",
    "networking.v1.ServiceCIDRStatus": """1:conditions:[]meta.v1.Condition""",
    "node.v1.Overhead": """1:podFixed:{}resource.Quantity""",
    "node.v1.RuntimeClass": """
        1:metadata:meta.v1.ObjectMeta 2:handler:string 3:overhead:Overhead 4:scheduling:Scheduling""",
    "node.v1.Scheduling": """
        1:nodeSelector:{}string 2:tolerations:[]core.v1.Toleration""",
    "policy.v1.Eviction": """
        1:metadata:meta.v1.ObjectMeta 2:deleteOptions:meta.v1.DeleteOptions""",
    "policy.v1.PodDisruptionBudget": """
        1:metadata:meta.v1.ObjectMeta 2:spec:PodDisruptionBudgetSpec 3:status:PodDisruptionBudgetStatus""",
    "policy.v1.PodDisruptionBudgetSpec": """
        1:minAvailable:intstr.IntOrString 2:selector:meta.v1.LabelSelector 3:maxUnavailable:intstr.IntOrString
        4:unhealthyPodEvictionPolicy:string""",
    "policy.v1.PodDisruptionBudgetStatus": """
        1:observedGeneration:int64? 2:disruptedPods:{}meta.v1.Time 3:disruptionsAllowed:int32 4:currentHealthy:int32
        5:desiredHealthy:int32 6:expectedPods:int32 7:conditions:[]meta.v1.Condition""",
    "rbac.v1.AggregationRule": """1:clusterRoleSelectors:[]meta.v1.LabelSelector""",
    "rbac.v1.ClusterRole": """
        1:metadata:meta.v1.ObjectMeta 2:rules:[]PolicyRule 3:aggregationRule:AggregationRule""",
    "rbac.v1.ClusterRoleBinding": """
        1:metadata:meta.v1.ObjectMeta 2:subjects:[]Subject 3:roleRef:RoleRef""",
    "rbac.v1.PolicyRule": """
        1:verbs:[]string 2:apiGroups:[]string 3:resources:[]string 4:resourceNames:[]string
        5:nonResourceURLs:[]string""",
    "rbac.v1.Role": """
        1:metadata:meta.v1.ObjectMeta 2:rules:[]PolicyRule""",
    "rbac.v1.RoleBinding": """
        1:metadata:meta.v1.ObjectMeta 2:subjects:[]Subject 3:roleRef:RoleRef""",
    "rbac.v1.RoleRef": """1:apiGroup:string 2:kind:string 3:name:string""",
    "rbac.v1.Subject": """
        1:kind:string 2:apiGroup:string? 3:name:string 4:namespace:string?""",
    "resource.Quantity": """1:string:string""",
    "resource.v1.AllocatedDeviceStatus": """
        1:driver:string 2:pool:string 3:device:string 7:shareID:string 4:conditions:[]meta.v1.Condition
        5:data:runtime.RawExtension 6:networkData:NetworkDeviceData""",
    "resource.v1.AllocationResult": """
        1:devices:DeviceAllocationResult 3:nodeSelector:core.v1.NodeSelector 5:allocationTimestamp:meta.v1.Time""",
    "resource.v1.CELDeviceSelector": """1:expression:string""",
    "resource.v1.CapacityRequestPolicy": """
        1:default:resource.Quantity 3:validValues:[]resource.Quantity 4:validRange:CapacityRequestPolicyRange""",
    "resource.v1.CapacityRequestPolicyRange": """
        1:min:resource.Quantity 2:max:resource.Quantity 3:step:resource.Quantity""",
    "resource.v1.CapacityRequirements": """1:requests:{}resource.Quantity""",
    "resource.v1.Counter": """1:value:resource.Quantity""",
    "resource.v1.CounterSet": """1:name:string 2:counters:{}Counter""",
    "resource.v1.Device": """
        1:name:string 2:attributes:{}DeviceAttribute 3:capacity:{}DeviceCapacity
        4:consumesCounters:[]DeviceCounterConsumption 5:nodeName:string 6:nodeSelector:core.v1.NodeSelector
        7:allNodes:bool 8:taints:[]DeviceTaint 9:bindsToNode:bool 10:bindingConditions:[]string
        11:bindingFailureConditions:[]string 12:allowMultipleAllocations:bool
        13:nodeAllocatableResourceMappings:{}NodeAllocatableResourceMapping""",
    "resource.v1.DeviceAllocationConfiguration": """
        1:source:string 2:requests:[]string 3::DeviceConfiguration""",
    "resource.v1.DeviceAllocationResult": """
        1:results:[]DeviceRequestAllocationResult 2:config:[]DeviceAllocationConfiguration""",
    "resource.v1.DeviceAttribute": """
        2:int:int64 3:bool:bool 4:string:string 5:version:string 6:ints:[]int64 7:bools:[]bool 8:strings:[]string
        9:versions:[]string""",
    "resource.v1.DeviceCapacity": """
        1:value:resource.Quantity 2:requestPolicy:CapacityRequestPolicy""",
    "resource.v1.DeviceClaim": """
        1:requests:[]DeviceRequest 2:constraints:[]DeviceConstraint 3:config:[]DeviceClaimConfiguration""",
    "resource.v1.DeviceClaimConfiguration": """1:requests:[]string 2::DeviceConfiguration""",
    "resource.v1.DeviceClass": """
        1:metadata:meta.v1.ObjectMeta 2:spec:DeviceClassSpec""",
    "resource.v1.DeviceClassConfiguration": """1::DeviceConfiguration""",
    "resource.v1.DeviceClassSpec": """
        1:selectors:[]DeviceSelector 2:config:[]DeviceClassConfiguration 4:extendedResourceName:string""",
    "resource.v1.DeviceConfiguration": """1:opaque:OpaqueDeviceConfiguration""",
    "resource.v1.DeviceConstraint": """
        1:requests:[]string 2:matchAttribute:string 3:distinctAttribute:string""",
    "resource.v1.DeviceCounterConsumption": """1:counterSet:string 2:counters:{}Counter""",
    "resource.v1.DeviceRequest": """
        1:name:string 2:exactly:ExactDeviceRequest 3:firstAvailable:[]DeviceSubRequest""",
    "resource.v1.DeviceRequestAllocationResult": """
        1:request:string 2:driver:string 3:pool:string 4:device:string 5:adminAccess:bool
        6:tolerations:[]DeviceToleration 7:bindingConditions:[]string 8:bindingFailureConditions:[]string
        9:shareID:string 10:consumedCapacity:{}resource.Quantity""",
    "resource.v1.DeviceSelector": """1:cel:CELDeviceSelector""",
    "resource.v1.DeviceSubRequest": """
        1:name:string 2:deviceClassName:string 3:selectors:[]DeviceSelector 4:allocationMode:string? 5:count:int64?
        6:tolerations:[]DeviceToleration 7:capacity:CapacityRequirements""",
    "resource.v1.DeviceTaint": """
        1:key:string 2:value:string? 3:effect:string 4:timeAdded:meta.v1.Time""",
    "resource.v1.DeviceToleration": """
        1:key:string? 2:operator:string? 3:value:string? 4:effect:string? 5:tolerationSeconds:int64""",
    "resource.v1.ExactDeviceRequest": """
        1:deviceClassName:string 2:selectors:[]DeviceSelector 3:allocationMode:string? 4:count:int64?
        5:adminAccess:bool 6:tolerations:[]DeviceToleration 7:capacity:CapacityRequirements""",
    "resource.v1.NetworkDeviceData": """
        1:interfaceName:string? 2:ips:[]string 3:hardwareAddress:string?""",
    "resource.v1.NodeAllocatableResourceMapping": """
        1:capacityKey:string 2:allocationMultiplier:resource.Quantity""",
    "resource.v1.OpaqueDeviceConfiguration": """1:driver:string 2:parameters:runtime.RawExtension""",
    "resource.v1.ResourceClaim": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ResourceClaimSpec 3:status:ResourceClaimStatus""",
    "resource.v1.ResourceClaimConsumerReference": """
        1:apiGroup:string? 3:resource:string 4:name:string 5:uid:string""",
    "resource.v1.ResourceClaimSpec": """1:devices:DeviceClaim""",
    "resource.v1.ResourceClaimStatus": """
        1:allocation:AllocationResult 2:reservedFor:[]ResourceClaimConsumerReference
        4:devices:[]AllocatedDeviceStatus""",
    "resource.v1.ResourceClaimTemplate": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ResourceClaimTemplateSpec""",
    "resource.v1.ResourceClaimTemplateSpec": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ResourceClaimSpec""",
    "resource.v1.ResourcePool": """
        1:name:string 2:generation:int64 3:resourceSliceCount:int64""",
    "resource.v1.ResourceSlice": """
        1:metadata:meta.v1.ObjectMeta 2:spec:ResourceSliceSpec""",
    "resource.v1.ResourceSliceSpec": """
        1:driver:string 2:pool:ResourcePool 3:nodeName:string 4:nodeSelector:core.v1.NodeSelector 5:allNodes:bool
        6:devices:[]Device 7:perDeviceNodeSelection:bool 8:sharedCounters:[]CounterSet""",
    "runtime.RawExtension": """1:raw:json""",
    "scheduling.v1.PriorityClass": """
        1:metadata:meta.v1.ObjectMeta 2:value:int32 3:globalDefault:bool? 4:description:string?
        5:preemptionPolicy:string""",
    "storage.v1.CSIDriver": """
        1:metadata:meta.v1.ObjectMeta 2:spec:CSIDriverSpec""",
    "storage.v1.CSIDriverSpec": """
        1:attachRequired:bool 2:podInfoOnMount:bool 3:volumeLifecycleModes:[]string 4:storageCapacity:bool
        5:fsGroupPolicy:string 6:tokenRequests:[]TokenRequest 7:requiresRepublish:bool 8:seLinuxMount:bool
        9:nodeAllocatableUpdatePeriodSeconds:int64 10:serviceAccountTokenInSecrets:bool
        11:preventPodSchedulingIfMissing:bool""",
    "storage.v1.CSINode": """1:metadata:meta.v1.ObjectMeta 2:spec:CSINodeSpec""",
    "storage.v1.CSINodeDriver": """
        1:name:string 2:nodeID:string 3:topologyKeys:[]string 4:allocatable:VolumeNodeResources""",
    "storage.v1.CSINodeSpec": """1:drivers:[]CSINodeDriver""",
    "storage.v1.CSIStorageCapacity": """
        1:metadata:meta.v1.ObjectMeta 2:nodeTopology:meta.v1.LabelSelector 3:storageClassName:string
        4:capacity:resource.Quantity 5:maximumVolumeSize:resource.Quantity""",
    "storage.v1.StorageClass": """
        1:metadata:meta.v1.ObjectMeta 2:provisioner:string 3:parameters:{}string 4:reclaimPolicy:string
        5:mountOptions:[]string 6:allowVolumeExpansion:bool 7:volumeBindingMode:string
        8:allowedTopologies:[]core.v1.TopologySelectorTerm""",
    "storage.v1.TokenRequest": """1:audience:string 2:expirationSeconds:int64""",
    "storage.v1.VolumeAttachment": """
        1:metadata:meta.v1.ObjectMeta 2:spec:VolumeAttachmentSpec 3:status:VolumeAttachmentStatus""",
    "storage.v1.VolumeAttachmentSource": """
        1:persistentVolumeName:string 2:inlineVolumeSpec:core.v1.PersistentVolumeSpec""",
    "storage.v1.VolumeAttachmentSpec": """
        1:attacher:string 2:source:VolumeAttachmentSource 3:nodeName:string""",
    "storage.v1.VolumeAttachmentStatus": """
        1:attached:bool 2:attachmentMetadata:{}string 3:attachError:VolumeError 4:detachError:VolumeError""",
    "storage.v1.VolumeAttributesClass": """
        1:metadata:meta.v1.ObjectMeta 2:driverName:string 3:parameters:{}string""",
    "storage.v1.VolumeError": """
        1:time:meta.v1.Time 2:message:string? 3:errorCode:int32""",
    "storage.v1.VolumeNodeResources": """1:count:int32""",
    "storagemigration.v1beta1.StorageVersionMigration": """
        1:metadata:meta.v1.ObjectMeta 2:spec:StorageVersionMigrationSpec 3:status:StorageVersionMigrationStatus""",
    "storagemigration.v1beta1.StorageVersionMigrationSpec": """1:resource:meta.v1.GroupResource""",
    "storagemigration.v1beta1.StorageVersionMigrationStatus": """
        1:conditions:[]meta.v1.Condition 2:resourceVersion:string?""",
}
