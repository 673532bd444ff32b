"""All files of `windvane.k8s`: where they are, and what must be in them."""

from pathlib import Path

from generate.definitions import load
from generate.kinds import GROUPS
from generate.plan import Planner
from generate.source import formatted, source

TARGET = Path(__file__).parents[2] / "src" / "windvane" / "k8s"
PACKAGE = '"""The built-in kinds as typed models, one module per API group: `from windvane.k8s import apps, core`."""\n'


def generated() -> dict[Path, str]:
    """The text of every file, by its path."""
    files = {TARGET / "__init__.py": PACKAGE}
    for module in Planner(load(), GROUPS).modules():
        path = TARGET / f"{module.name}.py"
        files[path] = formatted(source(module), path)
    return files
