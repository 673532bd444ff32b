"""Other clients for Python do here what their users do, against `windvane cluster start` and its kubeconfig.

They are installed in an environment of their own (`make test-clients`), so that their dependencies stay out of ours.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.server_process import Command

GROUP = "clients.windvane.dev"


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a server that runs for the whole session."""
    data = tmp_path_factory.mktemp("cluster")
    with Command.open() as server:
        server.start(data)
        yield data / "kubeconfig"


@pytest.fixture
def boat() -> dict[str, object]:
    """A CustomResourceDefinition: Boat."""
    spec = {
        "type": "object",
        "properties": {"sails": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"boats.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "boats", "singular": "boat", "kind": "Boat"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }
