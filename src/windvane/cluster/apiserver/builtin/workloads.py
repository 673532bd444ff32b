"""Rules for what runs pods: Deployment, ReplicaSet, StatefulSet, DaemonSet."""

import re
from typing import Any

from windvane.api.names import label_problems
from windvane.cluster.apiserver.builtin.metadata import label_selector, labels
from windvane.cluster.apiserver.builtin.pods import template
from windvane.cluster.apiserver.builtin.problems import Problems, same
from windvane.cluster.apiserver.builtin.selecting import matches, sorted_map
from windvane.cluster.apiserver.builtin.volumes import claim_spec

Json = dict[str, Any]

_PERCENT = re.compile("[0-9]+%")
_NOT_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
LONGEST_PERCENT = 19  # what is longer is no number to Go either
UNMATCHED = "`selector` does not match template `labels`"


def deployment(obj: Json, problems: Problems) -> None:
    """Check a Deployment."""
    spec = obj["spec"]
    problems.not_negative("spec.replicas", spec.get("replicas"))
    _selected_template(spec, "deployment", problems)
    strategy = spec["strategy"]
    if strategy["type"] == "Recreate":
        if "rollingUpdate" in strategy:
            rule = "may not be specified when strategy `type` is 'Recreate'"
            problems.forbidden("spec.strategy.rollingUpdate", rule)
    elif strategy["type"] == "RollingUpdate":
        _rolling_deployment(strategy["rollingUpdate"], "spec.strategy.rollingUpdate", problems)
    else:
        shown = {"Type": strategy["type"], "RollingUpdate": None}
        problems.unsupported("spec.strategy", shown, ("Recreate", "RollingUpdate"))
    problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    problems.not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))
    deadline = spec["progressDeadlineSeconds"]
    problems.not_negative("spec.progressDeadlineSeconds", deadline)
    if deadline <= spec.get("minReadySeconds", 0):
        problems.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def replica_set(obj: Json, problems: Problems) -> None:
    """Check a ReplicaSet."""
    spec = obj["spec"]
    problems.not_negative("spec.replicas", spec.get("replicas"))
    problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    _selected_template(spec, "deployment", problems)


def daemon_set(obj: Json, problems: Problems) -> None:
    """Check a DaemonSet."""
    spec = obj["spec"]
    selector = spec.get("selector")
    label_selector(selector, "spec.selector", problems)
    found = spec["template"]["metadata"].get("labels") or {}
    if matches(selector, found) is False:
        problems.invalid("spec.template.metadata.labels", sorted_map(found) or None, UNMATCHED)
    if selector is not None and not selector:
        problems.invalid("spec.selector", {}, "empty selector is invalid for daemonset")
    template(spec["template"], "spec.template", problems)
    _always_restarted(spec, "DaemonSet", problems)
    problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    strategy = spec["updateStrategy"]
    if strategy["type"] == "RollingUpdate":
        _rolling_daemons(strategy["rollingUpdate"], "spec.updateStrategy.rollingUpdate", problems)
    elif strategy["type"] != "OnDelete":
        shown = {"Type": strategy["type"], "RollingUpdate": None}
        problems.unsupported("spec.updateStrategy", shown, ("RollingUpdate", "OnDelete"))
    problems.not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))


def new_stateful_set(obj: Json, problems: Problems) -> None:
    """Check a new StatefulSet: also what can't change later."""
    _stateful_set(obj, problems, new=True)


def stateful_set(obj: Json, problems: Problems) -> None:
    """Check a StatefulSet."""
    _stateful_set(obj, problems, new=False)


def changed_stateful_set(obj: Json, old: Json, problems: Problems) -> None:
    """Check that only some fields of a StatefulSet change."""
    mutable = (
        "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
    )  # fmt: skip
    fixed = {key for key in obj["spec"].keys() | old["spec"].keys() if key not in (*mutable, "minReadySeconds")}
    if any(not same(obj["spec"].get(key), old["spec"].get(key)) for key in fixed):
        listed = ", ".join(f"'{field}'" for field in mutable)
        rule = f"updates to statefulset spec for fields other than {listed} and 'minReadySeconds' are forbidden"
        problems.forbidden("spec", rule)


