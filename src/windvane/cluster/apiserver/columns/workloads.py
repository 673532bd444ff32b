"""Columns of what runs and scales pods: Deployments and their like, Jobs, autoscalers, disruption budgets."""

from windvane.api.time import parse_time
from windvane.cluster.apiserver.columns.ages import human_duration, since
from windvane.cluster.apiserver.columns.column import (
    AGE,
    NAME,
    Column,
    JSONObject,
    ago,
    containers,
    count,
    field,
    integer,
    is_true,
    items,
    labels,
    quantity,
    ratio,
    read,
    selector,
    wide,
)

DEPLOYMENT = (
    NAME,
    Column("Ready", ratio("status.readyReplicas", "spec.replicas")),
    Column("Up-to-date", field("status.updatedReplicas", 0)),
    Column("Available", field("status.availableReplicas", 0)),
    AGE,
    *containers("spec.template.spec.containers"),
    wide("Selector", selector("spec.selector", empty="", wrong="<invalid>")),
)

REPLICA_SET = (
    NAME,
    integer("Desired", "spec.replicas"),
    integer("Current", "status.replicas"),
    integer("Ready", "status.readyReplicas"),
    AGE,
    *containers("spec.template.spec.containers"),
    wide("Selector", selector("spec.selector")),
)

STATEFUL_SET = (
    NAME,
    Column("Ready", ratio("status.readyReplicas", "spec.replicas")),
    AGE,
    *containers("spec.template.spec.containers"),
)

DAEMON_SET = (
    NAME,
    integer("Desired", "status.desiredNumberScheduled"),
    integer("Current", "status.currentNumberScheduled"),
    integer("Ready", "status.numberReady"),
    integer("Up-to-date", "status.updatedNumberScheduled"),
    integer("Available", "status.numberAvailable"),
    Column("Node Selector", labels("spec.template.spec.nodeSelector")),
    AGE,
    *containers("spec.template.spec.containers"),
    wide("Selector", selector("spec.selector")),
)


def _controller(revision: JSONObject) -> str:
    for owner in items(revision, "metadata.ownerReferences"):
        if owner.get("controller"):
            group, slash, _ = owner.get("apiVersion", "").partition("/")
            kind = f"{owner.get('kind', '')}.{group}" if slash and group else owner.get("kind", "")
            return f"{kind.lower()}/{owner.get('name', '')}"
    return "<none>"


CONTROLLER_REVISION = (NAME, Column("Controller", _controller), Column("Revision", field("revision", 0)), AGE)


def _job_status(job: JSONObject) -> str:
    for end in ("Complete", "Failed"):
        if is_true(job, end):
            return end
    if read(job, "metadata.deletionTimestamp"):
        return "Terminating"
    for stage in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if is_true(job, stage):
            return stage
    return "Running"


def _completions(job: JSONObject) -> str:
    succeeded, wanted = read(job, "status.succeeded") or 0, read(job, "spec.completions")
    if wanted is not None:
        return f"{succeeded}/{wanted}"
    parallelism = read(job, "spec.parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(job: JSONObject) -> str:
    start, end = read(job, "status.startTime"), read(job, "status.completionTime")
    if start is None:
        return ""
    return since(start) if end is None else human_duration(parse_time(end) - parse_time(start))


JOB = (
    NAME,
    Column("Status", _job_status),
    Column("Completions", _completions),
    Column("Duration", _duration),
    AGE,
    *containers("spec.template.spec.containers"),
    wide("Selector", selector("spec.selector")),
)


def _suspended(cron_job: JSONObject) -> str:
    return {True: "True", False: "False"}.get(read(cron_job, "spec.suspend"), "<unset>")


CRON_JOB = (
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

# Where a metric's specification and its status are, by its type; and whether its name is shown.
METRICS = {
    "External": ("external", False),
    "Object": ("object", False),
    "Pods": ("pods", False),
    "Resource": ("resource", True),
    "ContainerResource": ("containerResource", True),
}


def _metric(spec: JSONObject, status: JSONObject) -> str:
    """One metric as `current/target`."""
    if spec.get("type") not in METRICS:
        return "<unknown type>"
    where, named = METRICS[spec["type"]]
    source, seen = spec.get(where) or {}, status.get(where)
    target, current = source.get("target") or {}, (seen or {}).get("current") or {}
    average = target.get("averageValue")
    if named and average is None:
        shown = f"{_percent(current, '<unknown>')}/{_percent(target, '<auto>')}"
    elif named or where == "pods":
        shown = f"{_amount(seen, current, 'averageValue')}/{quantity(average, '<nil>')}"
    elif average is not None:
        shown = f"{quantity(current.get('averageValue'), '<unknown>')}/{quantity(average)} (avg)"
    else:
        shown = f"{_amount(seen, current, 'value')}/{quantity(target.get('value'), '<nil>')}"
    return f"{source.get('name', '')}: {shown}" if named else shown


def _amount(seen: JSONObject | None, current: JSONObject, name: str) -> str:
    return "<unknown>" if seen is None else quantity(current.get(name), "<nil>")


def _percent(value: JSONObject, missing: str) -> str:
    utilization = value.get("averageUtilization")
    return missing if utilization is None else f"{utilization}%"


def _targets(autoscaler: JSONObject) -> str:
    specs, statuses = items(autoscaler, "spec.metrics"), items(autoscaler, "status.currentMetrics")
    shown = [_metric(spec, statuses[i] if i < len(statuses) else {}) for i, spec in enumerate(specs)]
    text = ", ".join(shown[:2]) or "<none>"
    return f"{text} + {len(shown) - 2} more..." if len(shown) > 2 else text


def _reference(autoscaler: JSONObject) -> str:
    target = read(autoscaler, "spec.scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _minimum(autoscaler: JSONObject) -> str:
    return str(field("spec.minReplicas", "<unset>")(autoscaler))


HORIZONTAL_POD_AUTOSCALER = (
    NAME,
    Column("Reference", _reference),
    Column("Targets", _targets),
    Column("MinPods", _minimum),
    Column("MaxPods", field("spec.maxReplicas", 0)),
    Column("Replicas", field("status.currentReplicas", 0)),
    AGE,
)

SCALE = (
    Column("Name", field("metadata.name")),
    integer("Desired", "spec.replicas"),
    integer("Available", "status.replicas"),
    AGE,
)

POD_DISRUPTION_BUDGET = (
    NAME,
    Column("Min Available", lambda budget: str(field("spec.minAvailable", "N/A")(budget))),
    Column("Max Unavailable", lambda budget: str(field("spec.maxUnavailable", "N/A")(budget))),
    integer("Allowed Disruptions", "status.disruptionsAllowed"),
    AGE,
)
