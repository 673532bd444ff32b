"""What a new operator is called, and its files: the templates in `scaffold/`, with these names filled in."""

import builtins
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath
from string import Template

from windvane.api.kind import Kind, is_custom, pluralize
from windvane.api.names import service_name_problems, subdomain_problems

SUFFIX, ENDING = ".template", "-operator"
LONGEST = 40
"""Other names are made of that of the operator and of its kind, and lines of code hold several of them."""
LONGEST_CRD = 253

TAKEN = frozenset(
    {"Annotated", "Column", "Context", "Ge", "LabelSelector", "Le", "MinLength", "MinProperties", "ObjectMeta"}
    | {"Operator", "Resource", "Rule", "Spec", "Status"}
    | set(keyword.kwlist)
)
"""What no kind can be called, since the package's modules have another use for it. A test compares with them."""
LOCALS = frozenset({"apps", "container", "core", "ctx", "deployment", "labels", "operator", "pods", "port", "ready"})
PLAIN = "obj"


class BadName(Exception):
    """Something can't be called that; the message says what to write."""


@dataclass(frozen=True, kw_only=True)
class KindNames:
    """What a kind is called, and what is called after it."""

    group: str
    kind: str
    option: str = "--kind "
    """What is written before the kind on the command line."""

    def __post_init__(self) -> None:
        _check_kind(self.kind, self.option)
        _check_group(self.group)
        if len(self.crd) > LONGEST_CRD:
            raise BadName(f"--group {self.group}: with the kind's plural it would be too long; write a shorter domain")

    @property
    def singular(self) -> str:
        """The kind in small letters: what its files are called."""
        return self.kind.lower()

    @property
    def plural(self) -> str:
        """The kind in small letters, of which there are several."""
        return pluralize(self.kind)

    @property
    def crd(self) -> str:
        """The plural with the group."""
        return f"{self.plural}.{self.group}"

    @property
    def built_in(self) -> Kind | None:
        """The built-in kind that kubectl takes the plural for, if there is one."""
        from windvane.cluster.apiserver.schema.models import builtin_models  # which are some hundred classes

        return next((each.__kind__ for each in builtin_models() if each.__kind__.plural == self.plural), None)

    @property
    def it(self) -> str:
        """What code calls an object of the kind."""
        return object_name(self.kind, LOCALS)


@dataclass(frozen=True, kw_only=True)
class Names(KindNames):
    """What an operator and its kind are called."""

    name: str

    def __post_init__(self) -> None:
        _check_name(self.name)
        super().__post_init__()

    @property
    def operator(self) -> str:
        """The distribution, the operator in it, and in a cluster its namespace and its account."""
        return f"{self.name.removesuffix(ENDING)}{ENDING}"

    @property
    def package(self) -> str:
        """Not NAME alone: what an operator for redis imports is likely to be called `redis`."""
        return self.operator.replace("-", "_")


def object_name(kind: str, locals_: frozenset[str]) -> str:
    """What code calls an object of a kind: by its last word, `cluster` for an EtcdCluster."""
    word = re.findall(r"[A-Z]+(?![a-z])[0-9]*|[A-Z][a-z0-9]*", kind)[-1].lower()
    taken = keyword.iskeyword(word) or word in locals_ or hasattr(builtins, word)
    return PLAIN if taken or not 1 < len(word) <= LONGEST // 2 else word


def kind_for(name: str) -> str:
    """The kind of an operator if nothing else is said: MyDb for my-db."""
    words = re.split(r"[^A-Za-z0-9]+", name.removesuffix(ENDING))
    return "".join(word[:1].upper() + word[1:] for word in words)


def lay_out(names: Names) -> Iterator[tuple[PurePath, str]]:
    """Each file of the package: its path in the new directory, and what is in it."""
    values = {
        "crd": names.crd,
        "group": names.group,
        "it": names.it,
        "kind": names.kind,
        "operator": names.operator,
        "package": names.package,
        "plural": names.plural,
        "resource": names.crd if names.built_in else names.plural,
        "singular": names.singular,
    }
    places = {"PACKAGE": names.package, "KIND": names.singular}
    yield from filled_in(files("windvane.cli") / "scaffold", places, values)


def filled_in(
    directory: Traversable, places: Mapping[str, str], values: Mapping[str, str]
) -> Iterator[tuple[PurePath, str]]:
    """Each template of a directory, with names in its path and values in its text filled in."""
    for path, template in _templates(directory, PurePath()):
        place = str(path).removesuffix(SUFFIX)
        for name, value in places.items():
            place = place.replace(name, value)
        yield PurePath(place), Template(template).substitute(values)


def _templates(directory: Traversable, path: PurePath) -> Iterator[tuple[PurePath, str]]:
    for each in sorted(directory.iterdir(), key=lambda each: each.name):
        if each.is_dir():
            yield from _templates(each, path / each.name)
        elif each.name.endswith(SUFFIX):
            yield path / each.name, each.read_text(encoding="utf-8")


def _check_name(name: str) -> None:
    if "/" in name:
        raise BadName(f"NAME {name!r} must not be a path; --directory says where the package is to be")
    example = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-0123456789")[:LONGEST].rstrip("-") or "website"
    if service_name_problems(name):
        raise BadName(f"NAME {name!r} must be small letters, digits and '-', beginning with a letter: write {example}")
    if len(name) > LONGEST:
        raise BadName(f"NAME {name!r} must have {LONGEST} characters at most: write {example}")


def _check_kind(kind: str, option: str) -> None:
    if kind in TAKEN:
        raise BadName(f"the kind can't be called {kind}, a word that its module needs: write {option}My{kind}, for one")
    example = re.sub("^[^A-Z]+", "", kind_for(kind))[:LONGEST] or "Website"
    said = f"{option}{kind!r}" if option else f"KIND {kind!r}"
    if not re.fullmatch("[A-Z][A-Za-z0-9]*", kind):
        raise BadName(f"{said} must be letters and digits, each word with a capital: write {example}")
    if len(kind) > LONGEST:
        raise BadName(f"{said.replace(repr(kind), kind)} must have {LONGEST} characters at most: write {example}")
    if kind == "List":
        raise BadName(f"{said} can't be: kubectl takes it for a list of objects; write {option}MyList, for one")


def _check_group(group: str) -> None:
    if "." not in group or subdomain_problems(group):
        word = re.sub("[^a-z0-9.]+", "-", group.lower()).strip("-.")
        domain = word if "." in word else f"{word}.example.com"
        example = "example.com" if subdomain_problems(domain) else domain
        raise BadName(f"--group {group!r} must be a domain of yours, in small letters: write {example}")
    if not is_custom(Kind(group=group, version="v1", name="", plural="")):
        raise BadName(f"--group {group}: k8s.io and kubernetes.io are Kubernetes' own; write a domain of yours")
