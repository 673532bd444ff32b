"""The manual and the README: no link leads nowhere, each example has its page, and code in prose is code that runs."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "bench/README.md")),
    *sorted(path for folder in ("docs", "operators") for path in (ROOT / folder).rglob("*.md")),
]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "code", BLOCK.sub("", page.read_text()))


def anchors(page: Path) -> set[str]:
    """What a link into a page may name: its headings as GitHub spells them, in small letters, without punctuation."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def python_blocks(page: Path) -> list[str]:
    return [code for language, code in BLOCK.findall(page.read_text()) if language == "python"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: there is no {target}"
        assert not anchor or anchor in anchors(target), f"{link}: {target.name} has {sorted(anchors(target))}"


def test_links_are_seen() -> None:
    links = {link for page in PAGES for link in LINK.findall(prose(page))}
    assert {"../concepts.md#finalizer", "../README.md#a-cluster-for-the-examples", "docs/kinds.md"} <= links


def test_every_promise_of_the_contract_names_a_test_that_is_there() -> None:
    page = (ROOT / "docs" / "contract.md").read_text()
    promises = page.partition("## What windvane promises")[2].partition("## What you must")[0]
    sentences = [line for line in promises.splitlines() if line.startswith("- ")]
    assert len(sentences) > 20
    for sentence in sentences:
        check_tests_of(sentence)


def check_tests_of(sentence: str) -> None:
    """A sentence of a page in `docs` names its tests, and they are there."""
    tests = re.findall(r"\[`(test_\w+)`\]\(\.\./([\w/]+\.py)\)", sentence)
    assert tests, f"no test is named: {sentence}"
    for name, path in tests:
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(), re.MULTILINE), f"{path}: no {name}"


NONE = "What there is none of"


def rows(page: Path) -> list[tuple[str, list[str]]]:
    """The rows of a page's tables, without those that name the columns: the section, and the cells."""
    found: list[tuple[str, list[str]]] = []
    section = ""
    lines = BLOCK.sub("", page.read_text()).splitlines()
    for line, following in pairwise([*lines, ""]):
        if line.startswith("## "):
            section = line.removeprefix("## ")
        if line.startswith("| ") and not following.startswith("|---"):
            found.append((section, [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]))
    return found


@pytest.mark.parametrize(("name", "fewest"), [("from-kopf", 120), ("from-kubebuilder", 100)])
def test_every_idiom_of_others_names_a_test_or_says_why_there_is_none(name: str, fewest: int) -> None:
    found = rows(ROOT / "docs" / f"{name}.md")
    assert len(found) > fewest
    for section, cells in found:
        if section == NONE:
            idiom, reason = cells
            assert len(reason.split()) >= 5, f"no reason is given: {idiom}"
        else:
            _idiom, ours, shown = cells
            assert ours, f"nothing is said of {cells[0]}"
            check_tests_of(shown)


@pytest.mark.parametrize("name", ["from_kopf", "from_kubebuilder"])
def test_every_test_of_an_idiom_is_named_by_its_page(name: str) -> None:
    tests = (ROOT / "tests" / "integration" / "runtime" / f"test_{name}.py").read_text()
    page = (ROOT / "docs" / f"{name.replace('_', '-')}.md").read_text()
    unnamed = [each for each in re.findall(r"^(?:async )?def (test_\w+)\(", tests, re.MULTILINE) if each not in page]
    assert unnamed == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_its_page(name: str) -> None:
    page = (ROOT / "docs" / "examples" / f"{name}.md").read_text()
    assert f"[examples/{name}.py](../../examples/{name}.py)" in page
    assert f"examples/{name}.py" in "".join(code for language, code in BLOCK.findall(page) if language == "console")
    assert f"(examples/{name}.md)" in (ROOT / "docs" / "README.md").read_text()


def test_every_page_has_its_example() -> None:
    assert sorted(path.stem for path in (ROOT / "docs" / "examples").glob("*.md")) == EXAMPLES


def test_the_readme_has_the_operator_of_thirty_lines_word_for_word() -> None:
    code = (ROOT / "examples" / "thirty_lines.py").read_text()
    assert code in python_blocks(ROOT / "README.md")
    assert len(code.splitlines()) <= 35


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_in_prose_is_python_and_what_it_imports_is_there(page: Path) -> None:
    for code in python_blocks(page):
        tree = compile(code, str(page), "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                exec(ast.unparse(node), {})
