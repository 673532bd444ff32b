"""`windvane bug-report`: put what a maintainer needs to know into one file, without what may be secret."""

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.cli.command_error import FAILED, WRONG_COMMAND_LINE, complain
from windvane.cli.doctor import add_cluster_options

if TYPE_CHECKING:
    from windvane.runtime.operator import Operator

    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

STDOUT = Path("-")
ABOUT = """\
Put what a maintainer needs into one file, a page of Markdown to attach to an issue:

  windvane bug-report                      this machine, and the cluster that your kubeconfig leads to
  windvane bug-report website:operator     with an operator, its CRDs, its rights, and its objects

What looks like a credential is removed. Of objects only their names, their shape, numbers and conditions are in it, and
Secrets are not read at all. Names of objects, of namespaces and of your modules are in it, and lines of your code where
a traceback shows them: read it before you send it.

Exit codes: 0 there is a file, also if the cluster could not be reached, 1 failed, 2 wrong command line."""


def add_to(groups: "Groups") -> None:
    """Add the command."""
    parser = groups.add_parser(
        "bug-report",
        help="put what a maintainer needs into one file",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_cluster_options(parser)
    parser.add_argument(
        *("-o", "--output"),
        type=Path,
        metavar="FILE",
        help="which file; it must be new (default: windvane-bug-report-TIME.md, here; -: standard output)",
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from windvane import ambient
    from windvane.cli.bug_report.sections import write_report

    began = ambient.now()
    path = options.output or Path(f"windvane-bug-report-{began:%Y%m%dT%H%M%S}.md")
    if path != STDOUT and path.exists():
        return complain(f"{path} is there already: name another file", WRONG_COMMAND_LINE)
    operator, problem = _load(options)
    sys.stderr.write("Looking at this machine and at the cluster ...\n")
    report = asyncio.run(write_report(options, operator, problem, began))
    if path == STDOUT:
        sys.stdout.write(report)
        return 0
    try:
        path.touch(0o600, exist_ok=False)
        path.write_text(report, encoding="utf-8")
    except OSError as error:
        return complain(f"{path} can't be written: {error.strerror}; name another file with -o", FAILED)
    sys.stdout.write(
        f"{path}, {len(report.encode()) / 1024:.0f} kB. Names of objects and namespaces are in it: read it before you "
        "send it.\n"
    )
    return 0


def _load(options: argparse.Namespace) -> "tuple[Operator | None, str]":
    """The operator, or why there is none: that it can't be loaded may be just what is to be reported."""
    from windvane.cli.load import Broken, NoOperator, load_operator
    from windvane.cli.project import read_project

    try:
        options.operator = options.operator or read_project(Path.cwd()).operator
        return (load_operator(options.operator, Path.cwd()) if options.operator else None), ""
    except NoOperator as error:
        return None, str(error)
    except Broken as error:
        return None, f"{error}\n{error.shown}"
