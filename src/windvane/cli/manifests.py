"""Objects in YAML files, each with the file and line where it begins; and what one has that another has not. No I/O
but to read them.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

STDIN = Path("-")
ENDINGS = (".yaml", ".yml", ".json")
LONGEST = 60
SECRET = "Secret"  # noqa: S105 - a kind


class UnreadableManifest(Exception):
    """A file can't be read as objects; the message says where and why, in a line."""


class NotThere(UnreadableManifest):
    """There is no such file."""


@dataclass(frozen=True)
class Manifest:
    """One object, as it is written."""

    file: Path
    line: int
    wire: dict[str, Any]

    @property
    def kind(self) -> str:
        """As it says."""
        return str(self.wire.get("kind", ""))

    @property
    def api_version(self) -> str:
        """As it says."""
        return str(self.wire.get("apiVersion", ""))

    @property
    def metadata(self) -> dict[str, Any]:
        """What it says of itself."""
        found = self.wire.get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        """Its namespace; empty if it names none."""
        return str(self.metadata.get("namespace", ""))

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from all others."""
        return self.api_version, self.kind, self.namespace, self.name

    @property
    def place(self) -> str:
        """Where it is written: `samples/website.yaml:1`."""
        return f"{shown(self.file)}:{self.line}"

    def __str__(self) -> str:
        return f"{self.kind} {'/'.join(filter(None, (self.namespace, self.name)))}"


def shown(path: Path) -> str:
    """A path as one would write it here."""
    if path == STDIN:
        return "standard input"
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


class _Loader(yaml.SafeLoader):
    """As Kubernetes reads YAML: what looks like a date is text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def manifest_files(paths: Iterable[Path]) -> list[Path]:
    """The files that these paths mean: themselves, or what is in a directory, in the order of their names."""
    files: dict[Path, None] = {}
    for path in paths:
        found = sorted(each for each in path.rglob("*") if is_manifest(each)) if path.is_dir() else [path]
        files.update(dict.fromkeys(each for each in found if each.is_file()))
    return list(files)


def is_manifest(path: Path) -> bool:
    """Whether a file may have objects in it, by its name."""
    return path.suffix in ENDINGS and not path.name.startswith(".") and path.name != "kustomization.yaml"


def read_manifests(file: Path) -> list[Manifest]:
    """The objects in a file, or in standard input if it is `-`; those in a List are told one by one."""
    try:
        text = sys.stdin.read() if file == STDIN else file.read_text(encoding="utf-8")
        loader = _Loader(text)
        try:
            found = list(_documents(loader, file))
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UnreadableManifest(f"{shown(file)}:{line}: {error.problem or 'this is no YAML'}") from error
    except FileNotFoundError as error:
        raise NotThere(f"{shown(file)} is not there") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        said = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise UnreadableManifest(f"{shown(file)}: {said}") from error
    return found


def _documents(loader: _Loader, file: Path) -> Iterator[Manifest]:
    while loader.check_node():
        node = loader.get_node()
        if node is None:
            continue
        line = node.start_mark.line + 1
        wire = loader.construct_document(node)
        if wire is None:
            continue
        for each in wire["items"] if _is_list(wire) else [wire]:
            if not (isinstance(each, dict) and _is_word(each.get("kind")) and _is_word(each.get("apiVersion"))):
                raise UnreadableManifest(
                    f"{shown(file)}:{line}: this is no object: it needs apiVersion, kind and metadata"
                )
            manifest = Manifest(file, line, each)
            if not _is_word(manifest.metadata.get("name")):
                raise UnreadableManifest(f"{shown(file)}:{line}: {manifest.kind} has no metadata.name")
            yield manifest


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_list(wire: Any) -> bool:
    return isinstance(wire, dict) and str(wire.get("kind")).endswith("List") and isinstance(wire.get("items"), list)


def changes(before: Manifest, after: Manifest) -> list[str]:
    """What differs, field by field: `spec.copies 2 → 3`. Of a Secret only the paths are told."""
    return list(_changes(before.wire, after.wire, "", told=after.kind != SECRET))


def _changes(before: Any, after: Any, path: str, *, told: bool) -> Iterator[str]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            where = f"{path}.{name}" if path else str(name)
            yield from _changes(before.get(name), after.get(name), where, told=told)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _changes(one, other, f"{path}[{number}]", told=told)
    elif after is None:
        yield f"{path} is gone"
    elif not told:
        yield path
    elif before is None:
        yield f"{path} is {_value(after)}"
    else:
        yield f"{path} {_value(before)} → {_value(after)}"


def _value(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
