"""A name that is made up and turns out to be taken is made up again, for the object as it was sent."""

from typing import Any

import msgspec

from windvane import ambient
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, User
from windvane.cluster.apiserver.server import APIServer, open_server

ADMIN = User("admin", ("system:masters",))
POLICIES = "/apis/admissionregistration.k8s.io/v1"


class Unlucky(ambient.Reality):
    """Makes up the same name twice."""

    def __init__(self) -> None:
        self._tokens = iter(["aaaaa", "aaaaa", "bbbbb"])

    def token(self, length: int, alphabet: str) -> str:
        return next(self._tokens, None) or super().token(length, alphabet)


async def post(api: APIServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"}
    answer: Answer = await api.handle(Request("POST", path, body=msgspec.json.encode(body), headers=headers), ADMIN)
    assert answer.code == 201, answer.body
    made: dict[str, Any] = msgspec.json.decode(answer.body)
    return made


async def test_what_admission_adds_is_added_once() -> None:
    api = open_server()
    await api.start()
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
    expression = '[JSONPatch{op: "add", path: "/metadata/finalizers/-", value: "added.dev/x"}]'
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "mutations": [mutation], "reinvocationPolicy": "Never"}
    await post(api, f"{POLICIES}/mutatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": spec})
    binding = {"metadata": {"name": "b"}, "spec": {"policyName": "p"}}
    await post(api, f"{POLICIES}/mutatingadmissionpolicybindings", binding)
    thing = {"metadata": {"generateName": "made-", "finalizers": ["sent.dev/x"]}}
    with ambient.use(Unlucky()):
        made = [await post(api, "/api/v1/namespaces/default/configmaps", thing) for _ in range(2)]
    assert [each["metadata"]["name"] for each in made] == ["made-aaaaa", "made-bbbbb"]
    assert [each["metadata"]["finalizers"] for each in made] == [["sent.dev/x", "added.dev/x"]] * 2
    await api.close()
