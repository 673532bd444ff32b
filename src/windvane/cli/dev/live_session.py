"""The session of `windvane dev`: a cluster, the operator in it under its own rights, and both kept as the files say.

    cluster ──▶ rights from deploy/ ──▶ CRDs ──▶ operator ──▶ samples
                      ▲                   ▲          ▲           ▲
                      └──── saved ────────┴── saved ─┘           └── saved

New code is looked at before anything else (`candidate.py`): what can't be loaded changes nothing.
"""

import asyncio
import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from windvane import ambient
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.api.resource import object_from_wire
from windvane.cli.dev.applier import Applier
from windvane.cli.dev.candidate import Bad, Candidate, Good, Sources, examine
from windvane.cli.dev.cluster_process import ClusterProcess
from windvane.cli.dev.definitions import definition_changes
from windvane.cli.dev.files import Files
from windvane.cli.dev.grants import Grants
from windvane.cli.dev.log_lines import LogLine, keep_line
from windvane.cli.dev.operator_process import OperatorProcess
from windvane.cli.dev.relay import Relay
from windvane.cli.dev.samples import Samples
from windvane.cli.dev.session import Described, Note, State
from windvane.cli.dev.transcript import Transcript
from windvane.cli.load import NoOperator
from windvane.cli.manifests import shown
from windvane.client.client import Client
from windvane.client.errors import ClientError
from windvane.cluster.instance import Instance
from windvane.runtime.crds import NotInstalled, install_definitions
from windvane.runtime.observability.history import Pass
from windvane.runtime.observability.journal import follow_journal

HISTORY = "dev.jsonl"
IDENTITY = "windvane-dev"
"""By its name, the next process of the operator need not wait for the Lease of one that was killed."""


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """What was asked for."""

    operator: str
    """MODULE:OPERATOR."""
    directory: Path
    """Where modules are looked for first."""
    samples: Sequence[Path]
    deploy: Path | None
    instance: Instance
    cluster_arguments: Sequence[str]
    files: Path
    """A directory of the session's own: logs, and what the operator is given."""
    goes_on: bool = False
    """Whether there are objects that were kept from last time."""


