"""A daemon: a Flag is raised while a file exists, which no watch of the API server tells.

windvane run examples/keep_watching.py --install-crds

Each Flag has a coroutine that looks at its file once a second. What it yields brings a pass, if it differs from before.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from windvane import Context, DaemonContext, Operator, Resource, Spec, Status, ambient


class FlagSpec(Spec):
    path: str
    """The file, on the machine of the operator."""


class FlagStatus(Status):
    raised: bool = False
    """Whether the file is there."""


class Flag(Resource[FlagSpec, FlagStatus], group="examples.windvane.dev", version="v1"):
    """Something that is so while a file is there."""


operator = Operator("flags")


@operator.daemon(Flag)
async def look(flag: Flag, ctx: DaemonContext) -> AsyncIterator[bool]:
    ctx.log.info("looking at %s", flag.spec.path)
    try:
        while True:
            yield await asyncio.to_thread(Path(flag.spec.path).exists)
            await ambient.sleep(1)
    finally:
        ctx.log.info("looking at %s no more", flag.spec.path)


@operator.controller(Flag)
async def reconcile(flag: Flag, ctx: Context) -> None:
    flag.status.raised = ctx.value(look) or False
    ctx.ready(flag.status.raised, f"{flag.spec.path} {'is there' if flag.status.raised else 'is not there'}")
