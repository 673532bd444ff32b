import asyncio
import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unit.cluster.apiserver.servers import ADMIN, JANE, ask, running
from windvane.cluster.apiserver import audit
from windvane.cluster.apiserver.audit import AuditLog, source_ips

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"


def events(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


async def test_a_request_and_its_answer_are_recorded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "SLOW", 3600)  # or a busy machine is recorded, too
    async with running(audit_log=AuditLog(file)) as server:
        user = replace(ADMIN, address="127.0.0.1")
        answer = await ask(server, f"GET {CONFIG_MAPS}?limit=1", user=user, User_Agent="kubectl/v1")
    received, complete = events(file)
    times = {name: received.pop(name) for name in ("requestReceivedTimestamp", "stageTimestamp")}
    assert times["requestReceivedTimestamp"] == times["stageTimestamp"]
    assert received == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": dict(answer.headers)["Audit-Id"],
        "stage": "RequestReceived",
        "requestURI": f"{CONFIG_MAPS}?limit=1",
        "verb": "list",
        "user": {"username": "admin", "uid": "1", "groups": ["system:masters", "system:authenticated"]},
        "sourceIPs": ["127.0.0.1"],
        "userAgent": "kubectl/v1",
        "objectRef": {"resource": "configmaps", "namespace": "default", "apiVersion": "v1"},
    }
    assert complete.pop("requestReceivedTimestamp") == times["requestReceivedTimestamp"]
    assert complete.pop("stageTimestamp") >= times["stageTimestamp"]
    assert complete == {
        **received,
        "stage": "ResponseComplete",
        "responseStatus": {"metadata": {}, "code": 200},
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
    }


async def test_a_refusal_is_recorded(file: Path) -> None:
    async with running(audit_log=AuditLog(file)) as server:
        await ask(server, f"GET {CONFIG_MAPS}", user=JANE)
    refused = events(file)[-1]
    assert refused["responseStatus"] == {
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" '
        'in the namespace "default"',
        "reason": "Forbidden",
        "details": {"kind": "configmaps"},
        "code": 403,
    }
    assert refused["annotations"]["authorization.k8s.io/decision"] == "forbid"


async def test_the_reason_why_something_is_allowed_is_recorded(file: Path) -> None:
    async with running(audit_log=AuditLog(file)) as server:
        await ask(server, "GET /version", user=JANE)
    event = events(file)[-1]
    assert event["annotations"]["authorization.k8s.io/reason"].startswith("RBAC: allowed by ClusterRoleBinding")
    assert "objectRef" not in event


