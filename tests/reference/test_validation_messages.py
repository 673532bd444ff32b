"""The record of what a server says about values, schemas and CRDs, compared with what this server says.

What windvane says is compared with the record in tests/unit/cluster/apiserver.
"""

import json
import ssl
from collections.abc import Iterator
from http.client import HTTPSConnection
from typing import Any

import pytest

from pruning_cases import ALWAYS_FILLED, FIELDS, FILLED, PRUNED
from reference.controlplane import ReferenceControlPlane
from schema_cases import DEFINITIONS, FORMATS, VALUES, Causes, Json, as_tuples, definition, label
from windvane.api.openapi.structural import unknown_fields
from windvane.api.openapi.validate import Validator
from windvane.cluster.apiserver.encoding.strict_json import decode, decode_exactly, duplicates

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "values.windvane.dev"  # not that of the recorded CRDs: they would be refused because they exist
THINGS = f"/apis/{GROUP}/v1/namespaces/default/things"


class Server:
    """One connection to the control plane, for hundreds of small questions."""

    def __init__(self, reference: ReferenceControlPlane) -> None:
        host = reference.url.removeprefix("https://")
        self._token = reference.admin_token
        trusted = ssl.create_default_context(cafile=reference.ca_file)
        self._connection = HTTPSConnection(host, context=trusted)

    def ask(self, method: str, path: str, body: bytes | Json | None = None) -> tuple[int, Any]:
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        kind = "application/json-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        self._connection.request(method, path, sent, headers)
        response = self._connection.getresponse()
        content = response.read()
        return response.status, json.loads(content) if content.startswith(b"{") else content

    def close(self) -> None:
        self._connection.close()

    def causes(self, method: str, path: str, body: bytes | Json) -> Causes:
        code, answer = self.ask(method, path, body)
        if code in (200, 201):
            return []
        assert code == 422, answer
        found = answer["details"]["causes"]
        return sorted((each.get("field", ""), each.get("reason", ""), each["message"]) for each in found)


def thing(**spec: Any) -> Json:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec}


@pytest.fixture(scope="module")
def server(reference: ReferenceControlPlane) -> Iterator[Server]:
    """The control plane, which serves a kind with a field for every case."""
    server = Server(reference)
    fields = {f"value{index}": schema for index, (schema, _, _) in enumerate(VALUES)}
    fields |= FIELDS
    fields |= {f"format-{name}": {"type": "string", "format": name} for name, _, _ in FORMATS}
    code, answer = server.ask("POST", CRDS, definition({"type": "object", "properties": fields}, GROUP))
    assert code == 201, answer
    while server.ask("POST", f"{THINGS}?dryRun=All", thing())[0] != 201:
        pass
    yield server
    # Whoever makes it again, as happens when tests are spread over processes, needs to find it gone.
    while server.ask("DELETE", f"{CRDS}/things.{GROUP}")[0] != 404:
        pass
    server.close()


@pytest.mark.parametrize("index", range(len(VALUES)), ids=[label(*case[:2]) for case in VALUES])
def test_the_server_says_of_a_value_what_is_recorded(server: Server, index: int) -> None:
    _, value, recorded = VALUES[index]
    said = server.causes("POST", f"{THINGS}?dryRun=All", thing(**{f"value{index}": value}))
    own, general = f"spec.value{index}", "spec.value"
    assert [(field.replace(own, general), why, text.replace(own, general)) for field, why, text in said] == recorded


@pytest.mark.parametrize(("name", "value", "accepted"), FORMATS, ids=[label(*case[:2]) for case in FORMATS])
def test_the_server_accepts_the_formats_that_are_recorded(
    server: Server, name: str, value: str, accepted: bool
) -> None:
    assert (server.causes("POST", f"{THINGS}?dryRun=All", thing(**{f"format-{name}": value})) == []) is accepted


@pytest.mark.parametrize(
    ("wire", "causes"), DEFINITIONS, ids=[label(case[0]["spec"]["versions"]) for case in DEFINITIONS]
)
def test_the_server_says_of_a_definition_what_is_recorded(server: Server, wire: Json, causes: Causes) -> None:
    assert server.causes("POST", f"{CRDS}?dryRun=All", wire) == causes


@pytest.mark.parametrize(("sent", "kept", "paths"), PRUNED, ids=[label(case[0]) for case in PRUNED])
def test_the_server_removes_the_same_fields(server: Server, sent: Json, kept: Json, paths: list[str]) -> None:
    code, stored = server.ask("POST", f"{THINGS}?dryRun=All", thing(**sent))
    # Not all of what is sent is valid, too.
    assert code == 422 or stored["spec"] == {**ALWAYS_FILLED, **kept}
    if paths:
        code, refusal = server.ask("POST", f"{THINGS}?dryRun=All&fieldValidation=Strict", thing(**sent))
        said = ", ".join(f'unknown field "{path}"' for path in paths)
        assert (code, refusal["message"].partition("strict decoding error: ")[2]) == (400, said)


