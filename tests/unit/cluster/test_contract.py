"""The built-in controllers and the node agent are operators like any other: they import what authors can import."""

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
OPEN = {"windvane.ambient", "windvane.cluster", "windvane.k8s"}
"""The clock, which only simulation replaces; the other rooms of `cluster`; and the built-in kinds."""


def contract() -> dict[str, Any]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [found] = [each for each in contracts if "what `windvane` exports" in each["name"]]
    return dict(found)


def test_every_part_of_windvane_is_closed_to_them_or_open() -> None:
    """Without this, a new part would be open to them unnoticed."""
    package = ROOT / "src" / "windvane"
    parts = {
        f"windvane.{each.stem}" for each in package.iterdir() if each.suffix == ".py" or (each / "__init__.py").exists()
    }
    closed = set(contract()["forbidden_modules"])
    assert closed - {"windvane.cluster.apiserver"} == parts - OPEN - {"windvane.__init__"}
    assert "windvane.cluster.apiserver" in closed


def test_the_exceptions_are_few() -> None:
    assert {each.partition(" -> ")[0] for each in contract()["ignore_imports"]} == {
        "windvane.cluster.controllers.admission_policy_status"
    }
