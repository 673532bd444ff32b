"""What Sphinx is told: https://www.sphinx-doc.org/en/master/usage/configuration.html."""

import builtins
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

sys.path.insert(0, str(Path(__file__).parents[1]))

import windvane
from manual.api import with_code
from manual.pages import ROOT, SOURCE
from manual.source import source_page

project = "windvane"
author = "the authors of windvane"
release = windvane.__version__
html_title = "windvane"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
templates_path = ["templates"]

# Links into pages are spelled as on GitHub.
myst_heading_anchors = 6
myst_url_schemes = ["http", "https", SOURCE.removesuffix(":")]

# Docstrings are a line or two, with code between single backticks: a name of ours becomes a link.
default_role = "py:obj"
add_module_names = False
autodoc_default_options = {"members": True, "member-order": "groupwise"}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "shibuya"
html_static_path = ["static"]
html_css_files = ["windvane.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"accent_color": "teal", "toctree_collapse": True}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_here_doc_delimiter = "EOF"
copybutton_line_continuation_character = "\\"


def mark_code(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:  # noqa: ARG001
    """Code in docstrings is shown as code. Of what is a library's, the first line says enough."""
    ours = (getattr(thing, "__module__", None) or "windvane").partition(".")[0] == "windvane"
    lines[:] = with_code(lines) if ours else lines[:1]


_sources: dict[str, str] = {}


def plain_signature(
    app: Sphinx,  # noqa: ARG001
    what: str,
    name: str,  # noqa: ARG001
    thing: object,
    options: object,  # noqa: ARG001
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    """Of a class with fields, their types alone: how lists are merged, and what is refused, is said elsewhere."""
    if what != "class" or signature is None or not hasattr(thing, "__struct_fields__"):
        return signature, returns
    types = get_type_hints(thing)  # without what Annotated adds
    fields = inspect.signature(thing)  # type: ignore[arg-type]
    plain = [
        each.replace(annotation=types[each.name], default=... if repr(each.default) == "<factory>" else each.default)
        for each in fields.parameters.values()
    ]
    return stringify_signature(fields.replace(parameters=plain), unqualified_typehints=True), returns


def link_sources(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """What a page links to in the repository that is no page gets one."""
    for link in doctree.findall(nodes.reference):
        if (uri := link.get("refuri", "")).startswith(SOURCE):
            path, _, anchor = uri.removeprefix(SOURCE).partition("#")
            _sources[path] = f"source/{path}"
            target = app.builder.get_relative_uri(page, _sources[path])
            link["refuri"] = f"{target}#{anchor}" if anchor else target


def unlink_builtins(app: Sphinx, doctree: nodes.document) -> None:  # noqa: ARG001
    """`type` in a signature is Python's, and no field of ours that has this name."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("refdomain") == "py" and hasattr(builtins, link["reftarget"]):
            link.replace_self(link.children)


def write_sources(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:  # noqa: ARG001
    for path, page in sorted(_sources.items()):
        body = source_page(ROOT / path, path)
        yield page, {"title": path, "body": body, "parents": [], "display_toc": False}, "page.html"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", mark_code)
    app.connect("autodoc-process-signature", plain_signature)
    app.connect("doctree-read", unlink_builtins)
    app.connect("doctree-resolved", link_sources)
    app.connect("html-collect-pages", write_sources)
    return {"parallel_read_safe": True}
