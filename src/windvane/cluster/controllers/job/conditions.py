"""What a Job's conditions say of it: whether it is suspended, how it will end, and that it has.

A verdict comes before the end, as a condition of its own: it is written down before it is carried out, and stands. When
nothing runs any more and every pod is counted, the condition that ends the Job says the same.
"""

from datetime import datetime

from windvane.k8s.batch import Job, JobCondition, JobStatus

CONTROLLER = "kubernetes.io/job-controller"
"""What `spec.managedBy` says, if anything, of Jobs that are ours."""
COMPLETE, FAILED, SUSPENDED = "Complete", "Failed", "Suspended"
SUCCESS, FAILURE = "SuccessCriteriaMet", "FailureTarget"
OUTCOMES = {SUCCESS: COMPLETE, FAILURE: FAILED}
"""What becomes of each verdict."""


def is_ours(job: Job) -> bool:
    """Whether no other controller is to look after it."""
    return job.spec.managed_by in (None, CONTROLLER)


def condition(status: JobStatus, kind: str) -> JobCondition | None:
    """The condition of that type, if it is true."""
    return next((each for each in status.conditions if each.type == kind and each.status == "True"), None)


def is_finished(job: Job) -> bool:
    """Whether it has come to its end, a good or a bad one."""
    return finished_condition(job) is not None


def finished_condition(job: Job) -> JobCondition | None:
    """The condition that says how it ended."""
    return condition(job.status, COMPLETE) or condition(job.status, FAILED)


def verdict_of(job: Job) -> JobCondition | None:
    """The verdict that was written down, if there is one."""
    return condition(job.status, SUCCESS) or condition(job.status, FAILURE)


def new_condition(kind: str, reason: str, message: str, now: datetime, *, status: str = "True") -> JobCondition:
    """A condition that is so since now."""
    since = now.replace(microsecond=0)
    return JobCondition(
        type=kind, status=status, reason=reason, message=message, last_probe_time=since, last_transition_time=since
    )
