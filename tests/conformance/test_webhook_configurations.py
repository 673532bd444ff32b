"""Configurations of webhooks: what is filled in, and what is wrong with those that are refused."""

from typing import Any

import pytest

from conformance.requests import Raw
from conformance.webhook_server import API, Thing

GOOD = {
    "name": "a.b.dev",
    "clientConfig": {"url": "https://x.dev/p"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
RULE = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
SERVICE = {"namespace": "n", "name": "s"}
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
FORM = "; desired format: https://host[/path]"
NO_URL = "Required value: url must be a valid URL: parse "
KINDS = pytest.mark.parametrize("kind", ["Mutating", "Validating"])


def webhook(**fields: Any) -> Thing:
    """The good one with other fields; None leaves one out."""
    return {name: value for name, value in {**GOOD, **fields}.items() if value is not None}


def url(text: str) -> Thing:
    return {"clientConfig": {"url": text}}


def service(**fields: Any) -> Thing:
    return {"clientConfig": {"service": {**SERVICE, **fields}}}


def rule(**fields: Any) -> Thing:
    return {"rules": [{**RULE, **fields}]}


def conditions(*expressions: str) -> Thing:
    return {"matchConditions": [{"name": f"c{index}", "expression": each} for index, each in enumerate(expressions)]}


async def create(raw: Raw, kind: str, *webhooks: Thing) -> Any:
    thing = {"metadata": {"name": f"{kind.lower()}-{raw.namespace}"}, "webhooks": webhooks}
    return await raw(f"POST {API}/{kind.lower()}webhookconfigurations?dryRun=All", thing)


@KINDS
async def test_what_is_filled_in(raw: Raw, kind: str) -> None:
    answer = await create(raw, kind, webhook(**service(), **rule()))
    more = {"reinvocationPolicy": "Never"} if kind == "Mutating" else {}
    assert answer.json["webhooks"] == [
        {
            **GOOD,
            "clientConfig": {"service": {**SERVICE, "port": 443}},
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "namespaceSelector": {},
            "objectSelector": {},
            "rules": [{**RULE, "scope": "*"}],
            "timeoutSeconds": 10,
            **more,
        }
    ]


@KINDS
async def test_a_name_that_comes_twice(raw: Raw, kind: str) -> None:
    refused = (await create(raw, kind, webhook(), webhook())).refusal
    assert refused.message.endswith('is invalid: webhooks[1].name: Duplicate value: "a.b.dev"')


async def test_only_who_may_change_objects_is_asked_again(raw: Raw) -> None:
    refused = (await create(raw, "Mutating", webhook(reinvocationPolicy="X"))).refusal
    told = 'webhooks[0].reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", "Never"'
    assert refused.message.endswith(told)
    answer = await create(raw, "Validating", webhook(reinvocationPolicy="X"))
    assert answer.warnings == ['299 - "unknown field \\"webhooks[0].reinvocationPolicy\\""']


@pytest.mark.parametrize(
    "fields",
    [
        {"admissionReviewVersions": ["v1beta1"]},
        {"admissionReviewVersions": ["v7", "v1"]},
        url("HTTPS://x.dev"),
        {"clientConfig": {"url": "https://x.dev", "caBundle": "eA=="}},
        service(path=""),
        service(path="/"),
        service(path="/a/b/"),
        rule(resources=["pods/*", "pods"]),
        rule(resources=["a/b/c"]),
        rule(resources=["pods/"]),
        rule(scope="Cluster"),
        conditions("true"),
        conditions("namespaceObject.metadata.name == 'x'"),
        conditions("authorizer.requestResource.check('x').allowed()"),
    ],
)
async def test_what_is_taken(raw: Raw, fields: Thing) -> None:
    assert (await create(raw, "Validating", webhook(**fields))).code == 201


async def test_an_empty_bundle_is_none(raw: Raw) -> None:
    made = await create(raw, "Validating", webhook(clientConfig={"url": "https://x.dev", "caBundle": ""}))
    assert made.json["webhooks"][0]["clientConfig"] == {"url": "https://x.dev"}


# The field and what is wrong with it; a second one, if there is, after it.
REFUSED: list[tuple[Thing, list[str]]] = [
    ({"name": None}, ["name: Required value"]),
    (
        {"name": "a.b"},
        ['name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
    ),
    ({"name": "A.b.c"}, [f'name: Invalid value: "A.b.c": {SUBDOMAIN}']),
    ({"sideEffects": None}, ["sideEffects: Required value: must specify one of None, NoneOnDryRun"]),
    (
        {"sideEffects": "Some"},
        ['sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ),
    (
        {"timeoutSeconds": 0},
        ["timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds"],
    ),
    (
        {"timeoutSeconds": 31},
        ["timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
    ),
    ({"failurePolicy": "X"}, ['failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"']),
    ({"matchPolicy": "X"}, ['matchPolicy: Unsupported value: "X": supported values: "Equivalent", "Exact"']),
    (
        {"admissionReviewVersions": []},
        ["admissionReviewVersions: Required value: must specify one of v1, v1beta1"],
    ),
    (
        {"admissionReviewVersions": ["v7"]},
        ['admissionReviewVersions: Invalid value: ["v7"]: must include at least one of v1, v1beta1'],
    ),
    (
        {"admissionReviewVersions": ["v1", "v1"]},
        ['admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
    ),
    ({"admissionReviewVersions": ["v1", "V_"]}, [f'admissionReviewVersions[1]: Invalid value: "V_": {LABEL}']),
    ({"clientConfig": None}, ["clientConfig: Required value: exactly one of url or service is required"]),
    (
        {"clientConfig": {"url": "https://x.dev", "service": SERVICE}},
        ["clientConfig: Required value: exactly one of url or service is required"],
    ),
    (
        url("http://x.dev"),
        [f"clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme{FORM}"],
    ),
    (url("https://"), [f'clientConfig.url: Invalid value: "": host must be specified{FORM}']),
    (
        url("foo"),
        [
            f"clientConfig.url: Invalid value: \"\": 'https' is the only allowed URL scheme{FORM}",
            f'clientConfig.url: Invalid value: "": host must be specified{FORM}',
        ],
    ),
    (
        url("https://u:p@x.dev/"),
        ['clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL'],
    ),
    (
        url("https://x.dev/?a=b"),
        ['clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL'],
    ),
    (url("https://x.dev/#f"), ['clientConfig.url: Invalid value: "f": fragments are not permitted in the URL']),
    (url("::"), [f'clientConfig.url: {NO_URL}"::": missing protocol scheme{FORM}']),
    (
        url("https://a b/"),
        [f'clientConfig.url: {NO_URL}"https://a b/": invalid character " " in host name{FORM}'],
    ),
    (url("https://a.b:x/"), [f'clientConfig.url: {NO_URL}"https://a.b:x/": invalid port ":x" after host{FORM}']),
    (url("https://[::1"), [f"clientConfig.url: {NO_URL}\"https://[::1\": missing ']' in host{FORM}"]),
    (url("https://a.b/%zz"), [f'clientConfig.url: {NO_URL}"https://a.b/%zz": invalid URL escape "%zz"{FORM}']),
    # The real server confuses the two.
    ({"clientConfig": {"service": {"name": "s"}}}, ["clientConfig.service.name: Required value"]),
    ({"clientConfig": {"service": {"namespace": "n"}}}, ["clientConfig.service.namespace: Required value"]),
    (
        {"clientConfig": {"service": {}}},
        ["clientConfig.service.name: Required value", "clientConfig.service.namespace: Required value"],
    ),
    (
        service(port=0),
        ["clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive"],
    ),
    (
        service(path="x"),
        [
            "clientConfig.service.path: Invalid value: \"x\": must start with a '/'",
            'clientConfig.service.path: Invalid value: "x": segment[0] may not be empty',
        ],
    ),
    (service(path="//"), ['clientConfig.service.path: Invalid value: "//": segment[0] may not be empty']),
    (service(path="/a//b"), ['clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty']),
    (service(path="/A_/b/"), [f'clientConfig.service.path: Invalid value: "/A_/b/": segment[0]: {SUBDOMAIN}']),
    (
        {"rules": [{}]},
        [f"rules[0].{field}: Required value" for field in ("operations", "apiGroups", "apiVersions", "resources")],
    ),
    (
        rule(operations=["*", "CREATE"]),
        ['rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations'],
    ),
    (
        rule(operations=["X"]),
        [
            (
                'rules[0].operations[0]: Unsupported value: "X": supported values: '
                '"*", "CONNECT", "CREATE", "DELETE", "UPDATE"'
            )
        ],
    ),
    (
        rule(apiGroups=["*", "a"]),
        ['rules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups'],
    ),
    (rule(apiVersions=[""]), ["rules[0].apiVersions[0]: Required value"]),
    (
        rule(resources=["*/*", "pods"]),
        ['rules[0].resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources'],
    ),
    (
        rule(resources=["pods/*", "pods/status"]),
        [
            (
                "rules[0].resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, "
                "must not specify pods/status"
            )
        ],
    ),
    (
        rule(scope="X"),
        ['rules[0].scope: Unsupported value: "X": supported values: "*", "Cluster", "Namespaced"'],
    ),
    (
        {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "X"}]}},
        ['namespaceSelector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator'],
    ),
    (conditions(""), ["matchConditions[0].expression: Required value"]),
    (
        conditions("1"),
        ['matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int'],
    ),
    (
        conditions("foo"),
        [
            (
                'matchConditions[0].expression: Invalid value: "foo": compilation failed: '
                "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^"
            )
        ],
    ),
    (
        conditions("params.x == 'x'"),
        [
            (
                "matchConditions[0].expression: Invalid value: \"params.x == 'x'\": compilation failed: "
                "ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == 'x'\n | ^"
            )
        ],
    ),
    (
        {"matchConditions": [{"expression": "true"}]},
        ["matchConditions[0].name: Required value"],
    ),
    (
        {"matchConditions": [{"name": "a", "expression": "true"}] * 2},
        ['matchConditions[1].name: Duplicate value: "a"'],
    ),
    (
        conditions(*["true"] * 65),
        ["matchConditions: Too many: 65: must have at most 64 items"],
    ),
]


@pytest.mark.parametrize(("fields", "problems"), REFUSED, ids=[problems[0][:60] for _, problems in REFUSED])
async def test_what_is_refused(raw: Raw, fields: Thing, problems: list[str]) -> None:
    refused = (await create(raw, "Validating", webhook(**fields))).refusal
    told = [f"webhooks[0].{problem}" for problem in problems]
    listed = told[0] if len(told) == 1 else f"[{', '.join(told)}]"
    name = f'ValidatingWebhookConfiguration.admissionregistration.k8s.io "validating-{raw.namespace}"'
    assert (refused.code, refused.message) == (422, f"{name} is invalid: {listed}")


@KINDS
async def test_a_change_is_counted_and_checked(raw: Raw, kind: str) -> None:
    collection = f"{API}/{kind.lower()}webhookconfigurations"
    name = f"changed-{raw.namespace}"
    hook = webhook(namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": raw.namespace}})
    made = await raw.ok(f"POST {collection}", {"metadata": {"name": name}, "webhooks": [hook]})
    assert made["metadata"]["generation"] == 1
    changed = await raw.ok(f"PATCH {collection}/{name}", {"webhooks": [{**hook, "timeoutSeconds": 3}]}, patch="merge")
    assert changed["metadata"]["generation"] == 2
    labelled = await raw.ok(f"PATCH {collection}/{name}", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
    assert labelled["metadata"]["generation"] == 2
    refused = await raw(f"PATCH {collection}/{name}", {"webhooks": [{**hook, **url("http://x.dev")}]}, patch="merge")
    assert refused.code == 422
    await raw.ok(f"DELETE {collection}/{name}")
