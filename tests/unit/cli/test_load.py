"""Finding the operator that a command line names, and saying what there is instead if it isn't there."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from windvane.cli.load import Broken, NoOperator, load_operator

OPERATOR = """
from windvane import Context, Operator
from windvane.k8s.core import ConfigMap

operator = Operator("{name}")
other = Operator("other")


@operator.controller(ConfigMap)
async def reconcile(it: ConfigMap, ctx: Context) -> None: ...
"""

Write = Callable[..., Path]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, and modules that are forgotten after the test."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def write(here: Path) -> Write:
    def write(path: str, text: str = OPERATOR.format(name="website")) -> Path:
        (here / path).parent.mkdir(parents=True, exist_ok=True)
        (here / path).write_text(text)
        return here / path

    return write


@pytest.mark.parametrize(
    "named", ["load_site:operator", "load_site", "load_site.py:operator", "load_site.py", "./load_site.py:operator"]
)
def test_it_is_found_by_module_or_by_file(here: Path, write: Write, named: str) -> None:
    write("load_site.py")
    assert load_operator(named, here).name == "website"


def test_another_attribute_can_be_named(here: Path, write: Write) -> None:
    write("load_site.py")
    assert load_operator("load_site:other", here).name == "other"


def test_it_is_found_by_an_absolute_path(here: Path, write: Write) -> None:
    assert load_operator(f"{write('deep/down/load_site.py')}:operator", Path("/")).name == "website"


def test_it_is_found_in_a_package(here: Path, write: Write) -> None:
    write("load_sites/__init__.py", "")
    write("load_sites/main.py")
    assert load_operator("load_sites.main:operator", here).name == "website"


def test_a_file_of_a_package_may_import_its_neighbours(here: Path, write: Write) -> None:
    write("load_sites/__init__.py", "")
    write("load_sites/main.py", "from .declared import operator")
    write("load_sites/declared.py")
    assert load_operator("load_sites/main.py", here).name == "website"


def test_a_file_may_import_what_is_beside_it(here: Path, write: Write) -> None:
    write("src/load_main.py", "from load_declared import operator")
    write("src/load_declared.py")
    assert load_operator("src/load_main.py", here).name == "website"


def test_a_file_may_have_the_name_of_one_of_pythons_modules(here: Path, write: Write) -> None:
    write("operator.py")
    assert load_operator("operator.py", here).name == "website"
    with pytest.raises(
        NoOperator, match=r"operator\.py\) has no 'site'; to run the file here, write operator.py:site$"
    ):
        load_operator("operator:site", here)


def refusal(named: str, here: Path) -> str:
    with pytest.raises(NoOperator) as refused:
        load_operator(named, here)
    return str(refused.value)


def test_a_module_that_is_not_there_is_named_with_those_that_are(here: Path, write: Write) -> None:
    write("load_site.py")
    assert refusal("load_sight:operator", here) == (
        f"there is no module 'load_sight', neither in {here} nor among the installed ones; in {here} there are: "
        "load_site.py"
    )
    assert refusal("load_sight.main", here).startswith("there is no module 'load_sight.main'")


def test_a_file_that_is_not_there_is_named_with_those_that_are(here: Path, write: Write) -> None:
    write("load_site.py")
    assert refusal("load_sight.py", here) == f"there is no file {here}/load_sight.py; in {here} there are: load_site.py"
    assert refusal("nowhere/site.py", here) == f"there is no file {here}/nowhere/site.py"


def test_a_directory_is_no_module(here: Path, write: Write) -> None:
    write("sites/load_site.py")
    assert refusal("./sites", here).startswith(f"there is no file {here}/sites")


def test_another_file_is_no_module(here: Path, write: Write) -> None:
    write("sites/load_site.yaml", "a: b")
    assert (
        refusal("sites/load_site.yaml", here)
        == f"{here}/sites/load_site.yaml is no Python module: its name must end in .py"
    )


def test_no_module_at_all_is_explained(here: Path) -> None:
    assert refusal(":operator", here).startswith("':operator' names no module: write MODULE:ATTRIBUTE")


def test_an_attribute_that_is_not_there_brings_those_that_are(here: Path, write: Write) -> None:
    file = write("load_site.py")
    assert refusal("load_site:op", here) == (
        f"load_site ({file}) has no 'op'; write load_site:operator or load_site:other"
    )


@pytest.mark.parametrize(("name", "what"), [("reconcile", "function"), ("Operator", "class")])
def test_something_else_is_no_operator(here: Path, write: Write, name: str, what: str) -> None:
    write("load_site.py")
    assert refusal(f"load_site:{name}", here) == (
        f"load_site:{name} is a {what}, not an Operator; write load_site:operator or load_site:other"
    )


def test_a_module_without_an_operator_says_what_to_write(here: Path, write: Write) -> None:
    file = write("load_site.py", "")
    assert refusal("load_site", here) == (
        f"load_site ({file}) has no 'operator'; there is no Operator in it: write operator = Operator(\"NAME\") there"
    )


BROKEN = {
    "a module that is not there": ("\nimport load_nothing\n", "ModuleNotFoundError: No module named 'load_nothing'", 2),
    "a mistake in the syntax": ("operator = = 3", "SyntaxError: invalid syntax", 1),
    "a word that is not there": ("x = 1\nx.y", "AttributeError: 'int' object has no attribute 'y'", 2),
    "what a library raises": ("import json\n\njson.loads('{')", "JSONDecodeError: Expecting property name", 3),
    "without words": ("raise ValueError", "ValueError", 1),
    "the end of the program": ("import sys\nsys.exit(3)", "it ends the program when it is imported: sys.exit(3)", 2),
    "in several lines": ("raise ValueError('one\\ntwo')", "ValueError: one two", 1),
}


@pytest.mark.parametrize("named", ["load_site", "load_site.py"])
@pytest.mark.parametrize(("content", "what", "line"), BROKEN.values(), ids=BROKEN)
def test_what_a_module_raises_is_a_line_with_the_place(
    here: Path, write: Write, named: str, content: str, what: str, line: int
) -> None:
    file = write("load_site.py", content)
    with pytest.raises(Broken) as broken:
        load_operator(named, here)
    said = str(broken.value)
    assert said.startswith(f"{named} can't be imported: {what}")
    assert said.endswith(f" (load_site.py, line {line})")
    assert (broken.value.file, broken.value.line) == (str(file), line)


def test_the_place_is_the_modules_also_where_windvane_itself_is(write: Write) -> None:
    file = write("load_elsewhere.py", "import load_nothing")
    with pytest.raises(Broken) as broken:
        load_operator(str(file), Path(__file__).parents[3])
    assert str(broken.value).endswith(f" ({file}, line 1)")


def test_its_traceback_begins_at_its_own_line(here: Path, write: Write) -> None:
    file = write("load_site.py", "\nimport load_nothing\n")
    with pytest.raises(Broken) as broken:
        load_operator("load_site", here)
    assert broken.value.shown == (
        "Traceback (most recent call last):\n"
        f'  File "{file}", line 2, in <module>\n'
        "    import load_nothing\n"
        "ModuleNotFoundError: No module named 'load_nothing'"
    )
