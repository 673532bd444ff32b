"""The environment of a container: where it comes from, and what is missing."""

import pytest

from unit.cluster.node.material import Nothing, pod
from windvane.cluster.node.process.environment import environment
from windvane.cluster.node.sources import MissingSource


def test_a_missing_source_is_named() -> None:
    env = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "login", "key": "x"}}}]
    made = pod(env=env)
    with pytest.raises(MissingSource, match='secret "login" not found') as raised:
        environment(made, made.spec.containers[0], "127.0.0.2", "127.0.0.1", Nothing(), {})
    assert raised.value.reason == "CreateContainerConfigError"


def test_a_pod_may_not_want_to_know_of_services() -> None:
    made = pod()
    told = environment(made, made.spec.containers[0], "127.0.0.2", "127.0.0.1", Nothing(), {})
    assert told["SHOP_SERVICE_HOST"] == "10.0.0.9"
    assert (told["KUBERNETES_SERVICE_HOST"], told["KUBERNETES_SERVICE_PORT"]) == ("127.0.0.1", "6443")
    made.spec.enable_service_links = False
    assert "SHOP_SERVICE_HOST" not in environment(
        made, made.spec.containers[0], "127.0.0.2", "127.0.0.1", Nothing(), {}
    )
