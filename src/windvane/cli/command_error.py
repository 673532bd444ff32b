"""How a command says that it can't go on: one line on standard error, and an exit code.

With `-v`, the traceback of what was caught comes before it.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path

from windvane import ambient
from windvane.cli.redaction import redact
from windvane.cluster.instance import home

FAILED, WRONG_COMMAND_LINE = 1, 2
PREFIX = "windvane: "

verbose: ContextVar[bool] = ContextVar("verbose", default=False)
"""Whether tracebacks are wanted: `-v`."""


def complain(problem: str, code: int) -> int:
    """Say what is wrong; gives back the exit code."""
    caught = sys.exception()
    shown = getattr(caught, "shown", None)  # what is worth to be shown of the traceback
    if caught is not None and verbose.get():
        trace = f"{shown}\n" if isinstance(shown, str) else "".join(traceback.format_exception(caught))
        sys.stderr.write(redact(trace, {}))  # it ends up in logs of CI, and in issues
    more = "; -v shows the traceback" if isinstance(shown, str) and not verbose.get() else ""
    sys.stderr.write(f"{PREFIX}{problem}{more}\n")
    return code


def complain_of_defect(error: Exception) -> int:
    """Say that a command ended as none should. The traceback is kept for `windvane bug-report`.

    It is shown as well where no user could ask again: in the log of a pod, or in CI.
    """
    trace = "".join(traceback.format_exception(error))
    if not verbose.get() and (not sys.stderr.isatty() or not _keep(trace)):
        sys.stderr.write(trace)
    what = " ".join([f"{type(error).__name__}:", *str(error).split()]).rstrip(":")
    return complain(f"{what} (this is a defect: -v shows where, windvane bug-report collects what is needed)", FAILED)


def _keep(trace: str) -> bool:
    try:
        file = crash_file(os.environ)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(f"{ambient.now():%Y-%m-%d %H:%M:%S} UTC, windvane {' '.join(sys.argv[1:])}\n{trace}")
    except OSError:
        return False
    return True


def crash_file(environ: Mapping[str, str]) -> Path:
    """The traceback of the last defect that a command ended with."""
    return home(environ) / "last-crash.txt"


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """Let `-v` be written after the command, whichever it is, as well as before it."""
    options = {option for action in parser._actions for option in action.option_strings}
    if "-v" not in options:
        parser.add_argument(
            *("-v", "--verbose"), action="store_true", default=argparse.SUPPRESS, help="show tracebacks of errors"
        )
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                add_verbose(each)