async def test_who_acts_as_somebody_else_is_recorded(file: Path) -> None:
    async with running(audit_log=AuditLog(file)) as server:
        await ask(server, f"GET {CONFIG_MAPS}", Impersonate_User="jane", Impersonate_Group="team")
    event = events(file)[-1]
    assert event["user"]["username"] == "admin"
    assert event["impersonatedUser"] == {"username": "jane", "groups": ["team", "system:authenticated"]}
    assert event["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}


async def test_the_name_of_what_was_made_is_recorded(file: Path) -> None:
    async with running(audit_log=AuditLog(file)) as server:
        await ask(server, f"POST {CONFIG_MAPS}", {"metadata": {"name": "a"}})
    assert events(file)[0]["objectRef"].get("name") is None
    assert events(file)[1]["objectRef"]["name"] == "a"


async def test_a_watch_is_recorded_when_it_begins_and_when_it_ends(file: Path) -> None:
    async with running(audit_log=AuditLog(file)) as server:
        answer = await ask(server, f"GET {CONFIG_MAPS}?watch=true")
        assert [event["stage"] for event in events(file)] == ["RequestReceived", "ResponseStarted"]
        assert answer.stream is not None
        reading = asyncio.ensure_future(anext(answer.stream))
        await ask(server, f"POST {CONFIG_MAPS}", {"metadata": {"name": "a"}})
        await reading
        await answer.stream.aclose()
    of_watch = [event["stage"] for event in events(file) if event["verb"] == "watch"]
    assert of_watch == ["RequestReceived", "ResponseStarted", "ResponseComplete"]


async def test_a_watch_that_outlives_the_server_is_not_recorded_in_somebody_elses_file(
    file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(audit_log=AuditLog(file)) as server:
        await ask(server, f"POST {CONFIG_MAPS}", {"metadata": {"name": "a"}})
        watch = await ask(server, f"GET {CONFIG_MAPS}?watch=true")
        assert watch.stream is not None
        await anext(watch.stream)
    with (tmp_path / "other").open("w"):  # it has the number that the audit log had
        assert [part async for part in watch.stream] == []
    assert (tmp_path / "other").read_text() == ""
    assert [event["stage"] for event in events(file)][-2:] == ["RequestReceived", "ResponseStarted"]
    assert caplog.text == ""


async def test_an_asker_may_choose_the_id(file: Path) -> None:
    async with running(audit_log=AuditLog(file)) as server:
        answer = await ask(server, "GET /version", Audit_Id="mine")
    assert dict(answer.headers)["Audit-Id"] == "mine"
    assert {event["auditID"] for event in events(file)} == {"mine"}


async def test_an_endless_user_agent_is_cut(file: Path) -> None:
    async with running(audit_log=AuditLog(file)) as server:
        await ask(server, "GET /version", User_Agent="x" * 5000)
    assert events(file)[0]["userAgent"] == "x" * 1024 + "...TRUNCATED"


HIDDEN = "c3VwZXItc2VjcmV0"


@pytest.mark.parametrize(
    ("request_", "body"),
    [
        (f"POST {SECRETS}", {"metadata": {"name": "a"}, "data": {"key": HIDDEN}}),
        (f"POST {SECRETS}", {"metadata": {"name": "NOT A NAME"}, "data": {HIDDEN + "!": HIDDEN}}),
        (f"POST {SECRETS}", {"metadata": {"name": "a"}, "data": {"key": [HIDDEN]}}),
        (f"POST {SECRETS}", {"metadata": {"name": "a"}, "type": HIDDEN, "data": HIDDEN}),
        (f"PATCH {SECRETS}/there", [{"op": "replace", "path": "/data", "value": HIDDEN}]),
        ("POST /apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": HIDDEN}}),
    ],
)
async def test_no_secret_is_in_it(request_: str, body: Any, file: Path) -> None:
    async with running(audit_log=AuditLog(file)) as server:
        await ask(server, f"POST {SECRETS}", {"metadata": {"name": "there"}})
        content = "application/json-patch+json" if request_.startswith("PATCH") else "application/json"
        await ask(server, request_, body, Content_Type=content, Authorization=f"Bearer {HIDDEN}")
    assert len(events(file)) == 4
    assert HIDDEN not in str(events(file))


async def test_no_token_that_was_issued_is_in_it(file: Path) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    async with running(audit_log=AuditLog(file)) as server:
        await ask(server, f"POST {accounts}", {"metadata": {"name": "robot"}})
        answer = await ask(server, f"POST {accounts}/robot/token", {})
    token = json.loads(answer.body)["status"]["token"]
    assert not any(part in str(events(file)) for part in token.split("."))


def test_only_its_owner_can_read_it(file: Path) -> None:
    file.write_text("old\n")
    file.chmod(0o644)
    log = AuditLog(file)
    log.write({"a": 1})
    log.close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text() == 'old\n{"a":1}\n'


async def test_a_disk_that_is_full_stops_nobody(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = AuditLog(file)
    async with running(audit_log=log) as server:
        log.close()
        log._descriptor = -1
        assert (await ask(server, "GET /version")).code == 200
        assert len(caplog.records) == 1
        assert "audit log can't be written" in caplog.text
        log._descriptor = AuditLog(file)._descriptor


@pytest.mark.parametrize(
    ("headers", "address", "expected"),
    [
        ({}, "127.0.0.1", ["127.0.0.1"]),
        ({"X-Forwarded-For": "1.2.3.4, nonsense, ::1"}, "127.0.0.1", ["1.2.3.4", "::1", "127.0.0.1"]),
        ({"x-real-ip": "1.2.3.4"}, "127.0.0.1", ["1.2.3.4", "127.0.0.1"]),
        ({"X-Forwarded-For": "127.0.0.1"}, "127.0.0.1", ["127.0.0.1"]),
        ({}, "", []),
    ],
)
def test_where_a_request_comes_from(headers: dict[str, str], address: str, expected: list[str]) -> None:
    assert source_ips(headers, address) == expected


async def test_without_an_audit_log_an_answer_has_an_id_too() -> None:
    async with running() as server:
        first, second = [dict((await ask(server, "GET /version")).headers)["Audit-Id"] for _ in range(2)]
    assert first != second
