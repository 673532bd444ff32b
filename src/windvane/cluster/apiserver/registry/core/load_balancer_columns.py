"""The addresses that a load balancer gave, as a Service and an Ingress show them."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import items


def balanced(thing: Wire) -> str:
    """The addresses that a load balancer gave, in order."""
    points = items(thing, "status.loadBalancer.ingress")
    return ",".join(sorted({address for point in points if (address := point.get("ip") or point.get("hostname"))}))
