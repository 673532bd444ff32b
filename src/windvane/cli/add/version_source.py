"""The classes of a kind as they are in their module, for another version of it that begins as this one is."""

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from windvane.api.hints import type_hints
from windvane.api.resource import Object
from windvane.cli.add.imports import WIDTH, Import, call, lines_of

VERSION, STORED, NOT_STORED = "version", "stored", "stored=False"


class NoCopy(Exception):
    """The classes can't be taken over; the message says why."""


@dataclass(frozen=True)
class Copied:
    """What is needed to state classes in a module of their own."""

    classes: Sequence[str]
    """Their statements."""
    imports: Sequence[Import]
    """What they need."""
    parts: frozenset[str]
    """Of `spec` and `status`, those whose classes are among them."""


def copied(what: type[Object], version: str, *, stored: bool, package: str) -> Copied:
    """The classes of a kind, of its spec and of its status, as another version of them."""
    types = type_hints(what)
    own = {name: types[name] for name in ("spec", "status") if _is_in(types[name], package)}
    chosen = list(dict.fromkeys([*own.values(), what]))
    names = {each.__name__ for each in chosen}
    if len(names) < len(chosen):
        raise NoCopy(f"classes of {what.__name__} have the same name")
    statements: list[str] = []
    imports: list[Import] = []
    for each in chosen:
        source, tree, node = _class(each)
        text = _text(source, node)
        if each is what:
            text = _other_version(text, version, stored=stored)
        imports += _needed(_named(ast.parse(text)), tree, each.__module__, names)
        statements.append(text)
    return Copied(statements, imports, frozenset(own))


def not_stored(source: str, name: str) -> str:
    """The source of a module whose class `name` says that it is not the stored version."""
    node = _named(ast.parse(source), name)
    before = _header(node)
    text = _with_stored(_text(source, node), stored=False)
    lines = lines_of(source)
    found = "".join([*lines[: before - 1], text + _end(lines, node), *lines[node.end_lineno or before :]])
    _check(source, found, name)
    return found


def line_of(what: type[Object]) -> tuple[Path, int]:
    """Where a class is."""
    module = sys.modules[what.__module__]
    _, _, node = _class(what)
    return Path(module.__file__ or ""), node.lineno


def _other_version(text: str, version: str, *, stored: bool) -> str:
    node = _named(ast.parse(text))
    keyword = _keyword(node, VERSION)
    if keyword is None:
        raise NoCopy(f"class {node.name} does not say version= itself")
    return _with_stored(_replaced(text, keyword.value, f'"{version}"'), stored=stored)


def _with_stored(text: str, *, stored: bool) -> str:
    node = _named(ast.parse(text))
    there = _keyword(node, STORED)
    if there is not None:
        return _replaced(text, there.value, str(stored))
    if stored:
        return text
    keyword = _keyword(node, VERSION)
    if keyword is None:
        raise NoCopy(f"class {node.name} does not say version= itself")
    lines = lines_of(text)
    end = keyword.value.end_lineno or keyword.lineno
    line = lines[end - 1]
    rest = line[_column(line, keyword.value.end_col_offset or 0) :]
    if rest.strip() == ",":
        begin = line[: len(line) - len(line.lstrip())]
        return "".join([*lines[:end], f"{begin}{NOT_STORED}{rest}", *lines[end:]])
    found = _replaced(text, keyword.value, f"{ast.get_source_segment(text, keyword.value)}, {NOT_STORED}")
    return _broken(found) if max(map(len, found.splitlines())) > WIDTH else found


def _broken(text: str) -> str:
    """A class whose statement is in several lines, since it is too long for one."""
    node = _named(ast.parse(text))
    arguments = [*node.bases, *(each.value for each in node.keywords)]
    names = ["" for _ in node.bases] + [f"{each.arg}=" if each.arg else "**" for each in node.keywords]
    said = [name + (ast.get_source_segment(text, each) or "") for name, each in zip(names, arguments, strict=True)]
    last = arguments[-1]
    lines = lines_of(text)
    end = last.end_lineno or node.lineno
    rest = lines[end - 1][_column(lines[end - 1], last.end_col_offset or 0) :]
    if any("\n" in each for each in said) or rest.strip() != "):":
        return text  # its author has broken it already
    return "".join([*lines[: node.lineno - 1], call(f"class {node.name}(", said, "):"), "\n", *lines[end:]])


