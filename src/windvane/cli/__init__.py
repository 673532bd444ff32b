"""The `windvane` command: each group of subcommands is a module here, and this one only finds it.

What a subcommand needs is imported when it runs: `--help` and errors in the command line must not wait for it.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence

import windvane
from windvane.cli import add, bug_report, cluster, completion, crd, dev, doctor, image, init, plan, run, why
from windvane.cli.command_error import add_verbose, complain_of_defect, verbose

ABOUT = """\
The operator framework for Python, with a Kubernetes API of its own to develop against.

  windvane init website          lay out an operator, with tests that pass
  cd website
  windvane dev                   have it work, on a cluster of its own; what you save takes over
  windvane why website/example   why an object is as it is
  windvane plan --all            what the operator would change on a cluster

windvane COMMAND --help says more. The manual begins with docs/tutorial.md."""
COMMANDS = (init, add, dev, plan, why, run, crd, doctor, cluster, image, bug_report, completion)
"""In the order in which they are wanted."""


def make_parser() -> argparse.ArgumentParser:
    """All that can be written after `windvane`."""
    parser = argparse.ArgumentParser(
        prog="windvane", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"windvane {windvane.__version__}")
    groups = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for command in COMMANDS:
        command.add_to(groups)
    add_verbose(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code: 0 done, 1 failed, 2 wrong command line, 3 not running."""
    options = make_parser().parse_args(arguments)
    in_pod = "KUBERNETES_SERVICE_HOST" in os.environ  # no user can ask for more there: its log must say it all
    token = verbose.set(getattr(options, "verbose", in_pod))
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT  # what shells expect of a program that Ctrl-C ended
    except BrokenPipeError:  # `windvane crd ... | head`: the reader has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain when it flushes
        return 128 + signal.SIGPIPE
    except Exception as error:  # noqa: BLE001 - whatever it is, a user is not to read a traceback unasked
        return complain_of_defect(error)
    finally:
        verbose.reset(token)
