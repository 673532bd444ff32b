"""Which pages the site has, where each of them is in it, and their links as they are there."""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
INDEX = "docs/README.md"
BESIDE = {
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "bench/README.md",
    "operators/etcd/README.md",
    "operators/etcd/BACKUPS.md",
    "operators/etcd/SECURITY.md",
}
"""The pages that are not in docs/, by their paths in the repository."""

PROJECT = [
    *("manual.md", "operators/etcd/BACKUPS.md", "operators/etcd/SECURITY.md"),
    *("bench/README.md", "CHANGELOG.md", "CONTRIBUTING.md"),
]
"""What the navigation ends with."""

SOURCE = "source:"
"""How a link to a file begins that is no page. The site shows the file: see `source.py`."""

NAMES = {"README.md": "index.md", INDEX: "manual.md"}
ROW = re.compile(r"^\| \[[^\]]+\]\(([^)#]+)\) \|", re.MULTILINE)
# A block of code, a link or an image, code within a line: what comes first is what it is.
PART = re.compile(
    r"^ *```.*?^ *```$|\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s]+)\)|`[^`\n]*`", re.MULTILINE | re.DOTALL
)
TEST = re.compile(r"`(test_\w+)`")


def pages() -> list[str]:
    """The paths in the repository of all pages."""
    return sorted({str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")} | BESIDE)


def place(path: str) -> str:
    """Where a page or a picture of the repository is in the site."""
    return NAMES.get(path, path.removeprefix("docs/"))


def relinked(text: str, path: str, all_pages: list[str]) -> str:
    """The text of a page, with its links as they are in the site."""

    def there(match: re.Match[str]) -> str:
        target = match["target"]
        if target is None or "://" in target or target.startswith("#"):
            return match[0]
        return f"[{match['text']}]({_link(target, match['text'], path, all_pages)})"

    return PART.sub(there, text)


def _link(target: str, text: str, path: str, all_pages: list[str]) -> str:
    file, _, anchor = target.partition("#")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    if file in all_pages or file.startswith("docs/"):
        link = posixpath.relpath(place(file), posixpath.dirname(place(path)) or ".")
        return f"{link}#{anchor}" if anchor else link
    named = TEST.fullmatch(text)
    return f"{SOURCE}{file}#{named[1]}" if named else f"{SOURCE}{file}"


def sections(manual: str) -> dict[str, list[str]]:
    """The one list of pages: in the manual's first page, the paths that each section's table links to, in its order."""
    found: dict[str, list[str]] = {}
    for section in re.split(r"^#+ ", manual, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if links := ROW.findall(body):
            found[title] = [posixpath.normpath(posixpath.join("docs", link)) for link in links]
    return found


def contents(manual: str) -> str:
    """The site's navigation, as Markdown that MyST reads."""
    groups = {title: [place(path) for path in paths] for title, paths in sections(manual).items()}
    groups |= {"Reference": ["api/index"], "The project": PROJECT}
    return "".join(_toctree(title, paths) for title, paths in groups.items())


def _toctree(title: str, paths: list[str]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {title}", "", *paths, "```", ""])
