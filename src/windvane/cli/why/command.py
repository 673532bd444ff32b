"""`windvane why KIND/NAME`: why an object is as it is, from what operators noted and what the cluster has now."""

import argparse
import asyncio
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.cli.command_error import FAILED, WRONG_COMMAND_LINE, complain

if TYPE_CHECKING:
    from windvane.cli.why.explanation import Explanation
    from windvane.cli.why.histories import Histories
    from windvane.client.config import ClientConfig

    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

ABOUT = """\
Say why an object is as it is: the answer first, and then the chain that led to it: which change, by which field
manager, brought on which pass, and what that saw, wrote, waited for or failed at; across owners and children,
operators, and their restarts.

  windvane why website/blog              why is it not ready? why did the operator run again?
  windvane why deployment blog -n web    kinds are named as for kubectl: kind, plural, short name, with a group
  windvane why pod/blog-7d9f             built-in kinds too; also of an object that is gone: why was it deleted?

It names the child that an object waits for, down to the pod and its image; the finalizer that keeps what is being
deleted, and which operator should take it off; the webhook that refuses; the field that two clients keep changing.

What happened is in histories: those of an embedded cluster and of the operators that `windvane run` runs on it are
found by themselves. On any other cluster: windvane run OPERATOR --history FILE, and windvane why ... --history FILE.
Without one, it says what the objects, their conditions, managedFields and Events tell. Nothing is written, and of
Secrets and ConfigMaps nothing but the metadata is read.

Exit codes: 0 answered, 1 it can't be told, 2 wrong command line, 4 there is no such object and no history of one."""

MISSING = 4


def add_to(groups: "Groups") -> None:
    """Add the command."""
    parser = groups.add_parser(
        "why",
        help="why an object is as it is: not ready, deleted, changed again",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("object", nargs="+", metavar="KIND/NAME", help="such as website/blog, or website blog")
    parser.add_argument("-n", "--namespace", metavar="NAME", help="where it is (default: the context's)")
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="else KUBECONFIG counts, or ~/.kube/config")
    parser.add_argument("--context", metavar="NAME", help="else the current one counts")
    parser.add_argument(
        "--history",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="what windvane run --history FILE has written, beside what is found by itself; may be repeated",
    )
    parser.add_argument("--all", action="store_true", help="the whole chain, with what it led to, and all Events")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="text (default) or json")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from windvane.cli.operator_run import HOW_TO_HAVE_A_CLUSTER
    from windvane.cli.why.histories import UnreadableHistory, read_histories
    from windvane.cli.why.inquiry import NothingKnown
    from windvane.cli.why.reference import WrongReference, split_reference
    from windvane.client.config import ConfigError, NothingFound, load_config
    from windvane.client.errors import ClientError, Unauthorized

    try:
        kind, name = split_reference(options.object)
        config = load_config(kubeconfig=options.kubeconfig, context=options.context)
        histories = read_histories(config, options.history)
        return _show(asyncio.run(_explain(options, config, histories, kind, name)), options)
    except NothingKnown as error:
        return complain(str(error), MISSING)
    except WrongReference as error:
        return complain(str(error), WRONG_COMMAND_LINE)
    except NothingFound as error:
        return complain(f"{error}\n{HOW_TO_HAVE_A_CLUSTER}", FAILED)
    except Unauthorized as error:
        return complain(f"{config.server} does not accept the credentials of {config.source}: {error}", FAILED)
    except (ConfigError, UnreadableHistory, ClientError, ValueError) as error:
        return complain(str(error), FAILED)


async def _explain(
    options: argparse.Namespace, config: "ClientConfig", histories: "Histories", kind: str, name: str
) -> "Explanation":
    from windvane.cli.api_server_check import first_answer
    from windvane.cli.why.inquiry import inquire
    from windvane.client.client import Client
    from windvane.client.http import HTTPTransport

    async with Client(HTTPTransport(config), namespace=config.namespace) as client:
        await first_answer(client.calls.transport, config)
        return await inquire(client, histories, kind, name, namespace=options.namespace or "", everything=options.all)


def _show(explanation: "Explanation", options: argparse.Namespace) -> int:
    if options.output == "json":
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(explanation), indent=2).decode() + "\n")
    else:
        from windvane import ambient
        from windvane.cli.why.explanation import lines_of, wrapped

        lines = lines_of(explanation, ambient.now(), everything=options.all)
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns
            lines = (part for line in lines for part in wrapped(line, width))
        sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0
