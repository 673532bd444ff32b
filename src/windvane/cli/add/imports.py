"""Statements as ruff and isort write them: the order of imports, and how what is too long for a line is broken."""

import io
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH = 120
INDENT = "    "


@dataclass(frozen=True)
class Import:
    """`from module import name as alias`, or `import module` if there is no name."""

    module: str
    name: str = ""
    alias: str = ""

    @property
    def words(self) -> str:
        """What stands after `import`."""
        return f"{self.name} as {self.alias}" if self.alias else self.name

    def statement(self) -> str:
        """The statement, broken if it is too long for a line."""
        if not self.name:
            return f"import {self.module} as {self.alias}" if self.alias else f"import {self.module}"
        return _from(self.module, [self.words])


def import_block(imports: Iterable[Import], package: str) -> str:
    """The import statements of a module of `package`, in the order that ruff and isort have them in."""
    sections: dict[int, list[Import]] = {}
    for each in dict.fromkeys(imports):
        sections.setdefault(_section(each.module, package), []).append(each)
    return "\n\n".join("\n".join(_statements(sections[number])) for number in sorted(sections))


def order(of: Import) -> tuple[object, ...]:
    """What imports of the form `from x import y` are sorted by."""
    return _natural(of.module), _kind_of_name(of.name), _natural(of.name)


def _kind_of_name(name: str) -> int:
    """Constants come first, then classes, then all else."""
    if len(name) > 1 and name.isupper():
        return 0
    return 1 if name[:1].isupper() else 2


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """So that route10 comes after route2, and capitals count as small letters."""
    parts = re.findall(r"\d+|\D", text.lower())
    return tuple((0, int(each), "") if each.isdigit() else (1, 0, each) for each in parts)


def _section(module: str, package: str) -> int:
    root = module.partition(".")[0]
    if root in ("__future__", package):
        return 0 if root != package else 3
    return 1 if root in sys.stdlib_module_names else 2


def _statements(section: Sequence[Import]) -> list[str]:
    found = [each.statement() for each in sorted((each for each in section if not each.name), key=order)]
    named: dict[str, list[Import]] = {}
    for each in sorted((each for each in section if each.name), key=order):
        named.setdefault(each.module, []).append(each)
    for module, several in named.items():
        together = [each.words for each in several if not each.alias]
        statements = {each.name: _from(module, [each.words]) for each in several if each.alias}
        if together:
            statements[next(each.name for each in several if not each.alias)] = _from(module, together)
        found += [statements[each.name] for each in several if each.name in statements]
    return found


def _from(module: str, words: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(words)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"{INDENT}{each}," for each in words), ")"])


def call(before: str, arguments: Sequence[str], after: str) -> str:
    """What has arguments in parentheses, broken as ruff breaks it: `def f(` and `a: A`, `b: B` and `) -> None:`."""
    line = f"{before}{', '.join(arguments)}{after}"
    if len(line) <= WIDTH:
        return line
    line = f"{INDENT}{', '.join(arguments)}"
    if len(line) <= WIDTH:
        return f"{before}\n{line}\n{after}"
    return "\n".join([before, *(f"{INDENT}{each}," for each in arguments), after])


def lines_of(source: str) -> list[str]:
    """The lines of a module with their ends, as the syntax tree counts them: a form feed ends none."""
    return list(io.StringIO(source, newline=""))
