"""The strategy of IPAddress."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import NAME, Column, age, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.k8s import networking


def _parent(address: Wire) -> str:
    parent = read(address, "spec.parentRef")
    if parent is None:
        return "<none>"
    group = f".{parent['group']}" if parent.get("group") else ""
    namespace = f"/{parent['namespace']}" if parent.get("namespace") else ""
    return f"{parent.get('resource', '')}{group}".lower() + f"{namespace}/{parent.get('name', '')}"


class IPAddressStrategy(BuiltinStrategy):
    model = networking.IPAddress
    columns = (NAME, Column("ParentRef", _parent), Column("", age))
    column_fields = {"ParentRef": "networking.v1.IPAddressSpec.parentRef"}
