"""Requests that make no sense: paths, methods and bodies."""

import json

import pytest

from conformance.cases import Case, each
from conformance.crds import GROUP, gadget
from conformance.objects import config_map, deployment
from conformance.requests import Raw, Refused, Shows

NS = "/api/v1/namespaces/{ns}"

PATHS = [
    Case("a version that there is none of", "GET /apis/apps/v9/deployments", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a kind that there is none of", f"GET {NS}/wines", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a kind in the singular", f"GET {NS}/configmap", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a kind in other case", f"GET {NS}/ConfigMaps", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a core kind in a group", "GET /apis/apps/v1/namespaces/{ns}/pods", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a cluster's kind in a namespace", f"GET {NS}/nodes", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a namespaced object without a namespace", "GET /api/v1/configmaps/a", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a path too deep", f"GET {NS}/configmaps/a/b/c", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a subresource that there is none of", f"GET {NS}/configmaps/a/color", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("bindings of all namespaces", "GET /api/v1/bindings", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a binding", f"GET {NS}/bindings/x", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a version of the core group that there is none of", "GET /api/v2", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a version of a built-in group that there is none of", "GET /apis/apps/v9/deployments", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("something in a namespace that there is none of", "GET /api/v1/namespaces/{ns}/nope", None,
         Refused(404, "NotFound", "the server could not find the requested resource", "")),
    Case("a slash at the end of a collection", f"GET {NS}/configmaps/", None, Shows(200, {"kind": "ConfigMapList"})),
    Case("a slash at the end of an object", f"GET {NS}/configmaps/a/", None, Shows(200, {"kind": "ConfigMap"}),
         before=[("POST configmaps", config_map())]),
    Case("a slash at the end of a custom collection", "GET gadgets/", None, Shows(200, {"kind": "GadgetList"})),
    Case("a slash at the end of a document", "GET /apis/apps/v1/", None, Shows(200, {"kind": "APIResourceList"})),
    Case("a status that a custom kind does not have", "GET plainthings/g/status", None,
         Refused(404, "NotFound", 'plainthings.conformance.windvane.dev "g" not found',
                 "plainthings.conformance.windvane.dev g")),
    Case("what comes after a custom object's status is not looked at", "GET gadgets/g/status/x", None,
         Shows(200, {"kind": "Gadget"}), before=[("POST gadgets", gadget())]),
    Case("a custom subresource that there is none of", "GET gadgets/g/color", None,
         Refused(404, "NotFound", 'gadgets.conformance.windvane.dev "g" not found',
                 "gadgets.conformance.windvane.dev g"), before=[("POST gadgets", gadget())]),
]  # fmt: skip

