"""Pods have the zone and the region of their node as labels: the plugin PodTopologyLabels.

They get them with their node: as the scheduler binds them to it, or as they are made for it.
"""

from typing import Any

import msgspec

from windvane.cluster.apiserver.admission.request import AdmissionRequest
from windvane.cluster.apiserver.store.record import Key
from windvane.cluster.apiserver.store.store import Store

Wire = dict[str, Any]
NODES = "/nodes"
LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


class TopologyLabels:
    """Gives them to pods, and to what binds pods to nodes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def concerned(self, request: AdmissionRequest) -> bool:
        """Whether somebody binds a pod."""
        return request.subresource == "binding" and request.type.kind.resource == "pods"

    async def mutate(self, request: AdmissionRequest) -> None:
        """What a Binding has as labels is given to the pod."""
        target = (request.object or {}).get("target") or {}
        if request.object is not None and target.get("kind") == "Node":
            self.label(request.object, target.get("name") or "")

    async def validate(self, request: AdmissionRequest) -> None:
        """Nothing is refused."""

    def label(self, wire: Wire, node_name: str) -> None:
        """Give an object the labels of that node. A node that is not there has none."""
        entry = self._store.get(Key(NODES, "", node_name)) if node_name else None
        if entry is None:
            return
        labels = msgspec.json.decode(entry.value)["metadata"].get("labels") or {}
        if found := {name: labels[name] for name in LABELS if name in labels}:
            wire["metadata"]["labels"] = {**(wire["metadata"].get("labels") or {}), **found}
