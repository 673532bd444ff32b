"""Server-side apply on the embedded API server beside the real one: new objects, changed ones, and ones that stay.

An object has 100 fields that are owned one by one, in a struct, a map and a list of items. Both servers run in
processes of their own and are asked by the same client over TLS, one after the other. What counts is how they compare
within one run.

    make bench-apply
"""

import argparse
import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from apiserver import embedded, real

from windvane import Client, NotFound, ObjectMeta, Resource, Spec, Status, Struct, crd
from windvane.api.markers import ListMap

CONNECTIONS = 8


class Stop(Struct):
    """One place on the way; three fields and itself are owned."""

    name: str
    depot: str
    minutes: int = 5


class RouteSpec(Spec):
    driver: str
    truck: str
    stops: Annotated[list[Stop], ListMap("name")] = []
    notes: dict[str, str] = {}


class Route(Resource[RouteSpec, Status], group="bench.windvane.dev", version="v1"):
    """A way to go."""


def route(number: int, driver: str) -> Route:
    """An object whose applier owns 100 fields: 2 of its own, 18 notes, 20 stops with 4 each."""
    return Route(
        metadata=ObjectMeta(name=f"route-{number:05d}"),
        spec=RouteSpec(
            driver=driver,
            truck=f"truck-{number % 9}",
            stops=[Stop(name=f"stop-{n:02d}", depot=f"depot {n}") for n in range(20)],
            notes={f"note-{n:02d}": "mind the dog" for n in range(18)},
        ),
    )


async def timed(client: Client, count: int, make: Callable[[int], Route]) -> float:
    """How many objects are applied in a second."""
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            await client.apply(make(number))

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
    return count / (time.perf_counter() - began)


async def load(kubeconfig: Path, count: int) -> dict[str, float]:
    """Apply everything as new, as it is, and with one field changed."""
    async with Client.connect(kubeconfig=kubeconfig) as client:
        await client.create(crd(Route))
        while True:
            try:
                await client.list(Route)
                break
            except NotFound:
                continue
        return {
            "new": await timed(client, count, lambda number: route(number, "ann")),
            "unchanged": await timed(client, count, lambda number: route(number, "ann")),
            "one changed": await timed(client, count, lambda number: route(number, "bob")),
        }


def main() -> None:
    """Run both and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=500, help="how many objects (default: 500)")
    count: int = parser.parse_args().count
    results: dict[str, dict[str, float]] = {}
    for name, server in (("embedded", embedded), ("reference", real)):
        with server() as (_, _, kubeconfig):
            results[name] = asyncio.run(load(kubeconfig, count))
    print(f"{count} objects with 100 owned fields at {CONNECTIONS} connections, applies a second\n")
    print(f"{'':12}{'embedded':>12}{'reference':>12}{'embedded is':>14}")
    for what, ours in results["embedded"].items():
        theirs = results["reference"][what]
        print(f"{what:12}{ours:12.0f}{theirs:12.0f}{ours / theirs:13.2f}x")


if __name__ == "__main__":
    main()
