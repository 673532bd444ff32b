"""Questions about access: may I, may they, what may I, who am I."""

from typing import Any

import pytest

from conformance.access import WHO_AM_I, Somebody, binding, rule
from conformance.requests import Raw, Refused

MY_ACCESS = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
MY_RULES = "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
GET_PODS = {"verb": "get", "resource": "pods", "namespace": "{ns}"}


def invalid(*problems: str, causes: list[str]) -> Refused:
    listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    return Refused(422, "Invalid", f'.authorization.k8s.io "" is invalid: {listed}', "authorization.k8s.io", causes)


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
