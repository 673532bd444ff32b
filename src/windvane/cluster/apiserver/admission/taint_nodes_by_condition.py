"""The admission plugin TaintNodesByCondition: new nodes have a taint until they are known to be ready."""

from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest

NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition(AdmissionPlugin):
    """Taints new nodes."""

    name = "TaintNodesByCondition"
    resources = frozenset({"nodes"})
    operations = frozenset({"CREATE"})

    async def mutate(self, request: AdmissionRequest) -> None:
        if request.object is None:
            return
        taints = request.object.setdefault("spec", {}).setdefault("taints", [])
        if not any(all(each.get(key) == value for key, value in NOT_READY.items()) for each in taints):
            taints.append(dict(NOT_READY))
