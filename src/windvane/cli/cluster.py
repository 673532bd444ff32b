"""`windvane cluster`: start and stop an embedded Kubernetes control plane, and see what it is doing."""

import argparse
import os
import select
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from windvane.cli.garbage_collection import nothing_collected
from windvane.cluster.apiserver.admission.order import switched_on
from windvane.cluster.instance import (
    Instance,
    InstanceError,
    NotRunning,
    Process,
    already_running,
    command,
    find_instance,
    not_running,
    prepare,
    reset,
    stop,
)

if TYPE_CHECKING:
    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

FAILED, NOT_RUNNING = 1, 3
READY_WITHIN = 60.0
READY = b"ready"
PREFIX = "windvane: "

ABOUT = """\
A Kubernetes control plane in one process, for development, tests and demonstrations: no Docker, no root, no download.
It listens on 127.0.0.1 only, and only who can read its kubeconfig gets in."""

START = """\
Start the cluster, and use it from another terminal:

  windvane cluster start
  export KUBECONFIG=$(windvane cluster kubeconfig)
  kubectl get namespaces

It goes on with the objects that it had when it last stopped. Ctrl-C stops it; --detach lets it run in the background
until `windvane cluster stop`. Clusters with different names, or in different directories, run side by side."""

RESET = """\
Remove the objects, certificates and kubeconfig of a cluster that is not running. The next start begins empty."""


def add_to(groups: "Groups") -> None:
    """Add `cluster` and its subcommands."""
    parser = groups.add_parser("cluster", help="an embedded Kubernetes control plane", description=ABOUT)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    start = _command(commands, "start", _start, "start it, or go on where it stopped", START)
    start.add_argument("--detach", action="store_true", help="return when it is ready, and let it run")
    start.add_argument("--memory", action="store_true", help="write no objects to disk: they are gone when it stops")
    start.add_argument(
        "--no-controllers",
        action="store_true",
        help="an API server alone: nothing is made, kept or cleaned up because of what you write",
    )
    start.add_argument(
        "--pods",
        choices=("auto", "process", "simulated"),
        default="auto",
        help="auto (default): a pod runs if there is a program for its image, and is simulated if nothing is known of "
        "that; process: such a pod waits until there is one; simulated: no program runs",
    )
    start.add_argument(
        "--nodes",
        type=read_count,
        default=1,
        metavar="N",
        help="how many nodes there are to share the pods (default: 1)",
    )
    start.add_argument("--host-paths", action="store_true", help="let pods see directories of this machine (hostPath)")
    start.add_argument(
        "--port", type=read_port, metavar="N", help="listen there (default: where it did last, or any free port)"
    )
    start.add_argument(
        "--audit-log", type=Path, metavar="FILE", help="record there who asks for what, one JSON object on each line"
    )
    start.add_argument(
        "--enable-admission-plugins",
        type=_plugins,
        default=frozenset(),
        metavar="NAMES",
        help="admission plugins, separated by commas, that are off by default: OwnerReferencesPermissionEnforcement",
    )
    start.add_argument("--ready-fd", type=int, help=argparse.SUPPRESS)
    _command(commands, "stop", _stop, "stop it; its data stays", "Stop the cluster, and return when it has stopped.")
    _command(commands, "status", _status, "say whether it runs, and where its files are", "Exit code 3: not running.")
    _command(
        commands,
        "kubeconfig",
        _kubeconfig,
        "print where its kubeconfig is",
        "Print the path of the kubeconfig, whether the cluster runs or not: "
        "export KUBECONFIG=$(windvane cluster kubeconfig)",
    )
    _command(commands, "reset", _reset, "remove its data", RESET)


