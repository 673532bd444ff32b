"""What `windvane` offers by name: everything is found when it is asked for, and nothing is loaded before."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import windvane


@pytest.mark.parametrize("name", windvane.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert hasattr(windvane, name)


def test_type_checkers_see_the_names_that_there_are() -> None:
    tree = ast.parse(Path(windvane.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    shown = {
        alias.name: node.module for node in imports for alias in node.names if str(node.module).startswith("windvane.")
    }
    assert shown == {name: f"windvane.{module}" for name, module in windvane._MODULES.items()}


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'windvane' has no attribute 'Websight'"):
        windvane.__getattr__("Websight")


def test_importing_windvane_loads_nothing_that_takes_time() -> None:
    code = "import sys, windvane; print(*(name for name in ('asyncio', 'msgspec', 'aiohttp') if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
