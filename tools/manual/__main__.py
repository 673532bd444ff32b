"""`make docs`: the manual as a site, in build/site. A warning is an error, and so is a link that leads nowhere."""

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

sys.path.insert(0, str(Path(__file__).parents[1]))

from manual.api import api_pages
from manual.links import broken_links
from manual.pages import INDEX, ROOT, contents, pages, place, relinked

BUILD = ROOT / "build"
SITE = BUILD / "site"


def stage(target: Path) -> None:
    """Write all that Sphinx is to read."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "docs", target, ignore=shutil.ignore_patterns("*.md", "*.lock"))
    all_pages = pages()
    texts = {place(path): relinked((ROOT / path).read_text(), path, all_pages) for path in all_pages}
    texts["index.md"] += contents((ROOT / INDEX).read_text())
    for name, text in (texts | api_pages()).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)


def build() -> int:
    stage(BUILD / "docs")
    shutil.rmtree(SITE, ignore_errors=True)
    options = ["--fail-on-warning", "--quiet", "--conf-dir", Path(__file__).parent, "--doctree-dir", BUILD / "doctrees"]
    if build_main([*map(str, options), str(BUILD / "docs"), str(SITE)]) != 0:
        return 1
    broken = list(broken_links(SITE))
    for each in broken:
        print(each, file=sys.stderr)
    return 1 if broken else 0


sys.exit(build())
