"""`windvane dev`: a cluster, the operator in it under its own rights, and both kept in step with what is saved."""

import argparse
import asyncio
import fcntl
import os
import re
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windvane.cli.command_error import FAILED, WRONG_COMMAND_LINE, complain

if TYPE_CHECKING:
    from windvane.cli.dev.line_output import Lines
    from windvane.cli.dev.live_session import LiveSession, SessionOptions
    from windvane.cli.project import Project
    from windvane.cluster.instance import Instance

    Groups = argparse._SubParsersAction[argparse.ArgumentParser]

ABOUT = f"""\
Work on an operator: a Kubernetes of its own on this machine, the operator in it, and your samples. Save a file, and it
runs with what you wrote.

  windvane dev                              # the operator that [tool.windvane] of ./pyproject.toml names
  windvane dev website.py                   # `operator` in website.py
  windvane dev website:operator --plain | tee dev.log

1  It starts a cluster, and says what to export for kubectl in another terminal.
2  It applies the ServiceAccount and the rights in deploy/, and runs the operator as that account: what it may not do in
   production, it may not do here. A right that is missing is named, with the rule to write.
3  It installs the CRDs, starts the operator, and applies the samples.
4  When you save code, the new version is looked at in a process of its own. If it can't be loaded, you are told the
   line, and the version before goes on. Else changed CRDs are installed, and the operator is restarted as in a rollout.
   Samples that you save are applied again, and so are the rights in deploy/.

What ends is started again: an operator that crashes after a while, a cluster at once, with all that was in it. Ctrl-C
ends the operator, then the cluster; a second one ends everything at once.

On a terminal there is a live view: objects, passes, Events, logs, and keys that break things (? shows them). With
--plain, or into a pipe, it tells everything in lines: passes with why they ran and what they wrote, conditions, Events,
warnings. The view, and noticing what is saved, need: pip install 'windvane[dev]'

Exit codes: 0 ended as asked, {FAILED} no cluster, {WRONG_COMMAND_LINE} wrong command line, or no such operator."""


def add_to(groups: "Groups") -> None:
    """Add `dev`."""
    parser = groups.add_parser(
        "dev",
        help="work on an operator: a cluster, the operator in it, reload on save",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    from windvane.cli.cluster import read_count, read_port

    parser.add_argument("operator", nargs="?", metavar="MODULE:OPERATOR", help="as for windvane run")
    parser.add_argument("--plain", action="store_true", help="tell everything in lines, also on a terminal")
    samples = parser.add_mutually_exclusive_group()
    samples.add_argument(
        "--samples",
        type=Path,
        metavar="DIR",
        help="apply what is in there, or in that file (default: what [tool.windvane] says, or samples/)",
    )
    samples.add_argument("--no-samples", action="store_true", help="apply none")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep the objects for the next `windvane dev` (default: the cluster is empty each time)",
    )
    parser.add_argument("--name", help="what the cluster is called (default: dev- and the operator's module)")
    parser.add_argument("--port", type=read_port, metavar="N", help="the API server's port (default: any free one)")
    parser.add_argument(
        "--pods",
        choices=("auto", "process", "simulated"),
        default="auto",
        help="whether pods are processes: see windvane cluster start --help (default: auto)",
    )
    parser.add_argument("--nodes", type=read_count, default=1, metavar="N", help="how many nodes (default: 1)")
    parser.add_argument("--host-paths", action="store_true", help="let pods see directories of this machine (hostPath)")
    parser.set_defaults(run=_dev)


def _dev(options: argparse.Namespace) -> int:
    from windvane.cli import event_loop
    from windvane.cli.load import NoOperator
    from windvane.cluster.instance import InstanceError

    try:
        wanted, keep = _wanted(options), bool(options.keep)
        with _held(wanted.files, wanted.instance):
            goes_on = _begin(wanted, keep=keep)
            keep, wanted = keep or goes_on, replace(wanted, goes_on=goes_on)
            try:
                return event_loop.run(_work(wanted, plain=options.plain))
            finally:
                _end(wanted, keep=keep)
    except NoOperator as error:
        return complain(str(error), WRONG_COMMAND_LINE)
    except InstanceError as error:
        return complain(str(error), FAILED)


def _wanted(options: argparse.Namespace) -> "SessionOptions":
    from windvane.cli.dev.live_session import SessionOptions
    from windvane.cli.load import NoOperator
    from windvane.cli.project import operator_named, read_project
    from windvane.cluster.instance import find_instance, home

    directory = Path.cwd()
    operator = operator_named(options.operator, directory)
    project = read_project(directory)
    if options.samples is not None and not options.samples.exists():
        raise NoOperator(f"--samples: there is no {options.samples}")
    name = options.name or _name(operator)
    return SessionOptions(
        operator=operator,
        directory=directory,
        samples=_samples(options, project),
        deploy=project.deploy,
        instance=find_instance(name, None, os.environ),
        cluster_arguments=[
            *(("--port", str(options.port)) if options.port is not None else ()),
            *("--pods", options.pods, "--nodes", str(options.nodes)),
            *(("--host-paths",) if options.host_paths else ()),
        ],
        files=home(os.environ) / "dev" / name,
    )


