"""What `windvane add` adds to a project whose author has made it their own: its lint, its types and its tests pass."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
INIT = '''\
"""An operator for websites."""

# What others import.
from __future__ import annotations

from typing import TYPE_CHECKING

from website_operator.operator import (
    labels_of,
    sites,  # the operator
)

if TYPE_CHECKING:
    from website_operator.api import Website

__all__ = ["labels_of", "name_of", "sites"]


def name_of(site: Website) -> str:
    """What it is called."""
    return site.metadata.name
'''
API = '''\
"""The kinds of this operator."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from windvane import Ge, MaxLength, MinLength, Resource, Spec, Status, Struct

GROUP, VERSION = "example.com", "v1alpha1"
SHORT = 40

Colour = Literal["red", "blue"]


class Limits(Struct):
    """How much there is to be had."""

    megabytes: Annotated[int, Ge(1)] = 64


# What somebody wants.
class WebsiteSpec(Spec):
    image: Annotated[str, MinLength(1), MaxLength(SHORT)]
    copies: Annotated[int, Ge(0)] = 1
    port: Annotated[int, Ge(1)] | None = None
    colour: Colour = "red"
    limits: Limits | None = None
    since: dt.datetime | None = None


class WebsiteStatus(Status):
    ready: int = 0


class Website(Resource[WebsiteSpec, WebsiteStatus], group=GROUP, version=VERSION, short_names=["ws", "site"]):
    """A website."""


class Colophon(Resource[Spec, Status], group=GROUP, version="v1"):
    """Another kind in the same module."""
'''
ADDED = [
    "controller Certificate --group cert-manager.example --version v1",
    "controller Node",
    "version Website v1beta1",
    "kind Queue --version v1",
    "webhook Pod --validate --mutate",
    "kind RegionOfUse --cluster-scoped --group regions.example.com",
    "webhook RegionOfUse --validate --mutate",
    "version Website v1 --storage",
    "version Queue v2alpha1",
    "webhook Website --mutate",
    "controller deployments.apps",
]


def run(project: Path, *command: str | Path) -> str:
    """What a command prints in the project, whose sources count though it is not installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WINDVANE"))}
    variables = {**kept, "PYTHONPATH": str(project / "src"), "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=project, env=variables, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A project whose author has renamed the operator, written other imports, and another kind."""
    run(tmp_path, BIN / "windvane", "init", "website")
    project = tmp_path / "website"
    sources, tests = project / "src" / "website_operator", project / "tests" / "test_website_operator.py"
    (sources / "__init__.py").write_text(INIT)
    (sources / "api.py").write_text(API)
    change(sources / "operator.py", "operator = Operator(", "sites = Operator(")
    change(sources / "operator.py", "@operator.", "@sites.")
    change(sources / "operator.py", "\n\n\n@sites", "\nsites.watch_only(core.ConfigMap, labels=OURS)\n\n\n@sites")
    change(sources / "operator.py", "sites = Operator", 'OURS = {"example.com/of": "sites"}\nsites = Operator')
    change(
        sources / "operator.py", "[apps.Deployment, core.Service])", "[apps.Deployment, core.Service], concurrency=4)"
    )
    change(tests, "import api, operator", "import api\nfrom website_operator import sites as operator")
    change(project / "pyproject.toml", "website_operator:operator", "website_operator:sites")
    check(project)
    return project


def check(project: Path) -> None:
    """As CI does it."""
    run(project, "ruff", "check", "--no-cache")
    run(project, "ruff", "format", "--check", "--no-cache")
    run(project, sys.executable, "-m", "pytest", "-q")


@pytest.mark.long
def test_everything_can_be_added_to_a_project_that_its_author_has_changed(edited: Path) -> None:
    for each in ADDED:
        run(edited, BIN / "windvane", "add", *each.split())
    check(edited)
    run(edited, sys.executable, "-m", "mypy")
    as_pyright = {"typeCheckingMode": "standard", "include": ["src", "tests"], "extraPaths": ["src"]}
    (edited / "pyrightconfig.json").write_text(json.dumps(as_pyright))
    run(edited, "basedpyright", "--pythonpath", sys.executable)
    shown = run(edited, BIN / "windvane", "crd")
    assert [line for line in shown.splitlines() if line.startswith("  name: ")] == [
        "  name: websites.example.com",
        "  name: queues.example.com",
        "  name: regionofuses.regions.example.com",
    ]