def changed_selector(obj: Json, old: Json, problems: Problems) -> None:
    """Check that a selector stays as it is."""
    now, was = (shown_selector(each["spec"].get("selector")) for each in (obj, old))
    problems.immutable("spec.selector", now, was)


def replication_controller(obj: Json, problems: Problems) -> None:
    """Check a ReplicationController."""
    spec = obj["spec"]
    problems.not_negative("spec.replicas", spec.get("replicas"))
    problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    selector = spec.get("selector") or {}
    if not selector:
        problems.required("spec.selector")
    if "template" not in spec:
        problems.required("spec.template")
        return
    found = spec["template"]["metadata"].get("labels") or {}
    if selector and not selector.items() <= found.items():
        problems.invalid("spec.template.metadata.labels", sorted_map(found), UNMATCHED)
    template(spec["template"], "spec.template", problems)
    _always_restarted(spec, "ReplicationController", problems)


def pod_template(obj: Json, problems: Problems) -> None:
    """Check a PodTemplate."""
    template(obj["template"], "template", problems)


def controller_revision(obj: Json, problems: Problems) -> None:
    """Check a ControllerRevision."""
    if obj.get("data") is None:
        problems.required("data", "data is mandatory")
    problems.not_negative("revision", obj.get("revision"))


def changed_controller_revision(obj: Json, old: Json, problems: Problems) -> None:
    """Check that the data stays as it is."""
    if obj.get("data") != old.get("data"):
        problems.immutable("data", obj.get("data"), old.get("data"))


def int_or_percent(value: int | str, path: str, problems: Problems) -> None:
    """Check a number that isn't negative, or a percentage."""
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            problems.invalid(path, value, _NOT_PERCENT)
    else:
        problems.not_negative(path, value)


def shown_selector(selector: Json | None) -> Json | None:
    """A selector with its parts in the order in which messages show them."""
    if selector is None:
        return None
    shown: Json = {}
    if selector.get("matchLabels"):
        shown["matchLabels"] = sorted_map(selector["matchLabels"])
    if selector.get("matchExpressions"):
        fields = ("key", "operator", "values")
        shown["matchExpressions"] = [
            {field: each[field] for field in fields if each.get(field)} for each in selector["matchExpressions"]
        ]
    return shown


def _selected_template(spec: Json, words: str, problems: Problems, *, invalid: str = "invalid label selector") -> None:
    """Check a selector, and the template whose pods it must select."""
    selector = spec.get("selector")
    if selector is None:
        problems.required("spec.selector")
    else:
        label_selector(selector, "spec.selector", problems)
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            problems.invalid("spec.selector", shown_selector(selector), f"empty selector is invalid for {words}")
    found = spec["template"]["metadata"].get("labels") or {}
    matching = matches(selector, found)
    if matching is None:
        problems.invalid("spec.selector", shown_selector(selector), invalid)
        return
    if not matching:
        problems.invalid("spec.template.metadata.labels", sorted_map(found) or None, UNMATCHED)
    template(spec["template"], "spec.template", problems)
    if words == "deployment":
        _always_restarted(spec, "ReplicaSet", problems)


def _always_restarted(spec: Json, words: str, problems: Problems) -> None:
    pod_spec = spec["template"]["spec"]
    if pod_spec["restartPolicy"] != "Always":
        problems.unsupported("spec.template.spec.restartPolicy", pod_spec["restartPolicy"], ("Always",))
    if "activeDeadlineSeconds" in pod_spec:
        rule = f"activeDeadlineSeconds in {words} is not Supported"
        problems.forbidden("spec.template.spec.activeDeadlineSeconds", rule)


