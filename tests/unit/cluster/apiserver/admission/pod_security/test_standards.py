"""Pod security standards say to some hundred pods what the real server says to them."""

from copy import deepcopy

import pytest

from conformance.pod_security_cases import CASES, Case, answers
from windvane.cluster.apiserver.admission.pod_security.policy import Policy, Standard, policy_of
from windvane.cluster.apiserver.admission.pod_security.standards import violations
from windvane.cluster.apiserver.registry.core.pod.strategy import PodStrategy

ANSWERS = answers()


def standard(text: str) -> Standard:
    level, _, version = text.partition(":")
    label = "pod-security.kubernetes.io/enforce"
    return policy_of({label: level, f"{label}-version": version}).enforce


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_pod_is_told_what_the_real_server_tells_it(case: Case) -> None:
    pod = deepcopy(case.pod)
    pod["metadata"]["namespace"] = "default"
    PodStrategy().apply_defaults(pod)
    PodStrategy().prepare_for_create(pod)
    told = {text: ", ".join(str(each) for each in violations(pod, standard(text))) for text in ANSWERS[case.name]}
    assert told == ANSWERS[case.name]


def test_privileged_pods_may_do_anything() -> None:
    assert violations({"spec": {"hostNetwork": True}}, Standard()) == []


def test_no_label_asks_for_nothing() -> None:
    assert policy_of(None) == policy_of({"app": "web"}) == Policy()
    assert Policy().is_privileged


def test_what_is_enforced_is_also_warned_of() -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.20"}
    assert str(policy_of(labels).warn) == "restricted:v1.20"
    assert str(policy_of(labels).audit) == "privileged:latest"
    assert str(policy_of({**labels, "pod-security.kubernetes.io/warn": "baseline"}).warn) == "baseline:latest"
    assert str(policy_of({**labels, "pod-security.kubernetes.io/warn-version": "v1.2"}).warn) == "restricted:v1.2"


@pytest.mark.parametrize("version", ["v1", "1.20", "v1.01", "v2.0", "v1.x", "v1.9223372036854775808", "newest", ""])
def test_a_version_that_can_not_be_read_is_the_latest(version: str) -> None:
    policy = policy_of({"pod-security.kubernetes.io/audit-version": version})
    assert str(policy.audit) == "privileged:latest"
    assert [cause.field for cause in policy.problems] == ["metadata.labels[pod-security.kubernetes.io/audit-version]"]


@pytest.mark.parametrize(
    ("mode", "level"), [("enforce", "restricted"), ("audit", "privileged"), ("warn", "privileged")]
)
def test_of_a_level_that_can_not_be_read_only_enforcing_is_strict(mode: str, level: str) -> None:
    policy = policy_of({f"pod-security.kubernetes.io/{mode}": "tight"})
    assert policy._asdict()[mode].level == level
    assert not policy.is_privileged
