"""Doing the same thing many times, carefully: once, then twice, then four times at once, as long as it works.

If it can't work, because a quota is used up, say, one request finds out, and not a thousand.
"""

import asyncio
from collections.abc import Awaitable, Callable


async def slow_start(count: int, do: Callable[[], Awaitable[object]]) -> None:
    """Do it `count` times in batches that double; the first error of a batch is raised when the batch is done."""
    done, size = 0, 1
    while done < count:
        batch = min(size, count - done)
        await all_at_once(*(do() for _ in range(batch)))
        done += batch
        size *= 2


async def all_at_once(*work: Awaitable[object]) -> None:
    """Do all of these at the same time, to the end; then raise the first error, if there was one."""
    for result in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
