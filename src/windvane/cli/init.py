"""`windvane init`: lay out a package that is an operator, whole and tested, to be changed into one's own."""

import argparse
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from windvane import ambient
from windvane.cli.command_error import FAILED, PREFIX, WRONG_COMMAND_LINE, complain

if TYPE_CHECKING:
    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

GROUP = "example.com"

ABOUT = f"""\
Lay out a package that is an operator: a kind, a controller, tests that pass, a sample, an image and its rights.

  windvane init website                     # a kind Website in the group {GROUP}
  windvane init my-db --group db.example.org --kind Database
  windvane init website --directory operators/site

For each object of the kind it keeps a Deployment, and a Service if the object has a port. That is yours to change: its
README.md says what is where, how to test it, and how to run it.

The package is called NAME_operator (website_operator), since an operator for redis is likely to import the library
redis. The group is a domain of yours. Objects are stored under their group: choose it before there are any.

Nothing that is there is changed: the directory must be empty, or not be there. If something is wrong, nothing is left
behind.

Exit codes: 0 done, {FAILED} failed, {WRONG_COMMAND_LINE} wrong command line."""


def add_to(groups: "Groups") -> None:
    """Add `init`."""
    parser = groups.add_parser(
        "init",
        help="lay out a package that is an operator",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="what it is called: website, my-db")
    parser.add_argument("--group", default=GROUP, metavar="G", help=f"the group of its kind (default: {GROUP})")
    parser.add_argument("--kind", metavar="K", help="its kind (default: from NAME, such as MyDb for my-db)")
    parser.add_argument("--directory", type=Path, metavar="DIR", help="where to put it (default: NAME, here)")
    parser.set_defaults(run=_init)


def _init(options: argparse.Namespace) -> int:
    from windvane.cli.layout import BadName, Names, kind_for, lay_out

    try:
        names = Names(name=options.name, group=options.group, kind=options.kind or kind_for(options.name))
    except BadName as error:
        return complain(str(error), WRONG_COMMAND_LINE)
    directory = options.directory or Path(options.name)
    laid_out = list(lay_out(names))
    try:
        _write(directory, laid_out)
    except _NotThere as error:
        return complain(str(error), FAILED)
    except OSError as error:
        return complain(f"{directory} can't be written: {error.strerror or error}", FAILED)
    if names.built_in is not None:
        words = f"kubectl takes {names.plural} for the built-in {names.built_in.name}: write {names.crd} for yours"
        sys.stderr.write(f"{PREFIX}{words}\n")
    sys.stdout.write("".join(f"{directory / path}\n" for path, _ in laid_out))
    sys.stdout.write(NEXT.format(directory=shlex.quote(str(directory))))
    return 0


NEXT = """
Next, in the environment that windvane is in:

  cd {directory}
  pip install -e '.[test]'
  pytest
  windvane dev      # the operator at work on a cluster of its own; what you save takes over

README.md says what is where, and what to change.
"""


class _NotThere(Exception):
    """Nothing can be put there; the message says why, and what to do."""


def _write(directory: Path, laid_out: Iterable[tuple[PurePath, str]]) -> None:
    """Have the directory be there with all files in it, or as it was before."""
    _look_at(directory)
    there = directory.exists()
    # Beside what it is to become, so that it needs but a new name. A directory that is there stays the one it is: it
    # may be the one that the shell is in.
    draft = (directory if there else directory.absolute().parent) / f".windvane-init-{ambient.token(5)}"
    draft.mkdir()
    moved: list[Path] = []
    try:
        for path, content in laid_out:
            file = draft / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8", newline="\n")
        if not there:
            draft.rename(directory)  # fails if a directory with files in it has come there meanwhile
            return
        for each in sorted(draft.iterdir()):
            each.rename(directory / each.name)
            moved.append(directory / each.name)
        draft.rmdir()
    except BaseException:
        for each in [draft, *moved]:
            if each.is_dir():
                shutil.rmtree(each, ignore_errors=True)
            else:
                each.unlink(missing_ok=True)
        raise


def _look_at(directory: Path) -> None:
    if directory.is_dir():
        if any(directory.iterdir()):
            raise _NotThere(f"{directory} is not empty, and is left as it is: write --directory DIR for another place")
    elif directory.exists() or directory.is_symlink():
        raise _NotThere(f"{directory} is there, and is no directory: write --directory DIR for another place")
    elif not (parent := directory.absolute().parent).is_dir():
        raise _NotThere(f"there is no directory {parent} to put it into: mkdir -p {shlex.quote(str(parent))}")
