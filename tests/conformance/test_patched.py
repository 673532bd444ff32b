"""What patches make must be readable, too; what strategic ones make is told in other words."""

from conformance.cases import Case, each
from conformance.crds import GROUP, gadget
from conformance.objects import config_map, deployment, pod
from conformance.requests import Raw, Refused, Shows

CM = [("POST configmaps", config_map(data={"k": "1"}))]
WEB = [("POST deployments", deployment())]
POD = [("POST pods", pod())]
GADGET = [("POST gadgets", gadget())]

PATCHES = [
    Case("a patch that removes the metadata", "PATCH configmaps/a", {"metadata": None},
         Refused(400, "BadRequest",
                 "the name of the object (a based on URL) was undeterminable: name must be provided"),
         patch="merge", before=CM),
    Case("a patch that makes metadata text", "PATCH configmaps/a", {"metadata": "x"},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: json: cannot unmarshal string into Go struct '
                 "field ConfigMap.metadata of type v1.ObjectMeta",
                 "", ["FieldValueInvalid patch"]), patch="merge", before=CM),
    Case("a patch to a kind that there is none of", "PATCH configmaps/a", {"kind": "Wine"},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: no kind "Wine" is registered for version "v1" in '
                 'scheme "pkg/runtime/scheme.go:111"', "", ["FieldValueInvalid patch"]), patch="merge", before=CM),
    Case("a patch to another kind", "PATCH configmaps/a", {"kind": "Pod"},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: converting (v1.Pod) to (core.ConfigMap): unknown '
                 "conversion", "", ["FieldValueInvalid patch"]), patch="merge", before=CM),
    Case("a patch to a kind that is a number", "PATCH configmaps/a", {"kind": 1},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: couldn\'t get version/kind; json parse error: '
                 "json: cannot unmarshal number into Go struct field .kind of type string",
                 "", ["FieldValueInvalid patch"]), patch="merge", before=CM),
    Case("a patch to another version is read as that", "PATCH deployments/web", {"apiVersion": "apps/v1beta1"},
         Shows(200, {"kind": "Deployment", "spec": {"replicas": 1}}), patch="merge", before=WEB),
    Case("a JSON patch with an unreadable result", "PATCH configmaps/a",
         [{"op": "replace", "path": "/data", "value": "x"}],
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: json: cannot unmarshal string into Go struct '
                 "field ConfigMap.data of type map[string]string",
                 "", ["FieldValueInvalid patch"]), patch="json", before=CM),
    Case("a JSON patch that leaves a list", "PATCH configmaps/a", [{"op": "replace", "path": "", "value": []}],
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "[]": couldn\'t get version/kind; json parse error: json: '
                 "cannot unmarshal array into Go value of type struct { APIVersion string "
                 '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
                 "", ["FieldValueInvalid patch"]), patch="json", before=CM),
    Case("a JSON patch that removes the metadata", "PATCH configmaps/a", [{"op": "remove", "path": "/metadata"}],
         Refused(400, "BadRequest",
                 "the name of the object (a based on URL) was undeterminable: name must be provided"),
         patch="json", before=CM),
    Case("a JSON patch with a part that comes twice", "PATCH configmaps/a",
         '[{"op": "test", "op": "test", "path": "/data/k", "value": "1"}]',
         Shows(200, {"data": {"k": "1"}}, warnings=['299 - "json patch duplicate field \\"[0].op\\""']),
         patch="json", before=CM),
    Case("a JSON patch with an operation that is a number", "PATCH configmaps/a", [{"op": 1}],
         Refused(400, "BadRequest",
                 "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type "
                 "string"), patch="json", before=CM),
    Case("a JSON patch that is no JSON and not validated", "PATCH configmaps/a?fieldValidation=Ignore", "nope",
         Refused(400, "BadRequest",
                 "invalid character 'o' in literal null (expecting 'u')"), patch="json", before=CM),
    Case("a merge patch that is no JSON and not validated", "PATCH configmaps/a?fieldValidation=Ignore", "nope",
         Refused(400, "BadRequest", "Invalid JSON Patch"), patch="merge", before=CM),
    Case("a merge patch that is a list and not validated", "PATCH configmaps/a?fieldValidation=Ignore", "[]",
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "[]": couldn\'t get version/kind; json parse error: json: '
                 "cannot unmarshal array into Go value of type struct { APIVersion string "
                 '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
                 "", ["FieldValueInvalid patch"]), patch="merge", before=CM),
    Case("a patch that is no JSON of what is not there", "PATCH configmaps/nope", "nope",
         Refused(404, "NotFound", 'configmaps "nope" not found', "configmaps nope"), patch="merge"),
    Case("unknown fields in a merge patch", "PATCH configmaps/a?fieldValidation=Strict",
         {"metadata": {"x": 1}, "color": 1},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: strict decoding error: unknown field "color", '
                 'unknown field "metadata.x"', "", ["FieldValueInvalid patch"]), patch="merge", before=CM),
    Case("custom labels that are no text in a patch", "PATCH gadgets/g", {"metadata": {"labels": {"a": 1}}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: json: cannot unmarshal number into Go struct '
                 "field ObjectMeta.labels of type string",
                 "", ["FieldValueInvalid patch"]), patch="merge", before=GADGET),
    Case("a patch to another custom version", "PATCH gadgets/g", {"apiVersion": f"{GROUP}/v1beta1"},
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: apiVersion: Invalid value: '
                 '"conformance.windvane.dev/v1beta1": must be conformance.windvane.dev/v1',
                 "Gadget.conformance.windvane.dev g", ["FieldValueInvalid apiVersion"]), patch="merge", before=GADGET),
    Case("a patch to another group", "PATCH gadgets/g", {"apiVersion": "other/v1"},
         Refused(422, "Invalid",
                 'Gadget.other "g" is invalid: apiVersion: Invalid value: "other/v1": must be '
                 "conformance.windvane.dev/v1",
                 "Gadget.other g", ["FieldValueInvalid apiVersion"]), patch="merge", before=GADGET),
    Case("a custom patch with complaints", "PATCH gadgets/g?fieldValidation=Strict",
         '{"spec": {"size": 1, "size": 2, "shape": 1}}',
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: strict decoding error: duplicate field '
                 '"spec.size", unknown field "spec.shape"',
                 "", ["FieldValueInvalid patch"]), patch="merge", before=GADGET),
    Case("a wrong type in a status", "PATCH deployments/web/status", {"status": {"replicas": "x"}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: OBJECT: json: cannot unmarshal string into Go struct '
                 "field DeploymentStatus.status.replicas of type int32",
                 "", ["FieldValueInvalid patch"]), patch="merge", before=WEB),
    Case("a patch type in upper case", "PATCH configmaps/a", {},
         Refused(415, "UnsupportedMediaType",
                 "415: Unsupported Media Type", ""), content="Application/Merge-Patch+JSON", before=CM),
]  # fmt: skip

