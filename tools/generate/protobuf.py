"""Writes the table by which the embedded API server reads Kubernetes' protobuf: `python tools/generate/protobuf.py`.

Kubernetes states a message twice, and both are needed. `generated.proto` has the numbers and types of the fields; the
Go struct has what a field is called in JSON, and whether its zero is written there. Nothing else is taken from either.
It needs Go, which finds Kubernetes' libraries in the versions that reference/go.mod pins.
"""

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from generate.definitions import load
from generate.kinds import GROUPS
from generate.source import formatted
from windvane.cluster.apiserver.encoding.protobuf import JSON_FORMS

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "src" / "windvane" / "cluster" / "apiserver" / "encoding" / "protobuf_fields.py"
MODULES = ("k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator")
SCALARS = frozenset({"bool", "bytes", "double", "int32", "int64", "string"})
DELETE_OPTIONS = "k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions"

# The bytes in these are JSON, and not bytes that JSON writes as base64.
RAW_JSON = frozenset({"apiextensions.v1.JSON", "meta.v1.FieldsV1", "runtime.RawExtension"})

EXPLANATION = '''
Written by tools/generate/protobuf.py. A field is `number:name in JSON:type`. One without a name is a message whose
fields are among those of the outer one in JSON. A type is a scalar or a message, or `[]` (a list) or `{}` (a map from
strings) of it; the package of a message is left out if it is the same. A field with `?` is left out of JSON if it is
zero, false or empty.
"""
'''

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PACKAGE = re.compile(r"^package ([\w.]+);", re.MULTILINE)
MESSAGE = re.compile(r"^message (\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"\s*(?:(optional|repeated) ([\w.]+)|map<string, ([\w.]+)>) (\w+) = (\d+);\s*")

STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"^\t(?:\w+ +)?(\S+) +`json:\"([^\"]*)\"[^`]*? protobuf:\"\w+,(\d+),[^`]*`", re.MULTILINE)
TYPED = re.compile(r"^\t(?:\w+ +)?(\S+) +`json:\"([^\"]*)\"", re.MULTILINE)
OWN_JSON = re.compile(r"^func \(\w+ \*?(\w+)\) MarshalJSON|^type (\w+) \[\]", re.MULTILINE)


class ProtoField(NamedTuple):
    """A field as a .proto file states it."""

    number: int
    name: str
    shape: str
    """`[]` for a list, `{}` for a map from strings, else empty."""
    type: str
    """A scalar, or the full name of a message."""


class GoField(NamedTuple):
    """A field as a Go struct states it."""

    json_name: str
    """Empty if the fields of its struct are written among those of the outer one."""
    omits_zero: bool


