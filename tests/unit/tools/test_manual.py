"""The manual as a site: no page is missing from it, and links lead where they led on GitHub."""

import inspect
import re
from pathlib import Path

import pytest

import windvane
from manual import api, links, source
from manual.pages import INDEX, ROOT, contents, pages, place, relinked, sections
from windvane import testing


def test_every_page_is_in_the_one_list_and_once() -> None:
    listed = [path for paths in sections((ROOT / INDEX).read_text()).values() for path in paths]
    assert len(listed) == len(set(listed))
    unlisted = {path for path in pages() if path.startswith("docs/")} - {INDEX} - set(listed)
    assert unlisted == set(), f"add a row to {INDEX}"
    assert set(listed) <= set(pages()), "tools/manual/pages.py names the pages that are not in docs/"


def test_no_two_pages_are_in_one_place() -> None:
    assert len({place(path) for path in pages()}) == len(pages())


@pytest.mark.parametrize(
    ("path", "text", "there"),
    [
        ("docs/kinds.md", "[a](operators.md#b)", "[a](operators.md#b)"),
        ("docs/kinds.md", "[a](README.md)", "[a](manual.md)"),
        ("docs/examples/x.md", "[a](../README.md#b)", "[a](../manual.md#b)"),
        ("docs/kinds.md", "[a](../README.md)", "[a](index.md)"),
        ("README.md", "![a](docs/make-run.svg)", "![a](make-run.svg)"),
        ("operators/etcd/README.md", "[a](../../docs/kinds.md)", "[a](../../kinds.md)"),
        ("docs/kinds.md", "[a](../tests/everything.py)", "[a](source:tests/everything.py)"),
        ("docs/kinds.md", "[`test_a`](../tests/everything.py)", "[`test_a`](source:tests/everything.py#test_a)"),
        ("docs/kinds.md", "[a](https://kubernetes.io) [b](#c)", "[a](https://kubernetes.io) [b](#c)"),
        ("docs/kinds.md", "`[a](../README.md)`", "`[a](../README.md)`"),
        ("docs/kinds.md", "  ```\n  [a](../README.md)\n  ```\n", "  ```\n  [a](../README.md)\n  ```\n"),
    ],
)
def test_a_link_leads_to_the_page_or_else_to_the_file(path: str, text: str, there: str) -> None:
    assert relinked(text, path, pages()) == there


def test_the_navigation_is_the_list_in_its_order() -> None:
    first = "# One\n\n| page | |\n|---|---|\n| [b](b.md) | |\n| [a](a.md) | |\n\n"
    manual = f"{first}## Two\n\n| [c](../operators/etcd/README.md) | |\n"
    written = contents(manual)
    assert ":caption: One\n\nb.md\na.md\n```" in written
    assert ":caption: Two\n\noperators/etcd/README.md\n```" in written


def test_code_in_a_docstring_is_marked() -> None:
    docstring = ["Say it.", "", "    a = 1", "", "    b = 2", "", "Then more.", "", "    c = 3"]
    mark = [".. code-block:: python", ""]
    assert api.with_code(docstring) == [*docstring[:2], *mark, *docstring[2:8], *mark, *docstring[8:]]


def test_code_in_our_docstrings_is_indented() -> None:
    # Where nothing comes after it, it is not: what all lines but the first have before them counts for nothing.
    things = [getattr(package, name) for package in (windvane, testing) for name in package.__all__]
    things += [each for thing in things if inspect.isclass(thing) for each in vars(thing).values()]
    ours = [each for each in things if str(getattr(each, "__module__", "")).startswith("windvane.")]
    docstrings = {inspect.cleandoc(each.__doc__ or "") for each in ours}
    broken = [text for text in docstrings if re.search(r"^\S.*\n    ", text, re.MULTILINE)]
    assert broken == []


def test_every_public_name_is_in_the_reference() -> None:
    written = "".join(api.api_pages().values())
    named = re.findall(r"^\.\. auto\w+:: (\S+)$", written, re.MULTILINE)
    ours = [f"windvane.{name}" for name in windvane.__all__] + [f"windvane.testing.{name}" for name in testing.__all__]
    assert sorted(named) == sorted(ours)
    assert "``Deployment``" in written


def test_a_file_is_shown_with_a_place_for_each_test(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("async def test_a() -> None:\n    x < 1\n\n\ndef test_b() -> None: ...\n")
    page = source.source_page(tmp_path / "test_x.py", "tests/test_x.py")
    assert page.index('id="test_a"') < page.index('id="line-2"') < page.index('id="test_b"')
    assert "<code>tests/test_x.py</code>" in page


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="b.html#y">b</a><a href="#x">x</a><a href="https://x.y/z">z</a>'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#z">z</a><img src="c.svg"><a href="a.html#x">x</a>')
    assert list(links.broken_links(tmp_path)) == [
        "a.html: b.html#y: no such place in it",
        "b.html: a.html#z: no such place in it",
        "b.html: c.svg: no such file",
    ]
