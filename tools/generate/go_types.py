"""Writes the table of what Go calls the types of fields: `python tools/generate/go_types.py`.

They stand in the messages of its decoder, where JSON knows no more than text, lists and maps. They are read from the Go
structs of Kubernetes' libraries, in the versions that reference/go.mod pins.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from generate.protobuf import Package, packages
from generate.source import formatted
from windvane.api import meta
from windvane.cluster.apiserver.encoding.protobuf_fields import MESSAGES
from windvane.cluster.apiserver.schema.go_decoder import go_type
from windvane.cluster.apiserver.schema.models import builtin_modules
from windvane.cluster.apiserver.schema.shapes import ListOf, MapOf, Plain, Shape, shapes_of

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "src" / "windvane" / "cluster" / "apiserver" / "schema" / "go_types.py"
ALIAS = re.compile(r"\b\w*?(v[0-9]\w*)\.")
OWN = re.compile(r"(?<![\w.])([A-Z]\w*)")
WRAPPED = re.compile(r"\[\]|map\[[^\]]*\]")

Table: TypeAlias = defaultdict[str, set[str]]
MEANINGS = {
    "WORD_TYPES": "The types of words; of a list or a map, that of what is in it.",
    "WHOLE_TYPES": "The types of lists and maps that can't be told from what is in them.",
    "FOLDED_IN": "The structs that have these fields: they are folded in, and messages name them in the path.",
}

HEAD = '''"""What Go calls the types of fields, and where it has them: facts about Kubernetes, never edited.

Written by tools/generate/go_types.py. Fields of one name in structs of one name in two groups are left out if they
differ.
"""

'''


class GoField(NamedTuple):
    """A field of a class of `windvane.k8s`, as Go has it."""

    name: str
    """With its struct: `PodSpec.restartPolicy`."""
    shape: Shape
    type: str
    folded: str
    """The structs between the two, whose fields are folded in: `RuleWithOperations.Rule`."""


def fields() -> Iterator[GoField]:
    """Every field of every class."""
    found = packages()
    package_of = {package.short_name: package for package in found.values()}
    homes = {(home.partition(".")[0], struct): package_of[home] for home, _, struct in map(_rpartition, MESSAGES)}
    for module in (meta, *builtin_modules()):
        for cls in vars(module).values():
            if not (isinstance(cls, type) and issubclass(cls, msgspec.Struct) and cls.__module__ == module.__name__):
                continue
            group = module.__name__.rpartition(".")[2]
            if package := homes.get((group, cls.__name__)) or homes.get(("meta", cls.__name__)):
                types = {name: (type_, folded) for name, type_, folded in _types(package, cls.__name__)}
                for name, shape in shapes_of(cls).items():
                    if name in types:
                        yield GoField(f"{cls.__name__}.{name}", shape, *types[name])


def _rpartition(message: str) -> tuple[str, str, str]:
    return message.rpartition(".")


def _types(package: Package, struct: str, folded: str = "") -> Iterator[tuple[str, str, str]]:
    version = package.directory.name
    for name, type_ in package.go.get(struct, ()):
        if name:
            called = OWN.sub(rf"{version}.\1", ALIAS.sub(r"\1.", type_.lstrip("*"))).replace("byte", "uint8")
            yield name, called, folded
        elif (inner := type_.lstrip("*")).rpartition(".")[2] != "TypeMeta":
            yield from _types(package, inner, f"{folded}.{inner}".lstrip("."))


def tables() -> dict[str, dict[str, str]]:
    """What is written, by the name of the table."""
    words: Table = defaultdict(set)
    wholes: Table = defaultdict(set)
    folded: Table = defaultdict(set)
    for field in fields():
        inner, called = field.shape, field.type
        while isinstance(inner, ListOf | MapOf) and WRAPPED.match(called):
            inner, called = inner.inside, WRAPPED.sub("", called, count=1)
        word = called if inner == Plain("text") else "string"
        words[field.name].add(word)
        if isinstance(field.shape, ListOf | MapOf):
            wholes[field.name].add(field.type if field.type != told(field.shape, word, field.type) else "")
        folded[field.name].add(field.folded)
    return {"WORD_TYPES": _sure(words, "string"), "WHOLE_TYPES": _sure(wholes, ""), "FOLDED_IN": _sure(folded, "")}


def told(shape: Shape, word: str, type_: str) -> str:
    """What a list or map would be taken for without the table."""
    match shape:
        case ListOf(inside):
            return f"[]{told(inside, word, type_)}"
        case MapOf(inside):
            return f"map[string]{told(inside, word, type_)}"
        case Plain("text"):
            return word
    return go_type(shape, "", WRAPPED.sub("", type_).partition(".")[0])


def _sure(found: Mapping[str, set[str]], usual: str) -> dict[str, str]:
    return {field: next(iter(types)) for field, types in sorted(found.items()) if len(types) == 1 and types != {usual}}


def source() -> str:
    """The text of the module."""
    lines = [HEAD]
    for name, table in tables().items():
        lines += [f"{name} = {{", *(f'    "{field}": "{said}",' for field, said in table.items()), "}"]
        lines += [f'"""{MEANINGS[name]}"""', ""]
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(formatted(source(), TARGET), encoding="utf-8")