@dataclass(frozen=True)
class Package:
    """One directory with a generated.proto and the Go sources beside it."""

    name: str
    directory: Path
    proto: str

    @property
    def short_name(self) -> str:
        """`k8s.io.api.apps.v1` → `apps.v1`, `k8s.io.apimachinery.pkg.util.intstr` → `intstr`."""
        words = self.name.split(".")
        return ".".join(words[-2:] if re.fullmatch(r"v\d\w*", words[-1]) else words[-1:])

    @cached_property
    def messages(self) -> Mapping[str, list[ProtoField]]:
        """The fields of every message by its name."""
        return {name: list(self._fields(name, body)) for name, body in MESSAGE.findall(self.proto)}

    def _fields(self, message: str, body: str) -> Iterator[ProtoField]:
        end = len(body) - len(body.lstrip())
        while end < len(body):
            match = FIELD.match(body, end)
            if match is None:
                raise ValueError(f"{self.name}.{message}: this is not a field as we know them: {body[end : end + 80]}")
            end = match.end()
            label, alone, value, name, number = match.groups()
            shape = {"optional": "", "repeated": "[]", None: "{}"}[label]
            yield ProtoField(int(number), name, shape, self._full(alone or value))

    def _full(self, written: str) -> str:
        if written.startswith("."):
            return written[1:]
        return written if written[0].islower() else f"{self.name}.{written}"

    @cached_property
    def _go(self) -> str:
        sources = [path for path in sorted(self.directory.glob("*.go")) if not path.stem.endswith("_test")]
        return "\n".join(path.read_text(encoding="utf-8") for path in sources)

    @cached_property
    def structs(self) -> Mapping[str, Mapping[int, GoField]]:
        """What Go knows of the fields, by struct and number."""
        return {name: dict(map(_go_field, MEMBER.findall(body))) for name, body in self._structs}

    @cached_property
    def _structs(self) -> Sequence[tuple[str, str]]:
        return STRUCT.findall(self._go)

    @cached_property
    def go(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """The fields of Go's structs: what they are called in JSON, and their types; those folded in have no name."""
        return {name: [(json_name(tag), type_) for type_, tag in TYPED.findall(body)] for name, body in self._structs}

    @cached_property
    def not_objects(self) -> frozenset[str]:
        """The types that JSON doesn't write as an object with their fields."""
        return frozenset(method or type_ for method, type_ in OWN_JSON.findall(self._go))


def json_name(tag: str) -> str:
    """What a field is called in JSON, from its struct tag."""
    return tag.partition(",")[0]


def _go_field(parts: tuple[str, str, str]) -> tuple[int, GoField]:
    type_, tag, number = parts
    name, *options = tag.split(",")
    # A pointer to zero is written: `replicas: 0` is not the same as nothing.
    return int(number), GoField(name, "omitempty" in options and not type_.startswith("*"))


def packages() -> dict[str, Package]:
    """All packages with messages by their full name."""
    command = ["go", "list", "-m", "-f", "{{.Dir}}", *MODULES]
    listed = subprocess.run(command, cwd=ROOT / "reference", capture_output=True, text=True, check=True).stdout.split()
    if len(listed) < len(MODULES):
        raise SystemExit("Go has not all of Kubernetes' libraries at hand: run `go mod download` in reference/ first")
    found = {}
    for path in sorted(path for module in listed for path in Path(module).rglob("generated.proto")):
        proto = COMMENT.sub("", path.read_text(encoding="utf-8"))
        (name,) = PACKAGE.findall(proto)
        found[name] = Package(name, path.parent, proto)
    return found


def kinds() -> dict[str, list[str]]:
    """The full names of the messages of all kinds of `windvane.k8s`, by their apiVersion."""
    definitions = load()
    found: dict[str, list[str]] = {}
    for group in GROUPS:
        package = group.definitions.replace("io.k8s", "k8s.io", 1).replace("-", "_")
        for kind in group.kinds:
            (identity,) = definitions[f"{group.definitions}.{kind}"]["x-kubernetes-group-version-kind"]
            api_version = f"{identity['group']}/{identity['version']}".removeprefix("/")
            found.setdefault(api_version, []).append(f"{package}.{kind}")
    return dict(sorted(found.items()))


class Table:
    """The messages that some full names need, written as the API server reads them."""

    def __init__(self, packages: Mapping[str, Package], roots: list[str]) -> None:
        self._packages = packages
        self.words: dict[str, list[str]] = {}
        waiting = roots
        while waiting:
            full_name = waiting.pop()
            short_name = self.short(full_name)
            if short_name not in self.words:
                fields = self._fields(full_name)
                self.words[short_name] = [self._word(short_name, field, known) for field, known in fields]
                waiting += [field.type for field, _ in fields if field.type not in SCALARS]

    def short(self, full_name: str) -> str:
        """`k8s.io.api.apps.v1.Deployment` → `apps.v1.Deployment`."""
        package, _, message = full_name.rpartition(".")
        return f"{self._packages[package].short_name}.{message}"

    def _fields(self, full_name: str) -> list[tuple[ProtoField, GoField]]:
        package_name, _, message = full_name.rpartition(".")
        package = self._packages[package_name]
        fields = package.messages[message]
        if message in package.not_objects:
            if self.short(full_name) not in JSON_FORMS:
                raise ValueError(f"{full_name} has a JSON form of its own: add it to JSON_FORMS in protobuf.py")
            return [(field, GoField(field.name, omits_zero=False)) for field in fields]
        return [(field, package.structs[message][field.number]) for field in fields]

    def _word(self, message: str, field: ProtoField, known: GoField) -> str:
        if field.type in SCALARS:
            type_ = "json" if message in RAW_JSON else field.type
            omitted = "?" if known.omits_zero and not field.shape else ""
            return f"{field.number}:{known.json_name}:{field.shape}{type_}{omitted}"
        type_ = self.short(field.type)
        package = message.rpartition(".")[0] + "."
        return f"{field.number}:{known.json_name}:{field.shape}{type_.removeprefix(package)}"


def source() -> str:
    """The text of the whole module."""
    served = kinds()
    table = Table(packages(), [DELETE_OPTIONS, *(name for names in served.values() for name in names)])
    version = re.findall(r"^\s*k8s\.io/kubernetes (v[0-9.]+)", (ROOT / "reference/go.mod").read_text(), re.MULTILINE)[0]
    return "\n".join(
        [
            f'"""The fields of Kubernetes\' protobuf messages: facts about Kubernetes {version}, never edited.',
            EXPLANATION,
            "KINDS = {",
            *(f'    "{each}": """{_wrapped([table.short(name) for name in served[each]])}""",' for each in served),
            "}",
            "",
            "MESSAGES = {",
            *(f'    "{name}": """{_wrapped(words)}""",' for name, words in sorted(table.words.items())),
            "}",
            "",
        ]
    )


def _wrapped(words: list[str]) -> str:
    indent = " " * 8
    text = " ".join(words)
    if len(text) < 50:
        return text
    # Three columns are for the quotes and the comma that may follow.
    return "\n" + textwrap.fill(
        text, 116, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


if __name__ == "__main__":
    TARGET.write_text(formatted(source(), TARGET), encoding="utf-8")
