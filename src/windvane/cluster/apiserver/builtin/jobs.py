"""Rules for Job and CronJob."""

import re
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from windvane.api.json_value import json_copy
from windvane.api.names import label_problems
from windvane.cluster.apiserver.builtin.cron_words import cron_problem
from windvane.cluster.apiserver.builtin.metadata import label_selector
from windvane.cluster.apiserver.builtin.pods import template
from windvane.cluster.apiserver.builtin.problems import OMITTED, Problems, same
from windvane.cluster.apiserver.builtin.selecting import matches, sorted_map
from windvane.cluster.apiserver.builtin.workloads import UNMATCHED, shown_selector

Json = dict[str, Any]

INDEXED, NON_INDEXED = "Indexed", "NonIndexed"
_NUMBERS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_ZONE = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")


def job(obj: Json, problems: Problems) -> None:
    """Check a Job: also that its selector is the generated one, unless its author wanted another."""
    spec = obj["spec"]
    _generated_selector(obj, problems)
    _selecting_job(spec, problems)
    if spec.get("completionMode") == INDEXED and (spec.get("completions") or 0) > 0:
        name = obj["metadata"].get("name", "")
        longest = f"{name}-{spec['completions'] - 1}"
        if label_problems(longest):
            rule = f"will not able to create pod with invalid DNS label: {longest}"
            problems.invalid("metadata.name", name, rule)


def _selecting_job(spec: Json, problems: Problems) -> None:
    _job_spec(spec, "spec", problems)
    selector = spec.get("selector")
    if selector is None:
        problems.required("spec.selector")
    else:
        label_selector(selector, "spec.selector", problems)
    found = spec["template"]["metadata"].get("labels") or {}
    if matches(selector, found) is False:
        problems.invalid("spec.template.metadata.labels", sorted_map(found), UNMATCHED)


