"""A list of 20,000 custom resources: what it costs to have it, here and in the clients that others offer.

Starts the reference control plane, fills it, and then lets each contender make the same list in a process of its own,
a few times in turn, because these machines are noisy. CPU seconds and memory are those of the contender alone; what
counts is how they compare within one run.

    make bench-list
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from parcels import Parcel, parcel

from reference.controlplane import ReferenceControlPlane
from windvane import AlreadyExists, Client, crd, object_to_wire

HERE = Path(__file__).parent
CONTENDERS = {
    "windvane": "windvane, envelopes and bytes",
    "windvane_typed": "windvane, every object decoded",
    "kubernetes_asyncio": "kubernetes_asyncio, dicts",
    "lightkube": "lightkube, generic objects",
}


async def fill(client: Client, count: int) -> int:
    """Create the objects, and say how large one is on the wire."""
    turn = asyncio.Semaphore(16)

    async def create(number: int) -> None:
        async with turn:
            try:
                await client.create(parcel(number))
            except AlreadyExists:
                return

    for start in range(0, count, 1000):
        await asyncio.gather(*(create(number) for number in range(start, min(start + 1000, count))))
        print(f"\rcreated {min(start + 1000, count)} of {count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    page = await client.list(Parcel, page_size=100)
    return sum(len(item.raw) for item in page.items[:100]) // 100


def measure(contender: str, reference: ReferenceControlPlane, count: int) -> dict[str, float]:
    """One list by one contender in a new process."""
    done = subprocess.run(
        [HERE.parent / ".venv-bench/bin/python", HERE / "list_contenders.py", contender, str(count)],
        env={**os.environ, "KUBECONFIG": str(reference.kubeconfig)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{contender} failed:\n{done.stderr}")
    result: dict[str, float] = json.loads(done.stdout)
    return result


def main() -> None:
    """Run all contenders and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000, help="how many objects (default: 20000)")
    parser.add_argument("--rounds", type=int, default=3, help="how many lists each contender makes (default: 3)")
    arguments = parser.parse_args()
    with ReferenceControlPlane() as reference:
        definition = crd(Parcel)
        reference.kubectl("apply", "-f", "-", input=json.dumps(object_to_wire(definition)))
        reference.kubectl("wait", "--for=condition=Established", f"crd/{definition.metadata.name}")

        async def prepare() -> int:
            async with Client.connect(kubeconfig=reference.kubeconfig) as client:
                return await fill(client, arguments.count)

        size = asyncio.run(prepare())
        results: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
        for _ in range(arguments.rounds):
            for name in CONTENDERS:
                results[name].append(measure(name, reference, arguments.count))
    print(f"{arguments.count} objects of {size} bytes, median of {arguments.rounds}\n")
    columns = {"cpu": "CPU s", "held": "MB held", "peak": "MB peak"}
    print(f"{'':36}" + "".join(f"{words:>9} {'ratio':>7}" for words in columns.values()))
    base: dict[str, float] = {}
    for name, words in CONTENDERS.items():
        medians = {key: statistics.median(run[key] for run in results[name]) for key in columns}
        base = base or medians
        cells = [f"{medians[key]:9.2f} {medians[key] / base[key]:6.1f}x" for key in columns]
        print(f"{words:36}" + "".join(cells))


if __name__ == "__main__":
    main()
