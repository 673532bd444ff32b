"""`windvane plan`: what an operator would do to a cluster, as a diff; nothing is written."""

import argparse
import logging
import os
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.cli.command_error import FAILED, WRONG_COMMAND_LINE, complain, verbose
from windvane.cli.redaction import redact

if TYPE_CHECKING:
    from windvane.api.resource import Object
    from windvane.cli.plan.kubectl_apply import Wire
    from windvane.cli.plan.plan import Plan, PlanRequest
    from windvane.client.config import ClientConfig
    from windvane.client.transport import Transport
    from windvane.runtime.operator import Operator

    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

CHANGES, CUT_SHORT = 10, 11

ABOUT = f"""\
Show what an operator would create, change and delete, field by field. Its own code is run, on a view of the cluster
that keeps what it writes: of the cluster itself, nothing but reads is asked.

  windvane plan -f site.yaml                 what comes of applying a file, and what the operator does then
  windvane plan website/blog                 what the operator would do to one object now
  windvane plan --all                        to all of them: what a new version of its code would change

The operator is that of [tool.windvane] in ./pyproject.toml, or MODULE:OPERATOR, as for windvane run:

  windvane plan website:operator website/blog -n shop

The plan ends when nothing asks for another pass: all is as it should be, or the world must do something first, which
it says. It ends, too, where the operator calls what is outside of the cluster, such as a database. With --outside
record, such calls are really made, and listed; the plan ends before a change that the operator's code announces with
ctx.outside. With --outside allow, all calls are made, also those that change something.

Exit codes: 0 nothing to do, {CHANGES} something to do, {CUT_SHORT} the plan was cut short, so there may be more to do,
{FAILED} no plan, a pass that fails, or an object that the server refuses, {WRONG_COMMAND_LINE} wrong command line."""