STRATEGIC = [
    Case("a number where text belongs", "PATCH configmaps/a", {"data": {"k": 1}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[data:map[k:1]]": cannot convert int64 to string',
                 "", ["FieldValueInvalid patch"]), patch="strategic", before=CM),
    Case("a fraction where text belongs", "PATCH configmaps/a", {"data": {"k": 1.5}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[data:map[k:1.5]]": unrecognized type: string',
                 "", ["FieldValueInvalid patch"]), patch="strategic", before=CM),
    Case("a number where a word belongs", "PATCH pods/p", {"spec": {"restartPolicy": 1}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[spec:map[restartPolicy:1]]": cannot convert int64 to '
                 "v1.RestartPolicy", "", ["FieldValueInvalid patch"]), patch="strategic", before=POD),
    Case("text where a map belongs", "PATCH configmaps/a", {"data": "x"},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[data:x]": cannot restore map from string',
                 "", ["FieldValueInvalid patch"]), patch="strategic", before=CM),
    Case("a list where a struct belongs", "PATCH pods/p", {"spec": {"securityContext": []}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[spec:map[securityContext:[]]]": cannot restore '
                 "struct from: slice", "", ["FieldValueInvalid patch"]), patch="strategic", before=POD),
    Case("text where true or false belongs", "PATCH configmaps/a", {"immutable": "x"},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[immutable:x]": unrecognized type: bool',
                 "", ["FieldValueInvalid patch"]), patch="strategic", before=CM),
    Case("a fraction where a whole number belongs", "PATCH deployments/web", {"spec": {"replicas": 1.5}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:1.5]]": cannot convert float64 to '
                 "int32", "", ["FieldValueInvalid patch"]), patch="strategic", before=WEB),
    Case("a whole number written as a fraction", "PATCH deployments/web", {"spec": {"replicas": 2.0}},
         Shows(200, {"kind": "Deployment", "spec": {"replicas": 2}}), patch="strategic", before=WEB),
    Case("a number that is too large wraps around", "PATCH deployments/web", {"spec": {"replicas": 3000000000}},
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1294967296: must be greater '
                 "than or equal to 0",
                 "Deployment.apps web", ["FieldValueInvalid spec.replicas"]), patch="strategic", before=WEB),
    Case("text that is no base64", "PATCH configmaps/a", {"binaryData": {"k": "?"}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[binaryData:map[k:?]]": error decoding from json: '
                 "illegal base64 data at input byte 0",
                 "", ["FieldValueInvalid patch"]), patch="strategic", before=CM),
    Case("text that is no time", "PATCH configmaps/a", {"metadata": {"creationTimestamp": "x"}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[metadata:map[creationTimestamp:x]]": parsing time '
                 '"x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
                 "", ["FieldValueInvalid patch"]), patch="strategic", before=CM),
    Case("a number that is no time", "PATCH configmaps/a", {"metadata": {"creationTimestamp": 1}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[metadata:map[creationTimestamp:1]]": json: cannot '
                 "unmarshal number into Go value of type string",
                 "", ["FieldValueInvalid patch"]), patch="strategic", before=CM),
    Case("true where a number or text belongs", "PATCH deployments/web",
         {"spec": {"strategy": {"rollingUpdate": {"maxSurge": True}}}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: '
                 '"map[spec:map[strategy:map[rollingUpdate:map[maxSurge:true]]]]": json: cannot unmarshal bool '
                 "into Go value of type int32", "", ["FieldValueInvalid patch"]), patch="strategic", before=WEB),
    Case("another kind is not minded", "PATCH configmaps/a", {"kind": "Secret", "apiVersion": "v9"},
         Shows(200, {"data": {"k": "1"}, "kind": "ConfigMap"}), patch="strategic", before=CM),
    Case("complaints are about the patch and then the object", "PATCH configmaps/a?fieldValidation=Strict",
         '{"data": {"k": "1", "k": "2"}, "color": 1}',
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[color:1 data:map[k:2]]": strict decoding error: '
                 'duplicate field "data.k", unknown field "color"',
                 "", ["FieldValueInvalid patch"]), patch="strategic", before=CM),
    Case("complaints become warnings", "PATCH configmaps/a", '{"data": {"k": "1", "k": "2"}, "color": 1}',
         Shows(200, {"data": {"k": "2"}, "kind": "ConfigMap"},
               warnings=['299 - "duplicate field \\"data.k\\""', '299 - "unknown field \\"color\\""']),
         patch="strategic", before=CM),
]  # fmt: skip


@each(PATCHES)
async def test_what_a_patch_makes(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(STRATEGIC)
async def test_what_a_strategic_patch_makes(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)
