"""Where the line that imports a new module goes in an author's `__init__.py`: nothing else there changes."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from windvane.cli.add.import_place import NoPlace, with_import
from windvane.cli.add.imports import Import, call, import_block

RUFF = Path(sys.executable).with_name("ruff")
NEW = Import("site_operator", "backup", "backup")
LINE = "from site_operator import backup as backup"
RELATIVE = "from . import backup as backup"
OPERATOR = "from site_operator.operator import operator"

# The place of the new line is marked by >>>, with the empty lines that come with it. All names are said to be in use.
PLACES = {
    "as laid out": f'"""Doc."""\n\n>>>{LINE}\n<<<{OPERATOR}\n\n__all__ = ["operator"]\n',
    "between two of its kind": (
        f"from site_operator import api as api\n>>>{LINE}\n<<<from site_operator import volume as volume\n{OPERATOR}\n"
    ),
    "several in parentheses": (
        f"from site_operator import (\n    act,\n    api,  # why\n)\n>>>{LINE}\n<<<{OPERATOR}\n"
    ),
    "before parentheses": f">>>{LINE}\n<<<from site_operator.operator import (\n    OTHER,\n    operator,\n)\n",
    "a renamed operator": f"import os\n\n>>>{LINE}\n<<<from site_operator.operator import op as operator\n",
    "a comment of the import below": f'"""Doc."""\n\n>>>{LINE}\n\n<<<# It is made there.\n{OPERATOR}\n',
    "a comment of the file": f"# Copyright\n>>>{LINE}\n<<<{OPERATOR}\n",
    "type checking": (
        f"from typing import TYPE_CHECKING\n\n>>>{LINE}\n<<<{OPERATOR}\n\nif TYPE_CHECKING:\n"
        "    from site_operator import api\n"
    ),
    "all other imports first": (
        "from __future__ import annotations\n\nimport os\nfrom typing import Any\n\nimport yaml\n"
        f"\n>>>{LINE}\n<<<{OPERATOR}\n"
    ),
    "no import of the package": f"import os\n>>>\n{LINE}\n<<<\nHERE = os.getcwd()\n",
    "plain imports": f"import site_operator.operator\n>>>{LINE}\n<<<\nHERE = site_operator.operator\n",
    "only the future": f"from __future__ import annotations\n>>>\n{LINE}\n<<<",
    "a docstring alone": f'"""Doc.\n\nIn lines.\n"""\n>>>\n{LINE}\n<<<',
    "a docstring and code": f'"""Doc."""\n>>>\n{LINE}\n<<<\nVERSION = "1"\n',
    "code alone": f'>>>{LINE}\n\n<<<VERSION = "1"\n',
    "nothing": f">>>{LINE}\n<<<",
    "relative": f'"""Doc."""\n\nimport os\n\n>>>{RELATIVE}\n<<<from .operator import operator\n',
    "relative, after others": f"from . import api as api\n>>>{RELATIVE}\n<<<from .operator import operator\n",
}


def parts(marked: str) -> tuple[str, str]:
    """What is there before, and what is to be there then."""
    before, _, rest = marked.partition(">>>")
    new, _, after = rest.partition("<<<")
    return before + after, before + new + after


@pytest.mark.parametrize("marked", PLACES.values(), ids=PLACES)
def test_one_line_is_put_where_ruff_wants_it_and_all_others_stay(marked: str) -> None:
    before, wanted = parts(marked)
    assert with_import(before, NEW) == wanted
    assert with_import(wanted, NEW) == wanted  # it is there
    windows = wanted.replace("\n", "\r\n")
    if before:
        assert with_import(before.replace("\n", "\r\n"), NEW) == windows


def test_ruff_is_pleased_with_all_of_them(tmp_path: Path) -> None:
    for number, marked in enumerate(PLACES.values()):
        package = tmp_path / str(number) / "src" / "site_operator"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(parts(marked)[1])
        (tmp_path / str(number) / "pyproject.toml").write_text('[tool.ruff.lint]\nselect = ["E", "I"]\n')
    done = subprocess.run([RUFF, "check", "--no-cache", "."], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "there",
    [
        "from site_operator import backup\n",
        "from site_operator import api, backup as b\n",
        "from site_operator.backup import reconcile\n",
        "import site_operator.backup\n",
        "from . import backup\n",
        "from .backup import reconcile\n",
    ],
)
def test_a_module_that_is_imported_is_not_imported_again(there: str) -> None:
    assert with_import(there, NEW) == there


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def f(:\n", r"line 1"),
        ("import a; from site_operator.operator import operator\n", "line 1 has several statements"),
        ("from site_operator import api; A = 1\n", "line 1 has several statements"),
        ('"""Doc."""; import os\nA = 1\n', "line 1 has several statements"),
    ],
)
def test_where_a_line_would_change_more_there_is_no_place(source: str, why: str) -> None:
    with pytest.raises(NoPlace, match=why):
        with_import(source, NEW)


def test_a_last_line_without_an_end_stays_one() -> None:
    assert with_import("import os", NEW) == f"import os\n\n{LINE}"


def test_an_import_that_is_too_long_is_broken() -> None:
    name = "b" * 60
    source = with_import("", Import("site_operator", name, name))
    assert source == f"from site_operator import (\n    {name} as {name},\n)\n"
    assert len(ast.parse(source).body) == 1


def test_imports_of_a_new_module_are_in_order() -> None:
    imports = [
        Import("site_operator.route10", "Route"),
        Import("site_operator.route2", "Route"),
        Import("windvane", "dynamic"),
        Import("windvane", "Kind"),
        Import("windvane", "GROUP"),
        Import("yaml"),
        Import("__future__", "annotations"),
        Import("site_operator", "api", "v1"),
        Import("pathlib", "Path"),
        Import("windvane.k8s", "core"),
    ]
    assert import_block(imports, "site_operator") == (
        "from __future__ import annotations\n\nfrom pathlib import Path\n\n"
        "import yaml\nfrom windvane import GROUP, Kind, dynamic\nfrom windvane.k8s import core\n\n"
        "from site_operator import api as v1\nfrom site_operator.route2 import Route\n"
        "from site_operator.route10 import Route"
    )


def test_a_call_is_broken_as_far_as_it_must() -> None:
    assert call("f(", ["a", "b"], ")") == "f(a, b)"
    assert call(f"{'f' * 110}(", ["a" * 10, "b"], ")") == f"{'f' * 110}(\n    {'a' * 10}, b\n)"
    assert call("f(", ["a" * 90, "b" * 90], ")") == f"f(\n    {'a' * 90},\n    {'b' * 90},\n)"
