"""Commands that run in the test's process set up its log; that is undone, for the tests after it."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def log() -> Iterator[None]:
    """The root logger has the handlers and the level that it had before."""
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    yield
    for each in [each for each in root.handlers if each not in handlers]:
        root.removeHandler(each)
    root.setLevel(level)
    logging.captureWarnings(False)
