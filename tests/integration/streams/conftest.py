"""Tests of what passes between a client and a pod: an API server in the same process, and pods that are processes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from integration.streams.machine import StreamingMachine


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[StreamingMachine]:
    """A cluster of one node, whose pods are processes."""
    machine = StreamingMachine(tmp_path / "node")
    await machine.begin()
    yield machine
    await machine.close()
    assert machine.leftovers() == []
