"""Fixtures for tests of the client."""

from collections.abc import Iterator

import pytest

from unit.client.fakes import Clock
from windvane import ambient


@pytest.fixture
def clock() -> Iterator[Clock]:
    """Virtual time for the length of a test."""
    clock = Clock()
    with ambient.use(clock):
        yield clock
