"""Calls a reconcile or finalizer that an author wrote: within its time, and whatever it raises."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from windvane.runtime.context import Context
from windvane.runtime.observability.failure import cancelling, exited, meant, not_cancelled
from windvane.runtime.outcome import After, Waiting
from windvane.runtime.usage_checks import check_awaited, found_nothing, wrong_return

AuthorFunction = Callable[[Any, Context], Awaitable[Any]]


async def call(function: AuthorFunction, obj: Any, ctx: Context, timeout: float) -> float | None:
    """In how many seconds it wants another pass; None if it does not. What it raises is a failure of the pass."""
    limit = asyncio.timeout(timeout)
    took_longer = f"the pass took longer than {timeout:g} s"
    failure: Exception
    before = cancelling()
    try:
        async with limit:
            return await _run(function, obj, ctx)
    except TimeoutError:
        if limit.expired():
            raise TimeoutError(took_longer) from None
        raise
    except RuntimeError as error:
        if isinstance(error.__cause__, StopIteration):
            raise found_nothing(function) from error
        raise
    except ExceptionGroup as group:
        failure = meant(group)
    except SystemExit as error:
        failure = exited(error)
    except asyncio.CancelledError as cancelled:
        # What is not taken for a failure here ends the worker, and no other pass would come for the object.
        if limit.expired():
            failure = TimeoutError(took_longer)
        elif cancelling() > before:
            raise
        else:
            failure = not_cancelled(cancelled)
    raise failure  # here, where the group is not its context


async def _run(function: AuthorFunction, obj: Any, ctx: Context) -> float | None:
    """Call it. What it said may go goes when it has come to its end, or waits; not if it fails."""
    try:
        returned = await function(obj, ctx)
    except Waiting:
        check_awaited(ctx.applying)
        await ctx.children.finish()
        raise
    check_awaited(ctx.applying)
    if not (returned is None or isinstance(returned, After)):
        raise wrong_return(function, returned)
    await ctx.children.finish()
    return returned.seconds if returned is not None else None
