"""The real API server still answers to the manifests in `builtin_cases` as it was recorded."""

import http.client
import json
import ssl
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from builtin_cases import (
    CREATES,
    STATUSES,
    UPDATES,
    Answer,
    Case,
    Json,
    answers,
    bare,
    but,
    record,
    recording,
    without_uids,
)
from reference.controlplane import ReferenceControlPlane

NAMESPACE = "rules"


class Server:
    """One connection to the real server, as administrator."""

    def __init__(self, reference: ReferenceControlPlane) -> None:
        trust = ssl.create_default_context(cafile=reference.ca_file)
        self._connection = http.client.HTTPSConnection(reference.url.removeprefix("https://"), context=trust)
        self._headers = {"Authorization": f"Bearer {reference.admin_token}", "Content-Type": "application/json"}
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})

    def ask(self, method: str, path: str, body: Json) -> tuple[int, Any]:
        self._connection.request(method, path, json.dumps(body), self._headers)
        response = self._connection.getresponse()
        return response.status, json.loads(response.read())

    def close(self) -> None:
        self._connection.close()

    def answer(self, case: Case, number: int) -> Answer:
        """What the server says to the manifest, or to the change of an object that was made from it."""
        place = case.kind.collection_path(NAMESPACE if case.kind.namespaced else "")
        manifest = json.loads(json.dumps(case.manifest).replace('"NAMESPACE"', f'"{NAMESPACE}"'))
        if case.change is None:
            return _said(*self.ask("POST", f"{place}?dryRun=All", manifest))
        name = f"case{number}"
        code, made = self.ask("POST", place, but(manifest, {"metadata.name": name}))
        assert code == 201, made
        part = "/status" if case.name.startswith("status") else ""
        code, answer = self.ask("PUT", f"{place}/{name}{part}?dryRun=All", but(made, case.change))
        self.ask("DELETE", f"{place}/{name}", {"gracePeriodSeconds": 0})
        return _said(code, json.loads(json.dumps(answer).replace(name, "web")))


def _said(code: int, answer: Json) -> Answer:
    answer = without_uids(answer)
    if code < 300:
        return bare(answer)
    if code == 422:
        return [[each["reason"], each.get("field", ""), each["message"]] for each in answer["details"]["causes"]]
    if code == 400:
        return str(answer["message"])
    return [code, answer["message"]]


@pytest.fixture(scope="module")
def server(reference: ReferenceControlPlane) -> Iterator[Server]:
    with closing(Server(reference)) as server:
        yield server


def test_the_recorded_answers_are_true(server: Server) -> None:
    given = {case.name: server.answer(case, number) for number, case in enumerate([*CREATES, *UPDATES, *STATUSES])}
    if recording():
        record(given)
    recorded = answers()
    different = {name: (answer, recorded.get(name)) for name, answer in given.items() if answer != recorded.get(name)}
    assert different == {}
