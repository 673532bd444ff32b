"""The reference control plane is what the other tests here take it for."""

import json
import os
import select
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from reference.child import Child
from reference.controlplane import ControlPlaneError, ReferenceControlPlane

SECONDS_TO_END = 30


def test_it_is_the_pinned_version(reference: ReferenceControlPlane) -> None:
    assert reference.get("/version").json()["gitVersion"] == reference.programs.version


def test_kubectl_is_the_pinned_version(reference: ReferenceControlPlane) -> None:
    client = json.loads(reference.kubectl("version", "--client", "--output=json"))
    assert client["clientVersion"]["gitVersion"] == reference.programs.version


def test_only_its_owner_can_read_the_kubeconfig(reference: ReferenceControlPlane) -> None:
    assert reference.kubeconfig.stat().st_mode & 0o777 == 0o600


def test_kubectl_gets_what_it_created(reference: ReferenceControlPlane) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}, "data": {"colour": "red"}}
    reference.kubectl("create", "--filename=-", input=json.dumps(manifest))
    assert reference.kubectl("get", "configmap", "made", "--output=jsonpath={.data.colour}") == "red"


def test_a_failed_kubectl_says_what_the_server_said(reference: ReferenceControlPlane) -> None:
    with pytest.raises(ControlPlaneError, match='configmaps "missing" not found'):
        reference.kubectl("get", "configmap", "missing")


def test_the_ordinary_user_is_forbidden_what_the_administrator_may(reference: ReferenceControlPlane) -> None:
    path = "/api/v1/namespaces/default/secrets"
    assert reference.get(path, token=reference.admin_token).status == 200
    refused = reference.get(path, token=reference.user_token)
    assert (refused.status, refused.json()["reason"]) == (403, "Forbidden")
    assert 'User "ordinary" cannot list resource "secrets"' in refused.json()["message"]


def test_an_unknown_token_is_unauthorized(reference: ReferenceControlPlane) -> None:
    assert reference.get("/api/v1/namespaces", token="guessed").status == 401


def test_a_streamed_list_ends_with_a_bookmark(reference: ReferenceControlPlane) -> None:
    streamed = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    events = watch(reference, streamed, until="BOOKMARK")
    assert [event["type"] for event in events] == ["ADDED"] * (len(events) - 1) + ["BOOKMARK"]
    assert events[-1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_after_a_compaction_older_continue_tokens_and_watches_are_gone(reference: ReferenceControlPlane) -> None:
    page = reference.get("/api/v1/namespaces?limit=1").json()["metadata"]
    next_page = f"/api/v1/namespaces?limit=1&continue={page['continue']}"
    assert reference.get(next_page).status == 200

    reference.compact()

    expired = reference.get(next_page)
    assert (expired.status, expired.json()["reason"]) == (410, "Expired")
    [error] = watch(reference, f"resourceVersion={page['resourceVersion']}", until="ERROR")
    assert (error["type"], error["object"]["code"], error["object"]["reason"]) == ("ERROR", 410, "Expired")


def test_stop_leaves_nothing_behind() -> None:
    control_plane = ReferenceControlPlane()
    control_plane.start()
    directory, pids = control_plane.kubeconfig.parent, control_plane.pids()
    assert len(pids) == 2
    control_plane.stop()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert not directory.exists()


def test_a_program_that_does_not_start_says_why(tmp_path: Path) -> None:
    control_plane = ReferenceControlPlane(etcd=script(tmp_path / "etcd", "echo the disk is made of cheese; exit 3"))
    with pytest.raises(ControlPlaneError, match=r"(?s)etcd did not become ready.*exit code 3.*made of cheese"):
        control_plane.start()
    assert control_plane.pids() == []


def test_a_program_that_ignores_a_polite_request_is_ended_all_the_same(tmp_path: Path) -> None:
    stubborn = script(tmp_path / "stubborn", "trap '' TERM; echo deaf; while :; do sleep 1; done")
    log = tmp_path / "log"
    child = Child(stubborn, log=log)
    while "deaf" not in log.read_text():
        assert not child.exits_within(0.01)
    child.stop(patience=0.01)
    assert child.exits_within(0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_no_program_outlives_tests_that_are_killed(tmp_path: Path) -> None:
    tests = f"""
import sys
from pathlib import Path
from reference.child import Child
print(Child(Path("/bin/sleep"), "1000", log=Path({str(tmp_path / "log")!r})).pid, flush=True)
sys.stdin.read()
"""
    search_path = {"PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", tests],
        env=os.environ | search_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as killed:
        assert killed.stdout is not None
        program = os.pidfd_open(int(killed.stdout.readline()))
        try:
            killed.kill()
            # A pidfd is readable once its process has ended, whoever its new parent is.
            assert select.select([program], [], [], SECONDS_TO_END)[0] == [program]
        finally:
            os.close(program)


def watch(reference: ReferenceControlPlane, query: str, *, until: str) -> list[dict[str, Any]]:
    """The events that a watch of all namespaces gets, up to the first of that type."""
    url, who = f"{reference.url}/api/v1/namespaces?watch=true&{query}", f"Bearer {reference.admin_token}"
    asked = urllib.request.Request(url, headers={"Authorization": who})
    trust = ssl.create_default_context(cafile=reference.ca_file)
    events: list[dict[str, Any]] = []
    with urllib.request.urlopen(asked, context=trust, timeout=SECONDS_TO_END) as answer:
        while not events or events[-1]["type"] != until:
            events.append(json.loads(answer.readline()))
    return events


def script(file: Path, commands: str) -> Path:
    file.write_text(f"#!/bin/sh\n{commands}\n")
    file.chmod(0o700)
    return file
