"""What an author declares about a controller: which kind it is for, what it owns, what else it looks at."""

import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from windvane.api.envelope import Item
from windvane.api.kind import Kind
from windvane.api.meta import OwnerReference
from windvane.api.resource import Object, kind_of
from windvane.runtime.backoff import DEFAULT, Backoff
from windvane.runtime.cache import Key
from windvane.runtime.context import Context
from windvane.runtime.daemon import Daemon
from windvane.runtime.outcome import After
from windvane.runtime.sight import Seen, Sight, seen
from windvane.runtime.view import View

ObjectT = TypeVar("ObjectT", bound=Object)
Reconcile: TypeAlias = Callable[[Any, Context], Awaitable[After | None]]
Finalize: TypeAlias = Callable[[Any, Context], Awaitable[After | None]]
Named: TypeAlias = str | tuple[str, str] | Object
"""An object by its name, in the namespace of whoever names it; by namespace and name; or itself."""
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


class Watch(Generic[ObjectT]):
    """A kind that a controller looks at without owning it: `Watch(core.Secret, to=websites_of_secret)`.

    `to` is given an object of that kind, and says which of the controller's objects may need work because of it. If it
    takes a second argument, that is a `View`, to look for them: `lambda secret, view: view.find(by_secret, ...)`.

    With `seeing`, a change is one only if what that function returns differs: `seeing=lambda node: node.spec.taints`.

    Neither function may change what it is given: all watches are shown the same object.
    """

    def __init__(self, what: type[ObjectT], *, to: To[ObjectT], seeing: Callable[[ObjectT], Any] | None = None) -> None:
        self.kind = kind_of(what)
        self.what = what
        self._to = to
        if inspect.iscoroutinefunction(to):
            raise TypeError(
                f"Watch({what.__name__}, to=...) takes a function that does not wait: write `def`, not `async def`. "
                "What it needs to know it finds in the caches, by a second parameter"
            )
        self._looks = len(inspect.signature(to).parameters) > 1
        self._seeing = seeing

    def concerns(self, before: Item[ObjectT] | None, after: Item[ObjectT]) -> bool:
        """Whether a change is one of what is looked at."""
        return self._seeing is None or before is None or self._seeing(_look(before)) != self._seeing(_look(after))

    def keys(self, item: Item[ObjectT], primary: Kind, sight: Sight) -> list[Key]:
        """The objects of the primary kind that `item` concerns."""
        to: Callable[..., Any] = self._to
        named = to(_look(item), View(sight, item.meta.namespace)) if self._looks else to(_look(item))
        if named is None:
            return []
        several = [named] if isinstance(named, str | Object) or _is_pair(named) else list(named)
        return [_key(each, item.meta.namespace if primary.namespaced else "", self) for each in several]


_looked_at: deque[tuple[Item[Any], Any]] = deque(maxlen=2)


def _look(item: Item[ObjectT]) -> ObjectT:
    """The typed object, to be looked at only. A change is shown to one watch after the other, and decoded once."""
    found: ObjectT | None = next((decoded for known, decoded in _looked_at if known is item), None)
    if found is None:
        found = item.decode()
        _looked_at.append((item, found))
    return found


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
    owns: Sequence[type[Object]] = ()
    watches: Sequence[Watch[Any]] = ()
    concurrency: int = 8
    timeout: float = 300.0
    """Seconds that a pass may take before it is cancelled, and tried again."""
    finalize: Finalize | None = None
    daemons: Sequence[Daemon[Any]] = ()
    retry: Backoff = DEFAULT
    """When a pass, or a daemon, that failed is tried again."""
    until_gone: bool = False
    """Whether objects that are being deleted get passes as well."""
    name: str = ""
    """What the controller is called in logs and metrics."""
    manager: str = ""
    """The field manager that it writes as."""
    events_from: str = ""
    """The component that its Events come from."""

    @property
    def kind(self) -> Kind:
        """What it is for."""
        return kind_of(self.what)

    @property
    def sees(self) -> dict[Seen, type[Object]]:
        """Everything that it sees."""
        every = [self.what, *self.owns, *(watch.what for watch in self.watches)]
        return {seen(each): each for each in every}
