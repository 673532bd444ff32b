"""The contender of operators.py that is written with windvane: each Parcel gets a ConfigMap that it owns, and a status.

With `--idle` it only looks at them. It says on standard output when its caches are filled ("synced") and, with
`--idle`, when it has been called for so many objects ("visited"). With `--history` it keeps its passes in a file.
"""

import argparse
import asyncio
from pathlib import Path

import uvloop
from parcels import Parcel, ParcelSpec

from windvane import Client, Context, ObjectMeta, Operator, Resource
from windvane.api.struct import Struct
from windvane.k8s import core
from windvane.runtime.observability.journal import Journal

operator = Operator("parcels")


@operator.controller(Parcel, owns=[core.ConfigMap])
async def reconcile(parcel: Parcel, ctx: Context) -> None:
    """Have a ConfigMap say what the Parcel says; windvane itself writes the condition Ready."""
    await ctx.apply(
        core.ConfigMap(
            metadata=ObjectMeta(name=parcel.metadata.name),
            data={"sender": parcel.spec.sender, "note": parcel.spec.note, "weight": str(parcel.spec.weight)},
        )
    )


def onlooker(count: int) -> Operator:
    """An operator that only looks."""

    class NoStatus(Struct):
        """Not windvane's own, so that there is none to write."""

    class Seen(Resource[ParcelSpec, NoStatus], group="bench.windvane.dev", version="v1", kind="Parcel"):
        pass

    watching = Operator("onlooker")
    called = 0

    @watching.controller(Seen, owns=[core.ConfigMap])
    async def look(_: Seen, ctx: Context) -> None:  # noqa: ARG001 - the signature of every controller
        nonlocal called
        called += 1
        if called == count:
            print("visited", flush=True)

    return watching


async def main() -> None:
    """Run until killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--idle", type=int, default=0, help="only look at so many objects")
    parser.add_argument("--history", type=Path, help="keep the passes in that file, as windvane run does")
    asked = parser.parse_args()
    idle: int = asked.idle
    async with Client.connect() as client:
        running = (onlooker(idle) if idle else operator).run(client)
        if asked.history is not None:
            running.listeners.append(Journal(asked.history, operator.name).write)

        async def say_when_synced() -> None:
            for informer in running.informers.values():
                await informer.wait_synced()
            print("synced", flush=True)

        saying = asyncio.ensure_future(say_when_synced())
        await running
        await saying


if __name__ == "__main__":
    uvloop.run(main())