def _samples(options: argparse.Namespace, project: "Project") -> list[Path]:
    if options.no_samples:
        return []
    return [options.samples.absolute()] if options.samples is not None else list(project.samples)


def _name(operator: str) -> str:
    """A cluster's name, from that of a module: `dev-website-operator`."""
    place = operator.partition(":")[0]
    module = Path(place).stem if place.endswith(".py") else place.partition(".")[0]
    word = re.sub("[^a-z0-9]+", "-", module.lower()).strip("-")
    return f"dev-{word or 'operator'}"[:63].rstrip("-")


# What is on disk


@contextmanager
def _held(directory: Path, instance: "Instance") -> Iterator[None]:
    """Have the session's directory to ourselves for the length of the block."""
    from windvane.cluster.instance import InstanceError

    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (directory / "lock").open("a+")
    except OSError as error:
        raise InstanceError(
            f"nothing can be written to {directory}: {error.strerror or error}; set WINDVANE_HOME to another directory"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise InstanceError(
                f"windvane dev runs here already, with pid {file.read().strip() or 'unknown'}: stop it there, or have "
                f"another one beside it with --name {instance.name}-2"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def _kept(wanted: "SessionOptions") -> Path:
    """A file that says of which project objects are kept."""
    return wanted.files / "kept"


def _begin(wanted: "SessionOptions", *, keep: bool) -> bool:
    """Have the cluster be empty, unless objects were kept; whether some were."""
    from windvane.cluster.instance import InstanceError, already_running, command

    if wanted.instance.process() is not None:
        raise already_running(wanted.instance)
    for each in ("operator.log", "cluster.log"):
        (wanted.files / each).unlink(missing_ok=True)
    kept = _kept(wanted)
    if not wanted.instance.lock.exists():
        kept.unlink(missing_ok=True)  # it was reset
    if kept.exists():
        whose = kept.read_text().strip()
        if whose != str(wanted.directory):
            raise InstanceError(
                f"the cluster {wanted.instance.name!r} has objects that were kept for {whose}: take another one with "
                f"--name, or forget them: {command(wanted.instance, 'reset')}"
            )
        return True
    _forget(wanted)
    if keep:
        kept.write_text(f"{wanted.directory}\n")
    return False


def _end(wanted: "SessionOptions", *, keep: bool) -> None:
    from windvane.cluster.instance import command

    if not keep:
        _forget(wanted)
        return
    sys.stdout.write(
        f"The objects stay in {wanted.instance.directory}, and the next windvane dev goes on with them. "
        f"To forget them: {command(wanted.instance, 'reset')}\n"
    )


def _forget(wanted: "SessionOptions") -> None:
    from windvane.cluster.instance import NotRunning, reset

    with suppress(NotRunning):
        asyncio.run(reset(wanted.instance))


# While it runs


async def _work(wanted: "SessionOptions", *, plain: bool) -> int:
    from windvane.cli import event_loop
    from windvane.cli.dev.cluster_process import ClusterFailed
    from windvane.cli.dev.line_output import Lines
    from windvane.cli.dev.live_session import LiveSession
    from windvane.cli.load import NoOperator

    asked = event_loop.asked_to_stop()
    session = LiveSession(wanted)
    lines = Lines(sys.stdout, closed=lambda: None if asked.done() else asked.set_result(signal.SIGPIPE))
    notes = asyncio.ensure_future(lines.tell_notes(session))
    problem: BaseException | None = None
    try:
        if await _first(asked, session.start()):
            await _first(asked, session.keep(), _show(session, lines, plain=plain))
    except* (ClusterFailed, NoOperator) as group:
        problem = group.exceptions[0]
    finally:
        await session.stop()
        await notes
    if problem is None:
        return 0
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return complain(str(problem), WRONG_COMMAND_LINE if isinstance(problem, NoOperator) else FAILED)


async def _first(asked: "asyncio.Future[Any]", *work: Coroutine[Any, Any, object]) -> bool:
    """Do all of this until we are asked to stop, or one of it is done; whether it was that."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        await asyncio.wait([asked, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for each in tasks:
            if each.done():
                each.result()
        return not asked.done()
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.wait(tasks)


async def _show(session: "LiveSession", lines: "Lines", *, plain: bool) -> None:
    """The live view, if this is a terminal and it can be had; else all in lines."""
    from importlib.util import find_spec

    dumb = os.environ.get("TERM", "dumb") == "dumb"  # an editor's shell window, say: it can't move its cursor
    if plain or dumb or not (sys.stdin.isatty() and sys.stdout.isatty()):
        await lines.tell_all(session)
    elif find_spec("textual") is None:
        session.note("for a live view: pip install 'windvane[dev]'")
        await lines.tell_all(session)
    else:
        from windvane.cli.dev.view import show

        with lines.held():  # the terminal is the view's
            await show(session)
