"""The strategy of CronJob."""

import re
from collections.abc import Iterator
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import (
    AGE,
    NAME,
    Column,
    ago,
    containers,
    count,
    field,
    read,
    selector,
    wide,
)
from windvane.cluster.apiserver.registry.batch.cron_schedule import cron_problem
from windvane.cluster.apiserver.registry.batch.validation import validate_job_spec
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.defaults import default_template
from windvane.cluster.apiserver.registry.core.pod.template_warnings import name_warnings, spec_changed
from windvane.cluster.apiserver.registry.core.pod.warnings import pod_warnings
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.cluster.apiserver.registry.validation.selector import shown_selector
from windvane.k8s import batch

_ZONE = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")


def _suspended(cron_job: Wire) -> str:
    return {True: "True", False: "False"}.get(read(cron_job, "spec.suspend"), "<unset>")


class CronJobStrategy(BuiltinStrategy):
    model = batch.CronJob
    has_generation = True
    defaults = {
        "spec.concurrencyPolicy": "Allow",
        "spec.failedJobsHistoryLimit": 1,
        "spec.successfulJobsHistoryLimit": 3,
        "spec.suspend": False,
        "status": {},
    }
    columns = (
        NAME,
        Column("Schedule", field("spec.schedule")),
        Column("Timezone", field("spec.timeZone", "<none>")),
        Column("Suspend", _suspended, "boolean"),
        Column("Active", count("status.active"), "integer"),
        Column("Last Schedule", ago("status.lastScheduleTime", "<none>")),
        AGE,
        *containers("spec.jobTemplate.spec.template.spec.containers"),
        wide("Selector", selector("spec.jobTemplate.spec.selector")),
    )
    column_fields = {
        "Schedule": "batch.v1.CronJobSpec.schedule",
        "Timezone": "batch.v1.CronJobSpec.timeZone",
        "Suspend": "batch.v1.CronJobSpec.suspend",
        "Active": "batch.v1.CronJobStatus.active",
        "Last Schedule": "batch.v1.CronJobStatus.lastScheduleTime",
        "Selector": "batch.v1.JobSpec.selector",
    }

    def set_defaults(self, obj: Wire) -> None:
        template = obj["spec"].setdefault("jobTemplate", {})
        template.setdefault("metadata", {})
        default_template(template.setdefault("spec", {}).setdefault("template", {}))

    def validate(self, obj: Wire, problems: Problems) -> None:
        cron_job(obj, problems)

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        cron_job(obj, problems)
        name = obj["metadata"].get("name", "")
        if len(name) > 52:
            problems.invalid("metadata.name", name, "must be no more than 52 characters")

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        if old is None:
            yield from name_warnings(obj)
        if spec_changed(obj, old):
            template = (obj["spec"].get("jobTemplate") or {}).get("spec", {}).get("template") or {}
            yield from pod_warnings(template, "spec.jobTemplate.spec.template")


def cron_job(obj: Wire, problems: Problems) -> None:
    """Check a CronJob."""
    spec = obj["spec"]
    schedule = spec.get("schedule")
    if not schedule:
        problems.required("spec.schedule")
    else:
        if problem := cron_problem(schedule):
            problems.invalid("spec.schedule", schedule, problem)
        if "TZ" in schedule:
            rule = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            problems.invalid("spec.schedule", schedule, rule)
    problems.not_negative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    if (zone := spec.get("timeZone")) is not None:
        _time_zone(zone, problems)
    policies = ("Allow", "Forbid", "Replace")
    problems.one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), policies)
    inner, path = spec["jobTemplate"]["spec"], "spec.jobTemplate.spec"
    validate_job_spec(inner, path, problems)
    if "selector" in inner:
        problems.invalid(f"{path}.selector", shown_selector(inner["selector"]), "`selector` will be auto-generated")
    if inner.get("manualSelector"):
        problems.unsupported(f"{path}.manualSelector", True, ("nil", "false"))
    for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        problems.not_negative(f"spec.{name}", spec.get(name))


def _time_zone(zone: str, problems: Problems) -> None:
    path = "spec.timeZone"
    if not zone:
        problems.invalid(path, zone, "timeZone must be nil or non-empty string")
        return
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE.fullmatch(part):
            problems.invalid(path, zone, f"unknown time zone {zone}")
            return
    if zone.lower() == "local":
        rule = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        problems.invalid(path, zone, rule)
        if zone == "Local":
            return
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        problems.invalid(path, zone, f"unknown time zone {zone}")
