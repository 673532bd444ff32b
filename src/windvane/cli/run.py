"""`windvane run`: have an operator work on a cluster until somebody asks it to stop."""

import argparse
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.api.names import label_problems
from windvane.cli.command_error import FAILED as FAILED
from windvane.cli.command_error import WRONG_COMMAND_LINE as WRONG_COMMAND_LINE
from windvane.cli.command_error import complain as complain
from windvane.cli.settings import Settings

if TYPE_CHECKING:
    from windvane.cli.operator_run import Orders
    from windvane.cli.webhooks import WebhookOrders
    from windvane.runtime.observability.logs import Form

    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

log = logging.getLogger(__name__)

METRICS_PORT = 8080
NO_PORT = "none"

ABOUT = f"""\
Run an operator on whatever cluster your kubeconfig points at, until Ctrl-C or SIGTERM:

  windvane run website:operator                   # `operator` in website.py, or in the package website
  windvane run examples/website.py:operator       # the same by the file's path
  windvane run website                            # the attribute is `operator` if none is named
  windvane run                                    # the one that [tool.windvane] of ./pyproject.toml names

Each option can also be set by the environment variable in brackets; the command line wins, and an empty variable counts
as not set.

The cluster is that of --kubeconfig, else of KUBECONFIG, else the one whose pod this runs in, else of ~/.kube/config. An
empty KUBECONFIG counts as not set, as for kubectl. The log says first which cluster it is.

The namespaces are those of --namespace, else of WINDVANE_NAMESPACE, else of WATCH_NAMESPACE, else all. OLM passes in
WATCH_NAMESPACE what an OperatorGroup selects, from the annotation olm.targetNamespaces of the pod; empty means all.

Exit codes: 0 stopped as asked, {FAILED} failed, {WRONG_COMMAND_LINE} wrong command line, no such operator, or no
word that CRDs may be installed on that cluster."""


def add_to(groups: "Groups") -> None:
    """Add `run`."""
    parser = groups.add_parser(
        "run",
        help="run an operator on a cluster",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "operator",
        nargs="?",
        metavar="MODULE:ATTRIBUTE",
        help="where the operator is (default: what [tool.windvane] of ./pyproject.toml says)",
    )
    settings = Settings(parser)
    settings.add("--kubeconfig", "how to reach the cluster", metavar="FILE", read=Path)
    settings.add("--context", "which context of the kubeconfig (default: its current one)", metavar="NAME")
    settings.add(
        "--namespace",
        "watch this one; several with commas, or by repeating it (default: all)",
        metavar="NAME",
        read=_namespaces,
        several=True,
        also="WATCH_NAMESPACE",
    )
    settings.add_switch(
        "--install-crds",
        "first apply the CRDs of the operator's own kinds, and wait for them. If the cluster is not on this machine, "
        "it asks before, or needs --context or --yes",
    )
    settings.add_consent(
        "--yes",
        "install CRDs on whatever cluster it is, without asking. With --context NAME that goes without saying: whoever "
        "names a context has not taken the current one for another. In a pod, on its own cluster, nobody is asked",
    )
    settings.add(
        "--concurrency",
        "how many objects each controller works on at once (default: what it declares, or 8)",
        metavar="N",
        read=_positive,
    )
    settings.add_switch(
        "--leader-elect", "of several replicas, one works and the others stand by (default: --leader-elect)"
    )
    settings.add(
        "--shards",
        "split the objects into so many parts, and have all replicas work, each on its own (default: one works on all)",
        metavar="N",
        read=_positive,
    )
    settings.add(
        "--lease-namespace",
        "where the Leases of the replicas are (default: the context's, or the pod's own)",
        metavar="NAME",
        read=_namespace,
    )
    settings.add(
        "--identity",
        "what tells this replica from all others (default: the host's name and a random word)",
        metavar="NAME",
    )
    settings.add(
        "--metrics-port",
        f"where /healthz, /readyz, /metrics and /passes are (default: {METRICS_PORT}; 0: any free port; {NO_PORT}: "
        "nowhere)",
        metavar="N",
        read=_port,
    )
    settings.add(
        "--metrics-host",
        "the address that port is on (default: 0.0.0.0 in a pod, else 127.0.0.1; in a pod with IPv6 only: ::)",
        metavar="ADDRESS",
    )
    settings.add(
        "--history",
        "keep the passes in this file, for windvane why, also after a restart; it grows to 8 MB at most (default: one "
        "beside the kubeconfig of an embedded cluster, else none)",
        metavar="FILE",
        read=Path,
    )
    settings.add_switch(
        "--webhooks", "serve the webhooks that the operator declares, and tell the API server (default: --webhooks)"
    )
    settings.add(
        "--webhook-service",
        "the Service by which API servers reach this pod's webhooks: [NAMESPACE/]NAME[:PORT]",
        metavar="NAME",
        read=_service,
    )
    settings.add(
        "--webhook-url",
        "how the API server reaches the webhooks of this process, if it is no pod: https://HOST:PORT (default: "
        "https://127.0.0.1:PORT, if the API server is on this machine)",
        metavar="URL",
        read=_url,
    )
    settings.add(
        "--webhook-port",
        "where webhooks are served (default: 9443; 0: any free port)",
        metavar="N",
        read=_any_port,
    )
    settings.add(
        "--webhook-host",
        "the address that port is on (default: 127.0.0.1 if the API server is on this machine, else 0.0.0.0)",
        metavar="ADDRESS",
    )
    settings.add(
        "--webhook-client-ca",
        "answer webhooks, except conversions, only to clients whose certificates those in this file vouch for; it may "
        "change (default: to anybody)",
        metavar="FILE",
        read=_client_ca,
    )
    settings.add(
        "--log-format",
        "console or json (default: console on a terminal, else json)",
        metavar="FORMAT",
        read=_one_of("console", "json"),
    )
    settings.add(
        "--log-level",
        "debug, info, warning or error (default: info)",
        metavar="LEVEL",
        read=_one_of("debug", "info", "warning", "error"),
    )
    parser.set_defaults(run=lambda options: _run(options, settings))


