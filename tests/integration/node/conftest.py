"""Tests of the node agent with simulated pods: an API server in the same process, in virtual time."""

from collections.abc import AsyncIterator

import pytest

from integration.node.machine import Machine
from integration.runtime.conftest import pytest_asyncio_loop_factories as pytest_asyncio_loop_factories
from integration.runtime.conftest import virtual_time as virtual_time


@pytest.fixture
async def machine() -> AsyncIterator[Machine]:
    """A cluster of one node, whose pods are simulated."""
    machine = Machine()
    await machine.begin()
    yield machine
    await machine.close()
