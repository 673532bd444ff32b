"""Where in an author's module one more import goes.

It is read from the syntax tree, and nothing that is there is rewritten: a line is put between two others. If that
can't be done without changing what the rest means, there is no place.
"""

import ast
from collections.abc import Sequence

from windvane.cli.add.imports import Import, lines_of, order


class NoPlace(Exception):
    """There is no telling where a line is to go; the message says why."""


def with_import(source: str, needed: Import) -> str:
    """The source of a module with one import more; as it was if the import is there already.

    `NoPlace` if it can't be read, or if there is no place where the line changes nothing else.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise NoPlace(f"it can't be read as Python{f' (line {line})' if line else ''}") from error
    if any(_imports(node, needed) for node in tree.body):
        return source
    lines = lines_of(source)
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    stated = needed
    if any(_is_relative(node) for node in tree.body):
        stated = Import(".", needed.name, needed.alias)
    at, before, after = _place(tree, lines, needed.module, stated)
    text = stated.statement().replace("\n", newline) + newline
    if at and not lines[at - 1].endswith(("\n", "\r")):
        text = newline + text.removesuffix(newline)  # after the last line of a file, which has no end
    found = "".join([*lines[:at], newline * before, text, newline * after, *lines[at:]])
    _check(tree, found)
    return found


def _place(tree: ast.Module, lines: Sequence[str], package: str, stated: Import) -> tuple[int, int, int]:
    """After how many lines the statement goes, and how many empty ones are put before it and after it."""
    leading = _leading_imports(tree)
    near = [each for each in leading if _is_near(each, package, stated)]
    near = near or [each for each in tree.body if _is_near(each, package, stated)]
    smaller = [each for each in near if isinstance(each, ast.Import) or _greatest(each) < order(stated)]
    if smaller:
        return _after(smaller[-1], tree), 0, 0
    if near:
        at = _before(near[0], tree, lines)
        return at, 0, int(lines[at].startswith("#"))
    if leading:
        return _after(leading[-1], tree), 1, 0
    return _top(tree, lines)


def _is_near(node: ast.stmt, package: str, stated: Import) -> bool:
    """Whether a statement is an import that the new one stands beside: of the same package, in the same form."""
    if isinstance(node, ast.Import):
        return stated.module == package and any(_is_of(each.name, package) for each in node.names)
    if not isinstance(node, ast.ImportFrom):
        return False
    if stated.module != package:
        return _is_relative(node)
    return not node.level and _is_of(node.module or "", package)


def _is_of(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _greatest(node: ast.stmt) -> tuple[object, ...]:
    assert isinstance(node, ast.ImportFrom)  # noqa: S101
    module = "." * node.level + (node.module or "")
    return max(order(Import(module, each.name)) for each in node.names)


def _top(tree: ast.Module, lines: Sequence[str]) -> tuple[int, int, int]:
    """Where the first import of a module goes: after its docstring, and before everything else."""
    if not tree.body:
        return len(lines), 0, 0
    if not _is_docstring(tree.body[0]):
        return _start(tree.body[0]) - 1, 0, 1
    at = _after(tree.body[0], tree)
    return at, 1, int(at < len(lines) and lines[at].strip() != "")


def _leading_imports(tree: ast.Module) -> list[ast.stmt]:
    body = tree.body[1:] if tree.body and _is_docstring(tree.body[0]) else tree.body
    found: list[ast.stmt] = []
    for node in body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            break
        found.append(node)
    return found


def _after(node: ast.stmt, tree: ast.Module) -> int:
    end = node.end_lineno or node.lineno
    if any(each is not node and _start(each) == end for each in tree.body):
        raise NoPlace(f"line {end} has several statements")
    return end


def _before(node: ast.stmt, tree: ast.Module, lines: Sequence[str]) -> int:
    if any(each is not node and each.end_lineno == node.lineno for each in tree.body):
        raise NoPlace(f"line {node.lineno} has several statements")
    at = node.lineno - 1
    first = at
    while first and lines[first - 1].startswith("#"):
        first -= 1
    # A comment above an import belongs to it; one at the very top, to the file.
    return first or at


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _check(before: ast.Module, source: str) -> None:
    """What was there must be there still, and one import more."""
    try:
        after = ast.parse(source)
    except SyntaxError as error:
        raise NoPlace("the line has no place among the imports") from error
    there = [ast.dump(node) for node in before.body]
    here = [ast.dump(node) for node in after.body]
    if not any(here[:at] + here[at + 1 :] == there for at in range(len(here))):
        raise NoPlace("the line has no place among the imports")


def _imports(node: ast.stmt, needed: Import) -> bool:
    """Whether a statement has a module imported: by name, or by taking something out of it."""
    module = f"{needed.module}.{needed.name}"
    if isinstance(node, ast.Import):
        return any(_is_of(each.name, module) for each in node.names)
    if not isinstance(node, ast.ImportFrom) or node.level > 1:
        return False
    named = ".".join(filter(None, (needed.module if node.level else "", node.module)))
    if _is_of(named, module):
        return True
    return named == needed.module and any(each.name == needed.name for each in node.names)


def _is_relative(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.level == 1


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
