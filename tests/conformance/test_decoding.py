"""What bodies say: kinds, values and fields that can't be read, in the words of Go's decoders."""

from typing import Any

from conformance.cases import Case, each
from conformance.crds import CRDS, GROUP, gadget
from conformance.objects import config_map, deployment, pod, service
from conformance.requests import Raw, Refused, Shows

CM = [("POST configmaps", config_map(data={"k": "1"}))]
WEB = [("POST deployments", deployment())]
POD = [("POST pods", pod())]
GADGET = [("POST gadgets", gadget())]
FIELDS_TWICE = (
    '{"metadata": {"name": "p", "x": 1}, "spec": {"containers": [{"name": "a", "name": "b", "z": {"q": 1, "q": 2}}], '
    '"y": 2}, "spec": {"w": 1}}'
)
GADGET_TWICE = (
    f'{{"apiVersion": "{GROUP}/v1", "kind": "Gadget", "metadata": {{"name": "g", "x": 1}}, '
    '"spec": {"size": 1, "size": 2, "y": [{"a": 1, "a": 2}]}}'
)


def lease(renewed: str) -> dict[str, Any]:
    return {"metadata": {"name": "l"}, "spec": {"renewTime": renewed}}


KINDS = [
    Case("a kind of another group", "POST configmaps", {"kind": "Deployment", "apiVersion": "apps/v1"},
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a ConfigMap: converting (v1.Deployment) to '
                 "(core.ConfigMap): unknown conversion")),
    Case("an old version of a kind of another group", "POST configmaps",
         {"kind": "Deployment", "apiVersion": "apps/v1beta1"},
         Refused(400, "BadRequest",
                 'Deployment in version "v1beta1" cannot be handled as a ConfigMap: converting '
                 "(v1beta1.Deployment) to (core.ConfigMap): unknown conversion")),
    Case("a custom kind where a built-in one belongs", "POST configmaps", gadget(),
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a ConfigMap: no kind "Gadget" is registered for '
                 'version "conformance.windvane.dev/v1" in scheme "pkg/runtime/scheme.go:111"')),
    Case("a CRD where something else belongs", "POST configmaps",
         {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1"},
         Refused(400, "BadRequest",
                 'CustomResourceDefinition in version "v1" cannot be handled as a ConfigMap: no kind '
                 '"CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1" in scheme '
                 '"pkg/runtime/scheme.go:111"')),
    Case("something else where a CRD belongs", f"POST {CRDS}",
         {"kind": "ConfigMap", "apiVersion": "v1"},
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a CustomResourceDefinition: no kind "ConfigMap" '
                 'is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"')),
    Case("another kind is read before it is refused", "POST configmaps",
         {"kind": "Secret", "apiVersion": "v1", "data": {"k": "?"}},
         Refused(400, "BadRequest",
                 'Secret in version "v1" cannot be handled as a ConfigMap: illegal base64 data at input byte 0')),
    Case("a list is read before it is refused", "POST configmaps",
         {"kind": "ConfigMapList", "apiVersion": "v1", "items": "x"},
         Refused(400, "BadRequest",
                 'ConfigMapList in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string '
                 "into Go struct field ConfigMapList.items of type []v1.ConfigMap")),
    Case("a kind in another group's version", "POST deployments", {"kind": "Deployment", "apiVersion": "v1"},
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a Deployment: no kind "Deployment" is '
                 'registered for version "v1" in scheme "pkg/runtime/scheme.go:111"')),
    Case("a group without a version", "POST deployments", {"kind": "Deployment", "apiVersion": "apps"},
         Refused(400, "BadRequest",
                 'Deployment in version "apps" cannot be handled as a Deployment: no kind "Deployment" is '
                 'registered for version "apps" in scheme "pkg/runtime/scheme.go:111"')),
    Case("an older group of the same kind", "POST deployments",
         {"kind": "Deployment", "apiVersion": "extensions/v1beta1"},
         Refused(400, "BadRequest",
                 "the API version in the data (extensions/v1beta1) does not match the expected API version "
                 "(apps/v1)")),
    Case("another served version of the same group", "POST horizontalpodautoscalers",
         {"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v1"},
         Refused(400, "BadRequest",
                 "the API version in the data (autoscaling/v1) does not match the expected API version "
                 "(autoscaling/v2)")),
    Case("the kind may be in other case", "POST configmaps", {"Kind": "Secret", "metadata": {"name": "a"}},
         Refused(400, "BadRequest",
                 'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to '
                 "(core.ConfigMap): unknown conversion")),
    Case("a list of what there are no lists of", "POST configmaps", {"kind": "BindingList", "apiVersion": "v1"},
         Refused(400, "BadRequest",
                 'BindingList in version "v1" cannot be handled as a ConfigMap: no kind "BindingList" is registered '
                 'for version "v1" in scheme "pkg/runtime/scheme.go:111"')),
    Case("options of an old version where an object belongs", "POST configmaps",
         {"kind": "DeleteOptions", "apiVersion": "apps/v1beta1"},
         Refused(400, "BadRequest",
                 'DeleteOptions in version "v1beta1" cannot be handled as a ConfigMap: converting (v1.DeleteOptions) '
                 "to (core.ConfigMap): unknown conversion")),
    Case("an event of another group", "POST /api/v1/namespaces/{ns}/events",
         {"kind": "Event", "apiVersion": "events.k8s.io/v1"},
         Refused(400, "BadRequest",
                 "the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)")),
    Case("a status where an object belongs", "POST configmaps", {"kind": "Status", "apiVersion": "v1"},
         Refused(400, "BadRequest",
                 'Status in version "v1" cannot be handled as a ConfigMap: converting (v1.Status) to '
                 "(core.ConfigMap): unknown conversion")),
    Case("a custom body without a version", "POST gadgets",
         {"kind": "Gadget", "metadata": {"name": "g"}, "spec": {"size": 1}},
         Refused(400, "BadRequest",
                 "the API version in the data () does not match the expected API version "
                 "(conformance.windvane.dev/v1)")),
    Case("a custom body of a version that can't be", "POST gadgets", {**gadget(), "apiVersion": "a/b/c"},
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type Gadget): unexpected GroupVersion string: "
                 'a/b/c ({"apiVersion": "a/b/c", "kind" ...)')),
    Case("a built-in kind where a custom one belongs", "POST gadgets",
         {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "g"}},
         Refused(400, "BadRequest",
                 "the API version in the data (v1) does not match the expected API version "
                 "(conformance.windvane.dev/v1)")),
    Case("a custom list where one object belongs", "POST gadgets",
         {"kind": "GadgetList", "apiVersion": f"{GROUP}/v1", "items": [gadget()]},
         Refused(422, "Invalid",
                 'GadgetList.conformance.windvane.dev "" is invalid: kind: Invalid value: "GadgetList": must be '
                 "Gadget", "GadgetList.conformance.windvane.dev", ["FieldValueInvalid kind"])),
    Case("an update of another kind", "PUT configmaps/a",
         {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}},
         Refused(400, "BadRequest",
                 'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to '
                 "(core.ConfigMap): unknown conversion"), before=CM),
    Case("an update without a body", "PUT configmaps/a", None,
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
                 "json parse error: unexpected end of JSON input (<empty>)"), before=CM),
    Case("an update of what is not there is read first", "PUT configmaps/nope",
         {"metadata": {"name": "nope"}, "data": "x"},
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into '
                 "Go struct field ConfigMap.data of type map[string]string")),
]  # fmt: skip

