"""The fixtures: one control plane for all tests here, its client, and what happens where it isn't built."""

import functools
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from reference.controlplane import ControlPlaneError, Programs, ReferenceControlPlane
from windvane import Client, ObjectMeta
from windvane.k8s import core

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def reference() -> Iterator[ReferenceControlPlane]:
    """A running control plane, shared by the whole session: tests use names, or namespaces, of their own."""
    with ReferenceControlPlane() as running:
        yield running


@pytest.fixture
async def client(reference: ReferenceControlPlane) -> AsyncIterator[Client]:
    """A client of the control plane's administrator."""
    async with Client.connect(kubeconfig=reference.kubeconfig) as client:
        yield client


@pytest.fixture
async def namespace(client: Client) -> str:
    """A namespace that no other test uses. Nothing deletes it: there is no controller here to empty it."""
    made = await client.create(core.Namespace(metadata=ObjectMeta(generate_name="test-")))
    return made.metadata.name


# First, because `-m "not reference"` is carried out in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.reference)


def pytest_runtest_setup() -> None:
    """Skip here rather than with a marker: pytest folds skips that happen at one place into one line."""
    need_reference()


def need_reference() -> None:
    """Skip the test where the reference control plane isn't built, or fail it, if that is asked for."""
    reason = why_not()
    if reason is None:
        return
    if os.environ.get("WINDVANE_REQUIRE_REFERENCE") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say it in one line; with -ra or -rs, pytest has said it already."""
    reports = terminalreporter.stats.get("skipped", [])
    skipped = [report for report in reports if "reference" in report.keywords]
    if skipped and why_not() is not None and not terminalreporter.hasopt("skipped"):
        terminalreporter.write_line(f"skipped {len(skipped)} reference tests: {why_not()}", yellow=True)


@functools.cache
def why_not() -> str | None:
    """Why the reference control plane can't run here, or None if it can."""
    try:
        Programs.find()
    except ControlPlaneError as error:
        return str(error)
    return None
