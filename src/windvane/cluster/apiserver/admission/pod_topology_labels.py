"""The admission plugin PodTopologyLabels: pods have the zone and the region of their node as labels.

They get them with their node: when they are bound, or created with a node.
"""

from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.admission.stored_objects import StorePlugin

LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


class PodTopologyLabels(StorePlugin):
    """Adds them to pods and to Bindings: the labels of a Binding are copied to the pod."""

    name = "PodTopologyLabels"
    resources = frozenset({"pods"})

    def handles(self, request: AdmissionRequest) -> bool:
        return request.operation == "CREATE" and request.subresource in ("", "binding")

    async def mutate(self, request: AdmissionRequest) -> None:
        """Add the labels of the node. A node that is not there has none."""
        if (wire := request.object) is None:
            return
        if request.subresource:
            target = wire.get("target") or {}
            node_name = target.get("name") if target.get("kind") == "Node" else ""
        else:
            node_name = wire["spec"].get("nodeName")
        node = self.stored_object("/nodes", node_name) if node_name else None
        labels = (node or {"metadata": {}})["metadata"].get("labels") or {}
        if found := {name: labels[name] for name in LABELS if name in labels}:
            wire["metadata"]["labels"] = {**(wire["metadata"].get("labels") or {}), **found}
