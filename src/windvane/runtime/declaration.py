"""What an author declares about a controller: which kind it is for, what it owns, what else it looks at."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from windvane.api.envelope import Item
from windvane.api.kind import Kind
from windvane.api.meta import OwnerReference
from windvane.api.resource import Object, kind_of
from windvane.backoff import DEFAULT, Backoff
from windvane.runtime.context import Context
from windvane.runtime.daemon import Daemon
from windvane.runtime.informers.cache import Key
from windvane.runtime.informers.declared_informers import DeclaredInformers, InformerKey, informer_key
from windvane.runtime.informers.view import View
from windvane.runtime.outcome import After
from windvane.runtime.predicate import Looked, When, look

ObjectT = TypeVar("ObjectT", bound=Object)
Reconcile: TypeAlias = Callable[[Any, Context], Awaitable[After | None]]
Finalize: TypeAlias = Callable[[Any, Context], Awaitable[After | None]]
Named: TypeAlias = str | tuple[str, str] | Object
"""An object by its name, in the namespace of the object that names it; by namespace and name; or itself."""
To: TypeAlias = (
    Callable[[ObjectT], Named | Iterable[Named] | None] | Callable[[ObjectT, View], Named | Iterable[Named] | None]
)


def owned_by(owner: type[Object]) -> Callable[[Object], str | None]:
    """For `Watch(core.Pod, to=owned_by(ReplicaSet))`: a change of a Pod concerns the ReplicaSet that controls it."""
    kind = kind_of(owner)

    def name(thing: Object) -> str | None:
        return next(
            (each.name for each in thing.metadata.owner_references if each.controller and is_of(each, kind)), None
        )

    return name


def is_of(owner: OwnerReference, kind: Kind) -> bool:
    """Whether a reference is to an object of that kind, in whatever version."""
    return owner.kind == kind.name and owner.api_version.rpartition("/")[0] == kind.group


class Owned(Looked[ObjectT]):
    """A kind that a controller owns, of which not every change matters: `Owned(apps.Deployment, seeing=ready_copies)`.

    With `when`, only those children bring passes for which it is true, or was before the change. With `seeing`, a
    change is one only if what that function returns differs; one that goes always counts. What is not seen is not
    undone before the next pass. Neither function may change what it is given.
    """

    def __init__(
        self,
        what: type[ObjectT],
        *,
        when: When[ObjectT] | None = None,
        seeing: Callable[[ObjectT], Any] | None = None,
    ) -> None:
        super().__init__(what, when, seeing)


class Watch(Looked[ObjectT]):
    """A kind that a controller looks at without owning it: `Watch(core.Secret, to=websites_of_secret)`.

    `to` is given an object of that kind, and says which of the controller's objects may need work because of it. If it
    takes a second argument, that is a `View`, to look for them: `lambda secret, view: view.find(by_secret, ...)`.

    With `when`, only those objects bring passes for which it is true, or was before the change. With `seeing`, a change
    is one only if what that function returns differs: `seeing=lambda node: node.spec.taints`.

    None of these functions may change what it is given: all watches are shown the same object.
    """

    def __init__(
        self,
        what: type[ObjectT],
        *,
        to: To[ObjectT],
        when: When[ObjectT] | None = None,
        seeing: Callable[[ObjectT], Any] | None = None,
    ) -> None:
        super().__init__(what, when, seeing)
        self._to = to
        if inspect.iscoroutinefunction(to):
            raise TypeError(
                f"Watch({what.__name__}, to=...) takes a function that does not wait: write `def`, not `async def`. "
                "What it needs to know it finds in the caches, by a second parameter"
            )
        try:
            self._looks = len(inspect.signature(to).parameters) > 1
        except ValueError:
            self._looks = False  # Python knows of no signature, as that of operator.attrgetter("spec.site")

    def keys(self, item: Item[ObjectT], primary: Kind, informers: DeclaredInformers) -> list[Key]:
        """The objects of the primary kind that `item` concerns."""
        to: Callable[..., Any] = self._to
        named = to(look(item), View(informers, item.meta.namespace)) if self._looks else to(look(item))
        if named is None:
            return []
        several = [named] if isinstance(named, str | Object) or _is_pair(named) else list(named)
        return [_key(each, item.meta.namespace if primary.namespaced else "", self) for each in several]


def _is_pair(named: object) -> bool:
    match named:
        case (str(), str()):
            return isinstance(named, tuple)
    return False


def _key(named: Named, namespace: str, watch: Watch[Any]) -> Key:
    match named:
        case str():
            return namespace, named
        case (str(), str()):
            return named
        case Object():
            return named.metadata.namespace, named.metadata.name
    raise TypeError(
        f"the function that Watch({watch.what.__name__}, to=...) has returned {named!r}; it must return a name, a pair "
        "of namespace and name, an object, several of these, or None"
    )


@dataclass
class Declaration:
    """One controller, as declared."""

    what: type[Object]
    reconcile: Reconcile
    owns: Sequence[type[Object] | Owned[Any]] = ()
    watches: Sequence[Watch[Any]] = ()
    reads: Sequence[type[Object]] = ()
    """What it reads from the caches, and no change of which brings a pass."""
    concurrency: int = 8
    timeout: float = 300.0
    """Seconds that a pass may take before it is cancelled, and tried again."""
    finalize: Finalize | None = None
    daemons: Sequence[Daemon[Any]] = ()
    retry: Backoff = DEFAULT
    """When a pass, or a daemon, that failed is tried again."""
    when: When[Any] | None = None
    """Which objects it is for; None is for all."""
    until_gone: bool = False
    """Whether objects that are being deleted get passes as well."""
    name: str = ""
    """What the controller is called in logs and metrics."""
    manager: str = ""
    """The field manager that it writes as."""
    events_from: str = ""
    """The component that its Events come from."""
    ready: str = "Ready"
    """The condition by which it says how an object stands. Two controllers of a kind that both wrote Ready would undo
    each other's, and each write would bring the other's pass."""

    @property
    def kind(self) -> Kind:
        """What it is for."""
        return kind_of(self.what)

    @property
    def owned(self) -> list[Owned[Any]]:
        """The kinds of its children, and which changes of them count."""
        return [each if isinstance(each, Owned) else Owned(each) for each in self.owns]

    @property
    def sees(self) -> dict[InformerKey, type[Object]]:
        """Everything that it sees."""
        every = [self.what, *(each.what for each in (*self.owned, *self.watches)), *self.reads]
        return {informer_key(each): each for each in every}
