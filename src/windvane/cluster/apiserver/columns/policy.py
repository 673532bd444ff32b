"""Columns of who may do what, and what is checked: RBAC, certificates, admission, priorities, leases, API services."""

from collections.abc import Callable
from datetime import timedelta

from windvane.cluster.apiserver.columns.ages import human_duration
from windvane.cluster.apiserver.columns.column import (
    AGE,
    NAME,
    Column,
    JSONObject,
    count,
    field,
    integer,
    items,
    read,
    wide,
)


def _subjects(kind: str) -> Callable[[JSONObject], str]:
    return lambda binding: ", ".join(
        f"{each.get('namespace', '')}/{each['name']}" if kind == "ServiceAccount" else each["name"]
        for each in items(binding, "subjects")
        if each.get("kind") == kind
    )


def _role(binding: JSONObject) -> str:
    role = binding.get("roleRef") or {}
    return f"{role.get('kind', '')}/{role.get('name', '')}"


ROLE_BINDING = (
    NAME,
    Column("Role", _role),
    AGE,
    wide("Users", _subjects("User")),
    wide("Groups", _subjects("Group")),
    wide("ServiceAccounts", _subjects("ServiceAccount")),
)


def _requested_duration(request: JSONObject) -> str:
    seconds = read(request, "spec.expirationSeconds")
    return "<none>" if seconds is None else human_duration(timedelta(seconds=seconds))


def _condition(request: JSONObject) -> str:
    types = {condition.get("type") for condition in items(request, "status.conditions")}
    decision = "Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"
    failed = ",Failed" if "Failed" in types else ""
    issued = ",Issued" if read(request, "status.certificate") else ""
    return decision + failed + issued


CERTIFICATE_SIGNING_REQUEST = (
    NAME,
    AGE,
    Column("SignerName", lambda request: read(request, "spec.signerName") or "<none>"),
    Column("Requestor", field("spec.username")),
    Column("RequestedDuration", _requested_duration),
    Column("Condition", _condition),
)

WEBHOOK_CONFIGURATION = (NAME, Column("Webhooks", count("webhooks"), "integer"), AGE)


def _parameter_kind(policy: JSONObject) -> str:
    kind = read(policy, "spec.paramKind")
    return "<unset>" if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


VALIDATING_ADMISSION_POLICY = (
    NAME,
    Column("Validations", count("spec.validations"), "integer"),
    Column("ParamKind", _parameter_kind),
    AGE,
)

MUTATING_ADMISSION_POLICY = (
    NAME,
    Column("Mutations", count("spec.mutations"), "integer"),
    Column("ParamKind", _parameter_kind),
    AGE,
)


def _parameters(binding: JSONObject) -> str:
    reference = read(binding, "spec.paramRef") or {}
    if name := reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{name}"
    selector = reference.get("selector")
    return "<unset>" if selector is None else _as_go_prints_it(selector)


def _as_go_prints_it(selector: JSONObject) -> str:
    """A label selector as the real server shows it here, and only here: as Go prints the struct."""
    pairs = sorted((selector.get("matchLabels") or {}).items())
    labels = "".join(f"{key}: {value}," for key, value in pairs)
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


ADMISSION_POLICY_BINDING = (
    NAME,
    Column("PolicyName", field("spec.policyName")),
    Column("ParamRef", _parameters),
    AGE,
)


def _dangling(schema: JSONObject) -> str:
    for condition in items(schema, "status.conditions"):
        if condition.get("type") == "Dangling":
            return str(condition.get("status", ""))
    return "?"


FLOW_SCHEMA = (
    NAME,
    Column("PriorityLevel", field("spec.priorityLevelConfiguration.name")),
    Column("MatchingPrecedence", field("spec.matchingPrecedence", 0)),
    Column("DistinguisherMethod", field("spec.distinguisherMethod.type", "<none>")),
    AGE,
    Column("MissingPL", _dangling),
)


def by_precedence(schema: JSONObject) -> tuple[int, str]:
    """Flow schemas are listed in the order in which they are tried."""
    return read(schema, "spec.matchingPrecedence") or 0, read(schema, "metadata.name")


PRIORITY_LEVEL_CONFIGURATION = (
    NAME,
    Column("Type", field("spec.type")),
    Column("NominalConcurrencyShares", field("spec.limited.nominalConcurrencyShares", "<none>")),
    Column("Queues", field("spec.limited.limitResponse.queuing.queues", "<none>")),
    Column("HandSize", field("spec.limited.limitResponse.queuing.handSize", "<none>")),
    Column("QueueLengthLimit", field("spec.limited.limitResponse.queuing.queueLengthLimit", "<none>")),
    AGE,
)

PRIORITY_CLASS = (
    NAME,
    integer("Value", "value"),
    Column("Global-Default", field("globalDefault", False), "boolean"),
    AGE,
    Column("PreemptionPolicy", field("preemptionPolicy")),
)

RUNTIME_CLASS = (NAME, Column("Handler", field("handler")), AGE)

LEASE = (NAME, Column("Holder", field("spec.holderIdentity")), AGE)


def _service(api_service: JSONObject) -> str:
    service = read(api_service, "spec.service")
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _available(api_service: JSONObject) -> str:
    for condition in items(api_service, "status.conditions"):
        if condition.get("type") == "Available":
            status, reason = str(condition.get("status", "")), condition.get("reason")
            return f"{status} ({reason})" if reason and status != "True" else status
    return "Unknown"


API_SERVICE = (NAME, Column("Service", _service), Column("Available", _available), AGE)