def _command(
    commands: "Groups", name: str, run: Callable[[argparse.Namespace, Instance], int], summary: str, text: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=summary, description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", help="which cluster (default: default)")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="the directory it lives in (default: clusters/NAME in $WINDVANE_HOME, which is "
        "~/.local/share/windvane if not set)",
    )
    parser.set_defaults(run=lambda options: _explained(run, options))
    return parser


def _explained(run: Callable[[argparse.Namespace, Instance], int], options: argparse.Namespace) -> int:
    """Run a subcommand; what it can't do is said in one sentence, without a traceback."""
    try:
        return run(options, find_instance(options.name, options.data, os.environ))
    except InstanceError as error:
        sys.stderr.write(f"{PREFIX}{error}\n")
        return NOT_RUNNING if isinstance(error, NotRunning) else FAILED


def _start(options: argparse.Namespace, instance: Instance) -> int:
    if options.detach:
        return _start_detached(options, instance)
    with ExitStack() as loading:
        loading.enter_context(nothing_collected())
        from windvane.cli import event_loop
        from windvane.cluster.startup import run

        def started(process: Process) -> None:
            loading.close()
            if options.ready_fd is not None:
                os.write(options.ready_fd, READY)
                os.close(options.ready_fd)
            _say(*_how_to_use(instance, process), f"Ctrl-C stops it; {_what_stays(instance, process)}.")

        async def until_asked_to_stop() -> None:
            await run(
                instance,
                port=options.port,
                memory=options.memory,
                controllers=not options.no_controllers,
                pods=options.pods,
                nodes=options.nodes,
                host_paths=options.host_paths,
                audit_log=options.audit_log,
                admission_plugins=options.enable_admission_plugins,
                started=started,
                until=event_loop.asked_to_stop(),
            )

        event_loop.run(until_asked_to_stop())
    _say("", "Stopped.")
    return 0


def _start_detached(options: argparse.Namespace, instance: Instance) -> int:
    prepare(instance)
    if instance.process() is not None:
        raise already_running(instance)  # before its log is emptied
    heard, told = os.pipe()
    log = os.open(instance.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    child = subprocess.Popen(
        [
            *(sys.executable, "-m", "windvane.cli", "cluster", "start"),
            *("--name", instance.name, "--data", str(instance.directory)),
            *(("--port", str(options.port)) if options.port is not None else ()),
            *(("--memory",) if options.memory else ()),
            *(("--no-controllers",) if options.no_controllers else ()),
            *("--pods", options.pods, "--nodes", str(options.nodes)),
            *(("--host-paths",) if options.host_paths else ()),
            *(("--audit-log", str(options.audit_log)) if options.audit_log is not None else ()),
            *(("--enable-admission-plugins", ",".join(wanted)) if (wanted := options.enable_admission_plugins) else ()),
            *("--ready-fd", str(told)),
        ],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=[told],
        start_new_session=True,  # Ctrl-C in this terminal is not meant for it
    )
    os.close(told)
    from windvane.cluster.readiness import is_ready  # while it starts: there is time for that now

    # The pipe speaks when the child is ready, and ends if it dies: there is nothing to poll.
    speaks, _, _ = select.select([heard], [], [], READY_WITHIN)
    if not speaks:
        child.terminate()
        raise InstanceError(
            f"the cluster {instance.name!r} was not ready within {READY_WITHIN:g} s; see {instance.log}"
        )
    if os.read(heard, len(READY)) != READY:
        child.wait()
        words = instance.log.read_text(errors="replace").strip()
        if words.startswith(PREFIX):
            raise InstanceError(words.removeprefix(PREFIX))
        raise InstanceError(f"the cluster {instance.name!r} ended while it started. It said:\n{words or '(nothing)'}")
    process = instance.process()
    if process is None or not is_ready(instance, within=READY_WITHIN):
        raise InstanceError(f"the cluster {instance.name!r} started, but does not answer; see {instance.log}")
    _say(*_how_to_use(instance, process), f"Stop it: {command(instance, 'stop')}; {_what_stays(instance, process)}.")
    return 0


def _stop(options: argparse.Namespace, instance: Instance) -> int:
    import asyncio

    del options
    process = asyncio.run(stop(instance))
    _say(f"Stopped (pid {process.pid}); {_what_stays(instance, process)}.")
    return 0


def _status(options: argparse.Namespace, instance: Instance) -> int:
    from windvane.cluster.readiness import is_ready

    del options
    process = instance.process()
    if process is None:
        raise not_running(instance)
    state = "ready" if is_ready(instance) else "not ready"
    _say(f"The cluster {instance.name!r} is running and {state}, with pid {process.pid}.", *_places(instance, process))
    return 0


def _kubeconfig(options: argparse.Namespace, instance: Instance) -> int:
    del options
    # Also if it does not run: an empty KUBECONFIG would be as good as none, and lead to another cluster.
    _say(str(instance.kubeconfig))
    if instance.process() is None:
        sys.stderr.write(f"{PREFIX}{not_running(instance)}\n")
    return 0


def _reset(options: argparse.Namespace, instance: Instance) -> int:
    import asyncio

    del options
    asyncio.run(reset(instance))
    _say(f"The cluster {instance.name!r} is empty: everything of it in {instance.directory} was removed.")
    return 0


def _how_to_use(instance: Instance, process: Process) -> Iterator[str]:
    yield f"The cluster {instance.name!r} is ready, with pid {process.pid}."
    yield from _places(instance, process)
    yield ""
    yield f"    export KUBECONFIG={shlex.quote(str(instance.kubeconfig))}"
    yield "    kubectl get namespaces"
    yield ""


def _places(instance: Instance, process: Process) -> Iterator[str]:
    yield f"  server      {process.url}"
    yield f"  kubeconfig  {instance.kubeconfig}"
    yield f"  data        {'in memory' if process.memory else instance.directory}"


def _what_stays(instance: Instance, process: Process) -> str:
    return "nothing stays, for all is in memory" if process.memory else f"the data stays in {instance.directory}"


def read_count(text: str) -> int:
    """A number of nodes."""
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of nodes: write one from 1 to 100")
    return int(text)


def _plugins(text: str) -> frozenset[str]:
    try:
        return switched_on(filter(None, text.split(",")))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_port(text: str) -> int:
    """A port to listen on."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: write a number from 0 (any free one) to 65535")
    return int(text)


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()  # into a pipe or a file, too: its reader may be waiting for it
