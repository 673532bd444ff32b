"""What `windvane why` finds in what is known: each situation, and the words for it."""

import re
from dataclasses import replace
from typing import Any

import pytest

from unit.cli.why.notes import at, condition, deleted_by, facts, ran, saw, started, stopped, thing, wrote
from windvane.cli.why.contention import explain_contention
from windvane.cli.why.deletion import explain_deletion
from windvane.cli.why.explanation import explain, lines_of, wrapped
from windvane.cli.why.object_state import standing_of
from windvane.cli.why.readiness import explain_readiness
from windvane.cli.why.reason import Facts, Reason
from windvane.cli.why.refusal import Refusal, explain_refusals, refusal_in
from windvane.cli.why.workers import explain_workers
from windvane.runtime.observability.history import Trigger
from windvane.runtime.observability.journal import JournalEntry

CAME = saw("Website blog came", 10, by="kubectl")
COLLECTOR = "garbage-collector-controller"


def text(reasons: list[Reason]) -> str:
    """All of it, without times of day, which depend on where one is."""
    lines = [line for each in reasons for line in (each.words, each.remedy) if line]
    return re.sub(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d", "TIME", "\n".join(lines))


# How objects stand

WAITING = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "can't be pulled"}}, "name": "web"}
CRASHED = {
    "name": "web",
    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    "lastState": {"terminated": {"exitCode": 3, "reason": "Error"}},
    "restartCount": 7,
}
NOT_BEGUN = {"exitCode": 128, "reason": "StartError", "message": "no such file"}
NO_PROGRAM = {**CRASHED, "lastState": {"terminated": NOT_BEGUN}}
UNMOUNTED = {"name": "web", "state": {"waiting": {"reason": "ContainerCreating", "message": "secret is not there"}}}