def _replaced(text: str, node: ast.expr, by: str) -> str:
    if node.end_lineno != node.lineno:
        raise NoCopy(f"what is said in line {node.lineno} goes over several lines")
    lines = lines_of(text)
    line = lines[node.lineno - 1]
    start, end = _column(line, node.col_offset), _column(line, node.end_col_offset or 0)
    lines[node.lineno - 1] = line[:start] + by + line[end:]
    return "".join(lines)


def _column(line: str, offset: int) -> int:
    """The place in a line of an offset, which the syntax tree counts in bytes."""
    return len(line.encode()[:offset].decode())


def _needed(node: ast.ClassDef, tree: ast.Module, module: str, names: set[str]) -> Iterator[Import]:
    """The imports that a class needs in another module than its own."""
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - names
    imported = dict(_imported(tree, module))
    defined = set(vars(sys.modules[module]))
    for name in sorted(used):
        if name in imported:
            yield imported[name]
        elif name in defined and not name.startswith("__"):
            yield Import(module, name)
    if "annotations" in imported and imported["annotations"].module == "__future__":
        yield imported["annotations"]


def _imported(tree: ast.Module, module: str) -> Iterator[tuple[str, Import]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.asname:
                    parent, _, leaf = each.name.rpartition(".")
                    found = Import(parent, leaf, each.asname) if parent else Import(each.name, "", each.asname)
                    yield each.asname, found
                else:
                    yield each.name.partition(".")[0], Import(each.name)
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                alias = each.asname if each.asname and each.asname != each.name else ""
                yield each.asname or each.name, Import(_absolute(node, module), each.name, alias)


def _absolute(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    package = parts if _is_package(sys.modules[module]) else parts[:-1]
    package = package[: len(package) - node.level + 1]
    return ".".join([*package, *filter(None, [node.module])])


def _is_package(module: ModuleType) -> bool:
    return hasattr(module, "__path__")


def _is_in(what: object, package: str) -> bool:
    return isinstance(what, type) and (what.__module__ == package or what.__module__.startswith(f"{package}."))


def _class(what: type) -> tuple[str, ast.Module, ast.ClassDef]:
    """The source of a class's module, its tree, and the statement of the class."""
    file = getattr(sys.modules[what.__module__], "__file__", None)
    if file is None:
        raise NoCopy(f"class {what.__name__} is in no file")
    source = Path(file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    return source, tree, _named(tree, what.__name__)


def _named(tree: ast.Module, name: str = "") -> ast.ClassDef:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and name in ("", node.name):
            return node
    raise NoCopy(f"class {name} is not at the top of its module")


def _keyword(node: ast.ClassDef, name: str) -> ast.keyword | None:
    return next((each for each in node.keywords if each.arg == name), None)


def _header(node: ast.ClassDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _text(source: str, node: ast.ClassDef) -> str:
    """The lines of a class; the last one has no end."""
    lines = lines_of(source)
    return "".join(lines[_header(node) - 1 : node.end_lineno]).rstrip("\r\n")


def _end(lines: Sequence[str], node: ast.ClassDef) -> str:
    last = lines[(node.end_lineno or 1) - 1]
    return last[len(last.rstrip("\r\n")) :]


def _check(before: str, after: str, name: str) -> None:
    """Nothing has changed but the class."""
    there, here = ast.parse(before), ast.parse(after)
    others = [[ast.dump(each) for each in tree.body if each is not _named(tree, name)] for tree in (there, here)]
    bodies = [[ast.dump(each) for each in _named(tree, name).body] for tree in (there, here)]
    if others[0] != others[1] or bodies[0] != bodies[1]:
        raise NoCopy(f"class {name} can't be told from what is around it")
