"""The project that a command is run in: what `[tool.windvane]` in its pyproject.toml says.

[tool.windvane]
operator = "website_operator:operator"
samples = "samples"  # a directory, a file, or a list of them; else samples/ or config/samples/, if it is there
deploy = "deploy"    # the directory with its manifests; else deploy/, if it is there
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windvane.cli.load import ATTRIBUTE, NoOperator

FILE = "pyproject.toml"
TABLE = "tool.windvane"
SAMPLES = ("samples", "config/samples")
DEPLOY = "deploy"
KEYS = ("operator", "samples", "deploy")
NAME_IT = f"name the operator, as MODULE:{ATTRIBUTE}"


@dataclass(frozen=True, kw_only=True)
class Project:
    """Where things are in a project; what is not there is empty."""

    directory: Path
    operator: str = ""
    """As on a command line: `website_operator:operator`."""
    samples: Sequence[Path] = ()
    """Directories and files with objects as users write them."""
    deploy: Path | None = None
    """The directory with the operator's rights in a cluster."""


def read_project(directory: Path) -> Project:
    """What is said about the project in a directory; `NoOperator` if what is said can't be meant."""
    file = directory / FILE
    try:
        tool = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {})
        table = tool.get("windvane", {}) if isinstance(tool, dict) else tool
    except FileNotFoundError:
        table = {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise NoOperator(f"{file} can't be read: {getattr(error, 'strerror', None) or error}; mend it first") from error
    if not isinstance(table, dict):
        raise NoOperator(f"{file}: [{TABLE}] must be a table, with: {', '.join(KEYS)}")
    for key in table:
        if key not in KEYS:
            raise NoOperator(f"{file}: [{TABLE}] has {key!r}, which means nothing; there are: {', '.join(KEYS)}")
    operator = table.get("operator", "")
    if not isinstance(operator, str):
        raise NoOperator(f'{file}: {TABLE}.operator must be text: "MODULE:{ATTRIBUTE}"')
    return Project(
        directory=directory,
        operator=operator,
        samples=_samples(table.get("samples"), directory),
        deploy=_deploy(table.get("deploy"), directory),
    )


def operator_named(given: str | None, directory: Path) -> str:
    """The operator that a command line names, or else the project; `NoOperator` says what to write if none does."""
    if given:
        return given
    if named := read_project(directory).operator:
        return named
    file = directory / FILE
    if not file.is_file():
        raise NoOperator(f"there is no {FILE} in {directory}: run this in the directory of a project, or {NAME_IT}")
    raise NoOperator(f'{file} names no operator: write operator = "MODULE:{ATTRIBUTE}" under [{TABLE}], or {NAME_IT}')


def _samples(said: Any, directory: Path) -> list[Path]:
    if said is None:
        return [directory / each for each in SAMPLES if (directory / each).is_dir()][:1]
    paths = [said] if isinstance(said, str) else said
    if not isinstance(paths, list) or not all(isinstance(each, str) for each in paths):
        raise NoOperator(f"{directory / FILE}: {TABLE}.samples must be a path, or a list of paths")
    for each in paths:
        if not (directory / each).exists():
            raise NoOperator(f"{directory / FILE}: {TABLE}.samples names {each}, which is not there")
    return [directory / each for each in paths]


def _deploy(said: Any, directory: Path) -> Path | None:
    if said is None:
        return directory / DEPLOY if (directory / DEPLOY).is_dir() else None
    if not isinstance(said, str) or not (directory / said).is_dir():
        raise NoOperator(f"{directory / FILE}: {TABLE}.deploy must be a directory that is there")
    return directory / said
