"""The admission plugin Priority: a pod gets the priority of its PriorityClass, and only one class is the default."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.request import AdmissionRequest, called
from windvane.cluster.apiserver.admission.stored_objects import StorePlugin
from windvane.cluster.apiserver.failure import forbidden

CLASSES = "priorityclasses.scheduling.k8s.io"
COLLECTION = "scheduling.k8s.io/priorityclasses"
COMPUTED = "must not be provided in pod spec; priority admission controller computed"


class Priority(StorePlugin):
    """Goes by the PriorityClasses in the store."""

    name = "Priority"
    resources = frozenset({"pods", CLASSES})

    async def mutate(self, request: AdmissionRequest) -> None:
        """Give a new pod its priority, and let a changed one keep it."""
        if request.object is None or request.type.kind.resource == CLASSES:
            return
        if request.old is None:
            self._prioritise(request, request.object)
            return
        for field in ("priority", "preemptionPolicy"):
            if field in request.old["spec"]:
                request.object["spec"].setdefault(field, request.old["spec"][field])

    async def validate(self, request: AdmissionRequest) -> None:
        priority_class = request.object
        if priority_class is None or request.type.kind.resource != CLASSES or not priority_class.get("globalDefault"):
            return
        name, default = priority_class["metadata"]["name"], self._default_class()
        if default is not None and default["metadata"]["name"] != name:
            other = default["metadata"]["name"]
            why = f"PriorityClass {other} is already marked as default. Only one default can exist"
            raise forbidden(request.type.kind, name, why)

    def _prioritise(self, request: AdmissionRequest, pod: Wire) -> None:
        kind, spec, pod_name = request.type.kind, pod["spec"], called(pod)
        if name := spec.get("priorityClassName"):
            if (named := self.stored_object(COLLECTION, name)) is None:
                raise forbidden(kind, pod_name, f"no PriorityClass with name {name} was found")
            chosen = named
        else:
            chosen = self._default_class() or {}
            if chosen:
                spec["priorityClassName"] = chosen["metadata"]["name"]
        priority, policy = chosen.get("value", 0), chosen.get("preemptionPolicy", "PreemptLowerPriority")
        for word, field, computed in (
            ("integer value of priority", "priority", priority),
            ("string value of PreemptionPolicy", "preemptionPolicy", policy),
        ):
            if spec.setdefault(field, computed) != computed:
                why = f"the {word} ({spec[field]}) {COMPUTED} {computed} from the given PriorityClass name"
                raise forbidden(kind, pod_name, why)

    def _default_class(self) -> Wire | None:
        defaults = [each for each in self.stored_objects(COLLECTION) if each.get("globalDefault")]
        return min(defaults, key=lambda each: int(each.get("value", 0)), default=None)
