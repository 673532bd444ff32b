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
from windvane.cli.complaint import add_verbose, complain_of_defect, verbose

DESCRIPTION = "windvane: the operator framework for Python, with a Kubernetes API of its own to develop against."


def make_parser() -> argparse.ArgumentParser:
    """All that can be written after `windvane`."""
    parser = argparse.ArgumentParser(prog="windvane", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"windvane {windvane.__version__}")
    groups = parser.add_subparsers(metavar="COMMAND", required=True)
    add.add_to(groups)
    bug_report.add_to(groups)
    cluster.add_to(groups)
    completion.add_to(groups)
    crd.add_to(groups)
    dev.add_to(groups)
    doctor.add_to(groups)
    image.add_to(groups)
    init.add_to(groups)
    plan.add_to(groups)
    run.add_to(groups)
    why.add_to(groups)
    add_verbose(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code: 0 done, 1 failed, 2 wrong command line, 3 not running."""
    options = make_parser().parse_args(arguments)
    in_pod = "KUBERNETES_SERVICE_HOST" in os.environ  # nobody can ask for more there: its log must say it all
    token = verbose.set(getattr(options, "verbose", in_pod))
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT  # what shells expect of a program that Ctrl-C ended
    except BrokenPipeError:  # `windvane crd ... | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain when it flushes
        return 128 + signal.SIGPIPE
    except Exception as error:  # noqa: BLE001 - whatever it is, a user is not to read a traceback unasked
        return complain_of_defect(error)
    finally:
        verbose.reset(token)
