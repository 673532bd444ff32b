"""The strategy of APIService."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.columns.column import AGE, NAME, Column, items, read
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.defaults import fill
from windvane.cluster.apiserver.registry.subresource import StatusOnlyStrategy
from windvane.k8s import apiregistration


def _service(api_service: Wire) -> str:
    service = read(api_service, "spec.service")
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _available(api_service: Wire) -> str:
    for condition in items(api_service, "status.conditions"):
        if condition.get("type") == "Available":
            status, reason = str(condition.get("status", "")), condition.get("reason")
            return f"{status} ({reason})" if reason and status != "True" else status
    return "Unknown"


class APIServiceStrategy(BuiltinStrategy):
    model = apiregistration.APIService
    allow_unconditional_update = False
    any_finalizer = True
    columns = (NAME, Column("Service", _service), Column("Available", _available), AGE)
    status = StatusOnlyStrategy()

    def set_defaults(self, obj: Wire) -> None:
        if service := obj.setdefault("spec", {}).get("service"):
            fill(service, "port", 443)
        obj.setdefault("status", {})
