"""The strategy of Job."""

from collections.abc import Iterator

from windvane.api.json_value import Wire, json_copy
from windvane.api.names import label_problems
from windvane.api.time import parse_time
from windvane.api.wording import quoted
from windvane.cluster.apiserver.columns.age import human_duration, since
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, containers, is_true, read, selector, wide
from windvane.cluster.apiserver.registry.batch.validation import INDEXED, validate_job_spec
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.defaults import default_template
from windvane.cluster.apiserver.registry.core.pod.template_warnings import named_workload_warnings
from windvane.cluster.apiserver.registry.core.pod.validation import UNMATCHED
from windvane.cluster.apiserver.registry.defaults import fill, fill_zero
from windvane.cluster.apiserver.registry.field_path import field_text
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.object_meta import label_selector
from windvane.cluster.apiserver.registry.validation.problems import OMITTED, Problems, same
from windvane.cluster.apiserver.registry.validation.selector import matches, shown_selector, sorted_map
from windvane.k8s import batch

ORPHANED_PODS = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)


def _job_status(job: Wire) -> str:
    for end in ("Complete", "Failed"):
        if is_true(job, end):
            return end
    if read(job, "metadata.deletionTimestamp"):
        return "Terminating"
    for stage in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if is_true(job, stage):
            return stage
    return "Running"


def _completions(job: Wire) -> str:
    succeeded, wanted = read(job, "status.succeeded") or 0, read(job, "spec.completions")
    if wanted is not None:
        return f"{succeeded}/{wanted}"
    parallelism = read(job, "spec.parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(job: Wire) -> str:
    start, end = read(job, "status.startTime"), read(job, "status.completionTime")
    if start is None:
        return ""
    return since(start) if end is None else human_duration(parse_time(end) - parse_time(start))


class JobStatusStrategy(StatusStrategy):
    def validate_update(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check that the status is consistent, and that a finished Job stays finished."""
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
                problems.invalid(
                    "status.conditions", OMITTED, f"cannot disable the terminal {condition}=True condition"
                )


class JobStrategy(BuiltinStrategy):
    model = batch.Job
    has_generation = True
    default_propagation = "Orphan"  # it is older than garbage collection
    checks_metadata_again = True
    selectable_fields = ("status.successful",)
    defaults = {"spec.completionMode": "NonIndexed", "spec.manualSelector": False, "spec.suspend": False, "status": {}}
    columns = (
        NAME,
        Column("Status", _job_status),
        Column("Completions", _completions),
        Column("Duration", _duration),
        AGE,
        *containers("spec.template.spec.containers"),
        wide("Selector", selector("spec.selector")),
    )
    column_fields = {"Completions": "batch.v1.JobStatus.succeeded", "Selector": "batch.v1.JobSpec.selector"}
    status = JobStatusStrategy()

    def field_label(self, obj: Wire, field: str) -> str:
        """The selector `status.successful` is the field `status.succeeded`."""
        return (
            super().field_label(obj, field)
            if field != "status.successful"
            else field_text(obj, "status.succeeded") or "0"
        )

    def unknown_field_label(self, field: str) -> str:
        return f"field label {quoted(field)} not supported for Job"

    def deletion_warnings(self, propagation: str) -> list[str]:
        """Warn that pods are orphaned by default."""
        return [] if propagation else [ORPHANED_PODS]

    def set_defaults(self, obj: Wire) -> None:
        spec = obj["spec"]
        if "parallelism" not in spec:
            spec["parallelism"] = 1
            spec.setdefault("completions", 1)
        spec.setdefault("backoffLimit", 6 if "backoffLimitPerIndex" not in spec else 2**31 - 1)
        spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
        for rule in spec.get("podFailurePolicy", {}).get("rules") or ():
            for condition in rule.get("onPodConditions") or ():
                fill(condition, "status", "True")
        default_template(spec.setdefault("template", {}))
        if labels := spec["template"]["metadata"].get("labels"):
            # Not a copy, as in Go: the labels that a new job's pods get later are the job's own too.
            fill_zero(obj.setdefault("metadata", {}), "labels", labels)

    def prepare_for_create(self, obj: Wire) -> None:
        """Set the selector to the uid of the Job, unless `manualSelector` is true."""
        spec, metadata = obj["spec"], obj["metadata"]
        if spec["manualSelector"]:
            return
        labels = spec["template"]["metadata"].setdefault("labels", {})
        for prefix in ("", "batch.kubernetes.io/"):
            labels.setdefault(f"{prefix}job-name", metadata.get("name", ""))
            labels.setdefault(f"{prefix}controller-uid", metadata["uid"])
        selector = spec.setdefault("selector", {}).setdefault("matchLabels", {})
        selector.setdefault("batch.kubernetes.io/controller-uid", metadata["uid"])

    def after_create(self, obj: Wire) -> None:
        """A Job without labels gets those of its template."""
        fill_zero(obj["metadata"], "labels", dict(obj["spec"]["template"]["metadata"].get("labels") or {}))

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check a Job: also that its selector is the generated one, unless `manualSelector` is true."""
        spec = obj["spec"]
        _generated_selector(obj, problems)
        _selecting_job(spec, problems)
        if spec.get("completionMode") == INDEXED and (spec.get("completions") or 0) > 0:
            name = obj["metadata"].get("name", "")
            longest = f"{name}-{spec['completions'] - 1}"
            if label_problems(longest):
                rule = f"will not able to create pod with invalid DNS label: {longest}"
                problems.invalid("metadata.name", name, rule)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        spec, before = obj["spec"], old["spec"]
        if spec.get("completionMode") != INDEXED:
            problems.immutable("spec.completions", spec.get("completions"), before.get("completions"))
        elif spec.get("completions") not in (None, before.get("completions"), spec.get("parallelism")):
            rule = "can only be modified in tandem with spec.parallelism"
            problems.invalid("spec.completions", spec["completions"], rule)
        problems.immutable(
            "spec.selector", shown_selector(spec.get("selector")), shown_selector(before.get("selector"))
        )
        _changed_template(spec, before, problems)
        for field in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
            problems.immutable(f"spec.{field}", spec.get(field), before.get(field))

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        yield from named_workload_warnings(obj, old)


def _selecting_job(spec: Wire, problems: Problems) -> None:
    validate_job_spec(spec, "spec", problems)
    selector = spec.get("selector")
    if selector is None:
        problems.required("spec.selector")
    else:
        label_selector(selector, "spec.selector", problems)
    found = spec["template"]["metadata"].get("labels") or {}
    if matches(selector, found) is False:
        problems.invalid("spec.template.metadata.labels", sorted_map(found), UNMATCHED)


def _generated_selector(obj: Wire, problems: Problems) -> None:
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


def _changed_template(spec: Wire, before: Wire, problems: Problems) -> None:
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
