"""The same operator written with windvane, kopf and controller-runtime: how fast, how large, how busy each one is.

Each runs in a process of its own, on the real API server, over HTTPS with a client certificate and without limits on
requests. Three things are measured:

- work: 1,000 custom resources are there, and each is to get a ConfigMap and a status. From the first ConfigMap to the
  last status; CPU seconds and peak memory of the process since its start, importing included.
- latency: then, one at a time, objects are edited: from the answer to the edit until the ConfigMap shows it.
- cold start: with 20,000 objects of 1.6 KB there, an operator that only looks at them is started. Until its caches are
  filled, until its function has been called for each; memory then, and CPU seconds while nothing happens.

What counts is how they compare within one run: the machine is shared with the API server, and noisy.

    make bench-operators
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from parcels import Parcel, install, parcel
from processes import HERE, controller_runtime, running

from reference.controlplane import ReferenceControlPlane
from windvane import Client
from windvane.api.resource import Object
from windvane.k8s import core

CONNECTIONS = 16
SECONDS_TO_SETTLE = 3.0

Results = dict[str, list[float]]
"""Per figure, what was measured in each round."""


class Contender(NamedTuple):
    """One operator, and how it is started."""

    words: str
    command: Callable[[Path], list[str]]
    """Given a directory for what it keeps. What has to be built is built now."""
    cold: bool
    """Whether it takes part in the cold start; how many workers there are makes no difference to that."""


def contenders() -> list[Contender]:
    """All of them, windvane first: the others are compared to it."""
    python = str(HERE.parent / ".venv-bench/bin/python")
    windvane, kopf = [python, str(HERE / "operators_windvane.py")], [python, str(HERE / "operators_kopf.py")]
    return [
        Contender("windvane", lambda _: windvane, cold=True),
        Contender(
            "windvane, with a history in a file", lambda place: [*windvane, f"--history={place / 'it'}"], cold=False
        ),
        Contender("controller-runtime, 10 workers", lambda _: [str(controller_runtime()), "--workers=10"], cold=True),
        Contender("controller-runtime, 1 worker", lambda _: [str(controller_runtime()), "--workers=1"], cold=False),
        Contender("kopf", lambda _: kopf, cold=True),
    ]


class Onlooker:
    """Watches parcels and their ConfigMaps, and knows when each was first seen to be what."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._changed = asyncio.Event()
        self.weights: dict[str, tuple[str, float]] = {}
        """By name, what a ConfigMap last said its parcel weighs, and when that was seen."""
        self.reported: dict[str, tuple[int, float]] = {}
        """By name, of which generation a parcel's status last spoke, and when that was seen."""

    async def watch(self, what: type[Object], since: str) -> None:
        """Follow one kind until cancelled."""
        async with aclosing(self._client.watch(what, namespace="default", resource_version=since)) as events:
            async for event in events:
                now, wire = time.perf_counter(), json.loads(event.item.raw)
                name = event.item.meta.name
                weight = wire.get("data", {}).get("weight")
                generation = wire.get("status", {}).get("observedGeneration")
                if weight is not None and self.weights.get(name, ("", 0.0))[0] != weight:
                    self.weights[name] = (weight, now)
                if generation is not None and self.reported.get(name, (0, 0.0))[0] != generation:
                    self.reported[name] = (generation, now)
                self._changed.set()

    async def all_done(self, count: int) -> None:
        """Wait until so many have a ConfigMap and a status."""
        while min(len(self.weights), len(self.reported)) < count:
            await self._change()

    async def shows(self, name: str, weight: str, generation: int) -> float:
        """Wait until an edit is seen in both places; when it was in the ConfigMap."""
        while self.weights[name][0] != weight or self.reported[name][0] != generation:
            await self._change()
        return self.weights[name][1]

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


async def fill(client: Client, count: int) -> None:
    """Install the kind, and create so many objects of it."""
    await install(client)
    numbers = iter(range(count))

    async def create(numbers: Iterator[int]) -> None:
        for number in numbers:
            await client.create(parcel(number))
            if number % 1000 == 999:
                print(f"\rcreated {number + 1} of {count}", end="", file=sys.stderr, flush=True)

    await asyncio.gather(*(create(numbers) for _ in range(CONNECTIONS)))
    print(file=sys.stderr)


async def work(contender: Contender, kubeconfig: Path, count: int, edits: int) -> dict[str, float]:
    """What one contender needs for its work, and then how soon it notices edits."""
    with TemporaryDirectory() as directory:
        command = contender.command(Path(directory))
        return await measure_work(command, kubeconfig, count, edits)


async def measure_work(command: list[str], kubeconfig: Path, count: int, edits: int) -> dict[str, float]:
    """The same of what a command starts."""
    async with Client.connect(kubeconfig=kubeconfig) as client:
        await fill(client, count)
        onlooker = Onlooker(client)
        since = (await client.list(Parcel, page_size=1)).resource_version
        watching = [asyncio.ensure_future(onlooker.watch(what, since)) for what in (Parcel, core.ConfigMap)]
        async with running(command, kubeconfig) as process:
            await onlooker.all_done(count)
            first = min(seen for _, seen in onlooker.weights.values())
            last = max(seen for _, seen in (*onlooker.weights.values(), *onlooker.reported.values()))
            measured = {
                "resources/s": count / (last - first),
                "CPU s": process.cpu(),
                "peak MB": process.memory_mb("VmHWM"),
            }
            await asyncio.sleep(SECONDS_TO_SETTLE)
            before = process.cpu()
            latencies = [await latency(client, onlooker, number, count) for number in range(edits)]
            if edits > 1:
                cuts = statistics.quantiles(latencies, n=100)
                cpu = (process.cpu() - before) / edits
                measured |= {"p50 ms": 1000 * cuts[49], "p99 ms": 1000 * cuts[98], "CPU ms per edit": 1000 * cpu}
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
    return measured


