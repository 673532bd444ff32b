"""The strategy of PodTemplate."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.builtin import BuiltinStrategy
from windvane.cluster.apiserver.registry.core.pod.columns import POD_TEMPLATE
from windvane.cluster.apiserver.registry.core.pod.defaults import default_template
from windvane.cluster.apiserver.registry.core.pod.template_warnings import spec_changed
from windvane.cluster.apiserver.registry.core.pod.validation import template
from windvane.cluster.apiserver.registry.core.pod.warnings import pod_warnings
from windvane.cluster.apiserver.registry.validation.problems import Problems
from windvane.k8s import core


class PodTemplateStrategy(BuiltinStrategy):
    model = core.PodTemplate
    has_generation = True
    returned_when_deleted = True
    columns = POD_TEMPLATE

    def set_defaults(self, obj: Wire) -> None:
        default_template(obj.setdefault("template", {}))

    def validate(self, obj: Wire, problems: Problems) -> None:
        template(obj["template"], "template", problems)

    def warn(self, obj: Wire, old: Wire | None) -> Iterator[str]:
        if spec_changed(obj, old):
            yield from pod_warnings(obj.get("template") or {}, "template")