@pytest.mark.parametrize(("sent", "kept"), FILLED, ids=[label(case[0]) for case in FILLED])
def test_the_server_fills_in_the_same_defaults(server: Server, sent: Json, kept: Json) -> None:
    code, stored = server.ask("POST", f"{THINGS}?dryRun=All", thing(**sent))
    assert (code, stored["spec"]) == (201, {**ALWAYS_FILLED, **kept})


def test_the_server_finds_the_same_duplicate_fields(server: Server) -> None:
    start = f'{{"apiVersion":"{GROUP}/v1","kind":"Thing","metadata":{{"name":"x"}},"spec":'
    body = (start + '{"text":"a","text":"b","text":"c","list":[{"a":"1","a":"2"}],"bogus":{"x":1,"x":2}}}').encode()
    _, refusal = server.ask("POST", f"{THINGS}?dryRun=All&fieldValidation=Strict", body)
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": FIELDS}}}
    ours = ", ".join([*duplicates(decode_exactly(body)), *unknown_fields(decode(body), schema)])
    assert refusal["message"].partition("strict decoding error: ")[2] == ours


class TestAnUpdate:
    """An object from before its schema became strict, and what may still be done to it."""

    LIST_MAP = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    STORED = {
        "text": "long",
        "object": {"a": "x", "b": 9},
        "list": ["b", "a"],
        "entries": [{"k": "1", "v": 9}, {"k": "2", "v": 1}],
        "map": {"x": 1, "y": 9},
        "set": ["a", "a"],
        "anything": {"a": 1, "b": 2},
        "choice": {"c": "1"},
        "either": 0,
    }
    CHANGES: tuple[Json, ...] = (
        {},
        {"text": "other"},
        {"object": {"a": "y", "b": 9}},
        {"object": {"a": "x", "b": 8}},
        {"list": ["b", "a", "c"]},
        {"entries": [{"k": "2", "v": 1}, {"k": "1", "v": 9}]},
        {"entries": [{"k": "1", "v": 9}, {"k": "2", "v": 2}]},
        {"entries": [{"k": "1", "v": 8}, {"k": "2", "v": 1}]},
        {"map": {"x": 1, "y": 9, "z": 9}},
        {"map": {"x": 2, "y": 9}},
        {"set": ["b", "b"]},
        {"anything": {"a": 1, "b": 3}},
        {"choice": {"c": "2"}},
        {"choice": {"a": "1", "b": "2"}},
        {"either": 1},
    )

    def schema(self, *, strict: bool) -> Json:
        def only(**keywords: Any) -> Json:
            return keywords if strict else {}

        text, number = {"type": "string"}, {"type": "integer", **only(maximum=3)}
        entry = {"type": "object", "properties": {"k": text, "v": number}, "required": ["k"]}
        unique = {"x-kubernetes-list-type": "set"}
        choice = {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
        return {
            "text": {**text, **only(maxLength=2)},
            "object": {"type": "object", "properties": {"a": text, "b": number}, **only(maxProperties=1)},
            "list": {"type": "array", "items": {**text, **only(pattern="^a")}},
            "entries": {"type": "array", "items": entry, **self.LIST_MAP, **only(maxItems=1)},
            "map": {"type": "object", "additionalProperties": {"type": "integer", **only(minimum=5)}},
            "set": {"type": "array", "items": text, **(unique if strict else {})},
            "anything": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, **only(maxProperties=1)},
            "choice": {"type": "object", "properties": {"a": text, "b": text, "c": text}, **only(**choice)},
            "either": {"type": "integer", **only(anyOf=[{"minimum": 5}, {"maximum": -5}])},
        }

    def test_is_judged_by_us_as_by_the_server(self, server: Server) -> None:
        group = "updates.windvane.dev"
        things = f"/apis/{group}/v1/namespaces/default/things"
        made = definition({"type": "object", "properties": self.schema(strict=False)}, group)
        server.ask("POST", CRDS, made)
        sent = {**thing(**self.STORED), "apiVersion": f"{group}/v1"}
        while (answer := server.ask("POST", things, sent))[0] != 201:
            pass
        stored = answer[1]
        strict = {"type": "object", "properties": {"spec": {"type": "object", "properties": self.schema(strict=True)}}}
        patch = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": strict}]
        code, answer = server.ask("PATCH", f"{CRDS}/things.{group}", json.dumps(patch).encode())
        assert code == 200, answer
        while server.ask("POST", f"{things}?dryRun=All", sent)[0] != 422:  # before, it is one that is there already
            pass
        validator = Validator(strict)
        for change in self.CHANGES:
            new = {**stored, "spec": {**stored["spec"], **change}}
            said = server.causes("PUT", f"{things}/x?dryRun=All", new)
            assert as_tuples(validator.validate(new, stored).causes) == said, change