async def latency(client: Client, onlooker: Onlooker, number: int, count: int) -> float:
    """One edit: seconds from its answer until the ConfigMap shows it. Returns once nothing is left to do."""
    name, weight = parcel(number % count).metadata.name, 1_000 + number
    edited = await client.patch(Parcel, name, {"spec": {"weight": weight}})
    answered = time.perf_counter()
    seen = await onlooker.shows(name, str(weight), edited.metadata.generation)
    return max(seen - answered, 0.0)


async def cold_start(contender: Contender, kubeconfig: Path, count: int, idle_seconds: float) -> dict[str, float]:
    """What one contender needs to see what is there, and then to see that nothing happens."""
    began = time.perf_counter()
    async with running([*contender.command(Path()), f"--idle={count}"], kubeconfig) as process:
        await process.says("synced")
        measured = {"synced s": time.perf_counter() - began}
        await process.says("visited")
        measured |= {"visited s": time.perf_counter() - began, "CPU s": process.cpu()}
        await asyncio.sleep(SECONDS_TO_SETTLE)
        measured |= {"MB": process.memory_mb("VmRSS"), "peak MB": process.memory_mb("VmHWM")}
        before = process.cpu()
        await asyncio.sleep(idle_seconds)
        measured["idle CPU ms/min"] = (process.cpu() - before) * 1000 * 60 / idle_seconds
    return measured


def table(results: dict[str, Results]) -> str:
    """Medians of all rounds, each beside its ratio to the first row's, in Markdown."""
    first, *_ = results.values()
    rows = ["", *(f"{figure} | " for figure in first)], ["---"] * (1 + 2 * len(first))
    lines = ["| " + " | ".join(cells) + " |" for cells in rows]
    for words, figures in results.items():
        cells = [words]
        for figure, rounds in figures.items():
            median, base = statistics.median(rounds), statistics.median(first[figure])
            shown = f"{median:.0f}" if median >= 100 else f"{median:.1f}" if median >= 10 else f"{median:.2f}"
            cells += [shown, f"{median / base:.2f}x" if base else ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def note(results: dict[str, Results], contender: Contender, measured: dict[str, float]) -> None:
    """Keep one round's figures, and say them at once: the whole takes long."""
    for figure, value in measured.items():
        results.setdefault(contender.words, defaultdict(list))[figure].append(value)
    print(contender.words, {figure: round(value, 3) for figure, value in measured.items()}, file=sys.stderr, flush=True)


def compare_work(chosen: Sequence[Contender], rounds: int, count: int, edits: int) -> dict[str, Results]:
    """Each in turn, a few times, and each time on a new API server."""
    results: dict[str, Results] = {}
    for _ in range(rounds):
        for contender in chosen:
            with ReferenceControlPlane() as reference:
                note(results, contender, asyncio.run(work(contender, reference.kubeconfig, count, edits)))
    return results


def compare_cold_starts(
    chosen: Sequence[Contender], rounds: int, count: int, idle_seconds: float
) -> dict[str, Results]:
    """Each in turn, a few times, on one API server: none of them writes anything."""
    results: dict[str, Results] = {}
    with ReferenceControlPlane() as reference:

        async def prepare() -> int:
            async with Client.connect(kubeconfig=reference.kubeconfig) as client:
                await fill(client, count)
                page = await client.list(Parcel, page_size=100)
                return sum(len(item.raw) for item in page.items[:100]) // 100

        print(f"objects of {asyncio.run(prepare())} bytes", file=sys.stderr)
        for _ in range(rounds):
            for contender in chosen:
                if contender.cold:
                    measured = asyncio.run(cold_start(contender, reference.kubeconfig, count, idle_seconds))
                    note(results, contender, measured)
    return results


def main() -> None:
    """Run all contenders and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1_000, help="objects to work on, 0 for none (default: 1000)")
    parser.add_argument("--edits", type=int, default=200, help="edits to time (default: 200)")
    parser.add_argument("--objects", type=int, default=20_000, help="objects at a cold start, 0: none (default: 20000)")
    parser.add_argument("--idle-seconds", type=float, default=30.0, help="how long to look at idleness (default: 30)")
    parser.add_argument("--rounds", type=int, default=3, help="how often; medians are shown (default: 3)")
    parser.add_argument("--only", default="", help="contenders whose names begin so, such as `windvane`")
    asked: Any = parser.parse_args()
    chosen = [each for each in contenders() if each.words.startswith(asked.only)]
    tables: list[str] = []
    if asked.count:
        results = compare_work(chosen, asked.rounds, asked.count, asked.edits)
        tables.append(f"{asked.count} objects, {asked.edits} edits, median of {asked.rounds}:\n\n{table(results)}")
    if asked.objects:
        results = compare_cold_starts(chosen, asked.rounds, asked.objects, asked.idle_seconds)
        tables.append(f"cold start with {asked.objects} objects, median of {asked.rounds}:\n\n{table(results)}")
    print("\n\n".join(tables))


if __name__ == "__main__":
    main()
