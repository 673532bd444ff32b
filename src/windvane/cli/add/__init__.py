"""`windvane add`: a kind, a webhook, a version or a controller more, for a package that `windvane init` laid out.

`requests.py` is what is asked for, `additions.py` what comes of it; `plan.py` writes that, or says what is in the way.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.cli.command_error import FAILED, WRONG_COMMAND_LINE, complain

if TYPE_CHECKING:
    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

ABOUT = f"""\
Add something to an operator, in the directory of its project:

  windvane add kind Backup                              # a kind of your own, and its controller
  windvane add kind Region --cluster-scoped --version v1
  windvane add webhook Backup --validate --mutate       # functions that judge, and fill in, what is to be stored
  windvane add version Backup v1beta1                   # a second version, and functions that convert
  windvane add controller Deployment                    # a controller of a kind that is not yours

Each comes with its test, and with the rights that it needs, in deploy/. Files are added, and to the package's
__init__.py a line that imports the new module; what you wrote stays as it is. If something is in the way, nothing is
written.

`windvane add kind --help` and so on say more.

Exit codes: 0 done, {FAILED} failed, {WRONG_COMMAND_LINE} wrong command line."""

KIND = """\
Add a kind of your own, its controller, a sample, a test and its rights:

  windvane add kind Backup                       # in the group of the kinds that are there
  windvane add kind Backup --group db.example.org --version v1
  windvane add kind Region --cluster-scoped      # its objects are in no namespace

Its controller keeps a ConfigMap for each object, which is yours to change."""

WEBHOOK = """\
Add a function that is asked before objects of a kind are stored:

  windvane add webhook Website --validate        # refuses what must not be: @operator.validate
  windvane add webhook Website --mutate          # fills in what is missing: @operator.default
  windvane add webhook Pod --validate            # a built-in kind, too

First see whether a rule or a default of the class would do: these need no operator that is up and running."""

VERSION = """\
Add a version of a kind of your own, and functions that convert between it and the one that is stored:

  windvane add version Website v1beta1
  windvane add version Website v1 --storage      # objects are stored in the new one from now on

It begins with the same fields, in a module of its own. Change them there, and say in the functions what becomes of
them; a test sees to it that nothing is lost. The controller goes on with the version that it has. With --storage,
stored=False is added to the class that is stored until now."""

CONTROLLER = """\
Add a controller of a kind that your operator does not define:

  windvane add controller Deployment
  windvane add controller nodes
  windvane add controller Certificate --group cert-manager.io --version v1        # another operator's

It looks after those objects that ask for it by a label."""


def add_to(groups: "Groups") -> None:
    """Add `add`."""
    parser = _parser(groups, "add", "add a kind, a webhook, a version or a controller to an operator", ABOUT)
    what: Groups = parser.add_subparsers(metavar="WHAT", required=True)

    kind = _parser(what, "kind", "a kind of your own, and its controller", KIND)
    kind.add_argument("kind", metavar="KIND", help="what it is called: Backup")
    kind.add_argument("--group", metavar="G", help="its group (default: that of the operator's kinds)")
    kind.add_argument("--version", default="v1alpha1", metavar="V", help="its version (default: %(default)s)")
    kind.add_argument("--cluster-scoped", action="store_true", help="its objects are in no namespace")
    _runs(kind, "kind")

    webhook = _parser(what, "webhook", "a function that is asked before objects are stored", WEBHOOK)
    webhook.add_argument("kind", metavar="KIND", help="a kind of the operator, or a built-in one")
    webhook.add_argument("--validate", action="store_true", help="one that refuses what must not be")
    webhook.add_argument("--mutate", action="store_true", help="one that fills in what is missing")
    _runs(webhook, "webhook")

    version = _parser(what, "version", "a version of a kind of your own", VERSION)
    version.add_argument("kind", metavar="KIND", help="a kind of the operator")
    version.add_argument("version", metavar="VERSION", help="the new version: v1beta1")
    version.add_argument("--storage", action="store_true", help="have objects stored in it")
    _runs(version, "version")

    controller = _parser(what, "controller", "a controller of a kind that is not yours", CONTROLLER)
    controller.add_argument("kind", metavar="KIND", help="a built-in kind (Deployment, nodes), or another operator's")
    controller.add_argument("--group", default="", metavar="G", help="the group of another operator's kind")
    controller.add_argument("--version", default="", metavar="V", help="its version")
    controller.add_argument("--plural", default="", metavar="P", help="its plural, if it is not the usual one")
    controller.add_argument("--cluster-scoped", action="store_true", help="its objects are in no namespace")
    _runs(controller, "controller")


def _parser(groups: "Groups", name: str, summary: str, about: str) -> argparse.ArgumentParser:
    return groups.add_parser(
        name, help=summary, description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def _runs(parser: argparse.ArgumentParser, request: str) -> None:
    parser.add_argument("--no-import", action="store_true", help="leave __init__.py alone; you import the new module")
    parser.set_defaults(run=lambda options: _add(options, request))


def _add(options: argparse.Namespace, request: str) -> int:
    from windvane.cli.add import requests
    from windvane.cli.add.package import NoPackage, find_package
    from windvane.cli.add.plan import make_plan, write
    from windvane.cli.add.subject import UnknownKind
    from windvane.cli.layout import BadName
    from windvane.cli.load import Broken, NoOperator

    try:
        package = find_package(Path.cwd())
        additions = getattr(requests, request)(options, package)
        plan = make_plan(package, additions, imported=not options.no_import)
        write(package, plan)
    except (BadName, UnknownKind, NoOperator, requests.Wrong) as error:
        return complain(str(error), WRONG_COMMAND_LINE)
    except (Broken, NoPackage, requests.AddRefused) as error:
        return complain(str(error), FAILED)
    sys.stdout.write("".join(f"{line}\n" for line in plan.said))
    return 0