@pytest.mark.parametrize(
    ("of", "content", "well", "words"),
    [
        ("Pod a", {"status": {"phase": "Running", **condition("Ready", "True")}}, True, ""),
        ("Pod a", {"status": {"phase": "Succeeded"}}, True, ""),
        ("Pod a", {"status": {}}, False, "no scheduler has looked at it yet"),
        (
            "Pod a",
            {"status": condition("PodScheduled", "False", "0/1 nodes are available", "Unschedulable")},
            False,
            "0/1 nodes are available",
        ),
        (
            "Pod a",
            {"status": {"phase": "Pending", "containerStatuses": [WAITING]}},
            False,
            "container web: ImagePullBackOff: can't be pulled",
        ),
        (
            "Pod a",
            {"status": {"phase": "Running", "containerStatuses": [CRASHED]}},
            False,
            "container web: CrashLoopBackOff; it ended with exit code 3, after 7 restarts",
        ),
        (
            "Pod a",
            {"status": {"phase": "Running", "containerStatuses": [NO_PROGRAM]}},
            False,
            "container web: CrashLoopBackOff; it ended with exit code 128 (StartError: no such file), after 7 restarts",
        ),
        (
            "Pod a",
            {"status": {"phase": "Pending", "containerStatuses": [UNMOUNTED]}},
            False,
            "container web: ContainerCreating: secret is not there",
        ),
        (
            "Deployment a",
            {"spec": {"replicas": 3}, "status": {"availableReplicas": 1}},
            False,
            "1 of 3 replicas are available",
        ),
        ("Deployment a", {"spec": {"replicas": 0}, "status": {}}, True, ""),
        (
            "ReplicaSet a",
            {"spec": {"replicas": 1}, "status": condition("ReplicaFailure", "True", "quota is used up")},
            False,
            "quota is used up",
        ),
        ("Website a", {"status": condition("Ready", "True")}, True, ""),
        ("Website a", {"status": condition("Ready", "False", "no money")}, False, "no money"),
        ("Website a", {"status": condition("Ready", "Unknown", "", "Starting")}, False, "Ready is Unknown: Starting"),
        (
            "Website a",
            {
                "metadata": {"generation": 3},
                "status": {"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 2}]},
            },
            False,
            "its spec has changed, to generation 3, and what it says is still of generation 2",
        ),
        ("Website a", {"status": condition("BackupsReady", "False", "no disk")}, False, "no disk"),
        ("Website a", {}, None, ""),
        ("Website a", {"status": "what the author makes of it"}, None, ""),
        (
            "Website a",
            {"metadata": {"deletionTimestamp": "2030-01-01T12:00:00Z", "finalizers": ["a/b"]}},
            False,
            "it is being deleted, and has the finalizers a/b",
        ),
    ],
)
def test_how_an_object_stands(of: str, content: dict[str, Any], well: bool | None, words: str) -> None:
    assert standing_of(thing(of, **content))[:] == (well, words)


def waiting_family() -> list[dict[str, Any]]:
    site = thing("Website blog", status=condition("Ready", "False", "0 of 1 copies are up"))
    deployment = thing("Deployment blog", site, spec={"replicas": 1}, status={})
    replicas = thing("ReplicaSet blog-7d", deployment, spec={"replicas": 1}, status={})
    pod = thing("Pod blog-7d-x", replicas, status={"phase": "Pending", "containerStatuses": [WAITING]})
    return [site, thing("Secret blog", site), deployment, replicas, pod]


def test_it_waits_for_a_child_which_waits_for_another() -> None:
    assert text(explain_readiness(facts("Website blog", [], *waiting_family()))) == (
        "Website default/blog is not ready: it waits for Deployment default/blog, which waits for ReplicaSet "
        "default/blog-7d, which waits for Pod default/blog-7d-x: container web: ImagePullBackOff: can't be pulled\n"
        "It says itself: 0 of 1 copies are up"
    )


@pytest.mark.parametrize(
    ("status", "last", "words"),
    [
        (condition("Ready", "True"), {}, "Website default/blog is ready."),
        ({}, {"result": "failed", "message": "no such host"}, "Website default/blog is not ready: no such host"),
        ({}, {"result": "waiting", "message": "for a key"}, "Website default/blog is not ready: for a key"),
        (condition("Ready", "False"), {}, "Website default/blog is not ready: Ready is False"),
        ({}, {}, "Website default/blog is there. It has no status that says whether it is ready"),
    ],
)
def test_what_it_says_itself_and_what_its_last_pass_said(
    status: dict[str, Any], last: dict[str, Any], words: str
) -> None:
    entries = [ran(1, "website", "Website blog", [CAME], **last)]
    assert text(explain_readiness(facts("Website blog", entries, thing("Website blog", status=status)))) == words


def test_a_pod_waits_for_the_claim_that_it_mounts_and_that_says_more_in_its_events() -> None:
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    unbound = condition("PodScheduled", "False", "pod has unbound immediate PersistentVolumeClaims")
    pod = thing("Pod web", spec={"volumes": volumes}, status=unbound)
    claims = [thing(f"PersistentVolumeClaim {name}", status={"phase": "Pending"}) for name in ("another", "data")]
    about = {"kind": "PersistentVolumeClaim", "name": "data", "uid": "PersistentVolumeClaim data"}
    said = {"type": "Warning", "reason": "ProvisioningFailed", "message": "no such class", "involvedObject": about}
    found = facts("Pod web", [], pod, needed=claims, events=[said])
    assert text(explain_readiness(found)) == (
        "Pod default/web is not ready: it waits for PersistentVolumeClaim default/data: its phase is Pending: no such "
        "class\nIt says itself: pod has unbound immediate PersistentVolumeClaims"
    )


def test_a_job_that_has_failed_waits_for_nothing_and_its_pod_says_why() -> None:
    cron = thing("CronJob night", status={})
    site = thing("Website blog", status=condition("Ready", "False"))
    job = thing("Job sum", status=condition("Failed", "True", "it has reached the backoff limit"))
    ended = {"name": "main", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}
    pod = thing("Pod sum-x", job, status={"phase": "Failed", "containerStatuses": [ended]})
    last = "Pod default/sum-x: container main has ended with exit code 137: OOMKilled"
    failed = f"Job default/sum has failed: it has reached the backoff limit\n{last}"
    assert text(explain_readiness(facts("Job sum", [], job, pod))) == failed
    job["metadata"]["ownerReferences"] = thing("Job sum", site)["metadata"]["ownerReferences"]
    assert text(explain_readiness(facts("Website blog", [], site, job, pod))) == (
        "Website default/blog is not ready: it waits for Job default/sum, which has failed: it has reached the backoff "
        f"limit\n{last}\nIt says itself: Ready is False"
    )
    job["metadata"]["ownerReferences"] = thing("Job sum", cron)["metadata"]["ownerReferences"]
    assert text(explain_readiness(facts("CronJob night", [], cron, job, pod))) == (
        "CronJob default/night is there. It has no status that says whether it is ready\n"
        f"Of what belongs to it, {failed}"
    )


@pytest.mark.parametrize(
    ("endpoints", "words"),
    [
        ([], "leads nowhere: there is no pod with the labels of its selector: app=web"),
        (
            [{"conditions": {"ready": False}, "targetRef": {"name": "web-1"}}],
            "leads nowhere: of its pods, none is ready: web-1",
        ),
        (
            [{"conditions": {"ready": False}, "targetRef": {"name": "web-1"}}, {"targetRef": {"name": "web-2"}}],
            "leads to pods that are ready.",
        ),
    ],
)
def test_a_service_leads_to_pods_or_nowhere(endpoints: list[Any], words: str) -> None:
    service = thing("Service web", spec={"selector": {"app": "web"}})
    slices = thing("EndpointSlice web-1", service, endpoints=endpoints)
    assert text(explain_readiness(facts("Service web", [], service, slices))) == f"Service default/web {words}"


def test_of_a_pod_that_only_starts_the_last_warning_tells_more() -> None:
    pod = thing("Pod web", status={"phase": "Pending", **condition("PodScheduled", "True")})
    about = {"kind": "Pod", "name": "web", "uid": "Pod web"}
    said = {"type": "Warning", "reason": "FailedMount", "message": 'secret "key" not found', "involvedObject": about}
    assert text(explain_readiness(facts("Pod web", [], pod, events=[said]))) == (
        'Pod default/web is not ready: its containers start (phase Pending): secret "key" not found'
    )


# Webhooks


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ('admission webhook "a.b.c" denied the request: not today', Refusal("a.b.c", "not today", True)),
        ('pods "x" is forbidden: admission webhook "a.b" denied the request: no', Refusal("a.b", "no", True)),
        ('admission webhook "a.b" denied the request.', Refusal("a.b", "", True)),
        (
            'Internal error occurred: failed calling webhook "a.b": failed to call webhook: connection refused',
            Refusal("a.b", "failed to call webhook: connection refused", False),
        ),
        ("a webhook is on fire", None),
    ],
)
def test_a_refusal_is_recognized(words: str, found: Refusal | None) -> None:
    assert refusal_in(words) == found


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (
            'admission webhook "guard.acme.io" denied the request: too large',
            (
                "The webhook guard.acme.io (of ValidatingWebhookConfiguration guard) refuses what website writes in "
                "its pass for Website default/blog: too large"
            ),
        ),
        (
            'failed calling webhook "guard.acme.io": connection refused',
            (
                "The webhook guard.acme.io (of ValidatingWebhookConfiguration guard) can't be asked about what website "
                "writes in its pass for Website default/blog: connection refused\n"
                "run what serves it, or remove it: kubectl delete validatingwebhookconfiguration guard"
            ),
        ),
    ],
)
def test_the_webhook_that_refuses_is_named_with_its_configuration(said: str, answer: str) -> None:
    entries = [ran(1, "website", "Website blog", [CAME], result="failed", message=said)]
    known = {"guard.acme.io": "ValidatingWebhookConfiguration guard"}
    assert text(explain_refusals(facts("Website blog", entries, thing("Website blog"), webhooks=known))) == answer
    better = [*entries, ran(2, "website", "Website blog", [Trigger("a retry after Forbidden")])]
    assert explain_refusals(facts("Website blog", better, thing("Website blog"), webhooks=known)) == []