def _run(options: argparse.Namespace, settings: Settings) -> int:
    settings.fill_in(options, os.environ)
    from windvane.cli.consent import ConsentRefused, Declined, ask_to_install
    from windvane.cli.load import Broken, NoOperator, load_operator
    from windvane.cli.operator_run import HOW_TO_HAVE_A_CLUSTER, CanNotGoOn, CanNotStart, operate
    from windvane.cli.project import operator_named
    from windvane.client.config import ConfigError, NothingFound
    from windvane.runtime.observability.logs import set_up_logging

    form: Form = options.log_format or ("console" if sys.stderr.isatty() else "json")
    set_up_logging(form, (options.log_level or "info").upper())
    try:
        operator = load_operator(operator_named(options.operator, Path.cwd()), Path.cwd())
        if options.concurrency is not None:
            for declaration in operator.declarations.values():
                declaration.concurrency = options.concurrency
        orders = _orders(options, operator.name)
        if os.environ.get("KUBECONFIG") == "" and not options.kubeconfig and orders.config.context:
            log.warning("KUBECONFIG is empty, which counts as not set: the cluster is that of %s", orders.config.source)
        if orders.install_crds and not options.context and not options.yes:
            ask_to_install(orders.config, operator.name)
        operate(operator, orders)
    except (NoOperator, ConsentRefused) as error:
        return complain(str(error), WRONG_COMMAND_LINE)
    except NothingFound as error:
        return complain(f"{error}\n{HOW_TO_HAVE_A_CLUSTER}", FAILED)
    except (ConfigError, Broken, CanNotStart, CanNotGoOn, Declined) as error:
        return complain(str(error), FAILED)
    return 0


def _orders(options: argparse.Namespace, operator: str) -> "Orders":
    from windvane.cli.history import file_for
    from windvane.cli.operator_run import Orders
    from windvane.client.config import load_config

    port = METRICS_PORT if options.metrics_port is None else options.metrics_port
    host = options.metrics_host or ("0.0.0.0" if "KUBERNETES_SERVICE_HOST" in os.environ else "127.0.0.1")  # noqa: S104
    alone = options.leader_elect is False and not options.shards
    config = load_config(kubeconfig=options.kubeconfig, context=options.context)
    return Orders(
        config=config,
        namespaces=list(dict.fromkeys(options.namespace or ())),  # each once
        health=None if port == NO_PORT else (host, port),
        install_crds=bool(options.install_crds),
        identity="" if alone else options.identity or _new_identity(),
        shards=options.shards or 0,
        lease_namespace=options.lease_namespace or "",
        webhooks=None if getattr(options, "webhooks", None) is False else _webhooks(options),
        history=options.history or file_for(operator, config),
    )


def _webhooks(options: argparse.Namespace) -> "WebhookOrders":
    from windvane.cli.webhooks import PORT, WebhookOrders

    return WebhookOrders(
        host=options.webhook_host or "",
        port=PORT if options.webhook_port is None else options.webhook_port,
        service=options.webhook_service or "",
        url=options.webhook_url or "",
        client_ca=options.webhook_client_ca,
        in_pod="KUBERNETES_SERVICE_HOST" in os.environ,
    )


def _new_identity() -> str:
    import socket

    from windvane import ambient

    return f"{socket.gethostname()}_{ambient.token(8)}"


# Values


def _namespaces(text: str) -> list[str]:
    return [_namespace(name) for each in text.split(",") if (name := each.strip())]


def _namespace(text: str) -> str:
    if problems := label_problems(text):
        raise argparse.ArgumentTypeError(f"{text!r} can't be a namespace: {problems[0]}")
    return text


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def _port(text: str) -> int | str:
    if text.lower() in ("", NO_PORT):
        return NO_PORT
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no port: write a number from 0 (any free one) to 65535, or {NO_PORT}"
        )
    return int(text)


def _any_port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: write a number from 0 (any free one) to 65535")
    return int(text)


def _service(text: str) -> str:
    from windvane.cli.webhooks import read_service

    try:
        read_service(text, "default")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _url(text: str) -> str:
    from windvane.webhook.endpoint import URLEndpoint

    try:
        URLEndpoint(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _client_ca(text: str) -> Path:
    from windvane.webhook.tls import read_authorities

    try:
        read_authorities(Path(text))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return Path(text)


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in words:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(words)}")
        return text.lower()

    return read
