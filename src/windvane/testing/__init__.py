"""For the tests of an operator: a cluster in the test's own process, whose time passes only when nothing is left to do.

    async def test_a_deployment_that_is_deleted_comes_back(cluster: Cluster) -> None:
        await cluster.run(operator)
        await cluster.apply(Website(metadata=ObjectMeta(name="blog"), spec=WebsiteSpec(image="nginx")))
        await cluster.settled()
        await cluster.delete(apps.Deployment, "blog")
        await cluster.settled()
        assert (await cluster.get(Website, "blog")).status.ready == 1

`cluster` is a fixture that comes with `pip install windvane[test]`; there is nothing to import or to register for it.
`process_cluster`, `real_cluster` and `any_cluster` have the same methods.
"""

from typing import TYPE_CHECKING, Any

# Found when they are asked for: pytest loads the plugin wherever windvane is installed, and most tests need nothing.
if TYPE_CHECKING:
    from windvane.runtime.observability.history import Pass as Pass
    from windvane.runtime.observability.history import Trigger as Trigger
    from windvane.runtime.observability.history import Write as Write
    from windvane.testing.cluster import Cluster as Cluster
    from windvane.testing.cluster import NotSettled as NotSettled
    from windvane.testing.pods import Pods as Pods
    from windvane.testing.pods import SimulatedPods as SimulatedPods
    from windvane.testing.pods import Unsupported as Unsupported
    from windvane.testing.process_cluster import ProcessCluster as ProcessCluster
    from windvane.testing.real_cluster import RealCluster as RealCluster
    from windvane.testing.replica import Replica as Replica
    from windvane.testing.single_pass import Once as Once
    from windvane.testing.single_pass import reconcile_once as reconcile_once
    from windvane.testing.virtual_cluster import VirtualCluster as VirtualCluster

_MODULES = {
    "Pass": "runtime.observability.history",
    "Trigger": "runtime.observability.history",
    "Write": "runtime.observability.history",
    "Cluster": "testing.cluster",
    "NotSettled": "testing.cluster",
    "Once": "testing.single_pass",
    "reconcile_once": "testing.single_pass",
    "Pods": "testing.pods",
    "SimulatedPods": "testing.pods",
    "Unsupported": "testing.pods",
    "ProcessCluster": "testing.process_cluster",
    "RealCluster": "testing.real_cluster",
    "Replica": "testing.replica",
    "VirtualCluster": "testing.virtual_cluster",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if (module := _MODULES.get(name)) is None:
        raise AttributeError(f"module 'windvane.testing' has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"windvane.{module}"), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
