"""What workloads warn of in their names, and in the templates of their pods."""

from collections.abc import Iterator

from windvane.api.json_value import Wire
from windvane.api.names import label_problems
from windvane.cluster.apiserver.registry.core.pod.warnings import pod_warnings

SURPRISING = "which can result in surprising behavior; a DNS label is recommended"


def name_warnings(obj: Wire, used: str = "Pod names and hostnames") -> Iterator[str]:
    """Warnings about a name that is no DNS label."""
    if problems := label_problems(obj["metadata"].get("name", "")):
        yield f"metadata.name: this is used in {used}, {SURPRISING}: [{' '.join(problems)}]"


def spec_changed(obj: Wire, old: Wire | None) -> bool:
    """Whether an object is new, or another than before."""
    return old is None or obj["metadata"].get("generation") != old["metadata"].get("generation")


def named_workload_warnings(obj: Wire, old: Wire | None) -> Iterator[str]:
    """The same, and about the name of a new one."""
    if old is None:
        yield from name_warnings(obj)
    yield from workload_warnings(obj, old)


def workload_warnings(obj: Wire, old: Wire | None) -> Iterator[str]:
    """Warnings about the template of a workload."""
    if spec_changed(obj, old):
        yield from pod_warnings(obj["spec"].get("template") or {}, "spec.template")
