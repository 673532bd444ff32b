"""What is kept of Kubernetes' documentation, and of which Kubernetes it is."""

import documentation as step
from generate import definitions
from windvane.cluster.apiserver.documentation import documentation
from windvane.cluster.apiserver.version import MAJOR, MINOR


def test_it_is_of_the_kubernetes_that_the_models_are_of() -> None:
    assert step.KUBERNETES == definitions.KUBERNETES == f"{MAJOR}.{MINOR}"


def test_descriptions_and_what_is_required_are_kept() -> None:
    field = {"type": "string", "description": "its name"}
    thing = {"description": "A thing.", "type": "object", "required": ["name"], "properties": {"name": field, "x": {}}}
    kept = step.documentation({"io.k8s.api.b.v1.Thing": thing, "io.Empty": {}})
    said = {"description": "A thing.", "required": ["name"], "properties": {"name": {"description": "its name"}}}
    assert kept == {"io.Empty": {}, "io.k8s.api.b.v1.Thing": said}


def test_every_definition_is_read_back() -> None:
    assert documentation().keys() == step.documentation(definitions.load()).keys()
