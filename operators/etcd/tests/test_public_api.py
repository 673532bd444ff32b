"""The operator uses windvane as anybody can: what is public, and nothing else."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import etcd_operator

MODULES = sorted(Path(etcd_operator.__file__).parent.glob("**/*.py"))


def imported(module: Path) -> Iterator[str]:
    """What a module imports, wherever in it."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.name)
def test_only_public_names_of_windvane_are_used(module: Path) -> None:
    inner = [each for each in imported(module) if each.startswith("windvane.") and not each.startswith("windvane.k8s")]
    assert not inner
