"""Tests of what `windvane dev` shows."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from integration.dev.live import LiveSession


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[LiveSession]:
    """A cluster with an operator for Sites in it."""
    async with LiveSession(tmp_path) as session:
        await session.begin()
        yield session
