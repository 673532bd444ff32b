"""What is filled into the specs of Jobs, and of templates of Jobs."""

from typing import Any

from windvane.cluster.apiserver.registry.core.pod.defaults import default_template

Json = dict[str, Any]


def default_job_spec(spec: Json) -> None:
    default_template(spec.setdefault("template", {}))
