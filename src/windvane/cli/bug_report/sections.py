"""What is in a bug report, section by section."""

import argparse
import os
import platform
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

import windvane
from windvane.api.kind import Kind
from windvane.api.resource import dynamic, kind_of, object_to_wire
from windvane.cli.command_error import crash_file
from windvane.cli.doctor import check_cluster
from windvane.cli.doctor.cluster_checks import API_SERVER
from windvane.cli.doctor.finding import Finding, fail
from windvane.cli.doctor.machine_checks import check_machine
from windvane.cli.history import CLUSTER, files_of
from windvane.cli.redaction import outline, redact
from windvane.client.client import Client
from windvane.client.config import ClientConfig, ConfigError, load_config
from windvane.client.errors import ClientError
from windvane.client.http import HTTPTransport
from windvane.runtime.crds import NotInstalled, definitions
from windvane.runtime.observability.history import Pass, Trigger
from windvane.runtime.observability.journal import read_journal
from windvane.runtime.operator import Operator
from windvane.runtime.rbac import own_kinds

OBJECTS = 30
"""So many objects of each kind, those that are not ready first."""
PASSES = 200
LINES = 200
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
VARIABLES = ("KUBECONFIG", "WATCH_NAMESPACE", "KUBERNETES_SERVICE_HOST", "NO_COLOR", "HTTPS_PROXY", "NO_PROXY")


async def write_report(options: argparse.Namespace, operator: Operator | None, problem: str, began: datetime) -> str:
    """The whole page, without what may be secret."""
    config: ClientConfig | None = None
    with suppress(ConfigError):  # the findings say so
        config = load_config(kubeconfig=options.kubeconfig, context=options.context)
    parts = [f"# Bug report\n\nwindvane {windvane.__version__}, {began:%Y-%m-%d %H:%M} UTC\n"]
    parts += ["## What happened\n\n(What did you do, what did you expect, and what came instead?)\n"]
    parts += _section("Machine", _machine())
    parts += _section("Packages", _packages())
    if problem:
        parts += _section("The operator can't be loaded", problem.splitlines())
    if operator is not None:
        parts += _section(f"Operator {operator.name}", _operator(operator))
    findings = await _findings(options, operator)
    parts += _section("Findings", _lines(findings))
    answers = not any(each.what == API_SERVER and each.level == "fail" for each in findings)
    if operator is not None and config is not None and answers:  # else it would be asked in vain for each kind
        parts += [part async for part in _objects(config, operator, _namespaces(options))]
    if config is not None:
        parts += _section(f"The last {PASSES} passes", _passes(files_of(config)))
        if config.kubeconfig is not None and files_of(config):
            parts += _section("The embedded cluster's log", _tail(config.kubeconfig.with_name("log")))
    parts += _section("The last crash of a command", _tail(crash_file(os.environ)))
    return redact("\n".join(parts), _known(config))


def _known(config: ClientConfig | None) -> Mapping[str, str]:
    """What is this person's own: where they work, and on which cluster."""
    known = {str(Path.home()): "~"} if Path.home() != Path("/") else {}
    host = urlsplit(config.server).hostname if config is not None else None
    if host and host not in LOOPBACK:
        known[host] = "cluster.example"
    return known


def _section(title: str, lines: Iterable[str]) -> list[str]:
    """Nothing if there is nothing to tell."""
    text = "\n".join(lines)
    # A fence that is longer than any in the text: a traceback may show a docstring with one.
    fence = "`" * max(3, 1 + max((len(each) for each in text.split("\n") if set(each) == {"`"}), default=0))
    return [f"## {title}\n\n{fence}\n{text}\n{fence}\n"] if text else []


# Here


def _machine() -> Iterator[str]:
    yield f"{platform.platform()}, {os.cpu_count()} CPUs, {platform.python_implementation()}"
    for name in sorted(os.environ):
        if name in VARIABLES or name.startswith("WINDVANE_"):
            yield f"{name}={os.environ[name]}"
    yield from _lines(check_machine())


def _packages() -> Iterator[str]:
    """What windvane needs, and what these need; other packages are confidential."""
    seen: dict[str, str] = {}
    wanted = ["windvane"]
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        with suppress(metadata.PackageNotFoundError):
            found = metadata.distribution(name)
            seen[name] = found.version
            extras = name == "windvane"  # its own are part of it
            wanted += [_distribution(each) for each in found.requires or () if extras or "extra ==" not in each]
    yield from (f"{name} {version}" for name, version in sorted(seen.items()))


