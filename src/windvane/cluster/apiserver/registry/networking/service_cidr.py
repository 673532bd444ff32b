"""The strategy of ServiceCIDR."""

from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, items
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.subresource import StatusOnlyStrategy
from windvane.k8s import networking


class ServiceCIDRStrategy(BuiltinStrategy):
    model = networking.ServiceCIDR
    columns = (NAME, Column("CIDRs", lambda cidr: ",".join(items(cidr, "spec.cidrs"))), AGE)
    column_fields = {"CIDRs": "networking.v1.ServiceCIDRSpec.cidrs"}
    status = StatusOnlyStrategy()
