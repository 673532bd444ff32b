"""The subresource scale, as a kind says it: where its objects have their replicas, and how they become a Scale."""

from windvane.api import codec
from windvane.api.json_value import Wire
from windvane.api.meta import LabelSelector
from windvane.api.resource import kind_of, object_from_wire
from windvane.api.selector import Selector
from windvane.api.status import StatusCause, StatusDetails
from windvane.cluster.apiserver.failure import Failure, bad_request, failure, invalid
from windvane.cluster.apiserver.registry.field_path import field_at
from windvane.cluster.apiserver.registry.validation.object_meta import metadata_of_any
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s.autoscaling import Scale

_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class ScaleStrategy:
    """The Scale of a built-in kind; where its replicas are is the same for all of them."""

    replicas_path = ".spec.replicas"
    status_replicas_path = ".status.replicas"

    def selector(self, obj: Wire) -> str:
        """The label selector of an object's pods, as text."""
        selector = obj.get("spec", {}).get("selector") or {}
        return str(Selector.from_label_selector(codec.from_wire(selector, LabelSelector)))

    def read(self, obj: Wire) -> Wire:
        """An object's Scale."""
        metadata = obj["metadata"]
        status: Wire = {"replicas": field_at(obj, self.status_replicas_path) or 0}
        if selector := self.selector(obj):
            status["selector"] = selector
        replicas = field_at(obj, self.replicas_path)
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {key: metadata[key] for key in _METADATA if key in metadata},
            "spec": {"replicas": replicas} if replicas else {},
            "status": status,
        }

    def write(self, obj: Wire, scale: Wire) -> Wire:
        """The object with the replicas, and the precondition, that a Scale states."""
        wanted = object_from_wire({key: value for key, value in scale.items() if key != "status"}, Scale)
        replicas = wanted.spec.replicas or 0
        self.validate(obj["metadata"]["name"], scale, replicas)
        *parents, last = self.replicas_path.strip(".").split(".")
        here = obj
        for name in parents:
            here = here.setdefault(name, {})
        here[last] = replicas
        if version := wanted.metadata.resource_version:
            obj["metadata"]["resourceVersion"] = version
        return obj

    def validate(self, name: str, scale: Wire, replicas: int) -> None:
        """Refuse a Scale that can't be written."""
        problems = Problems()
        metadata_of_any(scale, problems)
        problems.not_negative("spec.replicas", replicas)
        if problems:
            raise invalid(kind_of(Scale), name, problems)

    def check_readable(self, obj: Wire) -> None:
        """Refuse to show the Scale of an object that has none."""
        del obj

    def check_applied(self, name: str, scale: Wire, before: Wire) -> None:
        """Refuse a Scale that was applied, if the server can't bring that about."""
        del name, scale, before

    def unreadable(self, refused: Failure) -> Failure:
        """The refusal of a body that is no Scale."""
        return refused


class CustomScaleStrategy(ScaleStrategy):
    """The Scale of a custom kind, whose CRD names the paths."""

    def __init__(self, paths: Wire) -> None:
        self.replicas_path = paths["specReplicasPath"]
        self.status_replicas_path = paths["statusReplicasPath"]
        self._selector_path: str | None = paths.get("labelSelectorPath")

    def selector(self, obj: Wire) -> str:
        return field_at(obj, self._selector_path) or "" if self._selector_path else ""

    def validate(self, name: str, scale: Wire, replicas: int) -> None:
        """Nothing: the schema of a custom object covers its replicas."""

    def check_readable(self, obj: Wire) -> None:
        """An object without replicas has no Scale to read, but one may be written."""
        if field_at(obj, self.replicas_path) is None:
            why = f'the spec replicas field "{self.replicas_path}" does not exist'
            details = StatusDetails(causes=[StatusCause(message=why)])
            raise failure(500, "InternalError", f"Internal error occurred: {why}", details)

    def check_applied(self, name: str, scale: Wire, before: Wire) -> None:
        """A real server fails when a Scale is applied to a custom object, and so do we."""
        if scale.get("spec") == before.get("spec"):
            return
        why = "request to convert CR to an invalid group/version: autoscaling/v1"
        what = f"(/{name}; autoscaling/v1, Kind=Scale)"
        raise failure(500, "", f"failed to convert new object {what} to proper version: {why}")

    def unreadable(self, refused: Failure) -> Failure:
        """The real server's custom resource handler has no better message."""
        if refused.status.code != 400:
            return refused
        return bad_request('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"')


def without_zero(scale: Wire) -> None:
    """To Go, zero replicas are the same as none: take them out."""
    if isinstance(spec := scale.get("spec"), dict) and not spec.get("replicas"):
        spec.pop("replicas", None)
