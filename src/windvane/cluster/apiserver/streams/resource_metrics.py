"""metrics.k8s.io: how much CPU and memory pods and nodes use, for `kubectl top` and autoscalers.

On other clusters an aggregated server, metrics-server, answers this. Here the API server asks the kubelets itself. It
serves the group only while there is a node.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from windvane.api import codec
from windvane.api.custom_resources.schema import Schema, schema
from windvane.api.json_value import Wire
from windvane.api.resource import Object, kind_of
from windvane.api.struct import Struct
from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.encoding.accept import write
from windvane.cluster.apiserver.failure import failure
from windvane.cluster.apiserver.pipeline.call import Call
from windvane.cluster.apiserver.pipeline.reader import Reader
from windvane.cluster.apiserver.registry.catalog import Catalog
from windvane.cluster.apiserver.registry.resource_type import ResourceType
from windvane.cluster.apiserver.registry.storage_codec import unpack
from windvane.cluster.apiserver.registry.strategy import Strategy
from windvane.cluster.apiserver.target import Target
from windvane.cluster.kubelet import Kubelet, Usage, Use

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
SELECTORS = ("labelSelector", "fieldSelector", "limit", "continue")


class NodeMetrics(Object, group=GROUP, version=VERSION, plural="nodes", scope="Cluster"):
    """Resource usage metrics of a node."""

    timestamp: str = ""
    window: str = ""
    usage: dict[str, str] = {}


class ContainerMetrics(Struct):
    """Resource usage metrics of a container."""

    name: str
    usage: dict[str, str] = {}


class PodMetrics(Object, group=GROUP, version=VERSION, plural="pods"):
    """Resource usage metrics of a pod."""

    timestamp: str = ""
    window: str = ""
    containers: list[ContainerMetrics] = []


class MetricsStrategy(Strategy):
    """A kind that is computed, and never stored."""

    verbs = ("get", "list")

    def __init__(self, model: type[Object]) -> None:
        self.kind = kind_of(model)
        self._schema = schema(model)

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def go_type(self) -> str:
        return f"*metrics.{self.kind.name}"


def metrics_types() -> list[ResourceType]:
    """The types to serve while there is a node."""
    return [ResourceType(MetricsStrategy(each)) for each in (NodeMetrics, PodMetrics)]


class ResourceMetrics:
    """Answers with what the kubelets have measured."""

    def __init__(self, reader: Reader, catalog: Catalog, kubelets: Mapping[str, Kubelet]) -> None:
        self._reader = reader
        self._catalog = catalog
        self._kubelets = kubelets

    def answer(self, call: Call) -> Answer:
        """The metrics of one object, or of all that a list would show."""
        target = call.target
        usage_of = cache(self._usage)  # one call per node, however many of its pods are listed
        real = Target(self._catalog.types["", "v1", target.type.kind.plural], target.namespace, target.name)
        if target.name:
            one = _measured(self._wire(real, self._reader.get(real).value), usage_of)
            if one is None:
                name = f"{target.namespace}/{target.name}" if target.namespace else target.name
                what = f"{target.type.kind.name.lower()}.{GROUP}"
                raise failure(404, "NotFound", f'{what} "{name}" not found')
            return call.answer(200, write(one, call.shape))
        query = {name: call.query[name] for name in SELECTORS if name in call.query}
        listed = self._reader.list(real, query)
        items = [_measured(self._wire(real, each.value), usage_of) for each in listed.entries]
        head = {"kind": f"{target.type.kind.name}List", "apiVersion": f"{GROUP}/{VERSION}", "metadata": {}}
        return call.answer(200, write({**head, "items": [each for each in items if each is not None]}, call.shape))

    def _wire(self, target: Target, value: bytes) -> Wire:
        return unpack(target.type, value)

    def _usage(self, node: str) -> Usage | None:
        kubelet = self._kubelets.get(node)
        return kubelet.usage() if kubelet is not None else None


def _measured(thing: Wire, usage_of: Callable[[str], Usage | None]) -> Wire | None:
    """The metrics of a pod or a node; None if there are none."""
    meta = thing["metadata"]
    if "containers" not in thing["spec"]:
        usage = usage_of(meta["name"])
        return None if usage is None else _wire("NodeMetrics", meta, usage, {"usage": _shown(usage.node)})
    usage = usage_of(thing["spec"].get("nodeName", ""))
    if usage is None or not (containers := usage.pods.get(meta["uid"])):
        return None
    listed = [{"name": name, "usage": _shown(use)} for name, use in containers.items()]
    return _wire("PodMetrics", meta, usage, {"containers": listed})


def _wire(kind: str, meta: Wire, usage: Usage, more: Wire) -> Wire:
    at = codec.to_wire(usage.at.replace(microsecond=0))
    mine: dict[str, Any] = {name: meta[name] for name in ("name", "namespace", "labels") if name in meta}
    return {
        "kind": kind,
        "apiVersion": f"{GROUP}/{VERSION}",
        "metadata": {**mine, "creationTimestamp": at},
        "timestamp": at,
        "window": f"{usage.window:.3f}s",
        **more,
    }


def _shown(use: Use) -> dict[str, str]:
    """Nanocores and KiB, as metrics-server writes them."""
    return {"cpu": f"{round(use.cpu * 1e9)}n", "memory": f"{use.memory // 1024}Ki"}