def test_a_refusal_of_something_below_is_found_in_its_conditions() -> None:
    site = thing("Website blog")
    said = condition("ReplicaFailure", "True", 'admission webhook "a.b" denied the request: no')
    replicas = thing("ReplicaSet blog-7d", site, spec={"replicas": 1}, status=said)
    assert text(explain_refusals(facts("Website blog", [], site, replicas))) == (
        "The webhook a.b refuses what is written for ReplicaSet default/blog-7d: no"
    )


# Fights


def fight(rounds: int, path: str = "spec.replicas") -> list[Any]:
    """An operator and another client, which undo each other's writes."""
    entries = [ran(0, "website", "Website blog", [CAME], [wrote("apply", "Deployment", "blog", 20)])]
    for number in range(rounds):
        theirs, ours = 30 + 2 * number, 31 + 2 * number
        seen = saw("Deployment blog changed", theirs, f"{path} 1 → 9", by="scaler")
        back = wrote("apply", "Deployment", "blog", ours, f"{path} 9 → 1")
        entries.append(ran(number + 1, "website", "Website blog", [seen], [back]))
    return entries


def test_a_child_that_another_client_keeps_changing_is_a_fight_of_which_both_are_named() -> None:
    found = facts("Website blog", fight(5), thing("Website blog"))
    assert text(explain_contention(found)) == (
        "Deployment default/blog is written by scaler and by website in turn: spec.replicas has changed hands 9 times "
        "between TIME and TIME\n"
        "have one of them leave spec.replicas alone: state it in one place only"
    )


