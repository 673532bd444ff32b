"""Scenarios on real etcds. What each measured is added to `figures.jsonl`, of which `table.py` makes a table."""

import json
import shutil
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any

import pytest

from scenarios.scene import Scene, scene

FIGURES = Path(__file__).parent / "figures.jsonl"
QUICK = ("test_first.py", "test_judges.py", "test_quick.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes is for `make test-etcd`; the rest is part of `make test` or `make test-long`, too."""
    for item in items:
        if item.path.parent == FIGURES.parent and item.path.name not in QUICK:
            item.add_marker("etcd")


@pytest.fixture
async def stage(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    """A cluster with the operator, and nothing else yet."""
    async with scene(tmp_path, request.node.name) as there:
        yield there
        request.node.user_properties += [*there.figures.items(), ("kills", there.operator.kills)]
    if dict(request.node.user_properties).get("passed"):
        shutil.rmtree(tmp_path)  # and if not, somebody will want to see the logs


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Write down how a scenario went, when all of it is gone again."""
    report = yield
    if call.when == "call":
        item.user_properties.append(("passed", report.passed))
    if call.when == "teardown" and (scenario := item.name.split("_")[1]).isdecimal():
        line = {"scenario": int(scenario), "test": item.name, **dict(item.user_properties)}
        line["passed"] = line.get("passed", False) and report.passed
        with FIGURES.open("a") as file:
            file.write(json.dumps(line) + "\n")
    return report
