"""What came of a Job, by what it and its pods say."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from etcd_operator import restore, results
from etcd_operator.api import Snapshot
from etcd_operator.results import Failure, Running, outcome
from jobs_and_pods import cluster, ended, job, pod

AT = datetime(2026, 1, 2, 2, 1, tzinfo=UTC)
RECORD = {"name": "one", "taken": "2026-01-02T02:00:03Z", "size": 20512, "sha256": "ab", "version": "3.5.1", "id": "x"}


def test_a_snapshot_is_what_its_pod_says() -> None:
    done = job("one", "Complete", at=AT)
    said = ended(0, json.dumps({**RECORD, "pruned": 1}))
    assert outcome(done, [pod(done, "Succeeded", keep=said)]) == Snapshot(
        name="one",
        taken=datetime(2026, 1, 2, 2, 0, 3, tzinfo=UTC),
        volume_claim="prod-backups",
        size=20512,
        sha256="ab",
        version="3.5.1",
    )


def test_a_restore_says_which_snapshot_and_from_where() -> None:
    done = restore.job_for(cluster(), restore="r", volume_claim="old-backups")
    done.metadata.uid, done.status = "u", job("", "Complete", at=AT).status
    restored = outcome(done, [pod(done, "Succeeded", keep=ended(0, json.dumps(RECORD)))])
    assert isinstance(restored, Snapshot)
    assert (restored.name, restored.volume_claim) == ("one", "old-backups")


def test_a_job_whose_pod_is_gone_has_taken_a_snapshot_all_the_same() -> None:
    found = outcome(job("one", "Complete", at=AT), [])
    assert isinstance(found, Snapshot)
    assert (found.name, found.taken) == ("one", datetime(2026, 1, 2, 2, 0, tzinfo=UTC))


def test_a_pod_that_was_last_seen_at_work_is_waited_for() -> None:
    done = job("one", "Complete", at=AT)
    assert outcome(done, [pod(done, "Running", keep={"running": {}})]) == Running("keeping the snapshot")


def test_a_failure_has_the_last_words_of_who_failed() -> None:
    failed = job("one", "Failed", at=AT, message="Job has reached the specified backoff limit")
    words = "level=info\nError: write /backups/incoming/one.db.part: no space left on device\n"
    pods = [pod(failed, "Failed", begin=ended(0), snapshot=ended(5, words))]
    assert outcome(failed, pods) == Failure(
        "taking the snapshot failed (exit code 5): write /backups/incoming/one.db.part: no space left on device", AT
    )


def test_of_several_tries_the_last_one_is_told() -> None:
    failed = job("one", "Failed", at=AT)
    tries = [pod(failed, "Failed", number=each, keep=ended(1, f"try {each}")) for each in (0, 2, 1)]
    assert outcome(failed, tries) == Failure("keeping the snapshot failed (exit code 1): try 2", AT)


def test_other_peoples_pods_are_not_asked() -> None:
    failed, other = job("one", "Failed", at=AT, message="it took too long"), job("two")
    assert outcome(failed, [pod(other, "Failed", keep=ended(1, "no"))]) == Failure("it took too long", AT)


def test_a_pod_that_was_evicted_is_a_failure_too() -> None:
    failed = job("one", "Failed", at=AT)
    evicted = pod(failed, "Failed")
    evicted.status.message = "The node was low on resource"
    assert outcome(failed, [evicted]) == Failure("pod one-0 failed: The node was low on resource", AT)


def test_who_was_killed_says_nothing_but_kubernetes_does() -> None:
    failed = job("one", "Failed", at=AT)
    found = outcome(failed, [pod(failed, "Failed", check=ended(137, reason="OOMKilled"))])
    assert found == Failure("opening the snapshot failed (exit code 137): OOMKilled", AT)


@pytest.mark.parametrize(
    ("pods", "message"),
    [
        ([], "waiting for a pod"),
        ([{}], "pod one-0 is starting"),
        ([{"begin": ended(0), "snapshot": {"running": {}}}], "taking the snapshot"),
        ([{"begin": {"waiting": {"reason": "PodInitializing"}}}], "pod one-0 is starting"),
        (
            [{"begin": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}],
            "beginning the snapshot can't begin: ImagePullBackOff: no such image",
        ),
        (
            [{"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}]}],
            "pod one-0 has no node: 0/3 nodes",
        ),
    ],
)
def test_while_it_runs_it_says_what_it_does_or_waits_for(pods: list[dict[str, Any]], message: str) -> None:
    running = job("one")
    assert outcome(running, [pod(running, "Pending", **each) for each in pods]) == Running(message)


def test_what_is_tried_again_says_why() -> None:
    running = job("one")
    tries = [pod(running, "Failed", begin=ended(1, "no")), pod(running, "Running", number=1, keep={"running": {}})]
    assert outcome(running, tries) == Running(
        "keeping the snapshot; it is tried again, for beginning the snapshot failed (exit code 1): no"
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("", ""),
        ("Error: etcdserver: permission denied\n\n", "etcdserver: permission denied"),
        ('{"level":"fatal","msg":"bad flags","error":"no such flag"}', "bad flags: no such flag"),
        ('2026-01-02T02:00:00Z\twarn\tnetutil.go:121\tnot found\t{"error": "no host"}', "not found: no host"),
        ('{"msg":"failed","error":"refused"}\nError: context deadline exceeded', "failed: refused"),
        ("Error: context deadline exceeded", "context deadline exceeded"),
        ('"quoted"', '"quoted"'),
        ("x" * 600, "x" * 499 + "…"),
    ],
)
def test_last_words_are_what_a_person_wants_to_know(said: str, words: str) -> None:
    assert results.last_words(said) == words


def test_the_revision_is_in_the_line_that_etcdutl_writes() -> None:
    status = b'{"hash":1554587449,"revision":6,"totalKey":11,"totalSize":24576}'
    assert results.revision_in([b"Deprecated: use etcdutl", b"{oops", status]) == 6
    assert results.revision_in([b"nothing"]) == 0
