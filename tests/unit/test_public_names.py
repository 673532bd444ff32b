"""What `windvane` offers by name: everything is found when it is asked for, and nothing is loaded before."""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import windvane
import windvane.testing

FRONT_DOORS = [windvane, windvane.testing]
EVERY = [(door, name) for door in FRONT_DOORS for name in door.__all__]


@pytest.mark.parametrize(("door", "name"), EVERY, ids=lambda value: str(getattr(value, "__name__", value)))
def test_every_public_name_is_there(door: ModuleType, name: str) -> None:
    assert hasattr(door, name)


@pytest.mark.parametrize("door", FRONT_DOORS, ids=lambda door: door.__name__)
def test_type_checkers_see_the_names_that_there_are(door: ModuleType) -> None:
    tree = ast.parse(Path(str(door.__file__)).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    shown = {
        alias.name: node.module for node in imports for alias in node.names if str(node.module).startswith("windvane.")
    }
    assert shown == {name: f"windvane.{module}" for name, module in door._MODULES.items()}


@pytest.mark.parametrize("door", FRONT_DOORS, ids=lambda door: door.__name__)
def test_a_name_that_is_not_there_is_an_attribute_error(door: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{door.__name__}' has no attribute 'Websight'"):
        door.__getattr__("Websight")


@pytest.mark.parametrize(
    ("module", "slow"),
    [
        ("windvane", ("asyncio", "msgspec", "aiohttp")),
        ("windvane.testing.plugin", ("msgspec", "aiohttp", "windvane.client")),  # which each run of pytest loads
    ],
)
def test_importing_it_loads_nothing_that_takes_time(module: str, slow: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(*(name for name in {slow} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
