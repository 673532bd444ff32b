"""For all tests: what hypothesis tries is the same in every run, so that one that passed passes again.

`make test` tries few examples of each, `make test-long` many; of what has the most ways to go wrong, three times as
many. `HYPOTHESIS_PROFILE=explore make test-long` tries something new each time; what it finds belongs into the test as
an example.
"""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# What a busy machine does to the clock is no fault of what is tested: so there are no deadlines.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("quick", UNHURRIED, derandomize=True, database=None, max_examples=20)
settings.register_profile("thorough", UNHURRIED, derandomize=True, database=None, max_examples=100)
settings.register_profile("explore", UNHURRIED)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
settings.load_profile(PROFILE)
if PROFILE != "explore":
    # Hypothesis tries numbers and texts that stand in our modules, too: in those that happen to be imported by then,
    # which depends on what else this process has tested. There is no setting for it.
    assert callable(providers._get_local_constants), "this hypothesis does it in another way"
    providers._get_local_constants = lambda: providers._local_constants  # which are none at first

LONG = (
    "whatever_happens",
    "cli/test_cluster",
    "conformance/test_conversion",
    "conformance/test_kubectl",
    "conformance/test_pod_security",
    "conformance/test_webhook",
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
    "controllers/test_certificates",
    "controllers/test_statefulset",
    "controllers/test_volumes",
    "etcd/tests/test_demo",
    "etcd/tests/test_etcd_backup",
    "etcd/tests/test_secure_etcd",
    "integration/test_apiserver_abuse",
    "integration/test_init",
    "integration/test_server_crash",
    "integration/test_store_crash",
    "integration/webhook",
    "node/test_simulated",
    "operators/test_crash",
    "operators/test_paused_leader",
    "operators/test_random",
    "processes/test_killed",
    "processes/test_never_an_orphan",
    "processes/test_trouble",
    "runtime/test_shards",
    "scenarios/test_first",
    "scenarios/test_quick",
    "streams/test_exec",
    "webhook/test_any_input",
)
"""What takes longest, for it plays whole lives or hundreds of pods: `make test-long`. The rest fits into minutes."""


REFERENCE = Path(__file__).parent / "reference"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Don't even import what `-m` leaves out as a whole."""
    chosen = config.getoption("markexpr")
    if ("not long" in chosen and _is_long(collection_path)) or (
        "not reference" in chosen and collection_path == REFERENCE
    ):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long."""
    for item in items:
        if _is_long(item.path):
            item.add_marker("long")


def _is_long(path: Path) -> bool:
    return any(part in path.as_posix() for part in LONG)


def pytest_collection_finish() -> None:
    """Thousands of tests stay for as long as the session does: no collection of garbage needs to look at them again."""
    gc.collect()
    gc.freeze()
