"""The admission plugin LimitRanger: pods and claims get the defaults of their namespace, and keep to its limits.

They do so when they are made. Later, pods change what they ask for only when they are resized, and claims when they
grow; whatever is being deleted is left alone.
"""

from collections.abc import Callable

from windvane.cluster.apiserver.admission import limit_ranges
from windvane.cluster.apiserver.admission.limit_ranges import Wire
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest, called
from windvane.cluster.apiserver.admission.stored_objects import stored_objects
from windvane.cluster.apiserver.failure import forbidden
from windvane.cluster.apiserver.storage.store import Store

COLLECTION = "/limitranges"
PROBLEMS_OF: dict[str, Callable[[Wire, Wire], list[str]]] = {
    "pods": limit_ranges.problems_of_pod,
    "persistentvolumeclaims": limit_ranges.problems_of_claim,
}
CONCERNED = frozenset(
    {
        ("pods", "CREATE", ""),
        ("pods", "UPDATE", "resize"),
        ("persistentvolumeclaims", "CREATE", ""),
        ("persistentvolumeclaims", "UPDATE", ""),
    }
)


class LimitRanger(AdmissionPlugin):
    """Goes by the LimitRanges in the store."""

    name = "LimitRanger"
    resources = frozenset(PROBLEMS_OF)

    def __init__(self, store: Store) -> None:
        self._store = store

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether something asks for an amount where there are limits."""
        if (request.type.kind.resource, request.operation, request.subresource) not in CONCERNED:
            return False
        leaving = request.old is not None and "deletionTimestamp" in request.old["metadata"]
        return not leaving and self._store.count(COLLECTION, request.namespace) > 0

    async def mutate(self, request: AdmissionRequest) -> None:
        """Fill in what the containers of a pod don't ask for."""
        if request.type.kind.resource == "pods" and request.object is not None:
            for limit_range in self._limit_ranges(request):
                limit_ranges.fill_in(request.object, limit_range)

    async def validate(self, request: AdmissionRequest) -> None:
        """Refuse what asks for too much, or for too little."""
        if request.object is None:
            return
        problems_of = PROBLEMS_OF[request.type.kind.resource]
        for limit_range in self._limit_ranges(request):
            if problems := problems_of(request.object, limit_range):
                told = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
                raise forbidden(request.type.kind, called(request.object), told)

    def _limit_ranges(self, request: AdmissionRequest) -> list[Wire]:
        return stored_objects(self._store, COLLECTION, request.namespace)
