"""The `windvane` command: each group of subcommands is a module here, and this one only finds it.

What a subcommand needs is imported when it runs: `--help` and errors in the command line must not wait for it.
"""

import argparse
from collections.abc import Sequence

import windvane
from windvane.cli import cluster, crd, doctor, image, init, run

DESCRIPTION = "windvane: the operator framework for Python, with a Kubernetes API of its own to develop against."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code: 0 done, 1 failed, 2 wrong command line, 3 not running."""
    parser = argparse.ArgumentParser(prog="windvane", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"windvane {windvane.__version__}")
    groups = parser.add_subparsers(metavar="COMMAND", required=True)
    cluster.add_to(groups)
    crd.add_to(groups)
    doctor.add_to(groups)
    image.add_to(groups)
    init.add_to(groups)
    run.add_to(groups)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return 130  # what shells expect of a program that Ctrl-C ended