VALUES = [
    Case("a wrong type in a list in a list", "POST pods", pod(container={"ports": [{"containerPort": "x"}]}),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct '
                 "field ContainerPort.spec.containers.ports.containerPort of type int32")),
    Case("a wrong type in a map", "POST pods", pod(nodeSelector={"a": 1}),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct '
                 "field PodSpec.spec.nodeSelector of type string")),
    Case("text in a list of structs", "POST pods", pod(containers=["x"]),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct '
                 "field PodSpec.spec.containers of type v1.Container")),
    Case("text where a struct belongs", "POST pods", pod(securityContext="x"),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct '
                 "field PodSpec.spec.securityContext of type v1.PodSecurityContext")),
    Case("a list where a struct belongs", "POST pods", {"metadata": {"name": "p"}, "spec": []},
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal array into Go struct '
                 "field Pod.spec of type v1.PodSpec")),
    Case("a word of a type of its own", "POST pods", pod(restartPolicy=1),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct '
                 "field PodSpec.spec.restartPolicy of type v1.RestartPolicy")),
    Case("words of a type of their own", "POST pods",
         pod(container={"securityContext": {"capabilities": {"add": [1]}}}),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct '
                 "field Capabilities.spec.containers.securityContext.capabilities.add of type v1.Capability")),
    Case("a field of a volume", "POST pods", pod(volumes=[{"name": "v", "emptyDir": "x"}]),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct '
                 "field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource")),
    Case("resources that are a list", "POST pods", pod(container={"resources": {"limits": ["x"]}}),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal array into Go struct '
                 "field ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList")),
    Case("an amount that is true", "POST pods", pod(container={"resources": {"limits": {"cpu": True}}}),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression '
                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")),
    Case("an amount with another suffix", "POST pods", pod(container={"resources": {"limits": {"cpu": "1.5x"}}}),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: quantities must match the regular expression '
                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")),
    Case("a fraction where a whole number belongs", "POST deployments", deployment(replicas=1.5),
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 1.5 '
                 "into Go struct field DeploymentSpec.spec.replicas of type int32")),
    Case("a whole number written as a fraction", "POST deployments", deployment(replicas=1.0),
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 1.0 '
                 "into Go struct field DeploymentSpec.spec.replicas of type int32")),
    Case("a whole number with an exponent", "POST deployments",
         '{"metadata": {"name": "w"}, "spec": {"replicas": 1e2}}',
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 1e2 '
                 "into Go struct field DeploymentSpec.spec.replicas of type int32")),
    Case("a number beyond 32 bits", "POST deployments", deployment(replicas=3000000000),
         Refused(400, "BadRequest",
                 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number '
                 "3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32")),
    Case("a number beyond 64 bits", "POST pods", pod(terminationGracePeriodSeconds=9223372036854775808),
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number '
                 "9223372036854775808 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type "
                 "int64")),
    Case("a port beyond 32 bits", "POST services", service(ports=[{"port": 80, "targetPort": 3000000000}]),
         Refused(400, "BadRequest",
                 'Service in version "v1" cannot be handled as a Service: json: cannot unmarshal number '
                 "3000000000 into Go struct field ServicePort.spec.ports.targetPort of type int32")),
    Case("a number for bytes", "POST secrets", {"metadata": {"name": "s"}, "data": {"k": 1}},
         Refused(400, "BadRequest",
                 'Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal number into Go '
                 "struct field Secret.data of type []uint8")),
    Case("a wrong type in a CRD's schema", f"POST {CRDS}",
         {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"properties": {"x": {"minLength": "1"}}}}}]}},
         Refused(400, "BadRequest",
                 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: json: '
                 "cannot unmarshal string into Go struct field "
                 "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.minLength of type int64")),
    Case("text for a number in a CRD's schema", f"POST {CRDS}",
         {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"maximum": "1"}}}]}},
         Refused(400, "BadRequest",
                 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: json: '
                 "cannot unmarshal string into Go struct field "
                 "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.maximum of type float64")),
    Case("text for a schema in a CRD", f"POST {CRDS}",
         {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"additionalProperties": "1"}}}]}},
         Refused(400, "BadRequest",
                 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
                 "boolean or JSON schema expected")),
    Case("the first of two wrong types is told", "POST configmaps", config_map(immutable="y", data="x"),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into '
                 "Go struct field ConfigMap.immutable of type bool")),
    Case("a time that is none is told before any type", "POST configmaps",
         config_map(data="x", metadata={"creationTimestamp": "yesterday"}),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: parsing time "yesterday" as '
                 '"2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"')),
    Case("a wrong type is told before an unknown field", "POST configmaps?fieldValidation=Strict",
         config_map(color="red", data="x"),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into '
                 "Go struct field ConfigMap.data of type map[string]string")),
    Case("a thirteenth month", "POST leases", lease("2020-13-01T00:00:00.000000Z"),
         Refused(400, "BadRequest",
                 'Lease in version "v1" cannot be handled as a Lease: parsing time "2020-13-01T00:00:00.000000Z": '
                 "month out of range")),
    Case("a day that the month has not", "POST leases", lease("2020-02-30T00:00:00.000000Z"),
         Refused(400, "BadRequest",
                 'Lease in version "v1" cannot be handled as a Lease: parsing time "2020-02-30T00:00:00.000000Z": '
                 "day out of range")),
    Case("a twenty-fifth hour", "POST leases", lease("2020-01-01T25:00:00.000000Z"),
         Refused(400, "BadRequest",
                 'Lease in version "v1" cannot be handled as a Lease: parsing time "2020-01-01T25:00:00.000000Z": '
                 "hour out of range")),
    Case("a sixty-first minute", "POST leases", lease("2020-01-01T00:61:00.000000Z"),
         Refused(400, "BadRequest",
                 'Lease in version "v1" cannot be handled as a Lease: parsing time "2020-01-01T00:61:00.000000Z": '
                 "minute out of range")),
    Case("a micro time without its fraction", "POST leases", lease("2020-01-01T00:00:00Z"),
         Refused(400, "BadRequest",
                 'Lease in version "v1" cannot be handled as a Lease: parsing time "2020-01-01T00:00:00Z" as '
                 '"2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"')),
    Case("a time in a zone that there is none of", "POST leases", lease("2020-01-01T00:00:00.000000+25:00"),
         Refused(400, "BadRequest",
                 'Lease in version "v1" cannot be handled as a Lease: parsing time '
                 '"2020-01-01T00:00:00.000000+25:00": time zone offset hour out of range')),
    Case("a time with something after it", "POST leases", lease("2020-01-01T00:00:00.000000Zx"),
         Refused(400, "BadRequest",
                 'Lease in version "v1" cannot be handled as a Lease: parsing time '
                 '"2020-01-01T00:00:00.000000Zx": extra text: "x"')),
    Case("a time without a zone", "POST configmaps",
         config_map(metadata={"creationTimestamp": "2020-01-01T00:00:00"}),
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: parsing time "2020-01-01T00:00:00" '
                 'as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"')),
    Case("a wrong type in custom metadata in a list", "POST gadgets",
         {**gadget(), "metadata": {"name": "g", "ownerReferences": [{"name": 1}]}},
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: json: cannot unmarshal number into Go '
                 "struct field OwnerReference.ownerReferences.name of type string")),
    Case("a custom time that is none", "POST gadgets",
         {**gadget(), "metadata": {"name": "g", "creationTimestamp": "x"}},
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: parsing time "x" as '
                 '"2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"')),
]  # fmt: skip