def _distribution(requirement: str) -> str:
    end = next((at for at, each in enumerate(requirement) if not (each.isalnum() or each in "._-")), None)
    return requirement[:end].lower().replace("_", "-")


def _operator(operator: Operator) -> Iterator[str]:
    for name, declaration in operator.declarations.items():
        sees = [str(each) for each in declaration.sees if each.kind != declaration.kind]
        yield f"controller {name}: {declaration.kind}, sees {', '.join(sees) or 'nothing else'}"
    for what, hooks in (("default", operator.defaulting), ("validate", operator.validating)):
        yield from (
            f"webhook {what} {kind_of(hook.what).resource}: {', '.join(hook.operations)}" for hook in hooks.values()
        )
    for module in sorted({each.reconcile.__module__ for each in operator.declarations.values()}):
        yield f"module {module}: {getattr(sys.modules.get(module), '__file__', '')}"


def _lines(findings: Iterable[Finding]) -> Iterator[str]:
    for each in findings:
        yield f"{each.level:<4} {each.what}: {each.words}"


async def _findings(options: argparse.Namespace, operator: Operator | None) -> list[Finding]:
    try:
        return [each async for each in check_cluster(options, operator)]
    except ClientError as error:
        return [fail("cluster", str(error), "")]


# There


def _namespaces(options: argparse.Namespace) -> list[str]:
    return [each for each in (options.namespace or "").split(",") if each] or [""]


async def _objects(config: ClientConfig, operator: Operator, namespaces: Sequence[str]) -> AsyncIterator[str]:
    try:
        crds = {each["spec"]["names"]["kind"]: each["spec"]["versions"] for each in definitions(own_kinds(operator))}
    except NotInstalled:  # the findings say so
        crds = {}
    async with Client(HTTPTransport(config), namespace=config.namespace) as client:
        for what in own_kinds(operator):
            kind = kind_of(what)
            schema = _schema(crds.get(kind.name, ()), kind.version)
            try:
                found = [each for namespace in namespaces for each in await _list(client, kind, namespace)]
            except ClientError as error:
                for part in _section(f"Objects of {kind.resource}", [str(error)]):
                    yield part
                continue
            found.sort(key=_is_ready)
            shown = [outline(each, schema) for each in found[:OBJECTS]]
            text = yaml.safe_dump_all(shown, sort_keys=False, allow_unicode=True, width=120) if shown else ""
            title = f"Objects of {kind.resource}: {len(shown)} of {len(found)}"
            for part in _section(title, text.splitlines()):
                yield part


def _schema(versions: Iterable[Mapping[str, Any]], version: str) -> Mapping[str, Any]:
    schemas: Iterator[Mapping[str, Any]] = (
        each["schema"]["openAPIV3Schema"] for each in versions if each["name"] == version
    )
    return next(schemas, {})


async def _list(client: Client, kind: Kind, namespace: str) -> list[dict[str, Any]]:
    """As they are stored: one that its class can't read may be what is to be reported."""
    return [object_to_wire(each) async for each in client.list(dynamic(kind), namespace=namespace)]


def _is_ready(wire: Mapping[str, Any]) -> bool:
    conditions = (wire.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _passes(files: Iterable[Path]) -> Iterator[str]:
    """The last ones. Of the cluster's own controllers, those that came and found nothing to do are left out."""
    entries = [
        entry
        for file in files
        for entry in read_journal(file)
        if entry.done is None or file.name != CLUSTER or entry.done.writes or entry.done.message
    ]
    entries.sort(key=lambda each: each.at)
    for entry in entries[-PASSES:]:
        words = _told(entry.done) if entry.done else "begins its work" if entry.started else "ends its work"
        yield f"{entry.at:%H:%M:%S.%f} {entry.operator}: {words}"


def _told(done: Pass) -> str:
    why = ", ".join(f"{each}{_change(each)}" for each in done.triggers)
    wrote = f"; wrote {', '.join(map(str, done.writes))}" if done.writes else ""
    came = ": ".join(filter(None, (done.result, done.message)))
    again = f"; again in {done.again:.1f} s" if done.again is not None else ""
    return f"{done.kind} {done.where} because {why} → {came} in {done.seconds * 1000:.0f} ms{wrote}{again}"


def _change(trigger: Trigger) -> str:
    said = ": ".join(filter(None, (trigger.manager, "; ".join(trigger.fields))))
    return f" ({said})" if said else ""


def _tail(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES:]
    except OSError:
        return []
