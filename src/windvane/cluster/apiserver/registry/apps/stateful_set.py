"""The strategy of StatefulSet."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.names import label_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, containers, ratio
from windvane.cluster.apiserver.registry.apps.validation import rolling_update, selected_template
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.defaults import claim_spec as set_claim_defaults
from windvane.cluster.apiserver.registry.core.pod.defaults import default_template
from windvane.cluster.apiserver.registry.core.pod.template_warnings import workload_warnings
from windvane.cluster.apiserver.registry.core.pod.validation import always_restarted, template
from windvane.cluster.apiserver.registry.core.pod.volumes import claim_spec
from windvane.cluster.apiserver.registry.core.pod.warnings import claim_spec_warnings
from windvane.cluster.apiserver.registry.defaults import fill_path
from windvane.cluster.apiserver.registry.subresource import StatusStrategy
from windvane.cluster.apiserver.registry.validation.int_or_percent import at_most_all, int_or_percent, number
from windvane.cluster.apiserver.registry.validation.object_meta import labels
from windvane.cluster.apiserver.registry.validation.problems import Problems, same
from windvane.cluster.apiserver.registry.validation.replica_counts import available_are_ready, replica_counts
from windvane.cluster.apiserver.registry.validation.selector import matches
from windvane.k8s import apps

_EMPTY_POD: Wire = {"containers": [], "restartPolicy": "Always", "dnsPolicy": "Default"}


class StatefulSetStatusStrategy(StatusStrategy):
    def validate_update(self, obj: Wire, _: Wire, problems: Problems) -> None:
        parts = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
        replica_counts(obj, ("replicas", *parts, "observedGeneration", "collisionCount"), parts, problems)
        available_are_ready(obj, "cannot be greater than status.readyReplicas", problems)


class StatefulSetStrategy(BuiltinStrategy):
    model = apps.StatefulSet
    has_generation = True
    name_problems = staticmethod(label_problems)
    defaults = {
        "spec.persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
        "spec.persistentVolumeClaimRetentionPolicy.whenScaled": "Retain",
        "spec.podManagementPolicy": "OrderedReady",
        "spec.serviceName": "",
        "spec.replicas": 1,
        "spec.revisionHistoryLimit": 10,
        "status.availableReplicas": 0,
        "status.replicas": 0,
    }
    columns = (
        NAME,
        Column("Ready", ratio("status.readyReplicas", "spec.replicas")),
        AGE,
        *containers("spec.template.spec.containers"),
    )
    status = StatefulSetStatusStrategy()

    def set_defaults(self, obj: Wire) -> None:
        spec = obj["spec"]
        strategy = spec.setdefault("updateStrategy", {})
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
            strategy.setdefault("rollingUpdate", {})
        if "rollingUpdate" in strategy:
            rolling_update(strategy, partition=0)
        default_template(spec.setdefault("template", {}))
        for claim in spec.get("volumeClaimTemplates") or ():
            claim |= {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
            claim.setdefault("metadata", {})
            set_claim_defaults(claim.setdefault("spec", {}))
            fill_path(claim, "status.phase", "Pending")

    def prepare_for_create(self, obj: Wire) -> None:
        """Remove fields of features that are disabled by default."""
        rolling = (obj["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
        rolling.pop("maxUnavailable", None)

    def prepare_change(self, obj: Wire, old: Wire) -> None:
        del old
        self.prepare_for_create(obj)

    def validate(self, obj: Wire, problems: Problems) -> None:
        _stateful_set(obj, problems, new=False)

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        """Check a new StatefulSet: also what can't change later."""
        _stateful_set(obj, problems, new=True)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        super().validate_change(obj, old, problems)
        mutable = (
            "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
            "persistentVolumeClaimRetentionPolicy",
        )  # fmt: skip
        fixed = {key for key in obj["spec"].keys() | old["spec"].keys() if key not in (*mutable, "minReadySeconds")}
        if any(not same(obj["spec"].get(key), old["spec"].get(key)) for key in fixed):
            listed = ", ".join(f"'{field}'" for field in mutable)
            rule = f"updates to statefulset spec for fields other than {listed} and 'minReadySeconds' are forbidden"
            problems.forbidden("spec", rule)

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        yield from workload_warnings(obj, old)
        for index, claim in enumerate(obj["spec"].get("volumeClaimTemplates") or ()):
            path = f"spec.volumeClaimTemplates[{index}]"
            yield from claim_spec_warnings(claim.get("spec") or {}, path if old is None else f"{path}.Spec")
        if (obj["spec"].get("revisionHistoryLimit") or 0) < 0:
            rule = "a negative value retains all historical revisions; a value >= 0 is recommended"
            yield f"spec.revisionHistoryLimit: {rule}"


def _stateful_set(obj: Wire, problems: Problems, *, new: bool) -> None:
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
    selected_template(with_claims, "statefulset", problems, invalid="")
    if matches(spec.get("selector"), {}) is not None:
        metadata = spec["template"]["metadata"]
        labels(metadata.get("labels"), "spec.template.labels", problems)
        # The server looks at a template's annotations twice here.
        found = Problems()
        template({"metadata": metadata, "spec": _EMPTY_POD}, "spec.template", found)
        problems.extend(cause for cause in found if cause.field == "spec.template.annotations")
    always_restarted(spec, "StatefulSet", problems)


def _with_claims(found: Wire, claims: list[Wire]) -> Wire:
    """The template with the volumes that its pods will get from claims."""
    names = [claim.get("metadata", {}).get("name", "") for claim in claims]
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    volumes += [volume for volume in found["spec"].get("volumes") or () if volume.get("name") not in names]
    return found | {"spec": found["spec"] | {"volumes": volumes, "hostname": "", "subdomain": ""}}


def _stateful_strategy(strategy: Wire, path: str, problems: Problems) -> None:
    rolling = strategy.get("rollingUpdate")
    if strategy["type"] == "OnDelete":
        if rolling is not None:
            shown = {"Partition": rolling.get("partition", 0), "MaxUnavailable": rolling.get("maxUnavailable")}
            problems.invalid(f"{path}.rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")
    elif strategy["type"] == "RollingUpdate":
        problems.not_negative(f"{path}.rollingUpdate.partition", (rolling or {}).get("partition"))
        if (most := (rolling or {}).get("maxUnavailable")) is not None:
            int_or_percent(most, f"{path}.rollingUpdate.maxUnavailable", problems)
            if number(most) == 0:
                problems.invalid(f"{path}.rollingUpdate.maxUnavailable", most, "cannot be 0")
            at_most_all(most, f"{path}.rollingUpdate.maxUnavailable", problems)
    else:
        shown = {"Type": strategy["type"], "RollingUpdate": None}
        problems.invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")
