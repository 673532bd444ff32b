"""What `kubectl auth` and its relatives print."""

import re

from conformance.access import until_allowed
from conformance.kubectl import Session
from conformance.requests import Raw
from conformance.servers import Server

RBAC = "rbac.authorization.k8s.io"


async def test_whoami(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    mine = kubectl("auth whoami")
    assert re.fullmatch(
        r"ATTRIBUTE  VALUE\nUsername  (kubernetes-)?admin\nGroups  \[system:masters system:authenticated\]\n"
        r"Extra: authentication.kubernetes.io/credential-id  \[X509SHA256=[0-9a-f]{64}\]",
        mine,
    ), mine
    assert kubectl("auth whoami --as jane --as-group team --as-uid u-1") == (
        "ATTRIBUTE  VALUE\nUsername  jane\nUID  u-1\nGroups  [team system:authenticated]"
    )
    assert kubectl("auth whoami --as jane -o jsonpath={.status.userInfo.username}") == "jane"


DISCOVERY = [
    "/api/*", "/api", "/apis/*", "/apis", "/healthz", "/healthz", "/livez", "/livez", "/openapi/*", "/openapi",
    "/readyz", "/readyz", "/version/", "/version/", "/version", "/version",
]  # fmt: skip


async def test_can_i_list(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create role reader --verb=get,list --resource=pods,pods/log --resource-name=a")
    kubectl("create rolebinding readers --role=reader --user=jane")
    pods = {"verb": "get", "resource": "pods", "name": "a", "namespace": raw.namespace}
    await until_allowed(raw, "jane", pods)
    assert [line.lstrip() for line in kubectl("auth can-i --list --as jane").splitlines()] == [
        "Resources  Non-Resource URLs  Resource Names  Verbs",
        "selfsubjectreviews.authentication.k8s.io  []  []  [create]",
        "selfsubjectaccessreviews.authorization.k8s.io  []  []  [create]",
        "selfsubjectrulesreviews.authorization.k8s.io  []  []  [create]",
        "pods/log  []  [a]  [get list]",
        "pods  []  [a]  [get list]",
        *(f"[{path}]  []  [get]" for path in DISCOVERY),
    ]
    assert kubectl("auth can-i get pod/a --as jane") == "yes"
    assert kubectl("auth can-i get pod/b --as jane") == "no"


async def test_as_somebody(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create role reader --verb=list --resource=pods")
    kubectl(f"create rolebinding readers --role=reader --group=team --serviceaccount={raw.namespace}:robot")
    pods = {"verb": "list", "resource": "pods", "namespace": raw.namespace}
    await until_allowed(raw, "jane", pods, ["team"])
    assert kubectl("get pods --as jane --as-group team") == "No resources found in NS namespace."
    assert (
        kubectl(f"get pods --as system:serviceaccount:{raw.namespace}:robot") == "No resources found in NS namespace."
    )
    assert kubectl("get pods --as jane") == (
        'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" '
        'in the namespace "NS"'
    )
    assert kubectl("delete pod a --as jane") == (
        'Error from server (Forbidden): pods "a" is forbidden: User "jane" cannot delete resource "pods" '
        'in API group "" in the namespace "NS"'
    )
    assert kubectl("get nodes --as jane") == (
        'Error from server (Forbidden): nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" '
        "at the cluster scope"
    )


async def test_create_token(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    assert kubectl("create serviceaccount robot") == "serviceaccount/robot created"
    token = kubectl("create token robot --duration=10m")
    assert token.count(".") == 2
    assert kubectl("create token nope") == 'error: failed to create token: serviceaccounts "nope" not found'
    assert kubectl("create token robot --duration=1m") == (
        'error: failed to create token: TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: '
        "Invalid value: 60: may not specify a duration less than 10 minutes"
    )
    assert kubectl("create token robot --bound-object-kind Pod --bound-object-name x") == (
        'error: failed to create token: pods "x" not found'
    )
    assert kubectl("create token robot --audience=a --audience=b -o jsonpath={.spec.audiences}") == '["a","b"]'


async def test_a_role_that_gives_more_than_one_has(raw: Raw, server: Server) -> None:
    kubectl = Session(server, raw)
    kubectl("create role writer --verb=create --resource=roles")
    kubectl("create rolebinding writers --role=writer --user=jane")
    roles = {"verb": "create", "resource": "roles", "group": RBAC, "namespace": raw.namespace}
    await until_allowed(raw, "jane", roles)
    denied = kubectl("create role more --verb=get --resource=secrets --as jane")
    assert denied == (
        f'Error from server (Forbidden): roles.{RBAC} "more" is forbidden: user "jane" '
        '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'
    )
