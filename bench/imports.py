"""What importing costs: windvane and its parts, beside what they stand on and what others offer.

Each import runs in new processes, in turn, and the fastest run counts: the rest is the machine's noise. CPU time of
the whole process, less that of a Python that imports nothing.

    make bench-import
"""

import os
import resource
import subprocess
import sys

STATEMENTS = [
    "import msgspec",
    "import asyncio, msgspec",
    "import windvane",
    "import windvane.k8s.core",
    "from windvane import Client",
    "import aiohttp",
    "import kubernetes_asyncio.client",
    "import lightkube",
    "from lightkube.resources import core_v1",
]
ROUNDS = 7


def cpu_seconds(statement: str) -> float:
    """The CPU time of one new Python that runs `statement`."""
    # The peers were compiled when they were installed. Let Python keep what it compiles of ours as well.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    best = {statement: float("inf") for statement in ("pass", *STATEMENTS)}
    for _ in range(ROUNDS):
        for statement in best:
            best[statement] = min(best[statement], cpu_seconds(statement))
    nothing = best.pop("pass")
    print(f"{'':42} {'ms':>6}")
    for statement, seconds in best.items():
        print(f"{statement:42} {1000 * (seconds - nothing):6.0f}")


if __name__ == "__main__":
    main()