FIELDS = [
    Case("unknown and repeated fields in the order of the body", "POST pods?fieldValidation=Strict", FIELDS_TWICE,
         Refused(400, "BadRequest",
                 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field '
                 '"metadata.x", duplicate field "spec.containers[0].name", unknown field "spec.containers[0].z", '
                 'unknown field "spec.y", duplicate field "spec", unknown field "spec.w"')),
    Case("a field that is there three times is told once", "POST configmaps?fieldValidation=Strict",
         '{"metadata": {"name": "a"}, "data": {"c": "1", "c": "1", "c": "2", "a.b": "1", "a.b": "2"}}',
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate '
                 'field "data.c", duplicate field "data.a.b"')),
    Case("unknown fields of a CRD", f"POST {CRDS}?fieldValidation=Strict",
         {"spec": {"color": 1, "names": {"x": 1}, "versions": [{"schema": {"openAPIV3Schema": {"tpye": "object"}}}]}},
         Refused(400, "BadRequest",
                 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
                 'strict decoding error: unknown field "spec.color", unknown field "spec.names.x", unknown field '
                 '"spec.versions[0].schema.openAPIV3Schema.tpye"')),
    Case("repeated and unknown fields of a custom object", "POST gadgets?fieldValidation=Strict", GADGET_TWICE,
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: duplicate field '
                 '"spec.size", duplicate field "spec.y[0].a", unknown field "metadata.x", unknown field "spec.y"')),
]  # fmt: skip

