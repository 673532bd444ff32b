"""`windvane doctor`: whether this machine, a cluster, and an operator on it are as they should be, with what to do."""

import argparse
import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.cli.command_error import FAILED, WRONG_COMMAND_LINE, complain

if TYPE_CHECKING:
    from windvane.cli.doctor.finding import Finding
    from windvane.client.config import ClientConfig
    from windvane.runtime.operator import Operator

    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

ABOUT = """\
Look whether everything is as it should be, and say what to do where it isn't. Nothing is written.

  windvane doctor                       this machine, and the cluster that your kubeconfig leads to; an operator as well
                                        if [tool.windvane] of ./pyproject.toml names one
  windvane doctor website:operator      an operator as well: CRDs, rights, its Lease, its webhooks
  windvane doctor website:operator --as system:serviceaccount:websites:website
                                        with the rights of its ServiceAccount: you need the one to impersonate it

Exit codes: 0 all is well, 1 something failed, 2 wrong command line."""


def add_to(groups: "Groups") -> None:
    """Add the command."""
    parser = groups.add_parser(
        "doctor",
        help="what is wrong here, on the cluster, or with an operator's rights",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_cluster_options(parser)
    parser.set_defaults(run=_run)


def add_cluster_options(parser: argparse.ArgumentParser) -> None:
    """Which operator is looked at, on which cluster, and with whose rights."""
    parser.add_argument("operator", nargs="?", metavar="MODULE:OPERATOR", help="as for windvane run")
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="else KUBECONFIG counts, or ~/.kube/config")
    parser.add_argument("--context", metavar="NAME", help="else the current one counts")
    parser.add_argument("--namespace", metavar="A,B", help="the namespaces that it works in (default: all)")
    parser.add_argument(
        "--lease-namespace",
        metavar="NAME",
        help="where its Lease is (default: that of the ServiceAccount of --as, else that of the context)",
    )
    parser.add_argument("--no-leader-elect", action="store_true", help="it runs without a Lease")
    parser.add_argument("--as", dest="user", metavar="USER", help="look with that user's rights")


def _run(options: argparse.Namespace) -> int:
    from windvane.cli.doctor.finding import show
    from windvane.cli.doctor.machine_checks import check_machine
    from windvane.cli.load import Broken, NoOperator, load_operator
    from windvane.cli.project import read_project

    operator = None
    try:
        options.operator = options.operator or read_project(Path.cwd()).operator
        if options.operator:
            operator = load_operator(options.operator, Path.cwd())
    except NoOperator as error:
        return complain(str(error), WRONG_COMMAND_LINE)
    except Broken as error:
        return complain(str(error), FAILED)
    here = show(check_machine())
    there = asyncio.run(_show_cluster(options, operator))
    return 0 if here and there else FAILED


async def _show_cluster(options: argparse.Namespace, operator: "Operator | None") -> bool:
    from windvane.cli.doctor.finding import show

    well = True
    async for each in check_cluster(options, operator):
        well = show([each]) and well
    return well


async def check_cluster(options: argparse.Namespace, operator: "Operator | None") -> AsyncIterator["Finding"]:
    """Look at the cluster that the options say, and at the operator on it."""
    from windvane.cli.doctor.cluster_checks import HAVE_A_CLUSTER, OperatorPlace, check_operator, check_server
    from windvane.cli.doctor.finding import fail, ok, warn
    from windvane.client.client import Client
    from windvane.client.config import ConfigError, load_config
    from windvane.client.http import HTTPTransport

    if os.environ.get("KUBECONFIG") == "" and not options.kubeconfig:
        yield warn("cluster", "KUBECONFIG is empty, which counts as not set", "unset KUBECONFIG, or name a file")
    try:
        config: ClientConfig = load_config(kubeconfig=options.kubeconfig, context=options.context)
    except ConfigError as error:
        yield fail("cluster", str(error), f"to have one on this machine: {HAVE_A_CLUSTER}")
        return
    if options.user:
        config = replace(config, impersonate_user=options.user)
    who = f", as {options.user}" if options.user else ""
    yield ok("cluster", f"{config.server}, {config.source}, namespace {config.namespace}{who}")
    async with Client(HTTPTransport(config), namespace=config.namespace) as client:
        answered = await check_server(client, config)
        yield answered
        if operator is None or answered.level == "fail":
            return
        if not options.user:
            yield ok("rights", f"looked at as yours; as the operator's: windvane doctor --as {_account()}")
        client.field_manager = operator.name
        namespaces = [each for each in (options.namespace or "").split(",") if each]
        home = options.lease_namespace or _namespace_of(options.user) or config.namespace
        place = OperatorPlace(options.operator, namespaces, home, not options.no_leader_elect)
        async for each in check_operator(client, operator, place):
            yield each


def _namespace_of(user: str | None) -> str:
    """Where the pods of a ServiceAccount are, and so the Lease of the operator in them; empty for other users."""
    words = (user or "").split(":")
    return words[2] if len(words) == 4 and words[:2] == ["system", "serviceaccount"] else ""


def _account() -> str:
    """The account that the operator has in a cluster, as far as the project says."""
    from windvane.cli.dev.deploy_manifests import read_deployed
    from windvane.cli.load import NoOperator
    from windvane.cli.manifests import UnreadableManifest, manifest_files, read_manifests
    from windvane.cli.project import read_project

    with suppress(NoOperator, UnreadableManifest):
        deploy = read_project(Path.cwd()).deploy
        files = manifest_files([deploy]) if deploy is not None else []
        account = read_deployed(each for file in files for each in read_manifests(file)).account
        if account is not None:
            return f"system:serviceaccount:{account.namespace}:{account.name}"
    return "system:serviceaccount:NAMESPACE:NAME"
