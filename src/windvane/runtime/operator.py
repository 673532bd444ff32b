"""An operator, as its author declares it: controllers, finalizers, webhooks, and the conversion of versions.

    operator = Operator("website")

    @operator.controller(Website, owns=[apps.Deployment])
    async def reconcile(site: Website, ctx: Context) -> None: ...

What it declares, and nothing more: `Running` is an operator at work.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from windvane.api.field_selector import FieldSelector
from windvane.api.kind import Kind
from windvane.api.names import subdomain_problems
from windvane.api.resource import Object, kind_of
from windvane.api.selector import Selector
from windvane.backoff import DEFAULT, Backoff
from windvane.client.client import Client
from windvane.runtime.admission import AdmissionHook, FailurePolicy, HookOptions, Operation, admission_hook
from windvane.runtime.conversion import Conversions, Converter
from windvane.runtime.daemon import Daemon, DeclaresDaemon
from windvane.runtime.declaration import Declaration, Finalize, Owned, Reconcile, Watch
from windvane.runtime.decorators import DeclaresAdmission, DeclaresPass
from windvane.runtime.informers.informer import Selection
from windvane.runtime.lifespan import Lifespan
from windvane.runtime.manager import OperatorManager
from windvane.runtime.predicate import When, check_when
from windvane.runtime.usage_checks import check_function, check_kind, check_kinds, check_limits

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
ObjectT = TypeVar("ObjectT", bound=Object)
SourceT = TypeVar("SourceT", bound=Object)
TargetT = TypeVar("TargetT", bound=Object)
ValueT = TypeVar("ValueT")


class Operator:
    """What an author declares. Nothing happens before it runs."""

    def __init__(self, name: str) -> None:
        if problems := subdomain_problems(name):
            raise ValueError(
                f"Operator({name!r}): {problems[0]}. Leases, Secrets and webhook configurations are named after it: "
                'write Operator("website"), say'
            )
        self.name = name
        """Its name as a field manager, in Events and in Leases."""
        self.declarations: dict[str, Declaration] = {}
        """By the name of the controller, which is that of its resource unless it was given one."""
        self.lifespans: list[Lifespan[Any]] = []
        """What is entered when it starts and left when it has stopped, in this order."""
        self.narrowed: dict[Kind, Selection] = {}
        """Of which kinds only some objects are watched."""
        self._finalizers: dict[Kind, Finalize] = {}
        self._daemons: dict[Kind, list[Daemon[Any]]] = {}
        self.defaulting: dict[str, AdmissionHook] = {}
        """By resource: the functions that fill in objects before they are stored."""
        self.validating: dict[str, AdmissionHook] = {}
        """By resource: the functions that judge objects before they are stored."""
        self.conversions = Conversions()
        """The functions that convert between the versions of a kind."""

    @property
    def kinds(self) -> list[type[Object]]:
        """Everything that it has to do with, each once."""
        seen = [what for each in self.declarations.values() for what in each.sees.values()]
        judged = [each.what for hooks in (self.defaulting, self.validating) for each in hooks.values()]
        converted = [what for kind in self.conversions.kinds for what in self.conversions.versions(kind).values()]
        return list(dict.fromkeys([*seen, *judged, *converted]))

    @property
    def serves_webhooks(self) -> bool:
        """Whether the API server has to be able to ask it."""
        return bool(self.defaulting or self.validating or self.conversions)

    def controller(
        self,
        what: type[ObjectT],
        *,
        when: When[ObjectT] | None = None,
        owns: Sequence[type[Object] | Owned[Any]] = (),
        watches: Sequence[Watch[Any]] = (),
        reads: Sequence[type[Object]] = (),
        concurrency: int = 8,
        timeout: float = 300.0,
        retry: Backoff | None = None,
        until_gone: bool = False,
        name: str = "",
        events_from: str = "",
    ) -> DeclaresPass[ObjectT]:
        """Declare the function that makes the world match an object of a kind.

        With `when`, it is for those objects only for which that is true. One that stops being so is left as it is:
        it gets no more passes, its children stay, and the finalizer is still called when it is deleted.

        It can read the kinds that it `owns`, `watches`, or only `reads`: a change of one of the last brings no pass.

        An object that is being deleted gets no more passes, but for its finalizer; with `until_gone`, it does. A second
        controller of the same kind, for another matter altogether, needs a `name` to be told apart by, and says how it
        stands in a condition of its own: `BackupsReady`, for `name="backups"`. Its Events come from `events_from`,
        where that says something to users that the operator's name does not. A pass that fails is tried again as
        `retry` says: `Backoff(first=0.2, most=300)` if nothing is said.
        """
        if retry is not None and not isinstance(retry, Backoff):
            raise TypeError(f"retry= takes a Backoff, not {retry!r}: write retry=Backoff(first=1, most=60), say")
        check_kind(what, "controller")
        check_kinds(owns, watches, reads, Owned, Watch)
        check_limits(concurrency, timeout)
        check_when(when, f"@operator.controller({what.__name__}")

        def declare(function: FunctionT) -> FunctionT:
            check_function(function, "controller", what)
            called = name or kind_of(what).resource
            if called in self.declarations:
                there = self.declarations[called].reconcile.__name__
                raise ValueError(
                    f"{what.__name__} has a controller already, {there}; two would undo each other's work. If this one "
                    'sees to other things, give it a name: @operator.controller(..., name="...")'
                )
            reconcile: Reconcile = function
            manager = f"{self.name}-{name}" if name else self.name
            self.declarations[called] = Declaration(
                what,
                reconcile,
                owns,
                watches,
                reads,
                concurrency,
                timeout,
                retry=retry or DEFAULT,
                when=when,
                until_gone=until_gone,
                name=called,
                manager=manager,
                events_from=events_from or self.name,
            )
            return function

        return declare

    def finalizer(self, what: type[ObjectT]) -> DeclaresPass[ObjectT]:
        """Declare the function that runs before a deleted object goes away, until it succeeds."""
        check_kind(what, "finalizer")

        def declare(function: FunctionT) -> FunctionT:
            check_function(function, "finalizer", what)
            kind = kind_of(what)
            if kind in self._finalizers:
                raise ValueError(f"{what.__name__} has a finalizer already, {self._finalizers[kind].__name__}")
            self._finalizers[kind] = function
            return function

        return declare

    def daemon(self, what: type[ObjectT], *, when: When[ObjectT] | None = None) -> DeclaresDaemon[ObjectT]:
        """Declare a function that runs beside the passes, for as long as an object is there: one for each object.

            @operator.daemon(Website)
            async def probe(site: Website, ctx: DaemonContext) -> AsyncIterator[bool]:
                while True:
                    yield await answers(site.spec.url)
                    await asyncio.sleep(10)

        In a pass, `ctx.value(probe)` is what it yielded last; a value that differs from the one before brings a pass.

        It begins with the first pass over an object, and again when the spec changes, or after a pause if it failed. It
        is cancelled before the finalizer is called, when the object goes, when the operator stops, and when another
        replica is to work on the object, which starts it only after that. With `when`, it runs for those objects only
        for which that is true.
        """
        check_kind(what, "daemon")
        check_when(when, f"@operator.daemon({what.__name__}")

        def declare(function: Any) -> Daemon[Any]:
            there = self._daemons.setdefault(kind_of(what), [])
            declared: Daemon[Any] = Daemon(what, function, when)
            if any(each.name == declared.name for each in there):
                raise ValueError(f"{what.__name__} has a daemon {declared.name} already; they are told apart by name")
            there.append(declared)
            return declared

        return declare

    def lifespan(self, function: Callable[[Client], AsyncIterator[ValueT]]) -> Lifespan[ValueT]:
        """Declare what is opened when the operator starts, shared by all passes, and closed when it has stopped.

            @operator.lifespan
            async def http(client: Client) -> AsyncIterator[aiohttp.ClientSession]:
                async with aiohttp.ClientSession() as session:
                    yield session

        In a pass, `ctx.value(http)` is what it yielded. Every replica enters it, before it leads or stands by. If it
        fails, the operator ends.
        """
        declared = Lifespan(function)
        self.lifespans.append(declared)
        return declared

    def default(
        self,
        what: type[ObjectT],
        *,
        on: Sequence[Operation] = ("create", "update"),
        failure_policy: FailurePolicy | None = None,
        timeout: float = 5.0,
        subresources: Sequence[str] = (),
    ) -> DeclaresAdmission[ObjectT]:
        """Declare the function that fills in an object before it is stored, by changing what it is given.

        It takes the object and, if it has a second parameter, an `AdmissionRequest`. What it does to an object that it
        has filled in before must be nothing: the API server may ask twice.

        While no replica can be asked, objects of your own kinds are refused (`failure_policy="Fail"`), and those of
        other kinds are stored as they are (`"Ignore"`).
        """
        check_kind(what, "default")
        options = HookOptions(on, failure_policy, timeout, subresources)
        return partial(_declare, self.defaulting, partial(admission_hook, "default", what, options))

    def validate(
        self,
        what: type[ObjectT],
        *,
        on: Sequence[Operation] = ("create", "update"),
        failure_policy: FailurePolicy | None = None,
        timeout: float = 5.0,
        subresources: Sequence[str] = (),
    ) -> DeclaresAdmission[ObjectT]:
        """Declare the function that judges an object before it is stored: it raises `Denied`, or returns nothing.

        It takes the object and, if it has a second parameter, an `AdmissionRequest`. For `"delete"`, the object is the
        one that goes.

        While no replica can be asked, objects of your own kinds are refused (`failure_policy="Fail"`), and those of
        other kinds are stored unseen (`"Ignore"`).
        """
        check_kind(what, "validate")
        options = HookOptions(on, failure_policy, timeout, subresources)
        return partial(_declare, self.validating, partial(admission_hook, "validate", what, options))

    def convert(
        self, source: type[SourceT], target: type[TargetT]
    ) -> Callable[[Callable[[SourceT], TargetT]], Callable[[SourceT], TargetT]]:
        """Declare the function that makes an object of one version of a kind from that of another.

        Names, owners and the like are carried over by themselves. There must be a way from each version to each other
        one, if by way of a third.
        """

        def declare(function: Callable[[SourceT], TargetT]) -> Callable[[SourceT], TargetT]:
            self.conversions.add(Converter(source, target, function))
            return function

        return declare

    def watch_only(
        self,
        what: type[Object],
        *,
        labels: Mapping[str, str] | Selector | str | None = None,
        fields: Mapping[str, str] | FieldSelector | str | None = None,
    ) -> None:
        """Watch only those objects of a kind that match, wherever the kind is declared: the others cost no memory.

        What an object's owner applies must match, or the next pass would not see it.
        """
        kind = kind_of(what)
        if kind in self.narrowed:
            raise ValueError(f"watch_only({what.__name__}) was said before; say it once, with all that must match")
        if not labels and not fields:
            raise ValueError(f"watch_only({what.__name__}) needs labels= or fields=, or it would watch all")
        self.narrowed[kind] = Selection(labels, fields)

    def run(
        self,
        client: Client,
        *,
        namespaces: Iterable[str] = (),
        identity: str = "",
        lease_namespace: str = "",
        shards: int = 0,
        stop: asyncio.Event | None = None,
    ) -> OperatorManager:
        """The operator at work: `await operator.run(client)` works until cancelled, or until `stop` is set.

        With an `identity`, one replica of those that have different ones leads, and the others stand by. With `shards`
        as well, the objects are split into so many, and all replicas work, each on its part of them. The leases that
        decide are in the client's namespace if `lease_namespace` names no other.
        """
        if shards < 0 or (shards and not identity):
            raise ValueError(
                f"shards={shards} needs an identity that no other replica has: "
                "operator.run(client, identity=socket.gethostname(), shards=64)"
            )
        self.check()
        return OperatorManager(
            self,
            client,
            tuple(namespaces) or ("",),
            stop or asyncio.Event(),
            identity=identity,
            lease_namespace=lease_namespace,
            shards=shards,
        )

    def check(self) -> None:
        """Put together what was declared, as `run` does first; ValueError if it does not fit together."""
        for kind, finalize in self._finalizers.items():
            if kind.resource not in self.declarations:
                raise ValueError(f"{kind.name} has a finalizer but no controller: write @operator.controller as well")
            self.declarations[kind.resource].finalize = finalize
        for kind, daemons in self._daemons.items():
            if kind.resource not in self.declarations:
                raise ValueError(f"{kind.name} has a daemon but no controller: write @operator.controller as well")
            self.declarations[kind.resource].daemons = daemons
        self._name_conditions()
        if not self.declarations and not self.serves_webhooks:
            raise ValueError(f"operator {self.name!r} has no controllers: write @operator.controller(...)")
        self.conversions.check(self.kinds)

    def _name_conditions(self) -> None:
        """One controller of each kind speaks of Ready: the one without a name, else the first one declared."""
        speakers: dict[Kind, Declaration] = {}
        for each in sorted(self.declarations.values(), key=lambda each: each.name != each.kind.resource):
            if speakers.setdefault(each.kind, each) is not each:
                words = re.split(r"[^0-9A-Za-z]+", each.name)
                each.ready = "".join(word[:1].upper() + word[1:] for word in words) + "Ready"


def _declare(
    hooks: dict[str, AdmissionHook], hook: Callable[[FunctionT], AdmissionHook], function: FunctionT
) -> FunctionT:
    declared = hook(function)
    resource = declared.kind.resource
    if resource in hooks:
        there = getattr(hooks[resource].function, "__name__", "another function")
        raise ValueError(
            f"{declared.what.__name__} has such a function already, {there}. One is for the objects of all versions, "
            "which the API server converts for it: call what you need from there"
        )
    hooks[resource] = declared
    return function
