"""For all tests: what hypothesis tries is the same in every run, so that one that passed passes again.

`HYPOTHESIS_PROFILE=explore make test` tries something new each time; what it finds belongs into the test as an example.
"""

import os

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("explore", settings.get_profile("default"))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

LONG = (
    "whatever_happens",
    "conformance/test_kubectl",
    "controllers/test_autoscaler",
    "controllers/test_cronjob",
    "controllers/test_daemonset",
    "controllers/test_deployment",
    "controllers/test_disruption",
    "controllers/test_endpointslice",
    "controllers/test_garbage_collector",
    "controllers/test_job",
    "controllers/test_node_lifecycle",
    "controllers/test_replicaset",
    "controllers/test_statefulset",
    "controllers/test_volumes",
    "etcd/tests/test_demo",
    "etcd/tests/test_etcd_backup",
    "integration/test_apiserver_abuse",
    "integration/test_server_crash",
    "integration/test_store_crash",
    "node/test_simulated",
    "operators/test_crash",
    "operators/test_paused_leader",
    "operators/test_random",
    "processes/test_killed",
    "processes/test_never_an_orphan",
    "processes/test_trouble",
    "runtime/test_shards",
    "streams/test_exec",
)
"""What takes longest, for it plays whole lives or hundreds of pods: `make test-long`. The rest fits into minutes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long."""
    for item in items:
        if any(part in item.path.as_posix() for part in LONG):
            item.add_marker("long")