SUBRESOURCES = [
    Case("a scale without a body", "PUT deployments/web/scale", "",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type Scale): couldn't get version/kind; json "
                 "parse error: unexpected end of JSON input (<empty>)"), before=WEB),
    Case("a scale with a wrong type", "PUT deployments/web/scale",
         {"metadata": {"name": "web"}, "spec": {"replicas": "x"}},
         Refused(400, "BadRequest",
                 'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal string into Go '
                 "struct field ScaleSpec.spec.replicas of type int32"), before=WEB),
    Case("a scale with an unknown field", "PUT deployments/web/scale",
         {"metadata": {"name": "web"}, "spec": {"replicas": 1, "x": 1}},
         Shows(200, warnings=['299 - "unknown field \\"spec.x\\""']), before=WEB),
    Case("a scale of another version", "PUT deployments/web/scale",
         {"kind": "Scale", "apiVersion": "apps/v1beta1", "metadata": {"name": "web"}},
         Refused(400, "BadRequest",
                 "the API version in the data (apps/v1beta1) does not match the expected API version "
                 "(autoscaling/v1)"), before=WEB),
    Case("a patch of a scale with a wrong type", "PATCH deployments/web/scale", {"spec": {"replicas": "x"}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: json: cannot unmarshal string into Go struct '
                 "field ScaleSpec.spec.replicas of type int32",
                 "", ["FieldValueInvalid patch"]), patch="merge", before=WEB),
    Case("a strategic patch of a scale with a wrong type", "PATCH deployments/web/scale", {"spec": {"replicas": "x"}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": unrecognized type: int32',
                 "", ["FieldValueInvalid patch"]), patch="strategic", before=WEB),
    Case("a patch of a scale with an unknown field", "PATCH deployments/web/scale?fieldValidation=Strict",
         {"spec": {"color": "x"}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: strict decoding error: unknown field "spec.color"',
                 "", ["FieldValueInvalid patch"]), patch="merge", before=WEB),
    Case("a custom scale that can't be read", "PUT gadgets/g/scale", {"spec": {"replicas": "x"}},
         Refused(400, "BadRequest",
                 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'), before=GADGET),
    Case("a binding that is no JSON", "POST pods/p/binding", "nope",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type Binding): couldn't get version/kind; json "
                 "parse error: invalid character 'o' in literal null (expecting 'u') (6e6f7065)"), before=POD),
    Case("a binding with a wrong type", "POST pods/p/binding", {"target": "x"},
         Refused(400, "BadRequest",
                 'Binding in version "v1" cannot be handled as a Binding: json: cannot unmarshal string into Go '
                 "struct field Binding.target of type v1.ObjectReference"), before=POD),
    Case("a binding that is something else", "POST pods/p/binding", {"kind": "ConfigMap", "apiVersion": "v1"},
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a Binding: converting (v1.ConfigMap) to '
                 "(core.Binding): unknown conversion"), before=POD),
    Case("a binding in its own collection with a wrong type", "POST bindings",
         {"metadata": {"name": "p"}, "target": "x"},
         Refused(400, "BadRequest",
                 'Binding in version "v1" cannot be handled as a Binding: json: cannot unmarshal string into Go '
                 "struct field Binding.target of type v1.ObjectReference"), before=POD),
    Case("an eviction with a wrong type", "POST pods/p/eviction", {"deleteOptions": {"gracePeriodSeconds": "x"}},
         Refused(400, "BadRequest",
                 'Eviction in version "v1" cannot be handled as a Eviction: json: cannot unmarshal string into Go '
                 "struct field DeleteOptions.deleteOptions.gracePeriodSeconds of type int64"), before=POD),
    Case("an eviction of an old version", "POST pods/p/eviction",
         {"kind": "Eviction", "apiVersion": "policy/v1beta1", "metadata": {"name": "p"}},
         Shows(201, {"kind": "Status"}), before=POD),
    Case("an eviction that is something else", "POST pods/p/eviction", {"kind": "ConfigMap", "apiVersion": "v1"},
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a Eviction: converting (v1.ConfigMap) to '
                 "(policy.Eviction): unknown conversion"), before=POD),
]  # fmt: skip