def _stateful_set(obj: Json, problems: Problems, *, new: bool) -> None:
    spec = obj["spec"]
    policy = spec["podManagementPolicy"]
    if policy not in ("OrderedReady", "Parallel"):
        problems.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    _stateful_strategy(spec["updateStrategy"], "spec.updateStrategy", problems)
    for field, value in spec["persistentVolumeClaimRetentionPolicy"].items():
        if value not in ("Retain", "Delete"):
            path = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
            problems.unsupported(path, value, ("Retain", "Delete"))
    claims = spec.get("volumeClaimTemplates") or []
    if new:
        for index, claim in enumerate(claims):
            claim_spec(claim["spec"], f"spec.volumeClaimTemplates[{index}].spec", problems)
    problems.not_negative("spec.replicas", spec.get("replicas"))
    problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    problems.not_negative("spec.ordinals.start", (spec.get("ordinals") or {}).get("start"))
    if new and (name := spec.get("serviceName")):
        problems.all_invalid("spec.serviceName", name, label_problems(name))
    with_claims = spec | {"template": _with_claims(spec["template"], claims)}
    _selected_template(with_claims, "statefulset", problems, invalid="")
    if matches(spec.get("selector"), {}) is not None:
        metadata = spec["template"]["metadata"]
        labels(metadata.get("labels"), "spec.template.labels", problems)
        # The server looks at a template's annotations twice here.
        found = Problems()
        template({"metadata": metadata, "spec": _EMPTY_POD}, "spec.template", found)
        problems.extend(cause for cause in found if cause.field == "spec.template.annotations")
    _always_restarted(spec, "StatefulSet", problems)


_EMPTY_POD: Json = {"containers": [], "restartPolicy": "Always", "dnsPolicy": "Default"}


def _with_claims(found: Json, claims: list[Json]) -> Json:
    """The template with the volumes that its pods will get from claims."""
    names = [claim.get("metadata", {}).get("name", "") for claim in claims]
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    volumes += [volume for volume in found["spec"].get("volumes") or () if volume.get("name") not in names]
    return found | {"spec": found["spec"] | {"volumes": volumes, "hostname": "", "subdomain": ""}}


def _stateful_strategy(strategy: Json, path: str, problems: Problems) -> None:
    rolling = strategy.get("rollingUpdate")
    if strategy["type"] == "OnDelete":
        if rolling is not None:
            shown = {"Partition": rolling.get("partition", 0), "MaxUnavailable": rolling.get("maxUnavailable")}
            problems.invalid(f"{path}.rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")
    elif strategy["type"] == "RollingUpdate":
        problems.not_negative(f"{path}.rollingUpdate.partition", (rolling or {}).get("partition"))
        if (most := (rolling or {}).get("maxUnavailable")) is not None:
            int_or_percent(most, f"{path}.rollingUpdate.maxUnavailable", problems)
            if _number(most) == 0:
                problems.invalid(f"{path}.rollingUpdate.maxUnavailable", most, "cannot be 0")
            at_most_all(most, f"{path}.rollingUpdate.maxUnavailable", problems)
    else:
        shown = {"Type": strategy["type"], "RollingUpdate": None}
        problems.invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")


def _rolling_deployment(rolling: Json, path: str, problems: Problems) -> None:
    for field in ("maxUnavailable", "maxSurge"):
        int_or_percent(rolling[field], f"{path}.{field}", problems)
    if _number(rolling["maxUnavailable"]) == 0 and _number(rolling["maxSurge"]) == 0:
        rule = "may not be 0 when `maxSurge` is 0"
        problems.invalid(f"{path}.maxUnavailable", rolling["maxUnavailable"], rule)
    at_most_all(rolling["maxUnavailable"], f"{path}.maxUnavailable", problems)


def _rolling_daemons(rolling: Json, path: str, problems: Problems) -> None:
    for check in (int_or_percent, at_most_all):
        for field in ("maxUnavailable", "maxSurge"):
            check(rolling[field], f"{path}.{field}", problems)
    unavailable, surge = _number(rolling["maxUnavailable"]), _number(rolling["maxSurge"])
    if unavailable and surge:
        problems.invalid(f"{path}.maxSurge", rolling["maxSurge"], "may not be set when maxUnavailable is non-zero")
    elif not unavailable and not surge:
        problems.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _number(value: int | str) -> int:
    if isinstance(value, int):
        return value
    return int(value[:-1]) if _PERCENT.fullmatch(value) and len(value) <= LONGEST_PERCENT else 0


def at_most_all(value: int | str, path: str, problems: Problems) -> None:
    """Check a percentage that is a share of something."""
    if isinstance(value, str) and _number(value) > 100:
        problems.invalid(path, value, "must not be greater than 100%")
