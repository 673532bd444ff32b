"""What webhooks say, and what becomes of the write: allowed, refused, or in the way because something is wrong."""

import base64
import re
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web

from conformance.objects import config_map, service
from conformance.requests import Raw
from conformance.webhook_server import Says, Thing, Webhooks, add, allowed, answers, denied, encoded, patched

UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FAILED = 'failed calling webhook "h.windvane.dev": '


def review(response: Any, version: str = "v1") -> Thing:
    return {"apiVersion": f"admission.k8s.io/{version}", "kind": "AdmissionReview", "response": response}


async def told(raw: Raw, webhooks: Webhooks, kind: str, says: Says, **fields: Any) -> Thing:
    """The Status with which a new ConfigMap is refused."""
    await webhooks.install(kind, webhooks.webhook("h", says, **fields))
    answer = await raw("POST configmaps", config_map())
    assert answer.code >= 400, answer.body
    status: Thing = answer.json
    assert status["code"] == answer.code
    return status


async def failure(raw: Raw, webhooks: Webhooks, kind: str, says: Says, **fields: Any) -> str:
    """What is wrong with a webhook, in the server's words."""
    status = await told(raw, webhooks, kind, says, **fields)
    message = status["message"]
    assert (status["code"], status["reason"]) == (500, "InternalError"), status
    assert status["details"] == {"causes": [{"message": message.removeprefix("Internal error occurred: ")}]}
    return UID.sub("UID", message.removeprefix("Internal error occurred: "))


BOTH = pytest.mark.parametrize("kind", ["Mutating", "Validating"])


@BOTH
async def test_a_webhook_that_allows_a_write_is_not_heard_of(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    await webhooks.install(kind, webhooks.webhook("h"))
    answer = await raw("POST configmaps", config_map())
    assert (answer.code, answer.warnings) == (201, [])
    assert [name for name, _ in webhooks.asked] == ["h"]


DENIED = 'admission webhook "h.windvane.dev" denied the request'


@BOTH
@pytest.mark.parametrize(
    ("says", "status"),
    [
        (denied("no"), {"message": f"{DENIED}: no", "code": 400}),
        (denied(reason="Forbidden"), {"message": f"{DENIED}: Forbidden", "reason": "Forbidden", "code": 400}),
        (denied(), {"message": f"{DENIED} without explanation", "code": 400}),
        (denied("no", code=403), {"message": f"{DENIED}: no", "code": 403}),
        (denied("no", code=200, status="Success"), {"message": f"{DENIED}: no", "code": 400}),
        (
            denied("no", code=422, reason="Invalid", details={"name": "x", "causes": [{"field": "f", "message": "m"}]}),
            {
                "message": f"{DENIED}: no",
                "code": 422,
                "reason": "Invalid",
                "details": {"name": "x", "causes": [{"field": "f", "message": "m"}]},
            },
        ),
    ],
    ids=["message", "reason", "nothing", "code", "success", "everything"],
)
async def test_a_webhook_says_no(raw: Raw, webhooks: Webhooks, kind: str, says: Says, status: Thing) -> None:
    assert await told(raw, webhooks, kind, says) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        **status,
    }


