"""A version of the operator's code, looked at before it runs: it is imported, in a process of its own.

    python -m windvane.cli.dev.candidate MODULE:OPERATOR DIRECTORY FILE HOME [NAMESPACE...]

It writes what it finds to FILE.

So a mistake costs nothing: what was good before goes on. And what is there can be known without importing the author's
code into `windvane dev` itself, which would see its first version for ever.
"""

import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from windvane import ambient
from windvane.api.kind import Kind
from windvane.runtime.rbac import Permission

WITHIN = 60.0
"""Seconds that an import may take."""
INSTALLED = ("site-packages", "dist-packages")


class Sources(msgspec.Struct):
    """Where the code is: what is to be looked at for changes."""

    packages: list[str] = []
    """Directories, with all that is in them."""
    directories: list[str] = []
    """Directories with modules in them, but not what is further down."""

    def with_those_of(self, other: "Sources") -> "Sources":
        """These, and others."""
        return Sources(
            sorted({*self.packages, *other.packages}),
            sorted({*self.directories, *other.directories}),
        )


class Good(msgspec.Struct, tag=True):
    """It can be run; this is what it declares."""

    name: str
    primaries: list[Kind]
    owned: list[Kind]
    watched: list[Kind]
    definitions: list[dict[str, Any]]
    """The CRDs of its own kinds. How versions are converted is not in them: the operator says that when it runs."""
    converts: bool
    """Whether it converts between versions, so that only itself can install its CRDs."""
    rights: list[Permission]
    """What it needs wherever it is to work."""
    sources: Sources


class Bad(msgspec.Struct, tag=True):
    """It can't be run."""

    words: str
    """One line: where, and what is wrong."""
    detail: str = ""
    """The traceback, from the author's first line on."""
    named_wrong: bool = False
    """There is no such operator: the code may be fine."""
    sources: Sources = msgspec.field(default_factory=Sources)


Candidate: TypeAlias = Good | Bad

_decoder: msgspec.json.Decoder[Candidate] = msgspec.json.Decoder(Candidate)


async def examine(named: str, directory: Path, file: Path, *, home: str, namespaces: Sequence[str] = ()) -> Candidate:
    """Look at the operator that a command line names; `file` is where the answer may be put, `home` its namespace."""
    import asyncio

    from windvane.cli.dev.process import Child

    _forget(file)
    said: list[str] = []
    words = (named, str(directory), str(file), home, *namespaces)
    # What it imports can't be known of one that doesn't answer. It is to be mended somewhere, though.
    sources = _sources((), named.partition(":")[0], directory)
    child = await Child.start("windvane.cli.dev.candidate", *words, heard=said.append, directory=directory)
    try:
        async with asyncio.timeout(WITHIN):
            how = await child.ended()
    except TimeoutError:
        await child.stop(0.1)
        return Bad(f"{named}: importing it has not ended after {WITHIN:g} s", "\n".join(said), sources=sources)
    except BaseException:
        await child.stop(0.1)
        raise
    if (answer := _answer(file)) is not None:
        return answer
    last = next((each for each in reversed(said) if each.strip()), "it said nothing")
    return Bad(f"{named}: importing it has ended the process ({how}): {last}", "\n".join(said), sources=sources)


def _forget(file: Path) -> None:
    file.unlink(missing_ok=True)


def _answer(file: Path) -> Candidate | None:
    """What was written there; None if the process ended before: os._exit, or a library that crashed."""
    try:
        return _decoder.decode(file.read_bytes())
    except FileNotFoundError:
        return None


# In the process of its own


def _look(named: str, directory: Path, home: str, namespaces: Sequence[str]) -> Candidate:
    from windvane.cli.load import Broken, NoOperator, load_operator
    from windvane.runtime.crds import NotInstalled

    before = set(sys.modules)
    place = named.partition(":")[0]
    broken = ""
    try:
        operator = load_operator(named, directory)
        good = _described(operator, home, namespaces)
        good.sources = _sources(set(sys.modules) - before, place, directory)
        return good
    except NoOperator as error:
        bad = Bad(str(error), named_wrong=True)
    except Broken as error:
        path, broken = Path(error.file), error.file
        shown = path.relative_to(directory) if path.is_relative_to(directory) else path
        bad = Bad(f"{shown}:{error.line}: {error.what}", error.shown)
    except (ValueError, TypeError, NotInstalled) as error:  # what it declares does not fit together
        bad = Bad(f"{place}: {error}")
    bad.sources = _sources(set(sys.modules) - before, place, directory, broken=broken)
    return bad


def _described(operator: Any, home: str, namespaces: Sequence[str]) -> Good:
    from windvane.api.resource import kind_of, object_to_wire
    from windvane.runtime.crds import definitions
    from windvane.runtime.rbac import own_kinds, permissions_of

    declared = operator.declarations.values()
    primaries = list(dict.fromkeys(each.kind for each in declared))
    owned = dict.fromkeys(owned.kind for each in declared for owned in each.owned)
    watched = dict.fromkeys(
        kind for each in declared for kind in (*(watch.kind for watch in each.watches), *map(kind_of, each.reads))
    )
    return Good(
        name=operator.name,
        primaries=primaries,
        owned=[each for each in owned if each not in primaries],
        watched=[each for each in watched if each not in owned and each not in primaries],
        definitions=[object_to_wire(each) for each in definitions(own_kinds(operator))],
        converts=bool(operator.conversions),
        rights=permissions_of(operator, namespaces=namespaces, home=home),
        sources=Sources(),
    )


def _sources(modules: Iterable[str], place: str, directory: Path, *, broken: str = "") -> Sources:
    """Where those of the modules are that are the author's; and the one that is named, also if it can't be imported.

    `broken` is the file that can't be: Python forgets such a module.
    """
    packages: set[Path] = set()
    directories: set[Path] = set()
    if place.endswith(".py") or "/" in place:
        _add((directory / place).resolve(), packages, directories)
    else:
        for root in (directory, directory / "src", *map(Path, sys.path)):
            top = root / place.partition(".")[0]
            if (top / "__init__.py").is_file():
                _add(top / "__init__.py", packages, directories)
                break
            if top.with_suffix(".py").is_file():
                _add(top.with_suffix(".py"), packages, directories)
                break
    for file in [broken, *(getattr(sys.modules.get(name), "__file__", None) for name in modules)]:
        if file and _is_the_authors(file):
            _add(Path(file).resolve(), packages, directories)
    return Sources(sorted(map(str, packages)), sorted(map(str, directories)))


def _add(file: Path, packages: set[Path], directories: set[Path]) -> None:
    root = file.parent
    if not (root / "__init__.py").is_file():
        directories.add(root)
        return
    while (root.parent / "__init__.py").is_file():
        root = root.parent
    packages.add(root)


def _is_the_authors(file: str) -> bool:
    """Whether a file is neither Python's, nor installed, nor windvane's."""
    path = Path(file)
    windvane = Path(__file__).parents[2]
    return (
        not file.startswith("<")
        and not path.is_relative_to(sysconfig.get_path("stdlib"))
        and not path.is_relative_to(windvane)
        and not set(INSTALLED) & set(path.parts)
    )


def main(named: str, directory: str, file: str, home: str, *namespaces: str) -> None:
    """Look, and write down what was found."""
    answer = Path(file)
    draft = answer.with_name(f"{answer.name}.{ambient.token(5)}")
    draft.write_bytes(msgspec.json.encode(_look(named, Path(directory), home, namespaces)))
    draft.rename(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
