"""Tests of the built-in controllers on an API server in the same process, in virtual time."""

from collections.abc import AsyncIterator

import pytest

from integration.controllers.cluster import Cluster
from integration.runtime.conftest import pytest_asyncio_loop_factories as pytest_asyncio_loop_factories
from integration.runtime.conftest import virtual_time as virtual_time
from integration.runtime.conftest import world as world


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster with its built-in controllers, and no node."""
    cluster = Cluster(require_accounts=True)
    await cluster.begin()
    yield cluster
    await cluster.close()
