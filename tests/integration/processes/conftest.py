"""Tests of pods as real processes: an API server in the same process, and time as it is."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from integration.processes.machine import RealMachine


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[RealMachine]:
    """A cluster of one node, whose pods are processes."""
    machine = RealMachine(tmp_path / "node")
    await machine.begin()
    yield machine
    await machine.close()
    assert machine.leftovers() == []
