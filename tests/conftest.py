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
    "controllers/test_cronjob",
    "controllers/test_job",
    "controllers/test_statefulset",
    "operators/test_random",
    "operators/test_paused_leader",
    "processes/test_killed",
    "runtime/test_shards",
)
"""Whole lives, of days or played again and again: `make test-long`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long."""
    for item in items:
        if any(part in item.path.as_posix() for part in LONG):
            item.add_marker("long")