def test_what_was_corrected_once_is_no_fight_nor_are_changes_by_one_client() -> None:
    assert explain_contention(facts("Website blog", fight(1), thing("Website blog"))) == []
    alone = [
        ran(n, "website", "Website blog", [saw("Website blog changed", 30 + n, "spec.a", by="kubectl")])
        for n in range(9)
    ]
    assert explain_contention(facts("Website blog", alone, thing("Website blog"))) == []


def test_a_fight_that_is_over_explains_nothing_nor_does_one_over_what_is_gone() -> None:
    there = facts("Website blog", fight(5), thing("Website blog"))
    assert explain_contention(there) != []
    assert explain_contention(replace(there, now=at(3600))) == []
    assert explain_contention(facts("Website blog", fight(5))) == []


# Deletion

PRUNED = ran(
    5,
    "website",
    "Website blog",
    [saw("Website blog changed", 30, by="kubectl")],
    [wrote("delete", "Deployment", "blog", None)],
)


def collected(seconds: float) -> JournalEntry:
    """What the garbage collector notes when it has deleted something."""
    owner = Trigger("its owner Website blog is gone", "websites.demo.dev", "default", "blog")
    deletion = wrote("delete", "Deployment", "blog", None)
    return ran(seconds, COLLECTOR, "Deployment blog", [owner], [deletion], controller=COLLECTOR)


COLLECTED = collected(8)
WENT = saw("Deployment blog went", 41)
SITE_WENT = ran(7, "website", "Website blog", [saw("Website blog went", 40)], result="gone")