METHODS = [
    Case("a collection can't be replaced", "PUT configmaps", config_map(),
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("an object can't be posted", "POST configmaps/a", config_map(),
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("a custom collection can't be replaced", "PUT gadgets", gadget(),
         Refused(400, "BadRequest", "name must be provided")),
    Case("a custom object can be posted at its own path", "POST gadgets/g", gadget(), Shows(201, {"kind": "Gadget"})),
    Case("a custom collection can't be patched", "PATCH gadgets", {},
         Refused(400, "BadRequest", "name must be provided"), patch="merge"),
    Case("a custom status can't be posted", "POST gadgets/g/status", gadget(),
         Refused(405, "MethodNotAllowed",
                 'create is not supported on resources of kind "gadgets.conformance.windvane.dev"',
                 "gadgets.conformance.windvane.dev"), before=[("POST gadgets", gadget())]),
    Case("a custom scale can't be deleted", "DELETE gadgets/g/scale", None,
         Refused(405, "MethodNotAllowed",
                 'delete is not supported on resources of kind "gadgets.conformance.windvane.dev"',
                 "gadgets.conformance.windvane.dev"), before=[("POST gadgets", gadget())]),
    Case("a status can't be deleted", "DELETE deployments/web/status", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("a binding of a pod can't be read", "GET pods/p/binding", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("objects in all namespaces can't be deleted at once", "DELETE /api/v1/configmaps", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("all namespaces can't be deleted at once", "DELETE /api/v1/namespaces", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("nobody is told their options", "OPTIONS configmaps", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("nobody is told their options for a custom kind", "OPTIONS gadgets", None,
         Refused(405, "MethodNotAllowed", ' is not supported on resources of kind "gadgets.conformance.windvane.dev"',
                 "gadgets.conformance.windvane.dev")),
    Case("the versions of the core group can't be posted", "POST /api", {},
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("the kinds of a version can't be deleted", "DELETE /apis/apps/v1", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("the version can't be posted", "POST /version", {},
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("the groups are shown whatever the method", "POST /apis", {}, Shows(200, {"kind": "APIGroupList"})),
    Case("a group is shown whatever the method", "PUT /apis/apps", {}, Shows(200, {"kind": "APIGroup"})),
    Case("component statuses can't be created", "POST /api/v1/componentstatuses", {"metadata": {"name": "x"}},
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
    Case("a review can't be listed", "GET /apis/authorization.k8s.io/v1/subjectaccessreviews", None,
         Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", "")),
]  # fmt: skip

BODIES = [
    Case("no body", "POST configmaps", None,
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json "
                 "parse error: unexpected end of JSON input (<empty>)")),
    Case("an empty body", "POST configmaps", "",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json "
                 "parse error: unexpected end of JSON input (<empty>)")),
    Case("a body that is no JSON", "POST configmaps", "nope",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json "
                 "parse error: invalid character 'o' in literal null (expecting 'u') (6e6f7065)")),
    Case("a body that ends early", "POST configmaps", '{"metadata": {"name": "a"',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json "
                 'parse error: unexpected end of JSON input ({"metadata": {"name": "a")')),
    Case("a body with something after it", "POST configmaps", '{"metadata": {"name": "a"}} x',
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json "
                 "parse error: invalid character 'x' after top-level value ({\"metadata\": {\"name\": \"a\"}} x)")),
    Case("a body that is a list", "POST configmaps", [],
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json "
                 "parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "
                 "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } (5b5d)")),
    Case("a body that is a number", "POST configmaps", "1",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json "
                 "parse error: json: cannot unmarshal number into Go value of type struct { APIVersion string "
                 "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } (31)")),
    Case("a body that is null", "POST configmaps", "null",
         Refused(422, "Invalid",
                 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
                 "ConfigMap", ["FieldValueRequired metadata.name"])),
    Case("a body that is not UTF-8", "POST configmaps", b'{"metadata": {"name": "\xff"}}',
         Refused(422, "Invalid",
                 'ConfigMap "�" is invalid: metadata.name: Invalid value: "�": a lowercase RFC 1123 subdomain must '
                 "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
                 "alphanumeric character (e.g. 'example.com', regex used for validation is "
                 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                 "ConfigMap �", ["FieldValueInvalid metadata.name"])),
    Case("a body of another kind", "POST configmaps",
         {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}},
         Refused(400, "BadRequest",
                 'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to '
                 "(core.ConfigMap): unknown conversion")),
    Case("a body of another version", "POST deployments",
         {**deployment(), "kind": "Deployment", "apiVersion": "apps/v1beta1"},
         Refused(400, "BadRequest",
                 "the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)")),
    Case("a body of a kind that there is none of", "POST configmaps", {"kind": "Wine", "apiVersion": "v1"},
         Refused(400, "BadRequest",
                 'Wine in version "v1" cannot be handled as a ConfigMap: no kind "Wine" is registered for version '
                 '"v1" in scheme "pkg/runtime/scheme.go:111"')),
    Case("a body of a version without a kind", "POST configmaps", {**config_map(), "apiVersion": "v1"}, Shows(201)),
    Case("a body of a kind without a version", "POST configmaps", {**config_map(), "kind": "ConfigMap"}, Shows(201)),
    Case("a body of another version without a kind", "POST configmaps", {**config_map(), "apiVersion": "v9"},
         Refused(400, "BadRequest",
                 'ConfigMap in version "v9" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for '
                 'version "v9" in scheme "pkg/runtime/scheme.go:111"')),
    Case("a version that can't be", "POST configmaps", {**config_map(), "kind": "ConfigMap", "apiVersion": "a/b/c"},
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: "
                 'a/b/c ({"metadata": {"name": "a"}, "k ...)')),
    Case("a list where one object belongs", "POST configmaps",
         {"kind": "ConfigMapList", "apiVersion": "v1", "items": []},
         Refused(400, "BadRequest",
                 'ConfigMapList in version "v1" cannot be handled as a ConfigMap: converting (v1.ConfigMapList) to '
                 "(core.ConfigMap): unknown conversion")),
    Case("metadata that is text", "POST configmaps", {"metadata": "x"},
         Refused(400, "BadRequest",
                 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go '
                 "struct field ConfigMap.metadata of type v1.ObjectMeta")),
    Case("a kind that is a number", "POST configmaps", {"kind": 1},
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json "
                 'parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind": 1})')),
    Case("a custom body without a kind", "POST gadgets", {"metadata": {"name": "g"}, "spec": {"size": 1}},
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type Gadget): Object 'Kind' is missing in "
                 "'{\"metadata\": {\"name\": \"g\"}, \"spec\": {\"size\": 1}}' ({\"metadata\": {\"name\": \"g\"}, "
                 '"s ...)')),
    Case("a custom body of another kind", "POST gadgets", {**gadget(), "kind": "Other"},
         Refused(422, "Invalid",
                 'Other.conformance.windvane.dev "g" is invalid: kind: Invalid value: "Other": must be Gadget',
                 "Other.conformance.windvane.dev g", ["FieldValueInvalid kind"])),
    Case("a custom body of another version", "POST gadgets", {**gadget(), "apiVersion": f"{GROUP}/v1beta1"},
         Refused(400, "BadRequest",
                 "the API version in the data (conformance.windvane.dev/v1beta1) does not match the expected API "
                 "version (conformance.windvane.dev/v1)")),
    Case("a custom body of another group", "POST gadgets", {**gadget(), "apiVersion": "other.example/v1"},
         Refused(400, "BadRequest",
                 "the API version in the data (other.example/v1) does not match the expected API version "
                 "(conformance.windvane.dev/v1)")),
    Case("a custom body that is no JSON", "POST gadgets", "nope",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type Gadget): couldn't get version/kind; json "
                 "parse error: invalid character 'o' in literal null (expecting 'u') (6e6f7065)")),
    Case("a custom body that is empty", "POST gadgets", "",
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type Gadget): couldn't get version/kind; json "
                 "parse error: unexpected end of JSON input (<empty>)")),
    Case("a custom body that is a list", "POST gadgets", [],
         Refused(400, "BadRequest",
                 "the object provided is unrecognized (must be of type Gadget): couldn't get version/kind; json "
                 "parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "
                 "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } (5b5d)")),
    Case("custom metadata that is text", "POST gadgets", {**gadget(), "metadata": "x"},
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: json: cannot unmarshal string into Go value '
                 "of type v1.ObjectMeta")),
    Case("custom labels that are no text", "POST gadgets",
         {**gadget(), "metadata": {"name": "g", "labels": {"a": 1}}},
         Refused(400, "BadRequest",
                 'Gadget in version "v1" cannot be handled as a Gadget: json: cannot unmarshal number into Go '
                 "struct field ObjectMeta.labels of type string")),
    Case("plain text is no type for a body", "POST configmaps", config_map(),
         Refused(415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json, application/yaml, application/vnd.kubernetes.protobuf"), content="text/plain"),
    Case("a form is no type for a body", "POST configmaps", "a=b",
         Refused(415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json, application/yaml, application/vnd.kubernetes.protobuf"),
         content="application/x-www-form-urlencoded"),
    Case("plain text is no type for a custom body", "POST gadgets", gadget(),
         Refused(415, "UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: "
                 "application/json, application/yaml, application/vnd.kubernetes.protobuf"), content="text/plain"),
    Case("a type with a charset is fine", "POST configmaps", config_map(), Shows(201),
         content="application/json; charset=utf-8"),
    Case("a body without a type is JSON", "POST configmaps", config_map(), Shows(201), content=""),
]  # fmt: skip


@each(PATHS)
async def test_a_path_that_leads_nowhere(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(METHODS)
async def test_a_method_that_is_not_allowed(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


@each(BODIES)
async def test_a_body(raw: Raw, crds: None, case: Case) -> None:
    await case.check(raw)


async def test_a_body_of_more_than_three_mebibytes(raw: Raw) -> None:
    answer = await raw("POST configmaps", json.dumps(config_map(data={"k": "x" * (3 * 1024 * 1024)})))
    assert answer.refusal == Refused(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728")


# Where nothing is served, and for custom kinds also where nothing is served in that way.
PLAIN = [
    "GET /apis/nope.example/v1/things",
    f"GET /apis/{GROUP}/v9/namespaces/{{ns}}/gadgets",
    f"GET /apis/{GROUP}/v1/namespaces/{{ns}}/wines",
    f"POST /apis/{GROUP}/v1/gadgets",
    f"PUT /apis/{GROUP}/v1/gadgets",
    f"PATCH /apis/{GROUP}/v1/gadgets",
    f"DELETE /apis/{GROUP}/v1/gadgets",
    f"GET /apis/{GROUP}/v1/gadgets/g",
    f"GET /apis/{GROUP}/v1/namespaces/{{ns}}",
    "PUT /nope",
    "GET /healthz/nope",
    "GET /openapi",
    "GET /apis/nope.example",
    "GET /nope",
]


@pytest.mark.parametrize("request_line", PLAIN)
async def test_a_group_or_custom_kind_that_is_not_there_is_plain_text(raw: Raw, crds: None, request_line: str) -> None:
    answer = await raw(request_line)
    assert (answer.code, answer.content_type) == (404, "text/plain; charset=utf-8")
    assert answer.body == b"404 page not found\n"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_method_that_http_does_not_know(raw: Raw) -> None:
    answer = await raw("BREW configmaps")
    assert answer.refusal == Refused(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource", ""
    )


async def test_without_credentials_nothing_is_shown(raw: Raw) -> None:
    answer = await raw("GET configmaps", headers={"Authorization": ""})
    assert answer.code in (401, 403)


async def test_a_wrong_token_is_unauthorized(raw: Raw) -> None:
    answer = await raw("GET configmaps", headers={"Authorization": "Bearer nonsense"})
    assert answer.refusal == Refused(401, "Unauthorized", "Unauthorized")


async def test_an_answer_says_that_it_is_not_to_be_kept(raw: Raw) -> None:
    answer = await raw("GET configmaps")
    assert answer.headers["Cache-Control"] == "no-cache, private"
    assert answer.headers["Audit-Id"]
    assert answer.content_type == "application/json"


async def test_head_is_get_without_a_body(raw: Raw) -> None:
    answer = await raw("HEAD configmaps")
    assert (answer.code, answer.body) == (405, b"")


@pytest.mark.parametrize(("path", "code"), [("gadgets", 200), ("gadgets/nope", 404), ("/apis", 200), ("/api", 405)])
async def test_head_is_get_without_a_body_for_custom_kinds_and_some_documents(
    raw: Raw, crds: None, path: str, code: int
) -> None:
    answer = await raw(f"HEAD {path}")
    assert (answer.code, answer.body) == (code, b"")


async def test_a_request_may_have_been_given_an_audit_id(raw: Raw) -> None:
    answer = await raw("GET configmaps", headers={"Audit-ID": "mine"})
    assert answer.headers.getall("Audit-Id") == ["mine"]


async def test_a_refusal_has_an_audit_id_too(raw: Raw) -> None:
    assert (await raw("GET configmaps", headers={"Authorization": "Bearer nonsense"})).headers["Audit-Id"]
