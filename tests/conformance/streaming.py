"""Watches that begin with what is there: those that name no version, and lists that are streamed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from conformance.requests import SECONDS, Events, Raw

Event = tuple[str, Any]
STREAMED = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
MARKED = {**STREAMED, "allowWatchBookmarks": "true"}
PATIENCE = 3.0  # seconds that a real server waits for its cache


@asynccontextmanager
async def streaming(
    raw: Raw, request: str, accept: str = "application/json", **query: str
) -> AsyncIterator[tuple[Event, Events]]:
    """The first event of such a watch, and those that follow.

    A real server that hears nothing from its store for three seconds, on a machine that stands still, tells of that
    instead of what there is. It is then asked again.
    """
    for _ in range(int(SECONDS / PATIENCE)):
        async with raw.watch(request, accept, **query) as events:
            kind, first = await events.next()
            if kind == "ERROR" and first["message"].startswith("Timeout: Too large resource version: "):
                continue
            yield (kind, first), events
            return
    raise AssertionError(f"the cache of {request} never caught up with the store: {first['message']}")


async def first_event(raw: Raw, request: str, accept: str = "application/json", **query: str) -> Event:
    """The first event alone."""
    async with streaming(raw, request, accept, **query) as (first, _):
        return first


async def first_change(raw: Raw, request: str, **query: str) -> tuple[str, str]:
    """Type and name of it."""
    kind, thing = await first_event(raw, request, **query)
    return kind, thing["metadata"]["name"]
