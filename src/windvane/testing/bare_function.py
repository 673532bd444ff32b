"""The operator of a bare function: `reconcile_once(reconcile, site)` needs none that is declared."""

import inspect
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NoReturn, TypeAlias, TypeVar

from windvane.api.resource import Object
from windvane.runtime.context import Context
from windvane.runtime.declaration import Owned, Watch
from windvane.runtime.informers.declared_informers import DeclaredInformers, InformerKey, informer_key
from windvane.runtime.operator import Operator
from windvane.runtime.outcome import After
from windvane.runtime.usage_checks import check_annotations, check_function, check_kinds

ObjectT = TypeVar("ObjectT", bound=Object)
EndT = TypeVar("EndT", bound=After | None)
Function: TypeAlias = Callable[[ObjectT, Context], Coroutine[Any, Any, EndT]]
"""A reconcile, or a finalizer."""

NAME = "once"
"""The field manager of a pass that no operator does."""


def operator_of(
    function: Any, obj: Object, *, owns: Sequence[type[Object] | Owned[Any]], watches: Sequence[type[Object]]
) -> Operator:
    """An operator with that function alone: the reconcile, or the finalizer if the object is being deleted."""
    what = type(obj)
    _check_function(function, obj)
    check_kinds(owns, (), (), Owned, Watch)
    for each in watches:
        _check_watched(each)
    operator = Operator(NAME)
    others = {informer_key(each): each for each in watches if informer_key(each) not in _seen(what, owns)}
    declare = operator.controller(what, owns=owns, reads=[*others.values()])
    declare(function)
    if obj.metadata.deletion_timestamp is not None:
        operator.finalizer(what)(function)
    return operator


class BareInformers(DeclaredInformers):
    """What such a function sees: what the test says."""

    def not_declared(self, what: type[Object]) -> str:
        """See `DeclaredInformers.unseen`."""
        name = what.__name__
        return (
            f"the pass reads {name}s, and was not told of any. Have one in world=[...], or write "
            f"reconcile_once(..., watches=[{name}]) if there is to be none"
        )

    def not_owned(self, what: type[Object]) -> str:
        """See `DeclaredInformers.not_owned`."""
        name = what.__name__
        return f"the pass applies a {name}: write reconcile_once(..., owns=[{name}])"


def check_object(obj: Any) -> None:
    """What the pass is over must be an object."""
    if isinstance(obj, Object):
        return
    match obj:
        case type():
            remedy = f"make one: {obj.__name__}(metadata=ObjectMeta(name=...), ...)"
        case dict():
            remedy = "read the manifest: object_from_wire(manifest, Website), say"
        case _:
            remedy = "such as Website(metadata=ObjectMeta(name=...), spec=...)"
    raise TypeError(f"reconcile_once takes an object to have a pass over, not a {type(obj).__name__}: {remedy}")


def _check_function(function: Any, obj: Object) -> None:
    if not callable(function) or isinstance(function, type):
        _refuse(function)
    if not inspect.isroutine(function) and hasattr(function, "reconcile"):
        _refuse(function)
    check_function(function, "reconcile", type(obj))
    check_annotations(function, [type(obj), Context], f"give it a {obj.kind}'s function, or an object of its own kind")


def _check_watched(what: Any) -> None:
    """What a function alone reads are kinds: which objects their changes concern matters to operators only."""
    if not (isinstance(what, type) and issubclass(what, Object)):
        raise TypeError(
            f"reconcile_once(..., watches=[...]) takes kinds, not {what!r}: write watches=[core.Secret], say"
        )


def _refuse(thing: Any) -> NoReturn:
    what = f"the class {thing.__name__}" if isinstance(thing, type) else f"a {type(thing).__name__}"
    raise TypeError(
        f"reconcile_once takes an Operator, or an async function of an object and a context, not {what}: "
        "of an object with methods, write reconcile_once(controller.reconcile, obj)"
    )


def _seen(what: type[Object], owns: Sequence[type[Object] | Owned[Any]]) -> set[InformerKey]:
    return {informer_key(what), *(informer_key(each.what if isinstance(each, Owned) else each) for each in owns)}
