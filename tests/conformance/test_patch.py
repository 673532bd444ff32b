"""Patches of three sorts: JSON patches, merge patches and, for built-in kinds, strategic merge patches."""

import re
from typing import Any

import pytest

from conformance.cases import Case, each
from conformance.crds import gadget
from conformance.objects import config_map, deployment, pod, service
from conformance.requests import Raw, Refused, Shows

ONE = [("POST configmaps", config_map(data={"k": "1"}, metadata={"labels": {"a": "b"}}))]
TWO = [("POST pods", pod(containers=[{"name": "x", "image": "x"}, {"name": "y", "image": "y"}]))]
WEB = [("POST deployments", deployment())]
GADGET = [("POST gadgets", gadget(tags=["a"]))]


def op(kind: str, path: str, *value: Any, **rest: Any) -> list[dict[str, Any]]:
    return [{"op": kind, "path": path, **({"value": value[0]} if value else {}), **rest}]


JSON = [
    Case("add", "PATCH configmaps/a", op("add", "/data/n", "2"), Shows(200, {"data": {"k": "1", "n": "2"}}),
         before=ONE, patch="json"),
    Case("add replaces what is there", "PATCH configmaps/a", op("add", "/data/k", "2"),
         Shows(200, {"data": {"k": "2"}}), before=ONE, patch="json"),
    Case("replace", "PATCH configmaps/a", op("replace", "/data/k", "2"), Shows(200, {"data": {"k": "2"}}), before=ONE,
         patch="json"),
    Case("remove", "PATCH configmaps/a", op("remove", "/data/k"), Shows(200, {"data": None}), before=ONE,
         patch="json"),
    Case("move", "PATCH configmaps/a", [{"op": "move", "from": "/data/k", "path": "/data/n"}],
         Shows(200, {"data": {"k": None, "n": "1"}}), before=ONE, patch="json"),
    Case("copy", "PATCH configmaps/a", [{"op": "copy", "from": "/data/k", "path": "/data/n"}],
         Shows(200, {"data": {"k": "1", "n": "1"}}), before=ONE, patch="json"),
    Case("test that holds", "PATCH configmaps/a", op("test", "/data/k", "1"), Shows(200, {"data": {"k": "1"}}),
         before=ONE, patch="json"),
    Case("test that fails", "PATCH configmaps/a", op("test", "/data/k", "2"),
         Refused(422, "Invalid", "the server rejected our request due to an error in our request", ""), before=ONE,
         patch="json"),
    Case("test of what is not there", "PATCH configmaps/a", op("test", "/data/x", "2"),
         Refused(422, "Invalid", "the server rejected our request due to an error in our request", ""), before=ONE,
         patch="json"),
    Case("remove of what is not there", "PATCH configmaps/a", op("remove", "/data/x"),
         Refused(422, "Invalid", "the server rejected our request due to an error in our request", ""), before=ONE,
         patch="json"),
    Case("replace of what is not there", "PATCH configmaps/a", op("replace", "/data/x", "1"),
         Shows(200, {"data": {"k": "1", "x": "1"}}), before=ONE, patch="json"),
    Case("add below what is not there", "PATCH configmaps/a", op("add", "/binaryData/x", "eA=="),
         Refused(422, "Invalid", "the server rejected our request due to an error in our request", ""), before=ONE,
         patch="json"),
    Case("a path without a slash", "PATCH configmaps/a", op("add", "data", {}),
         Refused(422, "Invalid", "the server rejected our request due to an error in our request", ""), before=ONE,
         patch="json"),
    Case("an operation that there is none of", "PATCH configmaps/a", op("grow", "/data/k"),
         Refused(422, "Invalid", "the server rejected our request due to an error in our request", ""), before=ONE,
         patch="json"),
    Case("an operation without a path", "PATCH configmaps/a", [{"op": "add", "value": 1}],
         Refused(422, "Invalid", "the server rejected our request due to an error in our request", ""), before=ONE,
         patch="json"),
    Case("a JSON patch that is an object", "PATCH configmaps/a", {"data": {}},
         Refused(400, "BadRequest",
                 "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
         before=ONE, patch="json"),
    Case("a JSON patch that is no JSON", "PATCH configmaps/a", "nope",
         Refused(400, "BadRequest", "error decoding patch: invalid character 'o' in literal null (expecting 'u')"),
         before=ONE, patch="json"),
    Case("an empty JSON patch", "PATCH configmaps/a", [], Shows(200, {"data": {"k": "1"}}), before=ONE, patch="json"),
    Case("a slash in a key", "PATCH configmaps/a",
         op("add", "/metadata/annotations", {"a/b": "c"}) + op("replace", "/metadata/annotations/a~1b", "d"),
         Shows(200, {"metadata": {"annotations": {"a/b": "d"}}}), before=ONE, patch="json"),
    Case("an element is inserted before an index", "PATCH gadgets/g", op("add", "/spec/tags/0", "z"),
         Shows(200, {"spec": {"tags": ["z", "a"]}}), before=GADGET, patch="json"),
    Case("an element is appended", "PATCH gadgets/g", op("add", "/spec/tags/-", "z"),
         Shows(200, {"spec": {"tags": ["a", "z"]}}), before=GADGET, patch="json"),
    Case("an index that is out of bounds", "PATCH gadgets/g", op("add", "/spec/tags/7", "z"),
         Refused(422, "Invalid", "the server rejected our request due to an error in our request", ""), before=GADGET,
         patch="json"),
    Case("an index that is no number", "PATCH gadgets/g", op("add", "/spec/tags/x", "z"),
         Refused(422, "Invalid", "the server rejected our request due to an error in our request", ""), before=GADGET,
         patch="json"),
    Case("a JSON patch of an object that is not there", "PATCH configmaps/nope", [],
         Refused(404, "NotFound", 'configmaps "nope" not found', "configmaps nope"), patch="json"),
    Case("more than ten thousand operations", "PATCH configmaps/a", op("test", "/data/k", "1") * 10001,
         Refused(413, "RequestEntityTooLarge",
                 "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"),
         before=ONE, patch="json"),
]  # fmt: skip

MERGE = [
    Case("merge adds and changes", "PATCH configmaps/a", {"data": {"k": "2", "n": "3"}},
         Shows(200, {"data": {"k": "2", "n": "3"}}), before=ONE, patch="merge"),
    Case("null removes", "PATCH configmaps/a", {"data": {"k": None}}, Shows(200, {"data": None}), before=ONE,
         patch="merge"),
    Case("null for a whole map removes it", "PATCH configmaps/a", {"metadata": {"labels": None}},
         Shows(200, {"metadata": {"labels": None}}), before=ONE, patch="merge"),
    Case("lists are replaced", "PATCH pods/p", {"spec": {"containers": [{"name": "x", "image": "z"}]}},
         Refused(422, "Invalid",
                 'Pod "p" is invalid: spec.containers: Forbidden: pod updates may not add or remove containers',
                 "Pod p", ["FieldValueForbidden spec.containers"]), before=TWO, patch="merge"),
    Case("an empty merge patch", "PATCH configmaps/a", {}, Shows(200, {"data": {"k": "1"}}), before=ONE,
         patch="merge"),
    Case("a merge patch that is a list", "PATCH configmaps/a", [],
         Refused(400, "BadRequest",
                 "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
         before=ONE, patch="merge"),
    Case("a merge patch that is no JSON", "PATCH configmaps/a", "{",
         Refused(400, "BadRequest", "error decoding patch: unexpected end of JSON input"), before=ONE, patch="merge"),
    Case("a merge patch that is text", "PATCH configmaps/a", '"x"',
         Refused(400, "BadRequest",
                 "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"),
         before=ONE, patch="merge"),
    Case("a merge patch that is null", "PATCH configmaps/a", "null", Refused(400, "BadRequest", "Invalid JSON Patch"),
         before=ONE, patch="merge"),
    Case("a merge patch that is empty text", "PATCH configmaps/a", "",
         Refused(400, "BadRequest", "error decoding patch: unexpected end of JSON input"), before=ONE, patch="merge"),
    Case("a merge patch that breaks a rule", "PATCH deployments/web", {"spec": {"replicas": -1}},
         Refused(422, "Invalid",
                 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal '
                 "to 0",
                 "Deployment.apps web", ["FieldValueInvalid spec.replicas"]), before=WEB, patch="merge"),
    Case("a merge patch of the name", "PATCH configmaps/a", {"metadata": {"name": "b"}},
         Refused(400, "BadRequest", "the name of the object (b) does not match the name on the URL (a)"), before=ONE,
         patch="merge"),
    Case("a merge patch of the namespace", "PATCH configmaps/a", {"metadata": {"namespace": "b"}},
         Refused(400, "BadRequest",
                 "the namespace of the provided object does not match the namespace sent on the request"), before=ONE,
         patch="merge"),
    Case("a merge patch of the uid", "PATCH configmaps/a", {"metadata": {"uid": "other"}},
         Refused(422, "Invalid", 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "other": field is immutable',
                 "ConfigMap a", ["FieldValueInvalid metadata.uid", "FieldValueInvalid metadata.uid"]), before=ONE,
         patch="merge"),
    Case("a merge patch with an old version", "PATCH configmaps/a", {"metadata": {"resourceVersion": "1"}},
         Refused(409, "Conflict",
                 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your '
                 "changes to the latest version and try again",
                 "configmaps a"), before=ONE, patch="merge"),
    Case("a merge patch of a custom object with an old version", "PATCH gadgets/g",
         {"metadata": {"resourceVersion": "1"}},
         Refused(409, "Conflict",
                 'Operation cannot be fulfilled on gadgets.conformance.windvane.dev "g": the object has been '
                 "modified; please apply your changes to the latest version and try again",
                 "gadgets.conformance.windvane.dev g"), before=GADGET, patch="merge"),
    Case("a merge patch of the status by the main path is dropped", "PATCH gadgets/g", {"status": {"phase": "x"}},
         Shows(200, {"status": None}), before=GADGET, patch="merge"),
    Case("a merge patch that a schema refuses", "PATCH gadgets/g", {"spec": {"size": 99}},
         Refused(422, "Invalid",
                 'Gadget.conformance.windvane.dev "g" is invalid: spec.size: Invalid value: 99: spec.size in body '
                 "should be less than or equal to 10",
                 "Gadget.conformance.windvane.dev g", ["FieldValueInvalid spec.size"]), before=GADGET, patch="merge"),
    Case("a merge patch of a custom kind", "PATCH gadgets/g", {"kind": "Other"},
         Refused(422, "Invalid",
                 'Other.conformance.windvane.dev "g" is invalid: kind: Invalid value: "Other": must be Gadget',
                 "Other.conformance.windvane.dev g", ["FieldValueInvalid kind"]), before=GADGET, patch="merge"),
    Case("unknown fields are dropped with a warning", "PATCH configmaps/a", {"color": "red"},
         Shows(200, {"color": None}, warnings=['299 - "unknown field \\"color\\""']), before=ONE, patch="merge"),
    Case("force is for apply only", "PATCH configmaps/a?force=true", {},
         Refused(422, "Invalid",
                 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
                 "PatchOptions.meta.k8s.io", ["FieldValueForbidden force"]), before=ONE, patch="merge"),
    Case("a patch of a collection", "PATCH configmaps", {},
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", ""),
         patch="merge"),
    Case("a patch with a dry run of another sort", "PATCH configmaps/a?dryRun=x", {},
         Refused(422, "Invalid",
                 'PatchOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
                 "PatchOptions.meta.k8s.io", ["FieldValueNotSupported dryRun"]), before=ONE, patch="merge"),
]  # fmt: skip

STRATEGIC = [
    Case("containers are merged by name", "PATCH pods/p", {"spec": {"containers": [{"name": "y", "image": "z"}]}},
         Shows(200, {"spec": {"containers": [{"name": "x", "image": "x"}, {"name": "y", "image": "z"}]}}), before=TWO,
         patch="strategic"),
    Case("a new container comes first", "PATCH deployments/web",
         {"spec": {"template": {"spec": {"containers": [{"name": "new", "image": "z"}]}}}},
         Shows(200, {"spec": {"template": {"spec": {"containers": [{"name": "new"}, {"name": "main"}]}}}}),
         before=WEB, patch="strategic"),
    Case("an element is deleted by its key", "PATCH deployments/web",
         {"spec": {"template": {"spec": {"containers": [{"name": "new", "image": "z"},
                                                        {"name": "main", "$patch": "delete"}]}}}},
         Shows(200, {"spec": {"template": {"spec": {"containers": [{"name": "new"}]}}}}), before=WEB,
         patch="strategic"),
    Case("a list is replaced", "PATCH deployments/web",
         {"spec": {"template": {"spec": {"containers": [{"$patch": "replace"}, {"name": "new", "image": "z"}]}}}},
         Shows(200, {"spec": {"template": {"spec": {"containers": [{"name": "new"}]}}}}), before=WEB,
         patch="strategic"),
    Case("the order can be set", "PATCH deployments/web",
         {"spec": {"template": {"spec": {"$setElementOrder/containers": [{"name": "main"}, {"name": "new"}],
                                         "containers": [{"name": "new", "image": "z"}]}}}},
         Shows(200, {"spec": {"template": {"spec": {"containers": [{"name": "main"}, {"name": "new"}]}}}}),
         before=WEB, patch="strategic"),
    Case("an object is replaced", "PATCH configmaps/a", {"data": {"$patch": "replace", "n": "2"}},
         Shows(200, {"data": {"n": "2", "k": None}}), before=ONE, patch="strategic"),
    Case("an object is deleted", "PATCH configmaps/a", {"data": {"$patch": "delete"}}, Shows(200, {"data": None}),
         before=ONE, patch="strategic"),
    Case("keys are retained", "PATCH deployments/web",
         {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
         Shows(200, {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}), before=WEB,
         patch="strategic"),
    Case("finalizers are deleted from their list", "PATCH configmaps/a",
         {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.example/x"]}},
         Shows(200, {"metadata": {"finalizers": ["a.example/y"]}}), patch="strategic",
         before=[("POST configmaps", config_map(metadata={"finalizers": ["a.example/x", "a.example/y"]}))]),
    Case("finalizers are merged as a set, in the order of the patch", "PATCH configmaps/a",
         {"metadata": {"finalizers": ["a.example/y", "a.example/x"]}},
         Shows(200, {"metadata": {"finalizers": ["a.example/y", "a.example/x"]}}), patch="strategic",
         before=[("POST configmaps", config_map(metadata={"finalizers": ["a.example/x"]}))]),
    Case("ports of a service are merged by port", "PATCH services/s",
         {"spec": {"ports": [{"port": 80, "name": "web"}, {"port": 81, "name": "b"}]}},
         Shows(200, {"spec": {"ports": [{"port": 80, "name": "web"}, {"port": 81, "name": "b"}]}}),
         before=[("POST services", service())], patch="strategic"),
    Case("null removes strategically too", "PATCH configmaps/a", {"data": None}, Shows(200, {"data": None}),
         before=ONE, patch="strategic"),
    Case("an empty strategic patch", "PATCH configmaps/a", {}, Shows(200, {"data": {"k": "1"}}), before=ONE,
         patch="strategic"),
    Case("a directive that there is none of", "PATCH configmaps/a", {"data": {"$patch": "shrink"}},
         Refused(500, "", "unknown patch type: shrink in map: map[$patch:shrink]"), before=ONE, patch="strategic"),
    Case("an element without its key", "PATCH pods/p", {"spec": {"containers": [{"image": "z"}]}},
         Refused(500, "", "map: map[image:z] does not contain declared merge key: name"), before=TWO,
         patch="strategic"),
    Case("text where a list belongs in a strategic patch", "PATCH pods/p", {"spec": {"containers": "x"}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[spec:map[containers:x]]": cannot restore slice from '
                 "string",
                 "", ["FieldValueInvalid patch"]), before=TWO, patch="strategic"),
    Case("a strategic patch that is a list", "PATCH configmaps/a", [],
         Refused(400, "BadRequest", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
         before=ONE, patch="strategic"),
    Case("a strategic patch that is no JSON", "PATCH configmaps/a", "{",
         Refused(400, "BadRequest", "unexpected end of JSON input"), before=ONE, patch="strategic"),
    Case("a strategic patch with a wrong type", "PATCH deployments/web", {"spec": {"replicas": "x"}},
         Refused(422, "Invalid",
                 ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": unrecognized type: int32',
                 "", ["FieldValueInvalid patch"]), before=WEB, patch="strategic"),
    Case("a strategic patch with an unknown field", "PATCH deployments/web", {"spec": {"color": "x"}},
         Shows(200, {"spec": {"color": None}}, warnings=['299 - "unknown field \\"spec.color\\""']), before=WEB,
         patch="strategic"),
    Case("a strategic patch with an old version", "PATCH configmaps/a", {"metadata": {"resourceVersion": "1"}},
         Refused(409, "Conflict",
                 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your '
                 "changes to the latest version and try again",
                 "configmaps a"), before=ONE, patch="strategic"),
    Case("custom objects have no strategic patches", "PATCH gadgets/g", {},
         Refused(415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"),
         before=GADGET, patch="strategic"),
]  # fmt: skip

CONTENT = [
    Case("a patch as plain JSON", "PATCH configmaps/a", {},
         Refused(415, "UnsupportedMediaType", "415: Unsupported Media Type", ""), before=ONE),
    Case("a patch as YAML", "PATCH configmaps/a", {},
         Refused(415, "UnsupportedMediaType", "415: Unsupported Media Type", ""), before=ONE,
         content="application/yaml"),
    Case("a patch without a type", "PATCH configmaps/a", {},
         Refused(415, "UnsupportedMediaType", "415: Unsupported Media Type", ""), before=ONE, content=""),
    Case("a patch of a custom object as plain JSON", "PATCH gadgets/g", {},
         Refused(415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"),
         before=GADGET),
    Case("a patch type with a charset", "PATCH configmaps/a", {"data": {"k": "2"}}, Shows(200, {"data": {"k": "2"}}),
         before=ONE, content="application/merge-patch+json; charset=utf-8"),
]  # fmt: skip


@each(JSON)
async def test_json_patch(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(MERGE)
async def test_merge_patch(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(STRATEGIC)
async def test_strategic_merge_patch(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(CONTENT)
async def test_the_content_type_says_which_patch(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


async def test_a_patch_that_changes_nothing_keeps_the_version(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "1"}))
    assert await raw.ok("PATCH configmaps/a", {"data": {"k": "1"}}, patch="merge") == made


async def test_a_dry_run_of_a_patch_changes_nothing(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map(data={"k": "1"}))
    tried = await raw.ok("PATCH configmaps/a?dryRun=All", {"data": {"k": "2"}}, patch="merge")
    assert tried["data"] == {"k": "2"}
    assert await raw.ok("GET configmaps/a") == made


async def test_a_patch_with_the_current_version_is_conditional(raw: Raw) -> None:
    made = await raw.ok("POST configmaps", config_map())
    change = {"data": {"k": "v"}, "metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}}
    assert (await raw.ok("PATCH configmaps/a", change, patch="merge"))["data"] == {"k": "v"}
    assert (await raw("PATCH configmaps/a", {**change, "data": {"k": "w"}}, patch="merge")).code == 409


async def test_an_object_that_a_patch_leaves_without_finalizers_goes(raw: Raw) -> None:
    await raw.ok("POST configmaps", config_map(metadata={"finalizers": ["a.example/x"]}))
    await raw.ok("DELETE configmaps/a")
    last = await raw.ok("PATCH configmaps/a", op("remove", "/metadata/finalizers"), patch="json")
    assert "finalizers" not in last["metadata"]
    assert (await raw("GET configmaps/a")).code == 404


# Such an error quotes the whole patched object.
UNREADABLE = [
    (
        "configmaps/a",
        {"data": "x"},
        "json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string",
    ),
    ("configmaps/a", {"kind": "Secret"}, "illegal base64 data at input byte 0"),
    (
        "configmaps/a",
        {"apiVersion": "v2"},
        'no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"',
    ),
    (
        "deployments/web",
        {"spec": {"replicas": "x"}},
        "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ),
    ("configmaps/a?fieldValidation=Strict", {"color": "red"}, 'strict decoding error: unknown field "color"'),
]


@pytest.mark.parametrize(("path", "change", "complaint"), UNREADABLE)
async def test_what_a_patch_makes_must_be_readable(raw: Raw, path: str, change: Any, complaint: str) -> None:
    await raw.ok("POST configmaps", config_map(data={"k": "1"}))
    await raw.ok("POST deployments", deployment())
    refusal = (await raw(f"PATCH {path}", change, patch="merge")).refusal
    shown = re.sub(r'"\{.*\}"', "OBJECT", refusal.message)
    assert shown == f' "" is invalid: patch: Invalid value: OBJECT: {complaint}'
    assert (refusal.code, refusal.reason, refusal.about) == (422, "Invalid", "")
    assert refusal.causes == ["FieldValueInvalid patch"]
