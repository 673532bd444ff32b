"""Questions about access: may I, may they, what may I, who am I."""

from typing import Any

from conformance.access import Somebody, binding, rule
from conformance.requests import Raw

MY_ACCESS = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
MY_RULES = "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
GET_PODS = {"verb": "get", "resource": "pods", "namespace": "{ns}"}


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
