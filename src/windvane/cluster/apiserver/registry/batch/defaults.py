"""What is filled into the specs of Jobs, and of templates of Jobs."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.core.pod.defaults import default_template


def default_job_spec(spec: Wire) -> None:
    default_template(spec.setdefault("template", {}))
