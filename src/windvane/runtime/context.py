"""What a reconcile is given beside its object: ways to read, to state what should be, and to say how it stands.

async def reconcile(site: Website, ctx: Context) -> None:
    deployment = await ctx.apply(deployment_for(site))
    ctx.ready(deployment.status.ready_replicas == site.spec.replicas, "all copies are up")
"""

from collections.abc import Callable, Coroutine
from typing import Any, Literal, NoReturn, TypeVar, overload

from windvane.api.condition import Condition
from windvane.api.resource import Object, kind_of
from windvane.client.client import Client
from windvane.runtime.daemon import Daemon
from windvane.runtime.informers.declared_informers import DeclaredInformers
from windvane.runtime.informers.view import View
from windvane.runtime.lifespan import Lifespan
from windvane.runtime.observability.current_pass import PassLogger
from windvane.runtime.outcome import Waiting
from windvane.runtime.writes.children import Children, RecordEvent
from windvane.runtime.writes.write_budget import PassBudget
from windvane.runtime.writes.write_recorder import RecordingTransport

ObjectT = TypeVar("ObjectT", bound=Object)
ValueT = TypeVar("ValueT")


class Context(View):
    """One pass of one controller over one object: what it can read, and what it can do."""

    def __init__(
        self,
        obj: Object,
        client: Client,
        informers: DeclaredInformers,
        budget: PassBudget,
        record_event: Callable[[Object], RecordEvent],
        manager: str,
        value: Callable[[Any], Any],
        ready: str = "Ready",
    ) -> None:
        super().__init__(informers, obj.metadata.namespace)
        self._value = value
        self._ready = ready
        self._record_event = record_event
        self._obj = obj
        self.applying: list[tuple[Coroutine[Any, Any, Object], Object]] = []
        """Every call of `apply` so far, and for which child."""
        recording = RecordingTransport(client.calls.transport, informers)
        self.writes = recording.writes
        """What was written so far."""
        self.conditions: list[Condition] = []
        """What was said about the object so far."""
        self.client = Client(recording, namespace=obj.metadata.namespace or client.namespace, field_manager=manager)
        """The API server itself, for what can't be stated as a child: reads past the cache, and writes of other kinds.

        The next pass waits until the caches have seen what was written through it. It refuses to write as soon as
        another replica may be at work.
        """
        self.before_outside: Callable[[str], None] = _go_on
        """What `outside` calls: `windvane plan` has it end the pass."""
        self.budget = budget
        """What the pass costs, for those that never settle."""
        self.children = Children(obj, self.client, informers, record_event(obj), manager, budget)
        """What was said of its children so far."""
        self.log = PassLogger(f"windvane.{kind_of(obj).name}")
        """A logger whose lines say which pass over which object they come from."""

    # Stating what should be

    def apply(self, child: ObjectT, *, adopt: bool = False, prune: bool = True) -> Coroutine[Any, Any, ObjectT]:
        """Have `child` be as stated, owned by this object: `await` it. Returns it as it is now, with its status.

        Nothing is written if it is so already. An object of that name that this operator did not make is left alone,
        with `NotAdopted`; with `adopt`, it becomes a child as it is. With `prune=False`, the child goes with its owner
        or by `delete`, and never because a later pass does not apply it.
        """
        applying = self.children.apply(child, adopt=adopt, prune=prune)
        self.applying.append((applying, child))
        return applying

    async def make_once(
        self,
        what: type[ObjectT],
        name: str,
        make: Callable[[], ObjectT],
        *,
        namespace: str = "",
        adopt: bool = False,
    ) -> ObjectT:
        """A child that is made if it is not there, and never changed after that: a password, a key.

        secret = await ctx.make_once(core.Secret, "db-password", lambda: core.Secret(string_data={"it": token_hex(16)}))

        It is in the namespace of this object, or in `namespace` if this one has none. One of that name that another
        client made is refused with `NotAdopted`; with `adopt`, it is used as it is, and stays that client's.
        """
        return await self.children.make_once(what, name, make, namespace=namespace, adopt=adopt)

    async def prune(self) -> None:
        """Remove what this operator applied for the object in an earlier pass, and this pass did not.

        Say it in a pass that states all that is wanted; if it has stated nothing, nothing is. It is done when the pass
        has come to its end, or waits; a pass that fails removes nothing. What another client made stays, and what holds
        data: claims, what `make_once` made, what was applied with `prune=False`.
        """
        self.children.prune()

    async def delete(self, child: Object) -> None:
        """Delete a child, also one that holds data. Nothing happens if it is not there, or is another one by now."""
        await self.children.delete(child)

    def outside(self, words: str) -> None:
        """Say that something outside of Kubernetes is changed next, and what. A plan ends there, and changes nothing.

        ctx.outside(f"adding {name} to the members of the database")
        await database.add(name)

        When the operator runs, it does nothing.
        """
        self.before_outside(words)

    # What was there before the pass

    @overload
    def value(self, of: Lifespan[ValueT]) -> ValueT: ...

    @overload
    def value(self, of: Daemon[ValueT]) -> ValueT | None: ...

    def value(self, of: Lifespan[Any] | Daemon[Any]) -> Any:
        """What a lifespan of the operator has yielded; or what a daemon of this object yielded last, if anything."""
        return self._value(of)

    # Saying how it stands

    def ready(self, is_ready: bool, message: str = "", *, reason: str = "") -> None:
        """Say whether the object does what its spec asks: the condition Ready.

        In a second controller of its kind, it is one that has the controller's name: `BackupsReady`.
        """
        self.condition(self._ready, is_ready, message, reason=reason or ("Ready" if is_ready else "NotReady"))

    def condition(self, type: str, holds: bool, message: str = "", *, reason: str) -> None:  # noqa: A002
        """Say whether something is true of the object."""
        self.conditions = [each for each in self.conditions if each.type != type]
        status: Literal["True", "False"] = "True" if holds else "False"
        self.conditions.append(Condition(type=type, status=status, reason=reason, message=message))

    def wait(self, message: str, *, after: float | None = None) -> NoReturn:
        """End this pass: something must happen first. The next one comes with a change, or `after` so many seconds."""
        raise Waiting(message, after)

    def event(
        self,
        reason: str,
        message: str,
        *,
        type: Literal["Normal", "Warning"] = "Normal",  # noqa: A002 - Kubernetes' word
        about: Object | None = None,
    ) -> None:
        """Say that something happened to this object, or to the one that it is `about`; `kubectl describe` shows it."""
        self._record_event(about or self._obj)(reason, message, type)


def _go_on(_: str) -> None:
    """No plan is made."""