class LiveSession:
    """Implements `Session`: `start`, then `keep` until that fails or is cancelled, and `stop` in any case."""

    def __init__(self, wanted: SessionOptions) -> None:
        self._wanted = wanted
        self._began = ambient.now()
        self._grants = Grants(wanted.deploy, wanted.files, self.note)
        self._notes: Transcript[Note] = Transcript()
        self.log_lines: Transcript[LogLine] = Transcript()
        self._stack = AsyncExitStack()
        self._client: Client | None = None
        self._described: Described | None = None
        self._good: Good | None = None
        self._fault: Bad | None = None
        self._samples: Samples | None = None
        self._wake_samples = asyncio.Event()
        self._cluster = ClusterProcess(
            wanted.instance, wanted.cluster_arguments, log=wanted.files / "cluster.log", note=self.note
        )
        self._relay = Relay(lambda: self._cluster.process.port)
        self._operator = OperatorProcess(
            self._command,
            directory=wanted.directory,
            environment={"KUBECONFIG": str(self._grants.kubeconfig)},  # also for what the author's code connects to
            log=self._log,
            note=self.note,
            settled=self._wake_samples.set,
        )
        self._files = Files()
        self._examined = _Examined(ambient.now(), Sources())
        self._unexamined = False  # whether there is code that was saved, and not looked at to the end

    # What the view and the lines see

    @property
    def client(self) -> Client:
        """A client that may do everything."""
        if self._client is None:
            raise RuntimeError("the cluster has not started")
        return self._client

    @property
    def kubeconfig(self) -> Path:
        """For kubectl in another terminal."""
        return self._wanted.instance.kubeconfig

    @property
    def described(self) -> Described | None:
        """What the operator that runs declares."""
        return self._described

    @property
    def state(self) -> State:
        """How the operator is."""
        if self._fault is not None and self._operator.state != State.STOPPED:
            return State.BROKEN
        return self._operator.state

    @property
    def alive(self) -> bool:
        """Whether a process of it is there, also one with code that was saved before."""
        return self._operator.runs

    @property
    def problem(self) -> str:
        """Why it is broken, has crashed, or can't get ready."""
        if self._fault is not None:
            return "\n".join(filter(None, (self._fault.words, self._fault.detail)))
        return self._operator.problem or "\n".join(self._grants.missing) or self._operator.unready

    def notes(self) -> AsyncIterator[Note]:
        """The notes so far, and each note as it is made."""
        return self._notes.read()

    async def passes(self) -> AsyncIterator[Pass]:
        """The passes of this session's operator, and each as it ends."""
        async for entry in follow_journal(self._history):
            if entry.done is not None and entry.at >= self._began:  # others may have been kept from an earlier session
                yield entry.done

    async def log(self) -> AsyncIterator[str]:
        """The lines that the operator has logged, and each as it comes."""
        async for line in self.log_lines.read():
            yield str(line)
            for below in line.exception.splitlines():
                yield f"    {below}"

    async def restart(self) -> None:
        """End the operator as SIGTERM does, and start it anew."""
        self.note("the operator is restarted")
        await self._operator.restart()

    async def kill(self) -> None:
        """End it as SIGKILL does; it is started again."""
        await self._operator.kill()

    async def pause(self) -> None:
        """Have its process stand still."""
        self._operator.pause()

    async def resume(self) -> None:
        """Have it go on."""
        self._operator.resume()

    async def drop_watches(self) -> None:
        """Cut all its connections to the API server."""
        there = self._relay.cut()
        self.note(f"the operator's connections to the API server were cut: {there}")

    def note(self, words: str, *, problem: bool = False, detail: str = "") -> None:
        """Say something to a person."""
        self._notes.add(Note(at=ambient.now(), words=words, problem=problem, detail=detail))

    # Its life

    async def start(self) -> None:
        """Have a cluster and, if the code is good, all that the operator needs.

        `ClusterFailed` or `NoOperator` if there is nothing to wait for.
        """
        self._grants.read()
        self.note("a cluster is starting on this machine")
        async with asyncio.TaskGroup() as both:
            both.create_task(self._cluster.start())
            examining = both.create_task(self._examine())
        self._client = await self._stack.enter_async_context(
            Client.connect(kubeconfig=self.kubeconfig, field_manager=IDENTITY)
        )
        candidate = examining.result()
        if isinstance(candidate, Bad) and candidate.named_wrong:
            raise NoOperator(candidate.words)
        self.note(f"the cluster is ready: {self._cluster.process.url}")
        self.note(f"for kubectl in another terminal: export KUBECONFIG={shlex.quote(str(self.kubeconfig))}")
        await self._stack.enter_async_context(self._relay.serving())
        wanted = self._wanted
        self._samples = Samples(wanted.samples, Applier(self.client), self.note, goes_on=wanted.goes_on)
        await self._grants.apply(self.client, admin=self.kubeconfig, port=self._relay.port)
        await self._accept(candidate)

    async def keep(self) -> None:
        """Go on until cancelled; `ClusterFailed` if there is no cluster any more."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._cluster.keep())
            tasks.create_task(self._operator.keep())
            tasks.create_task(self._keep_samples())
            tasks.create_task(self._grants.keep_token(self.client))
            tasks.create_task(self._follow_files())

    async def stop(self) -> None:
        """End everything: the operator first, then the cluster."""
        if self._operator.runs:
            self.note("stopping: the operator first, then the cluster; a second Ctrl-C waits for nothing")
        await self._operator.stop()
        await self._stack.aclose()
        await self._cluster.stop()
        self.note("stopped")
        self._notes.close()
        self.log_lines.close()

    # Code

    def _command(self) -> Sequence[str]:
        deployed = self._grants.deployed
        installs = deployed.installs_crds or (self._good is not None and self._good.converts)
        return [
            *("run", self._wanted.operator, "--kubeconfig", str(self._grants.kubeconfig)),
            *("--history", str(self._history), "--identity", IDENTITY, "--log-format", "json"),
            *("--metrics-port", "0", "--webhook-port", "0"),
            *(("--install-crds",) if installs else ()),
            *(("--namespace", ",".join(deployed.namespaces)) if deployed.namespaces else ()),
        ]

    async def _examine(self) -> Candidate:
        began = ambient.now()
        deployed = self._grants.deployed
        candidate = await examine(
            self._wanted.operator,
            self._wanted.directory,
            self._wanted.files / "candidate.json",
            home=deployed.account.namespace if deployed.account else "default",
            namespaces=deployed.namespaces,
        )
        sources = candidate.sources
        if isinstance(candidate, Bad):  # it did not get to all that it imports, where what is wrong may be mended
            sources = sources.with_those_of(self._examined.sources)
        self._examined = _Examined(began, sources)
        return candidate

    async def _accept(self, candidate: Candidate) -> bool:
        """Have the operator be this one, if it is good; whether it is."""
        if isinstance(candidate, Good):
            problem = await self._install(candidate)
            candidate = candidate if problem is None else Bad(problem, sources=candidate.sources)
        if isinstance(candidate, Bad):
            self._operator.code_is(good=False)
            self._fault = candidate
            goes_on = self._good is not None and self.alive
            then = "the version before goes on" if goes_on else "it starts when that is mended"
            self.note(f"{candidate.words}; {then}", problem=True, detail=candidate.detail)
            return False
        self._fault = None
        self._good = candidate
        self._described = Described(
            name=candidate.name, primaries=candidate.primaries, owned=candidate.owned, watched=candidate.watched
        )
        await self._grants.check(candidate.rights)
        self._operator.code_is(good=True)
        return True

    async def _install(self, candidate: Good) -> str | None:
        """Have its CRDs be there; what is wrong, if that can't be."""
        if candidate.converts:
            return None  # which the operator does itself, when its webhooks are served
        before = {each["metadata"]["name"]: each for each in (self._good.definitions if self._good else ())}
        for wire in candidate.definitions:
            name = wire["metadata"]["name"]
            if before.get(name) == wire:
                continue
            try:
                # As the operator itself would with --install-crds: a second manager of the same fields would keep those
                # that it gives up.
                client = Client(self.client.calls.transport, field_manager=candidate.name)
                await install_definitions(client, [object_from_wire(wire, CustomResourceDefinition)])
            except (NotInstalled, ClientError) as error:
                return f"the CRD {name} is not installed: {error}"
            changed = f"changed: {definition_changes(before[name], wire)}" if name in before else "installed"
            self.note(f"the CRD {name} is {changed}")
        return None

    async def _reload(self, saved: Sequence[Path]) -> None:
        if saved:
            names = ", ".join(sorted(shown(each) for each in saved)[:3])
            self.note(f"{names} {'was' if len(saved) == 1 else 'were'} saved")
        candidate = await self._examine_unless_saved()
        self._unexamined = candidate is None
        if candidate is not None and await self._accept(candidate):
            await self._operator.restart()

    async def _examine_unless_saved(self) -> Candidate | None:
        """None: something was saved meanwhile. What is being imported, and may never end, is of the past then."""
        examining, saving = asyncio.ensure_future(self._examine()), asyncio.ensure_future(self._files.wait())
        try:
            await asyncio.wait([examining, saving], return_when=asyncio.FIRST_COMPLETED)
            return examining.result() if examining.done() else None
        finally:
            for each in (examining, saving):
                each.cancel()
            await asyncio.wait([examining, saving])

    # Files

    async def _keep_samples(self) -> None:
        while self._samples is not None:
            await self._wake_samples.wait()
            self._wake_samples.clear()
            await self._samples.apply()

    async def _follow_files(self) -> None:
        try:
            import watchfiles  # noqa: F401 - whether it is there
        except ImportError:
            self.note("what is saved is not noticed without watchfiles: pip install 'windvane[dev]'", problem=True)
            return
        try:
            while True:
                await self._look_at_files()
                await self._take(await self._files.saved())
        finally:
            await self._files.close()

    async def _look_at_files(self) -> None:
        wanted = self._wanted
        whole = [Path(each) for each in self._examined.sources.packages]
        flat = [Path(each) for each in self._examined.sources.directories]
        for each in [*wanted.samples, *([wanted.deploy] if wanted.deploy else [])]:
            (whole if each.is_dir() else flat).append(each.resolve() if each.is_dir() else each.resolve().parent)
        await self._files.look_at(whole, flat, since=self._examined.began)

    async def _take(self, saved: set[Path]) -> None:
        code = [each for each in saved if each.suffix == ".py"]
        samples = [each for each in saved if self._samples is not None and self._samples.has(each)]
        deploy = self._wanted.deploy.resolve() if self._wanted.deploy else None
        if deploy and any(deploy in each.parents and each.suffix in (".yaml", ".yml") for each in saved):
            self.note(f"{shown(deploy)} was changed: its rights are applied")
            self._grants.read()
            await self._grants.apply(self.client, admin=self.kubeconfig, port=self._relay.port)
            if self._good is not None:
                await self._grants.check(self._good.rights)
        if code or self._unexamined:
            await self._reload(code)
        if samples and self._samples is not None:
            self._samples.expect(samples)
            # A sample may need the code that was saved with it: one of a new version is refused until that is served.
            if self._operator.state != State.STARTING:
                self._wake_samples.set()

    # Places

    @property
    def _history(self) -> Path:
        return self._wanted.instance.history.with_name(HISTORY)

    def _log(self, line: LogLine, text: str) -> None:
        self.log_lines.add(line)
        keep_line(text, self._wanted.files / "operator.log")


@dataclass(frozen=True)
class _Examined:
    """When code was looked at last, and where it is."""

    began: datetime
    sources: Sources
