"""CronJobs: a Job whenever the schedule says so, and not too many of them."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from windvane import (
    After,
    AlreadyExists,
    ClientError,
    Conflict,
    Context,
    Cron,
    NotFound,
    ObjectMeta,
    Operator,
    Watch,
    ambient,
    owned_by,
    owner_reference,
)
from windvane.cluster.controllers.cronjob.schedule import Due, NeverComes, beginning, due, seconds_to_next
from windvane.cluster.controllers.job.conditions import COMPLETE, finished_condition
from windvane.cluster.controllers.workloads.controller_refs import is_controlled_by, jobs_by_controller
from windvane.cluster.controllers.workloads.lru_cache import LRUCache
from windvane.cluster.controllers.workloads.pod_control import is_namespace_terminating
from windvane.k8s.batch import CronJob, Job
from windvane.k8s.core import ObjectReference

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
LONGEST_WAIT = 60.0
"""Seconds. Nothing is waited for longer: the clock may be set, or the machine sleep, meanwhile."""
SLACK = 0.1


@dataclass
class CronJobMemory:
    """What is remembered of a CronJob. All of it can be lost."""

    schedule: tuple[str, str | None]
    changed: datetime | None = None
    """When another schedule took the place of the one before."""
    told: dict[tuple[str, str], object] = field(default_factory=dict)


def add_to(operator: Operator) -> None:
    """Declare the controller."""
    remembered: LRUCache[CronJobMemory] = LRUCache()

    @operator.controller(CronJob, watches=[Watch(Job, to=owned_by(CronJob))], events_from="cronjob-controller")
    async def cronjobs(cron: CronJob, ctx: Context) -> After | None:
        said = (cron.spec.schedule, cron.spec.time_zone)
        memory = remembered.get(cron.metadata.uid) or CronJobMemory(said)
        if memory.schedule != said:
            memory.schedule, memory.changed = said, ambient.now()
        remembered.keep(cron.metadata.uid, memory)
        return await _Pass(cron, ctx, memory).run()


def job_for(cron: CronJob, time: datetime, zone: tzinfo) -> Job:
    """The Job of one scheduled time. Its name is the time's: it can't be made twice."""
    template = cron.spec.job_template
    stated = template.metadata or ObjectMeta()
    local = time.astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Job(
        metadata=ObjectMeta(
            name=f"{cron.metadata.name}-{int(time.timestamp()) // 60}",
            namespace=cron.metadata.namespace,
            labels=dict(stated.labels),
            annotations={**stated.annotations, SCHEDULED: local},
            owner_references=[owner_reference(cron)],
        ),
        spec=template.spec,
    )


def to_forget(cron: CronJob, jobs: Iterable[Job]) -> list[Job]:
    """The finished Jobs beyond what is to be kept of each outcome, the oldest first."""
    ended: dict[bool, list[Job]] = {True: [], False: []}
    for job in jobs:
        if (end := finished_condition(job)) is not None and job.metadata.deletion_timestamp is None:
            ended[end.type == COMPLETE].append(job)
    going = []
    for limit, those in (
        (cron.spec.successful_jobs_history_limit, ended[True]),
        (cron.spec.failed_jobs_history_limit, ended[False]),
    ):
        if limit is not None:
            going += sorted(those, key=_age)[: max(len(those) - limit, 0)]
    return going


def _age(job: Job) -> tuple[bool, datetime, str]:
    began = job.status.start_time
    return began is None, began or datetime.max.replace(tzinfo=UTC), job.metadata.name


class _Pass:
    """One pass over a CronJob."""

    def __init__(self, cron: CronJob, ctx: Context, memory: CronJobMemory) -> None:
        self._cron = cron
        self._ctx = ctx
        self._memory = memory

    async def run(self) -> After | None:
        """Clean up, take note of what has ended, and start what is due. In how long to look again."""
        jobs = self._ctx.find(jobs_by_controller, self._cron.metadata.uid)
        for job in to_forget(self._cron, jobs):
            await self._delete(job)
        self._note(jobs)
        await self._note_missing({each.metadata.uid for each in jobs})
        try:
            zone: tzinfo = ZoneInfo(self._cron.spec.time_zone) if self._cron.spec.time_zone else UTC
        except (ZoneInfoNotFoundError, ValueError):
            name = self._cron.spec.time_zone
            self._warn("UnknownTimeZone", f'invalid timeZone: "{name}": unknown time zone {name}')
            return None
        if self._cron.spec.suspend:
            return None
        return await self._keep_to(zone)

    async def _keep_to(self, zone: tzinfo) -> After | None:
        text, now = self._cron.spec.schedule, ambient.now()
        since = beginning(self._cron, self._memory.changed)
        try:
            schedule = Cron(text)
            pending = due(self._cron, schedule, zone, since, now)
        except NeverComes as error:
            self._warn("InvalidSchedule", f"invalid schedule: {text} : {error}")
            return None
        except ValueError as error:
            self._warn("UnparseableSchedule", f'unparseable schedule: "{text}" : {error}')
            return None
        if pending is not None:
            await self._start(pending, zone)
        elif (missed := schedule.latest(since, now, zone)) is not None and self._is_news("MissSchedule", missed):
            words = missed.strftime("%a, %d %b %Y %H:%M:%S +0000")
            self._warn("MissSchedule", f"Missed scheduled time to start a job: {words}")
        seconds = seconds_to_next(schedule, zone, beginning(self._cron, self._memory.changed), now)
        return None if seconds is None else After(seconds=min(seconds + SLACK, LONGEST_WAIT))

    # What has become of earlier Jobs

    def _note(self, jobs: Iterable[Job]) -> None:
        status = self._cron.status
        active = {each.uid for each in status.active}
        for job in jobs:
            end = finished_condition(job)
            if end is None:
                if job.metadata.uid not in active and self._is_news("UnexpectedJob", True, job.metadata.uid):
                    message = f"Saw a job that the controller did not create or forgot: {job.metadata.name}"
                    self._warn("UnexpectedJob", message)
                continue
            if job.metadata.uid in active:
                self._strike(job.metadata.uid)
                words = f"Saw completed job: {job.metadata.name}, condition: {end.type}"
                self._ctx.event("SawCompletedJob", words)
            done = job.status.completion_time
            if end.type == COMPLETE and done is not None:
                status.last_successful_time = max(done, status.last_successful_time or done)

    async def _note_missing(self, there: set[str]) -> None:
        for reference in list(self._cron.status.active):
            if reference.uid in there:
                continue
            try:
                await self._ctx.client.get(Job, reference.name or "")
            except NotFound:
                self._ctx.event("MissingJob", f"Active job went missing: {reference.name}")
                self._strike(reference.uid)

    def _strike(self, uid: str | None) -> None:
        self._cron.status.active = [each for each in self._cron.status.active if each.uid != uid]

    # Starting

    async def _start(self, pending: Due, zone: tzinfo) -> None:
        cron, status = self._cron, self._cron.status
        job = job_for(cron, pending.time, zone)
        if pending.many and self._is_news("TooManyMissedTimes", pending.time):
            remedy = "Set or decrease .spec.startingDeadlineSeconds or check clock skew"
            self._warn("TooManyMissedTimes", f"too many missed start times. {remedy}")
        if any(each.name == job.metadata.name for each in status.active):
            return
        if cron.spec.concurrency_policy == "Forbid" and status.active:
            if self._is_news("JobAlreadyActive", pending.time):
                message = "Not starting job because prior execution is running and concurrency policy is Forbid"
                self._ctx.event("JobAlreadyActive", message)
            return
        if cron.spec.concurrency_policy == "Replace":
            for reference in list(status.active):
                await self._replace(reference)
        if (made := await self._create(job)) is not None:
            status.active = [*status.active, _reference(made)]
            status.last_schedule_time = pending.time

    async def _create(self, job: Job) -> Job | None:
        try:
            made = await self._ctx.client.create(job)
        except AlreadyExists:
            # Ours, if this controller died before it could write down that it had made it.
            there = await self._ctx.client.get(Job, job.metadata.name)
            return there if is_controlled_by(there, self._cron) else None
        except ClientError as error:
            if is_namespace_terminating(error):
                return None
            self._warn("FailedCreate", f"Error creating job: {error}")
            raise
        self._ctx.event("SuccessfulCreate", f"Created job {made.metadata.name}")
        return made

    async def _replace(self, reference: ObjectReference) -> None:
        try:
            job = await self._ctx.client.get(Job, reference.name or "")
        except NotFound:
            self._strike(reference.uid)
            return
        await self._delete(job)

    async def _delete(self, job: Job) -> None:
        try:
            with suppress(NotFound, Conflict):  # it is gone, or another one has its name
                name, uid = job.metadata.name, job.metadata.uid
                await self._ctx.client.delete(Job, name, uid=uid, propagation="Background")
        except ClientError as error:
            self._warn("FailedDelete", f"Deleted job: {error}")
            raise
        self._strike(job.metadata.uid)
        self._ctx.event("SuccessfulDelete", f"Deleted job {job.metadata.name}")

    # Telling

    def _warn(self, reason: str, message: str) -> None:
        self._ctx.event(reason, message, type="Warning")

    def _is_news(self, reason: str, what: object, about: str = "") -> bool:
        """Whether that was not told before: a pass comes every minute, and most of them see the same."""
        before = self._memory.told.get((reason, about))
        self._memory.told[reason, about] = what
        return before != what


def _reference(job: Job) -> ObjectReference:
    mine = job.metadata
    return ObjectReference(
        api_version=job.api_version,
        kind=job.kind,
        name=mine.name,
        namespace=mine.namespace,
        uid=mine.uid,
        resource_version=mine.resource_version,
    )