def add_to(groups: "Groups") -> None:
    """Add the command."""
    parser = groups.add_parser(
        "plan",
        help="show what an operator would change on a cluster, and write nothing",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "named",
        nargs="*",
        metavar="[MODULE:OPERATOR] [KIND/NAME]",
        help="the operator, unless the project names it; and the objects that are planned",
    )
    parser.add_argument(
        "-f", "--filename", action="append", default=[], metavar="FILE", help="objects to apply first; - is the input"
    )
    parser.add_argument("--all", action="store_true", dest="everything", help="all objects of the operator's kinds")
    parser.add_argument(
        *("-n", "--namespace"),
        type=_namespace,
        metavar="NAME",
        help="this namespace alone, as windvane run --namespace has it work",
    )
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="else KUBECONFIG counts, or ~/.kube/config")
    parser.add_argument("--context", metavar="NAME", help="else the current one counts")
    parser.add_argument(
        "--passes",
        type=_positive,
        metavar="N",
        help="so many passes over an object at most (default: until it settles or waits)",
    )
    parser.add_argument(
        "--install-crds",
        action="store_true",
        help="plan with the CRDs of the operator's classes, and show how they change",
    )
    parser.add_argument(
        "--outside",
        choices=("refuse", "record", "allow"),
        default="refuse",
        help="calls to what is not the API server: end the plan; are made and listed, but for changes that are "
        "announced; or are all made (default: refuse)",
    )
    parser.add_argument(
        "--server",
        action="store_true",
        help="ask the cluster's API server, too, what it would say to each object that is written: by dry runs, which "
        "it keeps nothing of",
    )
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    parser.add_argument(
        *("-v", "--verbose"),
        action="store_true",
        default=argparse.SUPPRESS,
        help="every field and pass, and tracebacks of what fails",
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from windvane.cli.load import Broken, NoOperator, load_operator
    from windvane.cli.manifests import UnreadableManifest
    from windvane.cli.plan.plan import CanNotPlan, named_object
    from windvane.cli.project import operator_named
    from windvane.client.config import ConfigError, NothingFound, load_config
    from windvane.runtime.crds import NotInstalled

    try:
        module, objects = _sorted(options.named)
        if not (objects or options.filename or options.everything):
            return complain("say what is planned: -f FILE, KIND/NAME, or --all", WRONG_COMMAND_LINE)
        with redirect_stdout(sys.stderr):  # there the plan comes, which a program may read
            operator = load_operator(operator_named(module, Path.cwd()), Path.cwd())
        config = load_config(kubeconfig=options.kubeconfig, context=options.context)
        home = options.namespace or config.namespace
        wanted = _wanted(options, home, [named_object(operator, each, home) for each in objects])
    except (NoOperator, UnreadableManifest) as error:
        return complain(str(error), WRONG_COMMAND_LINE)
    except NothingFound as error:
        from windvane.cli.operator_run import HOW_TO_HAVE_A_CLUSTER

        return complain(f"{error}\n{HOW_TO_HAVE_A_CLUSTER}", FAILED)
    except (Broken, CanNotPlan, ConfigError) as error:
        return complain(str(error), FAILED)
    try:
        with redirect_stdout(sys.stderr):
            plan = _made(operator, config, wanted, options)
    except (CanNotPlan, NotInstalled) as error:
        return complain(redact(str(error), {}), FAILED)
    _show(plan, options)
    return exit_code(plan)


def _sorted(named: list[str]) -> tuple[str | None, list[str]]:
    """Which of the words is the operator: an object has a slash in it, and neither a colon nor a file's ending."""
    from windvane.cli.load import NoOperator

    objects = [each for each in named if "/" in each and ":" not in each and not each.endswith(".py")]
    modules = [each for each in named if each not in objects]
    if len(modules) > 1:
        raise NoOperator(f"{' and '.join(modules)} can't both be the operator: objects are written KIND/NAME")
    return next(iter(modules), None), objects


def _objects_in(file: Path) -> "list[Wire]":
    from windvane.cli.manifests import UnreadableManifest, read_manifests, shown

    if not (found := read_manifests(file)):
        raise UnreadableManifest(f"there is no object in {shown(file)}")
    return [each.wire for each in found]


def _wanted(options: argparse.Namespace, home: str, objects: "list[tuple[type[Object], str, str]]") -> "PlanRequest":
    from windvane.cli.plan.plan import PlanRequest

    return PlanRequest(
        objects=objects,
        everything=options.everything,
        manifests=[each for file in options.filename for each in _objects_in(Path(file))],
        namespaces=[options.namespace] if options.namespace else [],
        home=home,
        passes=options.passes,
        install_crds=options.install_crds,
        judged=options.server,
    )


def _made(operator: "Operator", config: "ClientConfig", wanted: "PlanRequest", options: argparse.Namespace) -> "Plan":
    import asyncio
    import signal
    from urllib.parse import urlsplit

    from windvane.cli.plan.outside_calls import Outside
    from windvane.cli.plan.planner import make_plan
    from windvane.client.http import HTTPTransport
    from windvane.runtime.observability.watchdog import Watchdog

    handler = logging.StreamHandler()
    handler.setFormatter(_Clean("%(message)s"))
    logging.basicConfig(level=logging.WARNING if verbose.get() else logging.CRITICAL + 1, handlers=[handler])
    hosts = (urlsplit(each).hostname for each in (config.server, config.proxy_url, *_proxies()) if each)
    outside = Outside(options.outside, ours=frozenset(filter(None, hosts)))

    async def make() -> "Plan":
        # Nothing is written, so nothing has to be brought to an end: Ctrl-C also ends a pass that never awaits.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        transport, watchdog = HTTPTransport(config), Watchdog()
        watchdog.start()  # now: in the plan, time is not the real one
        try:
            await _reached(transport, config)
            return await make_plan(operator, transport, wanted, outside)
        finally:
            watchdog.stop()
            await transport.close()

    # Not uvloop: it opens its sockets itself, and calls to the outside would go unseen.
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        return runner.run(make())


class _Clean(logging.Formatter):
    """What the runtime logs of exceptions, without what looks like a secret."""

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        return redact(super().format(record), {})


async def _reached(transport: "Transport", config: "ClientConfig") -> None:
    """Make sure that an API server is there, and knows us."""
    from windvane.cli.api_server_check import first_answer
    from windvane.cli.plan.plan import CanNotPlan
    from windvane.client.errors import ClientError, Unauthorized

    try:
        await first_answer(transport, config)
    except Unauthorized as error:
        raise CanNotPlan(f"{config.server} does not accept the credentials of {config.source}: {error}") from error
    except ClientError as error:
        raise CanNotPlan(f"{error}. Is it running? --kubeconfig and --context choose another one") from error


def _proxies() -> list[str]:
    return [os.environ.get(each, "") for name in ("http_proxy", "https_proxy") for each in (name, name.upper())]


def _show(plan: "Plan", options: argparse.Namespace) -> None:
    from windvane.cli.plan.report import Words, as_document, in_words

    if options.output == "json":
        import json

        sys.stdout.write(json.dumps(as_document(plan), indent=2, ensure_ascii=False) + "\n")
    else:
        auto = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        coloured = options.color == "always" or (options.color == "auto" and auto)
        sys.stdout.write(in_words(plan, Words(coloured=coloured, everything=verbose.get())))
    sys.stdout.flush()
    if verbose.get():
        for each in plan.tracebacks:
            sys.stderr.write(redact("".join(traceback.format_exception(each)), {}))


def exit_code(plan: "Plan") -> int:
    """What a program is told of a plan."""
    if plan.failures or plan.refusals:
        return FAILED
    if plan.cut_short:
        return CUT_SHORT
    return CHANGES if plan.all_changes else 0


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def _namespace(text: str) -> str:
    from windvane.api.names import label_problems

    if problems := label_problems(text):
        raise argparse.ArgumentTypeError(f"{text!r} can't be a namespace: {problems[0]}")
    return text
