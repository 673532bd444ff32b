"""What an author wrote about a class and its fields: docstrings, and the string under each field.

Python keeps a class's docstring but throws away a string that follows a field, so these are read from the
source. Where there is no source (a frozen program, a REPL) there are no field docs, and nothing fails.
"""

import ast
import inspect
import re
import sys
from functools import cache
from itertools import pairwise
from types import ModuleType


def class_doc(cls: type) -> str:
    """The class's own docstring, never an inherited one, nor one that is generated for editors."""
    if cls.__module__.startswith("windvane.k8s."):
        return ""
    return _folded(cls.__dict__.get("__doc__") or "")


@cache
def field_docs(cls: type) -> dict[str, str]:
    """The string under each field, with those of the base classes."""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__ not in ("builtins", "typing", "msgspec"):
            docs |= _own_field_docs(base)
    return docs


def _own_field_docs(cls: type) -> dict[str, str]:
    module = sys.modules.get(cls.__module__)
    return _module_docs(module).get(cls.__qualname__, {}) if module is not None else {}


@cache
def _module_docs(module: ModuleType) -> dict[str, dict[str, str]]:
    """The field docs of all classes of a module, by their qualified names: one reading serves them all."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return {}
    docs: dict[str, dict[str, str]] = {}
    _collect(tree, "", docs)
    return docs


def _collect(node: ast.AST, prefix: str, docs: dict[str, dict[str, str]]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            docs[prefix + child.name] = _fields_of(child)
            _collect(child, f"{prefix}{child.name}.", docs)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            _collect(child, f"{prefix}{child.name}.<locals>.", docs)
        else:
            _collect(child, prefix, docs)


def _fields_of(definition: ast.ClassDef) -> dict[str, str]:
    docs = {}
    for statement, following in pairwise(definition.body):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and isinstance(following.value.value, str)
        ):
            docs[statement.target.id] = _folded(following.value.value)
    return docs


def _folded(text: str) -> str:
    """Lines that were broken for the source's sake joined again; paragraphs and lists stay apart."""
    return re.sub(r"(?<=\S)\n(?=[^\s*-])", " ", inspect.cleandoc(text)).strip()
