"""DeviceClass."""

from functools import partial

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems
from windvane.cluster.apiserver.columns.column import AGE, NAME
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.resource.device_configuration import MOST_CONFIGURATIONS, configuration
from windvane.cluster.apiserver.registry.resource.device_selector import selectors
from windvane.cluster.apiserver.registry.resource.lists import check_list
from windvane.cluster.apiserver.registry.validation.problems import Problems, same
from windvane.k8s import resource


class DeviceClassStrategy(BuiltinStrategy):
    """DeviceClass."""

    model = resource.DeviceClass
    has_generation = True
    returned_when_deleted = True
    is_costly = True
    defaults = {"spec": {}}
    columns = (NAME, AGE)

    def validate_new(self, obj: Wire, problems: Problems) -> None:
        """Check a new object."""
        _device_class(obj["spec"], {}, problems)

    def validate_change(self, obj: Wire, old: Wire, problems: Problems) -> None:
        """Check a changed object."""
        _device_class(obj["spec"], old["spec"], problems)


def _device_class(spec: Wire, before: Wire, problems: Problems) -> None:
    selectors(spec.get("selectors") or [], "spec.selectors", problems)
    found = spec.get("config") or []
    check = partial(configuration, is_stored=bool(before) and same(found, before.get("config")))
    check_list(found, MOST_CONFIGURATIONS, check, "spec.config", problems)
    name = spec.get("extendedResourceName")
    if name is not None and not _is_extended_resource(name):
        problems.invalid("spec.extendedResourceName", name, "must be a valid extended resource name")


def _is_extended_resource(name: str) -> bool:
    """Whether a name is that of a resource that is not Kubernetes' own, and fits into a quota."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not label_key_problems(f"requests.{name}")