@pytest.mark.parametrize(
    ("entries", "whom"),
    [
        (
            [PRUNED, ran(6, "website", "Website blog", [WENT])],
            "website, in its pass for Website default/blog (because Website default/blog changed, written by kubectl)",
        ),
        (
            [SITE_WENT, COLLECTED],
            (
                "the garbage collector, because its owner Website blog is gone. Website default/blog was deleted at "
                "TIME by a client that keeps no history here: a person with kubectl, or another program"
            ),
        ),
        (
            # what has a grace period is deleted first, and goes later
            [
                SITE_WENT,
                collected(8.2),
                ran(8.1, "website", "Website blog", [saw("Deployment blog changed", 41, "metadata.deletionTimestamp")]),
                ran(9, "website", "Website blog", [saw("Deployment blog went", 45)]),
            ],
            (
                "the garbage collector, because its owner Website blog is gone. Website default/blog was deleted at "
                "TIME by a client that keeps no history here: a person with kubectl, or another program"
            ),
        ),
        (
            [ran(6, "website", "Website blog", [WENT])],
            "a client that keeps no history here: a person with kubectl, or another program",
        ),
        (
            [deleted_by(7, "Deployment blog", "kubectl", "anna"), ran(7.1, "website", "Website blog", [WENT])],
            "kubectl (user anna)",
        ),
        (
            # an operator reaches the API server as any client does, and tells more
            [
                PRUNED,
                deleted_by(5.01, "Deployment blog", "windvane", "robot"),
                ran(6, "website", "Website blog", [WENT]),
            ],
            "website, in its pass for Website default/blog (because Website default/blog changed, written by kubectl)",
        ),
        (
            # what deleted an earlier one of that name has nothing to do with it
            [
                PRUNED,
                ran(6, "website", "Website blog", [saw("Deployment blog went", 35)]),
                ran(7, "website", "Website blog", [CAME], [wrote("apply", "Deployment", "blog", 36)]),
                ran(8, "website", "Website blog", [saw("Deployment blog came", 36), saw("Deployment blog went", 50)]),
            ],
            "a client that keeps no history here: a person with kubectl, or another program",
        ),
    ],
)
def test_by_whom_something_was_deleted_that_is_gone(entries: list[Any], whom: str) -> None:
    found = text(explain_deletion(facts("Deployment blog", entries)))
    assert found == (f"Deployment default/blog is gone: it was deleted at TIME by {whom}")


def terminating(*finalizers: str) -> dict[str, Any]:
    put: dict[str, Any] = {"f:metadata": {"f:finalizers": {f'v:"{each}"': {} for each in finalizers}}}
    metadata = {
        "deletionTimestamp": "2030-01-01T12:00:00Z",
        "finalizers": [*finalizers],
        "managedFields": [{"manager": "helper", "fieldsV1": put}],
    }
    return thing("Website blog", metadata=metadata)


TRIES = ran(3, "website", "Website blog", [CAME], result="failed", message="the bucket is not empty", again=200.0)


@pytest.mark.parametrize(
    ("finalizer", "entries", "running", "words"),
    [
        (
            "demo.dev/website",
            [TRIES],
            {"website": True},
            (
                "demo.dev/website is handled by the operator website, whose last pass, at TIME, ended so: failed: the "
                "bucket is not empty; it tries again in 103 s"
            ),
        ),
        (
            "demo.dev/website",
            [started(0, "website", "website"), TRIES, stopped(4, "website", "website")],
            {"website": False},
            "demo.dev/website is handled by the operator website, which does not run: it was stopped at TIME",
        ),
        (
            "demo.dev/website",
            [started(0, "website", "one")],
            {"website": True},
            "demo.dev/website is handled by the operator website, which has had no pass for it yet",
        ),
        (
            "acme.io/other",
            [TRIES],
            {"website": True},
            "acme.io/other: no operator whose history is here handles it; the field manager helper has put it there",
        ),
        (
            "foregroundDeletion",
            [],
            {},
            "foregroundDeletion: the garbage collector takes it off, for nothing is left of it",
        ),
    ],
)
def test_which_finalizer_keeps_it_and_which_operator_should_take_it_off(
    finalizer: str, entries: list[Any], running: dict[str, bool], words: str
) -> None:
    found = text(explain_deletion(facts("Website blog", entries, terminating(finalizer), running=running)))
    assert f"these finalizers keep it: {finalizer}" in found
    assert words in found


