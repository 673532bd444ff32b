"""The API reference: a page for each part of what is public, which autodoc fills in from docstrings."""

import inspect
from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

import windvane
from windvane import Object, k8s, kind_of, testing


class Part(NamedTuple):
    """One page: what it is about, the layers whose names it has, and which of them come first."""

    title: str
    about: str
    layers: Collection[str]
    first: Sequence[str]


PARTS = {
    "kinds": Part(
        "Kinds",
        "What a kind is described with, and the values in its objects.",
        {"api"},
        ("Resource", "Spec", "Status", "ObjectMeta", "field", "Column", "Rule", "crd", "Condition", "find_condition"),
    ),
    "operators": Part(
        "Operators",
        "What an operator declares, and what a pass is given.",
        {"runtime", "webhook"},
        ("Operator", "Context", "After", "Fatal", "Watch", "Owned", "Backoff"),
    ),
    "client": Part(
        "Client",
        "Any Kubernetes API server from Python, and what may go wrong.",
        {"client"},
        ("Client", "Page", "WatchEvent"),
    ),
}


FIRST_IN_TESTING = ("Cluster", "reconcile_once", "Once", "Replica", "SimulatedPods")


def api_pages() -> dict[str, str]:
    """The text of each page, in reStructuredText, by its path in the site."""
    found = {f"api/{name}.rst": _page(part) for name, part in PARTS.items()}
    about = "\n".join(with_code((testing.__doc__ or "").splitlines()))
    found["api/testing.rst"] = (
        f"{_heading('Testing')}{about}\n{_entries('windvane.testing', _sorted(testing.__all__, FIRST_IN_TESTING))}"
    )
    found["api/k8s.rst"] = _built_in_kinds()
    return {"api/index.rst": _index([*PARTS, "testing", "k8s"])} | found


def with_code(docstring: Sequence[str]) -> list[str]:
    """A docstring whose indented lines are Python."""
    found: list[str] = []
    in_code = False
    for line in docstring:
        if line and in_code != line.startswith("    "):
            in_code = not in_code
            found += [".. code-block:: python", ""] if in_code else []
        found.append(line)
    return found


def _page(part: Part) -> str:
    names = [name for name, module in windvane._MODULES.items() if module.partition(".")[0] in part.layers]
    entries = _entries("windvane", _sorted(names, part.first))
    return f"{_heading(part.title)}{part.about} All of it is imported from ``windvane``.\n{entries}"


def _sorted(names: Collection[str], first: Sequence[str]) -> list[str]:
    return [*first, *sorted(set(names) - set(first), key=str.lower)]


def _entries(module: str, names: Collection[str]) -> str:
    package = import_module(module)
    return "".join(f"\n.. {_directive(getattr(package, name))}:: {module}.{name}\n" for name in names)


def _directive(thing: object) -> str:
    """The directive of autodoc for a thing."""
    if inspect.isclass(thing):
        return "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return "autofunction" if callable(thing) and getattr(thing, "__module__", "") != "typing" else "autodata"


def _built_in_kinds() -> str:
    text = _heading("Built-in kinds")
    text += f"{k8s.__doc__}\n\nTheir fields are in ``snake_case``, and ``kubectl explain`` tells of them.\n"
    for module in sorted(each.name for each in iter_modules(k8s.__path__)):
        text += f"\n{module}\n{'-' * len(module)}\n\n.. list-table::\n   :header-rows: 1\n\n"
        text += "   * - class\n     - apiVersion\n"
        for kind in _kinds_of(module):
            text += f"   * - ``{kind.name}``\n     - ``{kind.api_version}``\n"
    return text


def _kinds_of(module: str) -> Iterator[windvane.Kind]:
    for _, each in inspect.getmembers(import_module(f"windvane.k8s.{module}"), inspect.isclass):
        if each.__module__ == f"windvane.k8s.{module}" and issubclass(each, Object):
            yield kind_of(each)


def _index(names: Collection[str]) -> str:
    pages = "".join(f"   {name}\n" for name in names)
    return f"{_heading('API reference')}Every public name, from its docstring.\n\n.. toctree::\n\n{pages}"


def _heading(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n"
