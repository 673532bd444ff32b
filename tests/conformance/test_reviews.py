"""Questions about access: may I, may they, what may I, who am I."""

from typing import Any

import pytest

from conformance.access import REVIEW, WHO_AM_I, Somebody, binding, rule
from conformance.cases import Case, each
from conformance.requests import Raw, Refused, Shows

MY_ACCESS = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
MY_RULES = "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
LOCAL = "POST /apis/authorization.k8s.io/v1/namespaces/{ns}/localsubjectaccessreviews"
GET_PODS = {"verb": "get", "resource": "pods", "namespace": "{ns}"}


def invalid(*problems: str, causes: list[str]) -> Refused:
    listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    return Refused(422, "Invalid", f'.authorization.k8s.io "" is invalid: {listed}', "authorization.k8s.io", causes)


NOTHING = "exactly one of nonResourceAttributes or resourceAttributes must be specified"

CASES = [
    Case("an administrator may everything", MY_ACCESS, {"spec": {"resourceAttributes": GET_PODS}},
         Shows(201, {"kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": GET_PODS},
                     "status": {"allowed": True, "reason": None, "denied": None}})),
    Case("a review about nothing", MY_ACCESS, {"spec": {}},
         invalid(f"spec.resourceAttributes: Invalid value: null: {NOTHING}",
                 causes=["FieldValueInvalid spec.resourceAttributes"])),
    Case("a review without a spec", MY_ACCESS, {},
         invalid(f"spec.resourceAttributes: Invalid value: null: {NOTHING}",
                 causes=["FieldValueInvalid spec.resourceAttributes"])),
    Case("a review about two things", MY_ACCESS,
         {"spec": {"resourceAttributes": {}, "nonResourceAttributes": {"verb": "get", "path": "/api"}}},
         invalid('spec.nonResourceAttributes: Invalid value: {"Path":"/api","Verb":"get"}: cannot be specified in '
                 "combination with resourceAttributes", causes=["FieldValueInvalid spec.nonResourceAttributes"])),
    Case("a review of nobody", REVIEW, {"spec": {"resourceAttributes": GET_PODS}},
         invalid('spec.user: Invalid value: "": at least one of user or group must be specified',
                 causes=["FieldValueInvalid spec.user"])),
    Case("a review of a group", REVIEW, {"spec": {"resourceAttributes": GET_PODS, "groups": ["system:masters"]}},
         Shows(201, {"kind": "SubjectAccessReview", "status": {"allowed": True}})),
    Case("a review of a user", REVIEW, {"spec": {"resourceAttributes": GET_PODS, "user": "jane"}},
         Shows(201, {"spec": {"user": "jane"}, "status": {"allowed": False}})),
    Case("a review with selectors", REVIEW,
         {"spec": {"resourceAttributes": {**GET_PODS, "fieldSelector": {"rawSelector": "a=b"}}, "user": "jane"}},
         Shows(201, {"status": {"allowed": False, "evaluationError": None}})),
    Case("a review with selectors that say nothing or too much", REVIEW,
         {"spec": {"resourceAttributes": {**GET_PODS, "fieldSelector": {}, "labelSelector": {
             "rawSelector": "x", "requirements": [{"key": "a", "operator": "Exists"}]}}, "user": "jane"}},
         invalid("spec.resourceAttributes.fieldSelector.requirements: Required value: when "
                 "spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
                 'spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "x": may not specified at the same '
                 "time as requirements",
                 causes=["FieldValueRequired spec.resourceAttributes.fieldSelector.requirements",
                         "FieldValueInvalid spec.resourceAttributes.labelSelector.rawSelector"])),
    Case("a review with selectors that can't be read", REVIEW,
         {"spec": {"resourceAttributes": {**GET_PODS, "fieldSelector": {"rawSelector": "a"},
                                          "labelSelector": {"rawSelector": "in in in"}}, "user": "jane"}},
         Shows(201, {"status": {"allowed": False, "evaluationError": (
             "spec.resourceAttributes.fieldSelector ignored due to parse error; "
             "spec.resourceAttributes.labelSelector ignored due to parse error")}})),
    Case("a review in a namespace", LOCAL, {"spec": {"resourceAttributes": GET_PODS, "user": "jane"}},
         Shows(201, {"kind": "LocalSubjectAccessReview", "metadata": {"namespace": "{ns}"},
                     "status": {"allowed": False}})),
    Case("a review in a namespace about another", LOCAL,
         {"spec": {"resourceAttributes": {**GET_PODS, "namespace": "other"}, "user": "jane"}},
         invalid('spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
                 causes=["FieldValueInvalid spec.resourceAttributes.namespace"])),
    Case("a review in a namespace about no resource", LOCAL,
         {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/"}, "user": "jane"}},
         invalid('spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: disallowed on this kind of '
                 "request", causes=["FieldValueInvalid spec.nonResourceAttributes"])),
    Case("a review that says it is in another namespace", LOCAL,
         {"metadata": {"namespace": "other"}, "spec": {"resourceAttributes": GET_PODS, "user": "jane"}},
         Refused(400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the "
                 "request")),
    Case("rules without a namespace", MY_RULES, {"spec": {}}, Refused(400, "BadRequest", "no namespace on request")),
    Case("who somebody is, whatever they send", WHO_AM_I, {"metadata": {"name": "x", "labels": {"a": "b"}}},
         Shows(201, {"kind": "SelfSubjectReview", "metadata": {"name": None, "labels": None}, "status": {
             "userInfo": {"username": "admin", "uid": "1", "groups": ["system:masters", "system:authenticated"]}}})),
    Case("a review of a token that is not there", "POST /apis/authentication.k8s.io/v1/tokenreviews", {"spec": {}},
         Refused(400, "BadRequest", "token is required for TokenReview in authentication")),
]  # fmt: skip