def test_a_finalizer_that_nothing_handles_can_be_taken_off_and_the_others_stay() -> None:
    found = text(explain_deletion(facts("Website blog", [], terminating("acme.io/lost", "acme.io/kept"))))
    patch = """--type=merge -p '{"metadata": {"finalizers": ["acme.io/kept"]}}'"""
    assert f"kubectl patch websites.demo.dev blog -n default {patch}" in found


def test_what_must_go_first_is_named_with_what_keeps_it() -> None:
    site = terminating("foregroundDeletion")
    child = thing("Deployment blog", site, metadata={"deletionTimestamp": "now", "finalizers": ["a/b"]})
    found = text(explain_deletion(facts("Website blog", [], site, child)))
    assert (
        "what it owns must go first, and is still there: Deployment default/blog, which the finalizers a/b keep"
        in found
    )


# Operators


def test_why_it_ran_again_and_when_it_will() -> None:
    seen = saw("Deployment blog changed", 31, "status.readyReplicas 1 → 2", by="kube-controller-manager")
    entries = [
        ran(1, "kube-controller-manager", "Deployment blog", [], [wrote("apply", "Deployment", "blog", 31)]),
        ran(2, "website", "Website blog", [seen, Trigger("a timer")], again=300.0),
    ]
    assert text(explain_workers(facts("Website blog", entries, thing("Website blog"), running={"website": True}))) == (
        "website last saw to it at TIME, 98 s ago, because Deployment default/blog changed (status.readyReplicas 1 → "
        "2), written by kube-controller-manager, and a timer: done; the next pass comes in 3 min, if no change brings "
        "it before"
    )


def test_an_operator_that_was_killed_and_one_that_never_was() -> None:
    entries = [started(0, "website", "one"), ran(1, "website", "Website blog", [CAME], run="one")]
    killed = facts("Website blog", entries, thing("Website blog"), running={"website": False})
    assert "The operator website does not run: it was killed, some time after TIME" in text(explain_workers(killed))
    nothing = text(explain_workers(facts("Website blog", [], thing("Website blog"))))
    assert nothing.startswith("No operator whose history is here has ever worked on websites.demo.dev")


# The whole answer


def test_without_a_history_managed_fields_and_events_are_told() -> None:
    entry = {
        "manager": "kubectl",
        "operation": "Update",
        "time": "2030-01-01T11:00:00Z",
        "fieldsV1": {"f:spec": {"f:size": {}}},
    }
    site = thing("Website blog", metadata={"managedFields": [entry]}, status=condition("Ready", "False", "no money"))
    event = {
        "type": "Warning",
        "reason": "Broke",
        "message": "no money",
        "count": 3,
        "lastTimestamp": "2030-01-01T11:30:00Z",
    }
    found: Facts = facts(
        "Website blog", [], site, events=[{**event, "involvedObject": {"kind": "Website", "name": "blog"}}]
    )
    said = "\n".join(lines_of(explain(found, ["To have a history: ..."]), found.now))
    assert "Website default/blog is not ready: no money" in said
    assert "2030-01-01T11:00:00Z  kubectl  spec.size" in said
    assert "2030-01-01T11:30:00Z  Website blog: Broke: no money  [3 times]" in said
    assert said.endswith("To have a history: ...")


def test_on_a_terminal_long_lines_go_on_below_what_they_go_on_from() -> None:
    line = "  05:11:18      website: Website default/blog; wrote Deployment default/blog, its own Ready True → False"
    assert wrapped(line, 60) == [
        "  05:11:18      website: Website default/blog; wrote",
        "                  Deployment default/blog, its own Ready",
        "                  True → False",
    ]
    assert wrapped("", 80) == [""]
    assert wrapped("short", 80) == ["short"]
    assert " ".join(" ".join(wrapped(line, 10)).split()) == " ".join(line.split())