OPTIONS = [
    Case("options that are no JSON", "DELETE configmaps/a", "nope",
         Refused(400, "BadRequest",
                 "couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting "
                 "'u')"), before=CM),
    Case("options that are a list", "DELETE configmaps/a", "[]",
         Refused(400, "BadRequest",
                 "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type "
                 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string '
                 '"json:\\"kind,omitempty\\"" }'), before=CM),
    Case("options that are a space", "DELETE configmaps/a", " ",
         Refused(400, "BadRequest",
                 "couldn't get version/kind; json parse error: unexpected end of JSON input"), before=CM),
    Case("options that are null", "DELETE configmaps/a", "null",
         Shows(200), before=CM),
    Case("options of a version that can't be", "DELETE configmaps/a", {"apiVersion": "a/b/c"},
         Refused(400, "BadRequest", "unexpected GroupVersion string: a/b/c"), before=CM),
    Case("options of any version", "DELETE configmaps/a", {"kind": "DeleteOptions", "apiVersion": "wine/v1"},
         Shows(200), before=CM),
    Case("options of another kind", "DELETE gadgets/g", {"kind": "Gadget", "apiVersion": f"{GROUP}/v1"},
         Refused(400, "BadRequest",
                 'no kind "Gadget" is registered for version "conformance.windvane.dev/v1" in scheme '
                 '"pkg/runtime/scheme.go:111"'), before=GADGET),
    Case("a fraction of a second", "DELETE configmaps/a", {"gracePeriodSeconds": 1.5},
         Refused(400, "BadRequest",
                 "json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type "
                 "int64"), before=CM),
    Case("preconditions that are text", "DELETE configmaps/a", {"preconditions": "x"},
         Refused(400, "BadRequest",
                 "json: cannot unmarshal string into Go struct field DeleteOptions.preconditions of type "
                 "v1.Preconditions"), before=CM),
    Case("a uid that is a number", "DELETE configmaps/a", {"preconditions": {"uid": 1}},
         Refused(400, "BadRequest",
                 "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type "
                 "types.UID"), before=CM),
    Case("a dry run that is text", "DELETE configmaps/a", {"dryRun": "All"},
         Refused(400, "BadRequest",
                 "json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string"),
         before=CM),
    Case("an unknown option", "DELETE configmaps/a", {"color": 1},
         Shows(200), before=CM),
    Case("options for a collection that are no JSON", "DELETE configmaps", "nope",
         Refused(400, "BadRequest",
                 "couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting "
                 "'u')"), before=CM),
    Case("options in plain text", "DELETE configmaps/a", "x",
         Refused(415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json, application/yaml, application/vnd.kubernetes.protobuf"),
         before=CM, content="text/plain"),
]  # fmt: skip


@each(KINDS)
async def test_the_kind_of_a_body(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(VALUES)
async def test_a_value_in_a_body(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(FIELDS)
async def test_fields_that_are_unknown_or_come_twice(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(SUBRESOURCES)
async def test_what_is_sent_to_a_subresource(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(OPTIONS)
async def test_options_of_a_deletion(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)
