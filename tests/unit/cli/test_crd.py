"""`windvane crd`: the CRDs of a module, of an operator, or of a class, as YAML."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from unit.cli.test_load import here as here
from unit.cli.test_load import write as write
from windvane.cli import main

Write = Callable[..., Path]
Crd = Callable[..., tuple[int, list[str], str]]

KINDS = """
from windvane import Context, Operator, Resource, Spec, Status
from windvane.k8s.core import ConfigMap


class Site(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    pass


class Page(Resource[Spec, Status], group="demo.windvane.dev", version="v2"):
    pass


class OldPage(Resource[Spec, Status], group="demo.windvane.dev", version="v1", kind="Page", stored=False):
    pass
"""
OPERATORS = """
sites, maps = Operator("sites"), Operator("maps")


@sites.controller(Site, owns=[ConfigMap])
async def reconcile(site: Site, ctx: Context) -> None: ...


@maps.controller(ConfigMap)
async def reconcile_maps(it: ConfigMap, ctx: Context) -> None: ...
"""


@pytest.fixture
def crd(here: Path, write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Crd:
    """Runs `windvane crd` where the module is; gives its exit code, the names of the CRDs, and what it complains of."""
    monkeypatch.chdir(here)

    def run(named: str, text: str = KINDS + OPERATORS) -> tuple[int, list[str], str]:
        write("load_kinds.py", text)
        code = main(["crd", named])
        printed = capsys.readouterr()
        names = [each["metadata"]["name"] for each in yaml.safe_load_all(printed.out) if each]
        return code, names, printed.err

    return run


SITES, PAGES = "sites.demo.windvane.dev", "pages.demo.windvane.dev"


@pytest.mark.parametrize(
    ("named", "names"),
    [
        ("load_kinds:Site", [SITES]),
        ("load_kinds.py:sites", [SITES]),  # not those of others, which it owns
        ("load_kinds", [SITES, PAGES]),  # one for all versions
        ("./load_kinds.py", [SITES, PAGES]),
    ],
)
def test_it_prints_what_is_named(crd: Crd, named: str, names: list[str]) -> None:
    assert crd(named) == (0, names, "")


def test_what_it_prints_is_the_whole_definition(crd: Crd, capsys: pytest.CaptureFixture[str]) -> None:
    crd("load_kinds:Site")
    main(["crd", "load_kinds:Site"])
    printed = yaml.safe_load(capsys.readouterr().out)
    assert (printed["apiVersion"], printed["kind"]) == ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    assert printed["spec"]["names"]["kind"] == "Site"
    assert "status" not in printed


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("load_kinds:Nope", "windvane: load_kinds:Nope is no kind and no Operator; write load_kinds:Site or "),
        ("load_kinds:maps", "windvane: load_kinds:maps has only kinds of others"),
        ("nowhere", "windvane: there is no module 'nowhere'"),
        (":operator", "windvane: ':operator' names no module"),
    ],
)
def test_what_can_not_be_printed_says_what_to_write(crd: Crd, named: str, words: str) -> None:
    code, names, said = crd(named)
    assert (code, names) == (2, [])
    assert said.startswith(words)


def test_what_a_module_prints_is_not_in_it(crd: Crd) -> None:
    assert crd("load_kinds:Site", KINDS + "print('loaded: {')\n") == (0, [SITES], "loaded: {\n")


def test_a_module_without_kinds_says_so(crd: Crd) -> None:
    assert crd("load_kinds", "x = 1\n")[2].startswith("windvane: there is no kind in load_kinds")


def test_a_module_that_can_not_be_imported_is_shown(crd: Crd) -> None:
    code, _, said = crd("load_kinds", "def broken(:\n")
    assert code == 1
    assert "load_kinds.py" in said
    assert "SyntaxError" in said


def test_two_versions_that_are_both_stored_are_refused(crd: Crd) -> None:
    code, _, said = crd("load_kinds", KINDS.replace(", stored=False", ""))
    assert code == 1
    assert "stored in exactly one version" in said
