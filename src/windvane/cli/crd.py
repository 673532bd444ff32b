"""`windvane crd`: print the CustomResourceDefinitions of an operator's kinds."""

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.cli.command_error import FAILED, WRONG_COMMAND_LINE, complain

if TYPE_CHECKING:
    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

ABOUT = """\
Print the CustomResourceDefinitions of an operator's own kinds as YAML:

  windvane crd website:operator | kubectl apply --server-side -f -
  windvane crd website.py > deploy/crds.yaml

MODULE alone means all that is in it: the kinds of its operators, or its classes. MODULE:Website is one class. With
neither, it is the operator that [tool.windvane] of ./pyproject.toml names. How versions are converted is left out: the
operator says that itself, when it runs."""


def add_to(groups: "Groups") -> None:
    """Add the command."""
    parser = groups.add_parser(
        "crd",
        help="print the CRDs of an operator's kinds",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "named", nargs="?", metavar="MODULE[:NAME]", help="a module, an operator in it, or a class; or a file"
    )
    parser.set_defaults(run=_print)


def _print(options: argparse.Namespace) -> int:
    import yaml

    from windvane.api.resource import object_to_wire
    from windvane.cli.load import Broken, NoOperator, load_kinds
    from windvane.cli.project import operator_named
    from windvane.runtime.crds import NotInstalled, definitions

    try:
        with redirect_stdout(sys.stderr):  # what a module prints is no YAML for kubectl
            kinds = load_kinds(operator_named(options.named, Path.cwd()), Path.cwd())
        wires = [object_to_wire(each) for each in definitions(kinds)]
    except NoOperator as error:
        return complain(str(error), WRONG_COMMAND_LINE)
    except (Broken, NotInstalled) as error:
        return complain(str(error), FAILED)
    yaml.safe_dump_all(wires, sys.stdout, sort_keys=False, explicit_start=len(wires) > 1)
    return 0