@each(CASES)
async def test_a_review(case: Case, raw: Raw) -> None:
    await case.check(raw)


async def test_a_review_has_no_name(raw: Raw) -> None:
    answer = await raw(MY_ACCESS, {"metadata": {"name": "x"}, "spec": {"resourceAttributes": {}}})
    assert answer.code == 422
    assert answer.json["message"].startswith(
        '.authorization.k8s.io "" is invalid: metadata: Invalid value: {"name":"x"'
    )
    assert answer.json["message"].endswith("}: must be empty")
    assert '"managedFields":[{"manager":"conformance","operation":"Update","apiVersion"' in answer.json["message"]


async def test_a_review_is_not_kept(raw: Raw) -> None:
    assert (await raw("GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews")).code == 405


async def test_somebody_without_rights_may_ask_about_themselves(raw: Raw) -> None:
    somebody = Somebody(raw)
    asked = await somebody(MY_ACCESS, {"spec": {"resourceAttributes": GET_PODS}})
    assert (asked.code, asked.json["status"]) == (201, {"allowed": False})
    asked = await somebody(MY_ACCESS, {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/api"}}})
    assert asked.json["status"] == {
        "allowed": True,
        "reason": 'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" '
        'to Group "system:authenticated"',
    }


def by_text(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A real server lists rules in no order of their own."""
    return sorted(rules, key=str)


async def test_somebody_s_rules(raw: Raw) -> None:
    somebody = Somebody(raw)
    await somebody.may(rule("get", "pods", resourceNames=["a"]))
    answer = await somebody(MY_RULES, {"spec": {"namespace": "{ns}"}})
    assert answer.code == 201
    assert (answer.json["metadata"], answer.json["spec"]) == ({}, {})
    status = answer.json["status"]
    assert set(status) == {"resourceRules", "nonResourceRules", "incomplete"}
    assert status["incomplete"] is False
    assert by_text(status["resourceRules"]) == by_text(
        [
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]},
            {"verbs": ["know"], "apiGroups": ["markers"], "resources": ["granted"]},
            {
                "verbs": ["create"],
                "apiGroups": ["authorization.k8s.io"],
                "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
            },
            {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
        ]
    )
    health = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
    discovery = [
        "/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version",
        "/version/",
    ]  # fmt: skip
    assert by_text(status["nonResourceRules"]) == by_text(
        [{"verbs": ["get"], "nonResourceURLs": urls} for urls in (health, discovery)]
    )


async def test_rules_that_could_not_be_found_are_told(raw: Raw) -> None:
    somebody = Somebody(raw)
    await raw.ok("POST rolebindings", binding("b", "Role", "nope", "{ns}"))
    await somebody.may()
    answer = await somebody(MY_RULES, {"spec": {"namespace": "{ns}"}})
    assert answer.json["status"]["evaluationError"] == 'role.rbac.authorization.k8s.io "nope" not found'


# Acting as somebody else

IMPERSONATED = [
    ({"Impersonate-User": "jane"}, {"username": "jane", "groups": ["system:authenticated"]}),
    (
        {"Impersonate-User": "jane", "Impersonate-Group": "team"},
        {"username": "jane", "groups": ["team", "system:authenticated"]},
    ),
    (
        {"Impersonate-User": "jane", "Impersonate-Group": "system:authenticated"},
        {"username": "jane", "groups": ["system:authenticated"]},
    ),
    (
        {"Impersonate-User": "system:serviceaccount:a:b"},
        {
            "username": "system:serviceaccount:a:b",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"],
        },
    ),
    (
        {"Impersonate-User": "system:serviceaccount:a:b", "Impersonate-Group": "team"},
        {"username": "system:serviceaccount:a:b", "groups": ["team", "system:authenticated"]},
    ),
    (
        {"Impersonate-User": "system:serviceaccount:a"},
        {"username": "system:serviceaccount:a", "groups": ["system:authenticated"]},
    ),
    (
        {"Impersonate-User": "jane", "Impersonate-Uid": "u", "Impersonate-Extra-Foo%2fBar": "x"},
        {"username": "jane", "uid": "u", "groups": ["system:authenticated"], "extra": {"foo/bar": ["x"]}},
    ),
]


@pytest.mark.parametrize(("headers", "user"), IMPERSONATED)
async def test_an_administrator_acts_as_somebody(headers: dict[str, str], user: dict[str, Any], raw: Raw) -> None:
    answer = await raw(WHO_AM_I, {}, headers=headers)
    assert answer.json["status"]["userInfo"] == user


@pytest.mark.parametrize(
    ("headers", "user"),
    [
        ({"Impersonate-User": "system:anonymous"}, "system:anonymous"),
        ({"Impersonate-User": "jane", "Impersonate-Group": "system:unauthenticated"}, "jane"),
    ],
)
async def test_an_administrator_acts_as_nobody(headers: dict[str, str], user: str, raw: Raw) -> None:
    message = (
        f'selfsubjectreviews.authentication.k8s.io is forbidden: User "{user}" cannot create resource '
        '"selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope'
    )
    assert (await raw(WHO_AM_I, {}, headers=headers)).refusal.message == message


SHOWN = 'requested &user.DefaultInfo{{Name:"", UID:{}, Groups:{}, Extra:{}}} without impersonating a user name'
NIL = "map[string][]string(nil)"


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"Impersonate-Group": "g"}, SHOWN.format('""', '[]string{"g"}', NIL)),
        ({"Impersonate-Uid": "u"}, SHOWN.format('"u"', "[]string(nil)", NIL)),
        (
            {"Impersonate-Extra-Foo": "x"},
            SHOWN.format('""', "[]string(nil)", 'map[string][]string{"foo":[]string{"x"}}'),
        ),
        ({"Impersonate-User": "", "Impersonate-Group": "g"}, SHOWN.format('""', '[]string{"g"}', NIL)),
    ],
)
async def test_a_group_alone_is_nobody(headers: dict[str, str], message: str, raw: Raw) -> None:
    assert (await raw("GET pods", headers=headers)).refusal == Refused(400, "BadRequest", message)
