"""The package of an operator: where its files are, which module makes the operator, and what its manifests call it."""

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from windvane.api.kind import is_custom
from windvane.api.resource import Object, Resource
from windvane.cli.load import load_operator
from windvane.cli.project import FILE, TABLE, Project, operator_named, read_project
from windvane.runtime.operator import Operator

INIT = "__init__.py"
DEPLOY, SAMPLES, TESTS = Path("deploy"), Path("samples"), Path("tests")


class NoPackage(Exception):
    """There is nothing here that files could be added to; the message says why, and what to do."""


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """What the manifests say of the operator in a cluster."""

    account: str
    namespace: str
    labels: dict[str, str]
    """Of its pods."""
    named_service: bool
    """Whether its pods are told which Service leads to their webhooks, or there are no pods to be told."""


@dataclass(frozen=True, kw_only=True)
class OperatorPackage:
    """A package with an operator in it, in the directory of its project."""

    project: Project
    operator: Operator
    name: str
    """As it is imported: `website_operator`."""
    directory: Path
    """Where its modules are."""
    module: str
    """The module that makes the operator: `website_operator.operator`."""
    attribute: str
    """What it is called there."""

    @property
    def init(self) -> Path:
        """The module that is imported before all others of the package."""
        return self.directory / INIT

    @property
    def own_kinds(self) -> list[type[Resource[Any, Any]]]:
        """The classes of the operator's own kinds."""
        return [each for each in self.operator.kinds if issubclass(each, Resource) and is_custom(each.__kind__)]

    def within(self, path: Path) -> Path:
        """A path as seen from the project, if it is in it."""
        return path.relative_to(self.project.directory) if path.is_relative_to(self.project.directory) else path

    @property
    def deploy(self) -> Path:
        """Where its manifests are, or would be."""
        return self.within(self.project.deploy) if self.project.deploy else DEPLOY

    @property
    def samples(self) -> Path:
        """Where its samples are, or would be."""
        return next((self.within(each) for each in self.project.samples if each.is_dir()), SAMPLES)

    def sample_of(self, what: type[Object]) -> Path | None:
        """A file with an object of that class, and nothing else in it."""
        kind = what.__kind__
        for directory in self.project.samples:
            for path in sorted(directory.rglob("*.y*ml")) if directory.is_dir() else [directory]:
                wires = list(_documents(path))
                if [(each.get("apiVersion"), each.get("kind")) for each in wires] == [(kind.api_version, kind.name)]:
                    return self.within(path)
        return None

    def deployed(self) -> Deployed:
        """How it is called where it runs."""
        wires = [
            each for path in sorted((self.project.directory / self.deploy).glob("*.y*ml")) for each in _documents(path)
        ]
        accounts = [each for each in wires if each.get("kind") == "ServiceAccount"]
        account = accounts[0].get("metadata", {}) if accounts else {}
        name = account.get("name", self.operator.name)
        pods = [
            each["spec"]["template"]
            for each in wires
            if each.get("kind") == "Deployment" and "template" in each.get("spec", {})
        ]
        labels = pods[0].get("metadata", {}).get("labels") if pods else None
        return Deployed(
            account=name,
            namespace=account.get("namespace", name),
            labels=labels or {"app.kubernetes.io/name": name},
            named_service=not pods or "webhook-service" in str(pods).lower().replace("_", "-"),
        )


def find_package(directory: Path) -> OperatorPackage:
    """The package of the operator that the project in a directory names."""
    file = directory / FILE
    if not file.is_file():
        raise NoPackage(f"there is no {FILE} in {directory}: run this in the directory that windvane init laid out")
    project = read_project(directory)
    named = operator_named(None, directory)
    operator = load_operator(named, directory)
    place, _, _ = named.partition(":")
    name = _package_of(directory / place) if place.endswith(".py") else place.partition(".")[0]
    root = sys.modules.get(name)
    if root is None or not hasattr(root, "__path__") or root.__file__ is None:
        raise NoPackage(
            f"{file}: {TABLE}.operator names {named!r}, which is no package: make it a directory with an {INIT}"
        )
    package = Path(root.__file__).parent
    if not package.resolve().is_relative_to(directory.resolve()):
        raise NoPackage(f"{name} is imported from {package}, not from here: run this in its project's directory")
    module, attribute = _maker(operator, name)
    return OperatorPackage(
        project=project, operator=operator, name=name, directory=package, module=module, attribute=attribute
    )


def _package_of(file: Path) -> str:
    """What the outermost package is called that a file is a part of."""
    names = [each.name for each in file.parents if (each / INIT).is_file()]
    return names[-1] if names else file.stem


def _maker(operator: Operator, package: str) -> tuple[str, str]:
    """The module that makes the operator, and its name there; others have it by an import."""
    for name, module in sorted(sys.modules.items()):
        if name == package or name.startswith(f"{package}."):
            for attribute, value in list(vars(module).items()):
                if value is operator and attribute in _assigned(module):
                    return name, attribute
    raise NoPackage(f'no module of {package} makes the operator: write operator = Operator("{operator.name}") in one')


def _assigned(module: ModuleType) -> set[str]:
    """The names that statements of a module assign to."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, SyntaxError):
        return set()
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def _documents(path: Path) -> Iterator[dict[str, Any]]:
    """The objects in a manifest; none if it can't be read, which is for others to say."""
    import yaml

    try:
        yield from (each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if isinstance(each, dict))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return
