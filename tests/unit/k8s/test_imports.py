"""Nobody pays for kinds that they don't use."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("package", ["windvane", "windvane.k8s", "windvane.api.resource"])
def test_importing_the_package_imports_no_group(package: str) -> None:
    assert groups_imported_by(package) == set()


def test_core_imports_no_other_group() -> None:
    assert groups_imported_by("windvane.k8s.core") == {"core"}


def test_apps_imports_core_for_its_pod_templates_and_nothing_else() -> None:
    assert groups_imported_by("windvane.k8s.apps") == {"apps", "core"}


def groups_imported_by(module: str) -> set[str]:
    program = f"import sys, {module}; print(*(name for name in sys.modules if name.startswith('windvane.k8s.')))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    return {name.removeprefix("windvane.k8s.") for name in printed.split()}