@BOTH
async def test_warnings_are_passed_on(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    warnings = ["one", "two\nlines", 'three "quoted"', "one", ""]
    await webhooks.install(kind, webhooks.webhook("h", lambda _: {"allowed": True, "warnings": warnings}))
    answer = await raw("POST configmaps", config_map())
    assert answer.warnings == ['299 - "one"', '299 - "three \\"quoted\\""']


async def test_warnings_come_with_a_refusal_too(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Validating", webhooks.webhook("h", lambda _: {"allowed": False, "warnings": ["careful"]}))
    answer = await raw("POST configmaps", config_map())
    assert (answer.code, answer.warnings) == (400, ['299 - "careful"'])


async def test_many_warnings_are_cut_and_left_out(raw: Raw, webhooks: Webhooks) -> None:
    warnings = [f"{number:03}{'x' * 300}" for number in range(30)]
    await webhooks.install("Validating", webhooks.webhook("h", lambda _: {"allowed": True, "warnings": warnings}))
    answer = await raw("POST configmaps", config_map())
    assert answer.warnings == [f'299 - "{each[:256]}"' for each in warnings[:16]]


UNMARSHAL = "failed to call webhook: json: cannot unmarshal"
NO_KIND = "failed to call webhook: couldn't get version/kind; json parse error: "
TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
BAD_ANSWERS: Mapping[str, tuple[Says, str]] = {
    "another-uid": (
        lambda _: {"uid": "x", "allowed": True},
        'received invalid webhook response: expected response.uid="UID", got "x"',
    ),
    "no-response": (answers(review(None)), "received invalid webhook response: webhook response was absent"),
    "null": (answers("null"), "received invalid webhook response: webhook response was absent"),
    "no-uid": (
        answers({"response": {}}),
        'received invalid webhook response: expected response.uid="UID", got ""',
    ),
    "another-version": (
        answers(review({}, "v1beta1")),
        "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
    ),
    "a-status": (
        answers({"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "hm"}),
        "failed to call webhook: converting (v1.Status) to (v1.AdmissionReview): unknown conversion",
    ),
    "a-pod": (
        answers({"apiVersion": "v1", "kind": "Pod"}),
        'failed to call webhook: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ),
    "a-bad-boolean": (
        answers(review({"allowed": "yes"})),
        f"{UNMARSHAL} string into Go struct field AdmissionResponse.response.allowed of type bool",
    ),
    "a-bad-uid": (
        answers(review({"uid": 3})),
        f"{UNMARSHAL} number into Go struct field AdmissionResponse.response.uid of type types.UID",
    ),
    "bad-base64": (answers(review({"patch": "***"})), "failed to call webhook: illegal base64 data at input byte 0"),
    "text": (answers("hello"), f"{NO_KIND}json: cannot unmarshal string into Go value of type {TYPE_META}"),
    "a-list": (answers("[]"), f"{NO_KIND}json: cannot unmarshal array into Go value of type {TYPE_META}"),
    "cut-off": (answers('{"a":'), f"{NO_KIND}unexpected end of JSON input"),
    "nothing": (
        answers(""),
        (
            "failed to call webhook: 0-length response with status code: 200 and content type: "
            "application/json; charset=utf-8"
        ),
    ),
}


@BOTH
@pytest.mark.parametrize(("says", "words"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
async def test_an_answer_that_is_none(raw: Raw, webhooks: Webhooks, kind: str, says: Says, words: str) -> None:
    assert await failure(raw, webhooks, kind, says) == FAILED + words


async def test_an_answer_must_state_its_kind(raw: Raw, webhooks: Webhooks) -> None:
    def says(request: Thing) -> web.Response:
        return web.json_response({"response": {"uid": request["uid"], "allowed": True}})

    expected = "admission.k8s.io/v1, Kind=AdmissionReview"
    words = await failure(raw, webhooks, "Validating", says)
    assert words == f"{FAILED}received invalid webhook response: expected webhook response of {expected}, got /, Kind="


CODES = {
    201: f"{NO_KIND}json: cannot unmarshal string into Go value of type {TYPE_META}",
    302: "failed to call webhook: the server responded with the status code 302 but did not return more information",
    400: "failed to call webhook: the server rejected our request for an unknown reason",
    401: "failed to call webhook: the server has asked for the client to provide credentials",
    403: "failed to call webhook: some words",
    404: "failed to call webhook: the server could not find the requested resource",
    409: "failed to call webhook: the server reported a conflict",
    415: "failed to call webhook: some words",
    418: "failed to call webhook: the server responded with the status code 418 but did not return more information",
    422: "failed to call webhook: the server rejected our request due to an error in our request",
    429: "failed to call webhook: the server has received too many requests and has asked us to try again later",
    500: 'failed to call webhook: an error on the server ("some words") has prevented the request from succeeding',
    503: "failed to call webhook: the server is currently unable to handle the request",
    504: (
        "failed to call webhook: the server was unable to return a response in the time allotted, "
        "but may still be processing the request"
    ),
}


@pytest.mark.parametrize(("code", "words"), CODES.items())
async def test_an_answer_with_an_error_code(raw: Raw, webhooks: Webhooks, code: int, words: str) -> None:
    says = answers("some words", code, content_type="text/plain")
    assert await failure(raw, webhooks, "Validating", says) == FAILED + words


async def test_an_error_that_is_told_as_a_status(raw: Raw, webhooks: Webhooks) -> None:
    status = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "closed today", "code": 401}
    words = await failure(raw, webhooks, "Validating", answers(status, 403))
    assert words == f"{FAILED}failed to call webhook: closed today"


async def test_an_error_without_text_is_unknown(raw: Raw, webhooks: Webhooks) -> None:
    words = await failure(raw, webhooks, "Validating", answers({"a": 1}, 500))
    told = 'an error on the server ("unknown") has prevented the request from succeeding'
    assert words == f"{FAILED}failed to call webhook: {told}"


INVALID = "received invalid webhook response: "
PATCH = {"allowed": True, "patchType": "JSONPatch"}
SOME = encoded([add("/data", {})])
BAD_PATCHES: Mapping[str, tuple[str, Thing, str]] = {
    "of-a-judge": (
        "Validating",
        {**PATCH, "patch": SOME},
        f"{INVALID}validating webhook may not return response.patch",
    ),
    "type-of-a-judge": ("Validating", PATCH, f"{INVALID}validating webhook may not return response.patchType"),
    "without-type": (
        "Mutating",
        {"allowed": True, "patch": SOME},
        f"{INVALID}webhook returned response.patch but not response.patchType",
    ),
    "only-type": ("Mutating", PATCH, f"{INVALID}webhook returned response.patchType but not response.patch"),
    "empty-type": (
        "Mutating",
        {"allowed": True, "patchType": "", "patch": SOME},
        f'{INVALID}webhook returned invalid response.patchType of ""',
    ),
    "other-type": (
        "Mutating",
        {"allowed": True, "patchType": "Merge", "patch": SOME},
        'unsupported patch type "Merge"',
    ),
    "no-json": (
        "Mutating",
        {**PATCH, "patch": base64.b64encode(b"hello").decode()},
        "received undecodable patch in webhook response: invalid character 'h' looking for beginning of value",
    ),
    "no-list": (
        "Mutating",
        {**PATCH, "patch": encoded({"a": 1})},
        (
            "received undecodable patch in webhook response: "
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch"
        ),
    ),
}


@pytest.mark.parametrize(("kind", "response", "words"), BAD_PATCHES.values(), ids=BAD_PATCHES)
async def test_a_patch_that_is_none(raw: Raw, webhooks: Webhooks, kind: str, response: Thing, words: str) -> None:
    assert await failure(raw, webhooks, kind, lambda _: response) == FAILED + words


NOT_APPLICABLE = [
    ({"op": "frob", "path": "/a"}, "Unexpected kind: frob"),
    (
        {"op": "remove", "path": "/data/x"},
        'remove operation does not apply: doc is missing path: "/data/x": missing value',
    ),
    (
        {"op": "remove", "path": "/x"},
        "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
    ),
    (add("/data/x", "y"), 'add operation does not apply: doc is missing path: "/data/x": missing value'),
    (
        {"op": "replace", "path": "/data/x", "value": 1},
        "replace operation does not apply: doc is missing path: /data/x: missing value",
    ),
    (
        {"op": "move", "from": "/data/x", "path": "/a"},
        "move operation does not apply: doc is missing from path: /data/x: missing value",
    ),
    (
        {"op": "copy", "from": "/data/x", "path": "/a"},
        "copy operation does not apply: doc is missing from path: /data/x: missing value",
    ),
    (
        add("/metadata/finalizers/7", "y"),
        "error in add for path: '/metadata/finalizers/7': Unable to access invalid index: 7: invalid index referenced",
    ),
    (
        add("/metadata/finalizers/x", "y"),
        (
            "error in add for path: '/metadata/finalizers/x': "
            "value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax"
        ),
    ),
    (
        {"op": "remove", "path": "/metadata/finalizers/7"},
        (
            "error in remove for path: '/metadata/finalizers/7': "
            "Unable to access invalid index: 7: invalid index referenced"
        ),
    ),
    ({"op": "add", "value": 1}, "add operation failed to decode path: missing value"),
    ({"op": "test", "path": "/metadata/name", "value": "y"}, "testing value /metadata/name failed: test failed"),
    (add("/data", [1]), "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string"),
    (add("/data", {"a": 1}), "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
    (
        add("/kind", "Nonsense"),
        'no kind "Nonsense" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    ),
    (
        add("/apiVersion", "v9"),
        'no kind "ConfigMap" is registered for version "v9" in scheme "pkg/runtime/scheme.go:111"',
    ),
]


@pytest.mark.parametrize(("operation", "words"), NOT_APPLICABLE, ids=[words for _, words in NOT_APPLICABLE])
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_a_patch_that_does_not_apply(
    raw: Raw, webhooks: Webhooks, operation: Thing, words: str, policy: str
) -> None:
    """That is nothing to ignore: what the webhook wanted is not known."""
    await webhooks.install("Mutating", webhooks.webhook("h", patched(operation), failurePolicy=policy))
    answer = await raw("POST configmaps", config_map(metadata={"finalizers": ["a.b/c"]}))
    assert (answer.code, answer.json["message"]) == (500, f"Internal error occurred: {words}")


async def test_a_patch_that_makes_something_else_of_an_object(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Mutating", webhooks.webhook("h", patched(add("/kind", "Pod"))))
    answer = await raw("POST configmaps", config_map())
    assert (answer.code, answer.json["message"]) == (500, "converting (v1.Pod) to (core.ConfigMap): unknown conversion")


@BOTH
async def test_a_failure_is_passed_over_if_the_webhook_says_so(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    await webhooks.install(kind, webhooks.webhook("h", answers("sorry", 500), failurePolicy="Ignore"))
    assert (await raw("POST configmaps", config_map())).code == 201
    assert len(webhooks.asked) == 1


@BOTH
async def test_a_refusal_is_none(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    await webhooks.install(kind, webhooks.webhook("h", denied("no"), failurePolicy="Ignore"))
    assert (await raw("POST configmaps", config_map())).refusal.message == f"{DENIED}: no"


async def test_after_a_failure_that_is_passed_over_the_others_are_asked(raw: Raw, webhooks: Webhooks) -> None:
    first = webhooks.webhook("first", answers("", 500), failurePolicy="Ignore")
    await webhooks.install("Mutating", first, webhooks.webhook("second", patched(add("/data", {"a": "b"}))))
    assert (await raw.ok("POST configmaps", config_map()))["data"] == {"a": "b"}


@BOTH
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_a_webhook_with_an_old_review(raw: Raw, webhooks: Webhooks, kind: str, policy: str) -> None:
    """In that version, neither the uid nor the type of a patch was looked at."""
    response = {"uid": "", "allowed": True, "patch": encoded([add("/data", {"a": "b"})])}
    hook = webhooks.webhook("h", lambda _: response, admissionReviewVersions=["v1beta1"], failurePolicy=policy)
    await webhooks.install(kind, hook)
    made = await raw.ok("POST configmaps", config_map())
    assert made.get("data") == ({"a": "b"} if kind == "Mutating" else None)
    assert webhooks.bodies[0]["apiVersion"] == "admission.k8s.io/v1beta1"


async def test_the_first_version_that_the_server_knows_is_taken(raw: Raw, webhooks: Webhooks) -> None:
    hook = webhooks.webhook("h", admissionReviewVersions=["v7", "v1", "v1beta1"])
    await webhooks.install("Validating", hook)
    await raw.ok("POST configmaps", config_map())
    assert webhooks.bodies[0]["apiVersion"] == "admission.k8s.io/v1"


async def test_a_webhook_is_told_how_much_time_it_has(raw: Raw, webhooks: Webhooks) -> None:
    await webhooks.install("Validating", webhooks.webhook("h", timeoutSeconds=17))
    await raw.ok("POST configmaps", config_map())
    assert webhooks.queries == ["timeout=17s"]


@BOTH
async def test_all_judges_are_asked_and_one_no_is_enough(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    hooks = [webhooks.webhook("a"), webhooks.webhook("h", denied("no")), webhooks.webhook("z", allowed)]
    await webhooks.install(kind, *hooks)
    assert (await raw("POST configmaps", config_map())).refusal.message == f"{DENIED}: no"
    asked = ["a", "h", "z"] if kind == "Validating" else ["a", "h"]
    assert sorted(name for name, _ in webhooks.asked) == asked


@BOTH
async def test_a_webhook_that_is_gone_is_not_asked(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    path = await webhooks.install(kind, webhooks.webhook("h", denied("no")))
    assert (await raw("POST configmaps", config_map())).code == 400
    await raw.ok(f"DELETE {path}")
    await webhooks.until_allowed()
    assert (await raw("POST configmaps", config_map())).code == 201


@BOTH
async def test_a_configuration_that_is_changed_counts_as_changed(raw: Raw, webhooks: Webhooks, kind: str) -> None:
    path = await webhooks.install(kind, webhooks.webhook("h", denied("no")))
    rules = [{"op": "replace", "path": "/webhooks/1/rules/0/operations", "value": ["UPDATE"]}]
    gone = {"op": "remove", "path": "/webhooks/0"}
    await raw.ok(f"PATCH {path}", [*rules, gone], patch="json")
    await webhooks.until_allowed()
    made = await raw.ok("POST configmaps", config_map())
    assert (await raw("PUT configmaps/a", {**made, "data": {"a": "b"}})).refusal.message == f"{DENIED}: no"


async def test_who_says_that_there_is_no_such_object_refuses_the_write(raw: Raw, webhooks: Webhooks) -> None:
    made = await raw.ok("POST services", service("a"))
    await raw.ok("POST configmaps", config_map("a"))
    rule = {"resources": ["configmaps", "services"], "operations": ["UPDATE"]}
    says = denied("no", code=404, reason="NotFound")
    await webhooks.install("Validating", webhooks.webhook("h", says, rule=rule))
    made["metadata"]["labels"] = {"a": "b"}
    applied = {"apiVersion": "v1", "kind": "ConfigMap", **config_map("a", data={"a": "b"})}
    words = 'admission webhook "h.windvane.dev" denied the request: no'
    for answer in (
        await raw("PUT services/a?timeout=30s", made),  # of a kind that an update may also make
        await raw("PATCH configmaps/a?fieldManager=me&timeout=30s", applied, patch="apply"),
    ):
        assert (answer.code, answer.json["message"]) == (404, words)
    assert len(webhooks.requests("h")) == 2


async def test_who_says_that_there_is_such_an_object_refuses_it(raw: Raw, webhooks: Webhooks) -> None:
    says = denied("no", code=409, reason="AlreadyExists")
    await webhooks.install("Validating", webhooks.webhook("h", says, rule={"resources": ["services"]}))
    answer = await raw("PUT services/a?timeout=30s", service("a"))
    assert (answer.code, answer.json["message"]) == (409, 'admission webhook "h.windvane.dev" denied the request: no')
    assert len(webhooks.requests("h")) == 1
