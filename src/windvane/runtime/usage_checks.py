"""What an author can get wrong without Python noticing, and what to write instead.

Some of it shows when a controller is declared, some only when a pass has run.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import timedelta
from types import NoneType, UnionType
from typing import Any, get_origin, get_type_hints

import msgspec

from windvane.api.resource import Dynamic, Object


def check_kind(what: Any, decorator: str) -> None:
    """What a controller or a finalizer is declared for must be a class: `@operator.controller` alone gives none."""
    if not _is_kind(what):
        raise TypeError(
            f"@operator.{decorator} needs the kind that the function is for, not {what!r}: "
            f"write @operator.{decorator}(Website), say"
        )


def check_kinds(owns: Any, watches: Any, reads: Any, owned: type[Any], watch: type[Any]) -> None:
    """`owns` has kinds, or `Owned`s, `watches` has `Watch`es, and `reads` has kinds."""
    if isinstance(owns, owned) or _is_kind(owns) or not all(_is_kind(each) or isinstance(each, owned) for each in owns):
        raise TypeError(f"owns= takes a list of kinds, not {owns!r}: write owns=[apps.Deployment], say")
    if isinstance(watches, watch) or _is_kind(watches) or not all(isinstance(each, watch) for each in watches):
        raise TypeError(
            f"watches= takes a list of Watch, not {watches!r}: write watches=[Watch(core.Secret, to=...)], where `to` "
            "says which objects a Secret concerns"
        )
    if _is_kind(reads) or isinstance(reads, watch) or not all(map(_is_kind, reads)):
        raise TypeError(f"reads= takes a list of kinds, not {reads!r}: write reads=[core.Node], say")


def check_limits(concurrency: Any, timeout: Any) -> None:
    """How many passes at once, and how long each may take: with none, or no time, nothing would ever be done."""
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise ValueError(f"concurrency={concurrency!r}: write how many objects are worked on at once, from 1 on")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise ValueError(f"timeout={timeout!r}: write how many seconds a pass may take, such as timeout=300")


def _is_kind(what: Any) -> bool:
    return isinstance(what, type) and issubclass(what, Object)


def check_function(function: Callable[..., Any], role: str, what: type[Object]) -> None:
    """A reconcile, or a finalizer, is an async function of an object and a context."""
    name = getattr(function, "__name__", repr(function))
    remedy = f"write `async def {name}(obj: {what.__name__}, ctx: Context)`"
    if inspect.isasyncgenfunction(function):
        raise TypeError(f"the {role} of {what.__name__} must not `yield`: {remedy}, and `return` at its end, if at all")
    if not asyncio.iscoroutinefunction(function):
        raise TypeError(f"the {role} of {what.__name__} must be an async function: {remedy}")
    signature = inspect.signature(function)
    try:
        signature.bind(None, None)
    except TypeError:
        bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
        there = f"{name}{inspect.Signature(bare)}"
        raise TypeError(
            f"the {role} of {what.__name__} is called with the object and a context, which {there} can't be: {remedy}"
        ) from None


def check_annotations(function: Callable[..., Any], given: Sequence[type], remedy: str) -> None:
    """A function whose annotations say what it takes must be able to take what it is given, in this order.

    What is not said, or can't be known here, is not checked: that is what type checkers are for.
    """
    for name, what in zip(inspect.signature(function).parameters, given, strict=False):
        annotated = _annotated(function, name)
        if annotated is not None and not issubclass(what, annotated):
            raise TypeError(
                f"{function.__name__} says that its argument {name} is {_a(annotated)}, and it is given {_a(what)}: "
                f"{remedy}"
            )


def check_result(function: Callable[..., Any], what: type, remedy: str) -> None:
    """A function whose annotation says what it returns must not say that it is something other than `what`."""
    annotated = _annotated(function, "return")
    if annotated is not None and not issubclass(what, annotated) and not issubclass(annotated, what):
        raise TypeError(f"{function.__name__} says that it returns {_a(annotated)}: {remedy}")


def check_no_result(function: Callable[..., Any], remedy: str) -> None:
    """A function whose annotation says what it returns must not say that it is anything but nothing, now or later."""
    annotated = _annotated(function, "return")
    if annotated is not None and not issubclass(NoneType, annotated) and not issubclass(annotated, Awaitable):
        raise TypeError(f"{function.__name__} says that it returns {_a(annotated)}, and must return nothing: {remedy}")


def _a(what: type) -> str:
    return f"{'an' if what.__name__[0] in 'AEIOU' else 'a'} {what.__name__}"


def _annotated(function: Callable[..., Any], name: str) -> type[Any] | None:
    """The class that an annotation names; None if it names no class, or none that is known here."""
    if not inspect.isroutine(function):
        return None
    try:
        annotation = get_type_hints(function).get(name)
    except (NameError, SyntaxError, TypeError, AttributeError):
        return None
    origin = get_origin(annotation) or annotation
    known = isinstance(origin, type) and origin not in (Any, UnionType) and not getattr(origin, "_is_protocol", False)
    return origin if known else None


def check_child(child: Any) -> None:
    """What is applied must be an object."""
    match child:
        case Object():
            return
        case None:
            remedy = "has the function that makes it no `return`?"
        case type():
            remedy = f"that is a class; make an object of it: {child.__name__}(metadata=ObjectMeta(name=...), ...)"
        case dict():
            remedy = "to make an object of a manifest, write object_from_wire(manifest, apps.Deployment), say"
        case Coroutine():
            child.close()
            remedy = "that is what an async function gives without `await`"
        case list() | tuple():
            remedy = "apply each on its own: `for child in children: await ctx.apply(child)`"
        case _:
            remedy = "such as apps.Deployment(metadata=ObjectMeta(name=...), ...)"
    raise TypeError(f"ctx.apply takes an object, not {_short(child)}: {remedy}")


def check_made(child: Object) -> None:
    """What is applied must have been made, not read: all that is in it would become the operator's.

    Others' fields, the API server's defaults and a status that differs each time: it would never settle, and undo what
    other controllers do.
    """
    if child.metadata.uid:
        raise ValueError(
            f"{child.kind} {child.metadata.name!r} was read from the API server, and what ctx.apply states is this "
            f"operator's, other clients' fields and defaults included. Make a new one with the fields that you mean, "
            f"{child.kind}(metadata=ObjectMeta(name=...), ...); what it does not state stays as it is"
        )


def check_awaited(applying: Sequence[tuple[Coroutine[Any, Any, Any], Any]]) -> None:
    """Each `ctx.apply(...)` of a pass has come to its end by the end of the pass.

    One that has not is worse than one that was never written: its child would look like one that is no longer stated,
    and be removed.
    """
    unfinished = [(each, child) for each, child in applying if inspect.getcoroutinestate(each) != inspect.CORO_CLOSED]
    for each, _ in unfinished:
        if inspect.getcoroutinestate(each) == inspect.CORO_CREATED:
            each.close()  # else Python would warn as well, later and with fewer words
    for _, child in unfinished:
        what = f"{child.kind} {child.metadata.name!r}" if isinstance(child, Object) else _short(child)
        raise RuntimeError(f"ctx.apply was called for {what}, and not waited for: write `await ctx.apply(...)`")


def wrong_return(function: Callable[..., Any], returned: Any) -> TypeError:
    """What to say to a function that returned something that means nothing here."""
    match returned:
        case bool():
            remedy = "return nothing; whether the object is as it should be, say with ctx.ready(...)"
        case int() | float() if returned > 0:
            remedy = f"return nothing, or After(seconds={returned:g}) to come back later"
        case timedelta() if returned > timedelta(0):
            remedy = f"return nothing, or After(seconds={returned.total_seconds():g}) to come back later"
        case Object():
            remedy = f"to have this {returned.kind} be there, write `await ctx.apply(...)`, and return nothing"
        case Coroutine():
            returned.close()
            remedy = "it was not waited for: write `await`"
        case type() if returned.__name__ in ("After", "Fatal"):
            remedy = 'write `return After(seconds=30)`, say, or `raise Fatal("...")`'
        case Exception():
            remedy = f"write `raise {type(returned).__name__}(...)`"
        case _:
            remedy = "return nothing, or After(seconds=...) to come back later"
    name = getattr(function, "__qualname__", repr(function))
    return TypeError(f"{name} returned {_short(returned)}; {remedy}")


def found_nothing(function: Callable[..., Any]) -> RuntimeError:
    """What to say when `next` found nothing, for which Python has no words in a coroutine."""
    name = getattr(function, "__qualname__", repr(function))
    return RuntimeError(
        f"{name} raised StopIteration, most likely by a `next(...)` that found nothing: write `next(..., None)`, and "
        "say what is to be done then"
    )


def changed(before: Object, after: Object) -> list[str]:
    """What a pass changed in its own object that is not written: all but the status."""
    if isinstance(before, Dynamic):
        return []
    found = [
        path
        for name in before.__struct_fields__
        if name not in ("metadata", "status")
        for path in _differing(getattr(before, name), getattr(after, name), name)
    ]
    # When the finalizer was added just now, what we have was read later, and others may have changed it.
    if before.metadata.resource_version == after.metadata.resource_version:
        for name in ("labels", "annotations"):
            found += _differing(getattr(before.metadata, name), getattr(after.metadata, name), f"metadata.{name}")
    return found


def _differing(before: Any, after: Any, path: str) -> list[str]:
    if before == after:
        return []
    if not isinstance(before, msgspec.Struct) or type(before) is not type(after):
        return [path]
    names = before.__struct_fields__
    return [
        each for name in names for each in _differing(getattr(before, name), getattr(after, name), f"{path}.{name}")
    ]


def not_written(kind: str, paths: Sequence[str]) -> str:
    """What to say about such changes."""
    return (
        f"the pass changed {', '.join(f'`{path}`' for path in paths)} of its {kind}; that is not written, and the next "
        "pass does not see it. A spec is its users' to write: give fields their defaults in the class, keep what you "
        "found in `status`, and compute with local variables"
    )


def _short(value: Any) -> str:
    """A value as Python shows it, unless that is long."""
    shown = repr(value)
    return shown if len(shown) <= 100 else f"a {type(value).__name__}"
