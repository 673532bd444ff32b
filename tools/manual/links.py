"""Links within a site that was built: each leads to a file that is there, and to a place in it."""

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        found = dict(attrs)
        self.links += [link for name in ("href", "src") if (link := found.get(name))]
        self.places |= {place for name in ("id", "name") if (place := found.get(name))}


@cache
def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def broken_links(site: Path) -> Iterator[str]:
    """Each link that leads nowhere, in words."""
    for file in sorted(site.rglob("*.html")):
        for link in _read(file).links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (file.parent / unquote(url.path)).resolve() if url.path else file
            if not target.exists():
                yield f"{file.relative_to(site)}: {link}: no such file"
            elif url.fragment and target.suffix == ".html" and unquote(url.fragment) not in _read(target).places:
                yield f"{file.relative_to(site)}: {link}: no such place in it"
