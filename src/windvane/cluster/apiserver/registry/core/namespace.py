"""The strategy of Namespace."""

from windvane.api.json_value import Wire
from windvane.api.names import label_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, field
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.subresource import StatusStrategy, SubresourceStrategy
from windvane.cluster.apiserver.registry.validation.object_meta import finalizer_name, qualified_name
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core

PERMANENT = frozenset({"default", "kube-system", "kube-public"})


class NamespaceStatusStrategy(StatusStrategy):
    def validate_update(self, obj: Wire, _: Wire, problems: Problems) -> None:
        leaving = "deletionTimestamp" in obj["metadata"]
        phase = (obj.get("status") or {}).get("phase", "")
        wanted, when = ("Terminating", "is not empty") if leaving else ("Active", "is empty")
        if phase != wanted:
            problems.invalid("status.Phase", phase, f"may only be '{wanted}' if `deletionTimestamp` {when}")


class FinalizeStrategy(SubresourceStrategy):
    """The finalizers of a namespace, which are written as a whole object whose status does not count."""

    def reset(self, wire: Wire, current: Wire) -> Wire:
        """The new object with the current status."""
        return {**wire, "status": current.get("status", {})}

    def validate_update(self, obj: Wire, _: Wire, problems: Problems) -> None:
        """Check finalizers; here, messages have the index."""
        for index, finalizer in enumerate((obj.get("spec") or {}).get("finalizers") or ()):
            qualified_name(finalizer, f"spec.finalizers[{index}]", problems)
            finalizer_name(finalizer, f"spec.finalizers[{index}]", problems)


class NamespaceStrategy(BuiltinStrategy):
    model = core.Namespace
    # All namespaces can not be deleted with one request.
    verbs = ("create", "delete", "get", "list", "patch", "update", "watch")
    is_container = True
    spec_finalizers = True
    checks_metadata_again = True
    name_problems = staticmethod(label_problems)
    selectable_fields = ("status.phase",)
    defaults = {"spec": {}, "status.phase": "Active"}
    columns = (NAME, Column("Status", field("status.phase")), AGE)
    status = NamespaceStatusStrategy()
    parts = {"finalize": FinalizeStrategy()}

    def set_defaults(self, obj: Wire) -> None:
        """Add the label with the name, so that label selectors can select a namespace by name."""
        metadata = obj.get("metadata", {})
        if name := metadata.get("name"):
            metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = name

    def prepare_for_create(self, obj: Wire) -> None:
        """Add the finalizer `kubernetes`, which the namespace controller removes when the contents are deleted."""
        metadata = obj["metadata"]
        if name := metadata.get("name"):  # one that was generated is known only now
            metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = name
        finalizers = obj["spec"].setdefault("finalizers", [])
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")

    def prepare_change(self, obj: Wire, old: Wire) -> None:
        """Keep spec.finalizers, which only `finalize` can change."""
        obj["spec"] = old["spec"]

    def validate(self, obj: Wire, problems: Problems) -> None:
        """Check spec.finalizers."""
        for finalizer in (obj.get("spec") or {}).get("finalizers") or ():
            qualified_name(finalizer, "spec.finalizers", problems)
            finalizer_name(finalizer, "spec.finalizers", problems)

    def refuses_deletion(self, name: str) -> str:
        return "this namespace may not be deleted" if name in PERMANENT else ""

    def begin_termination(self, wire: Wire) -> None:
        wire.setdefault("status", {})["phase"] = "Terminating"
