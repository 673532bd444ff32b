"""`windvane completion`: have a shell complete windvane's commands and flags."""

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from windvane.cli.command_error import FAILED, complain

if TYPE_CHECKING:
    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

SHELLS = ("bash", "zsh", "fish")
ABOUT = """\
Print a script that has a shell complete windvane's commands, flags and files:

  bash   windvane completion bash > ~/.local/share/bash-completion/completions/windvane
  zsh    windvane completion zsh > "${fpath[1]}/_windvane"
  fish   windvane completion fish > ~/.config/fish/completions/windvane.fish

Then begin a new shell. After an update of windvane, do it again. It needs: pip install 'windvane[dev]'"""


def add_to(groups: "Groups") -> None:
    """Add the command."""
    parser = groups.add_parser(
        "completion",
        help="have your shell complete these commands",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    parser.set_defaults(run=_print)


def _print(options: argparse.Namespace) -> int:
    try:
        import shtab
    except ModuleNotFoundError:
        return complain("completion needs shtab: pip install 'windvane[dev]'", FAILED)
    from windvane.cli import make_parser

    parser = make_parser()
    _name_files(parser, {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY})
    sys.stdout.write(shtab.complete(parser, options.shell))
    return 0


def _name_files(
    parser: argparse.ArgumentParser, completed: Mapping[str, Mapping[str, str | Mapping[str, str]]]
) -> None:
    """Have what its help calls FILE or DIR completed as such."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                _name_files(each, completed)
        elif isinstance(action.metavar, str) and action.metavar in completed:
            action.complete = completed[action.metavar]  # type: ignore[attr-defined]
