"""Whether an API server is there, before more is asked of it: a user who waits at a terminal wants to know soon.

A client is patient: it asks again, and waits a minute for each answer. For an operator that is right; a command that
looks at something would say nothing for minutes, of a server that takes connections and never answers.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from windvane import ambient
from windvane.cli.command_error import PREFIX
from windvane.client.calls import Calls
from windvane.client.config import ClientConfig
from windvane.client.errors import APIError, Unauthorized
from windvane.client.transport import Request, Transport

TIMEOUT = 10.0
"""Seconds that it may take until the answer begins; logging in, by a program of the kubeconfig's, is not counted."""
QUIET = 1.0
"""Seconds after which it is said what is waited for."""


async def first_answer(transport: Transport, config: ClientConfig) -> None:
    """Ask once; raise the `ClientError` that came of it, if there is no answer, no trust, or `Unauthorized`."""
    try:
        async with (
            _told(f"waiting for an answer from {config.server} ..."),
            Calls(transport).stream(Request("GET", "/version", timeout=TIMEOUT)),
        ):
            pass
    except Unauthorized:
        raise
    except APIError:
        pass  # it answers, and that is all that counts


@asynccontextmanager
async def _told(words: str) -> AsyncIterator[None]:
    """Say on standard error what is waited for in the block, if it takes a while."""

    async def tell() -> None:
        await ambient.sleep(QUIET)
        sys.stderr.write(f"{PREFIX}{words}\n")
        sys.stderr.flush()

    task = asyncio.create_task(tell())
    try:
        yield
    finally:
        task.cancel()