def changed_job(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a Job's work stays what it is."""
    spec, before = obj["spec"], old["spec"]
    if spec.get("completionMode") != INDEXED:
        problems.immutable("spec.completions", spec.get("completions"), before.get("completions"))
    elif spec.get("completions") not in (None, before.get("completions"), spec.get("parallelism")):
        rule = "can only be modified in tandem with spec.parallelism"
        problems.invalid("spec.completions", spec["completions"], rule)
    problems.immutable("spec.selector", shown_selector(spec.get("selector")), shown_selector(before.get("selector")))
    _changed_template(spec, before, problems)
    for field in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        problems.immutable(f"spec.{field}", spec.get(field), before.get(field))


def job_status(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a Job's status is possible, and that what is over stays over."""
    status, before = obj.get("status", {}), old.get("status", {})
    for field in ("active", "succeeded", "failed", "ready", "terminating"):
        problems.not_negative(f"status.{field}", status.get(field))
    true = {each["type"] for each in status.get("conditions") or () if each.get("status") == "True"}
    was_true = {each["type"] for each in before.get("conditions") or () if each.get("status") == "True"}
    if {"Complete", "Failed"} <= true:
        problems.invalid("status.conditions", OMITTED, "cannot set Complete=True and Failed=true conditions")
    if "Complete" in true and not status.get("completionTime"):
        problems.required("status.completionTime", "completionTime is required for Complete jobs")
    if "Failed" in true and "FailureTarget" not in true:
        rule = "cannot set Failed=True condition without the FailureTarget=true condition"
        problems.invalid("status.conditions", OMITTED, rule)
    if "Complete" in true and "SuccessCriteriaMet" not in true:
        rule = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        problems.invalid("status.conditions", OMITTED, rule)
    if "ready" in status and status["ready"] > status.get("active", 0):
        problems.invalid("status.ready", status["ready"], "cannot set more ready pods than active")
    if true & {"Complete", "Failed"}:
        if status.get("active", 0) > 0:
            problems.invalid("status.active", status["active"], "active>0 is invalid for finished job")
        if not status.get("startTime"):
            problems.required("status.startTime", "startTime is required for finished job")
    for condition in ("Failed", "Complete", "FailureTarget"):
        if condition in was_true - true:
            problems.invalid("status.conditions", OMITTED, f"cannot disable the terminal {condition}=True condition")


def new_cron_job(obj: Json, problems: Problems) -> None:
    """Check a new CronJob."""
    cron_job(obj, problems)
    name = obj["metadata"].get("name", "")
    if len(name) > 52:
        problems.invalid("metadata.name", name, "must be no more than 52 characters")


def cron_job(obj: Json, problems: Problems) -> None:
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
    _job_spec(inner, path, problems)
    if "selector" in inner:
        problems.invalid(f"{path}.selector", shown_selector(inner["selector"]), "`selector` will be auto-generated")
    if inner.get("manualSelector"):
        problems.unsupported(f"{path}.manualSelector", True, ("nil", "false"))
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        problems.not_negative(f"spec.{field}", spec.get(field))


def _generated_selector(obj: Json, problems: Problems) -> None:
    spec, metadata = obj["spec"], obj["metadata"]
    if spec.get("manualSelector") or "selector" not in spec:
        return
    expected: dict[str, str] = {}
    for prefix in ("", "batch.kubernetes.io/"):
        expected |= {f"{prefix}controller-uid": metadata["uid"], f"{prefix}job-name": metadata.get("name", "")}
    found = spec["template"]["metadata"].get("labels") or {}
    for key, value in expected.items():
        if found.get(key) != value:
            path = "spec.template.metadata.labels"
            if key in found:
                problems.invalid(f"{path}[{key}]", found[key], f"must be '{value}'")
            else:
                problems.required(f"{path}[{key}]", f"must be '{value}'")
    if matches(spec["selector"], expected) is False:
        problems.invalid("spec.selector", shown_selector(spec["selector"]), "`selector` not auto-generated")


def _job_spec(spec: Json, path: str, problems: Problems) -> None:
    for field in _NUMBERS:
        problems.not_negative(f"{path}.{field}", spec.get(field))
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        problems.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    mode = spec.get("completionMode", NON_INDEXED)
    if mode not in (NON_INDEXED, INDEXED):
        problems.unsupported(f"{path}.completionMode", mode, (NON_INDEXED, INDEXED))
    if mode == INDEXED and spec.get("completions") is None:
        problems.required(f"{path}.completions", f"when completion mode is {INDEXED}")
    if mode == NON_INDEXED:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if field in spec:
                problems.invalid(f"{path}.{field}", spec[field], "requires indexed completion mode")
    elif spec.get("maxFailedIndexes", 0) > spec.get("completions", 2**31):
        problems.invalid(
            f"{path}.maxFailedIndexes", spec["maxFailedIndexes"], "must be less than or equal to completions"
        )
    if "podFailurePolicy" in spec:
        _failure_policy(spec, f"{path}.podFailurePolicy", problems)
    replacement = spec.get("podReplacementPolicy")
    supported = ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed")
    if replacement is not None and replacement not in supported:
        problems.unsupported(f"{path}.podReplacementPolicy", replacement, supported)
    template(spec["template"], f"{path}.template", problems)
    policy, here = spec["template"]["spec"]["restartPolicy"], f"{path}.template.spec.restartPolicy"
    if policy == "Always":
        problems.required(here, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        problems.unsupported(here, policy, ("OnFailure", "Never"))
    elif "podFailurePolicy" in spec and policy != "Never":
        problems.invalid(here, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _failure_policy(spec: Json, path: str, problems: Problems) -> None:
    for index, rule in enumerate(spec["podFailurePolicy"].get("rules") or ()):
        here, action = f"{path}.rules[{index}]", rule.get("action")
        if not action:
            listed = " ".join(f'"{each}"' for each in _ACTIONS)
            problems.required(f"{here}.action", f"valid values: [{listed}]")
        elif action == "FailIndex":
            if "backoffLimitPerIndex" not in spec:
                problems.invalid(f"{here}.action", action, "requires the backoffLimitPerIndex to be set")
        elif action not in _ACTIONS:
            problems.unsupported(f"{here}.action", action, _ACTIONS)
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if codes is not None:
            _exit_codes(codes, f"{here}.onExitCodes", problems)
        if codes is not None and conditions:
            problems.invalid(here, OMITTED, "specifying both OnExitCodes and OnPodConditions is not supported")
        if codes is None and not conditions:
            problems.invalid(here, OMITTED, "specifying one of OnExitCodes and OnPodConditions is required")


def _exit_codes(codes: Json, path: str, problems: Problems) -> None:
    operator, values = codes.get("operator"), codes.get("values") or []
    if operator not in ("In", "NotIn"):
        problems.unsupported(f"{path}.operator", operator or "", ("In", "NotIn"))
    if not values:
        problems.invalid(f"{path}.values", codes.get("values"), "at least one value is required")
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            problems.invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator")
        if value in values[:index]:
            problems.duplicate(f"{path}.values[{index}]", value)
    if values != sorted(values):
        problems.invalid(f"{path}.values", values, "must be ordered")


def _changed_template(spec: Json, before: Json, problems: Problems) -> None:
    """Where a job's pods run may change while none has ever run; what they do may not."""
    new, old = json_copy(spec["template"]), json_copy(before["template"])
    if before.get("suspend"):
        old["metadata"] = new["metadata"]
        for field in ("nodeSelector", "tolerations", "schedulingGates"):
            old["spec"][field] = new["spec"].get(field)
        affinity = new["spec"].get("affinity") or {}
        kept = (old["spec"].get("affinity") or {}) | {"nodeAffinity": affinity.get("nodeAffinity")}
        old["spec"]["affinity"] = {key: value for key, value in kept.items() if value is not None} or None
        for sort in ("containers", "initContainers"):
            for one, other in zip(new["spec"].get(sort) or (), old["spec"].get(sort) or (), strict=False):
                other["resources"] = one.get("resources")
    if not same(new, old):
        problems.invalid("spec.template", new, "field is immutable")


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
