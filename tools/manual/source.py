"""The files of the repository that pages link to, as pages of the site, with a place for each test."""

import html
import re
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

TEST = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)


def source_page(path: Path, name: str) -> str:
    """The body of the page about a file or a directory, in HTML."""
    title = f"<h1><code>{html.escape(name)}</code></h1>"
    if path.is_dir():
        files = "".join(f"<li><code>{html.escape(each.name)}</code></li>" for each in sorted(path.iterdir()))
        return f"{title}<p>A directory, with:</p><ul>{files}</ul>"
    text = path.read_text()
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    body = highlight(text, lexer, HtmlFormatter(linenos="inline", lineanchors="line", cssclass="highlight"))
    for match in TEST.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        body = body.replace(f'<a id="line-{line}"', f'<a id="{match[1]}"></a><a id="line-{line}"', 1)
    return f"{title}{body}"
