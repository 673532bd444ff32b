"""The pods of a Job: how they are made, which index each works on, and which of them have failed."""

from collections.abc import Iterable

from msgspec.structs import replace

from windvane.cluster.controllers.job.policies import counts
from windvane.cluster.controllers.workloads.pod_template import pod_from
from windvane.k8s.batch import Job
from windvane.k8s.core import Container, EnvVar, EnvVarSource, ObjectFieldSelector, Pod

TRACKING = "batch.kubernetes.io/job-tracking"
"""The finalizer of each pod that is still to be counted: it can't vanish before."""
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"

LONGEST_PREFIX = 58
"""What a name that the server completes may begin with."""


def is_indexed(job: Job) -> bool:
    """Whether each of its pods works on an index of its own."""
    return job.spec.completion_mode == "Indexed"


def is_tracked(pod: Pod) -> bool:
    """Whether it is still to be counted."""
    return TRACKING in pod.metadata.finalizers


def index_of(pod: Pod) -> int | None:
    """Which index it works on."""
    text = pod.metadata.annotations.get(INDEX, "")
    return int(text) if text.isascii() and text.isdecimal() else None


def valid_index(job: Job, pod: Pod) -> int | None:
    """Which index it works on, if the Job has (still) such an index."""
    index = index_of(pod)
    return index if index is not None and index < (job.spec.completions or 0) else None


def indexes_of(pods: Iterable[Pod]) -> set[int]:
    """What these work on."""
    return {index for index in map(index_of, pods) if index is not None}


def replaces_only_failed(job: Job) -> bool:
    """Whether a pod that is being deleted is replaced only once it has ended."""
    return job.spec.pod_replacement_policy == "Failed" or job.spec.pod_failure_policy is not None


def has_failed(pod: Pod, job: Job) -> bool:
    """Whether it counts as failed: also if it is being deleted, for its node may never say how it ended."""
    if pod.status.phase == "Failed":
        return True
    going = pod.metadata.deletion_timestamp is not None and pod.status.phase != "Succeeded"
    return going and not replaces_only_failed(job)


def failures_before(pod: Pod) -> int:
    """How often its index had failed before it was made."""
    return _number(pod, FAILURES)


def all_failures_before(pod: Pod) -> int:
    """The same with those that don't count."""
    return _number(pod, FAILURES) + _number(pod, IGNORED_FAILURES)


def _number(pod: Pod, annotation: str) -> int:
    text = pod.metadata.annotations.get(annotation, "")
    return int(text) if text.isascii() and text.isdecimal() and int(text) < 2**31 else 0


def pod_for(job: Job, index: int | None, replaced: Pod | None) -> Pod:
    """A new pod of a Job, for an index if it has such, in place of a failed one if there was one."""
    pod = pod_from(job.spec.template, job)
    mine = pod.metadata
    if TRACKING not in mine.finalizers:
        mine.finalizers.append(TRACKING)
    if index is None:
        return pod
    name, suffix = job.metadata.name, f"-{index}-"
    mine.generate_name = name[: LONGEST_PREFIX - len(suffix)] + suffix
    mine.labels[INDEX] = mine.annotations[INDEX] = str(index)
    if job.spec.backoff_limit_per_index is not None:
        _write_failures(job, pod, replaced)
    pod.spec = replace(
        pod.spec,
        hostname=f"{name}-{index}",
        containers=[_with_index(each) for each in pod.spec.containers],
        init_containers=[_with_index(each) for each in pod.spec.init_containers],
    )
    return pod


def _write_failures(job: Job, pod: Pod, replaced: Pod | None) -> None:
    """Say on a pod how often its index has failed: the failed pods themselves may be gone when it is asked."""
    failures, ignored = (failures_before(replaced), _number(replaced, IGNORED_FAILURES)) if replaced else (0, 0)
    if replaced is not None and counts(job, replaced):
        failures += 1
    elif replaced is not None:
        ignored += 1
    pod.metadata.annotations[FAILURES] = str(failures)
    if ignored:
        pod.metadata.annotations[IGNORED_FAILURES] = str(ignored)


def _with_index(container: Container) -> Container:
    if any(each.name == INDEX_VARIABLE for each in container.env):
        return container
    source = EnvVarSource(field_ref=ObjectFieldSelector(field_path=f"metadata.labels['{INDEX}']"))
    return replace(container, env=[*container.env, EnvVar(name=INDEX_VARIABLE, value_from=source)])
