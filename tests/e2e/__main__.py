"""Run Kubernetes' own end-to-end tests, and print the score: `make conformance`.

    make conformance                                  tiers A, B and C, and the groups that are not conformance yet
    make conformance WHAT="apply watchlist"           two groups
    make conformance WHAT="A B"                       two tiers
    make conformance WHAT="A --server reference"      the same tests on the real kube-apiserver, the judge

A tier says what a conformance test needs: A the API server alone, B also controllers, C also pods that turn Running,
D real containers. A group is a file of Kubernetes' test/e2e, such as apply. What the embedded server fails for now is
listed, with reasons, in tests/e2e/known.txt; the exit code is 1 if anything else fails, or anything there passes.

Most of what a test does is to wait. So several run side by side, those that want a cluster for themselves ([Serial])
one by one on another at the same time, those that want an image to be missing on a third (tests/e2e/processes.txt), and
those of webhooks on a fourth, where the suite's own webhooks are processes.
"""

import argparse
import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import NamedTuple

from e2e import clusters
from e2e.score import HERE, Chosen, UnknownWord, choose, read_known, read_names, read_tiers, score, surprises
from e2e.suite import WITHOUT_CONTROLLERS, Result, Spec, Suite
from reference.controlplane import ControlPlaneError

WEBHOOKS = ("crd_conversion_webhook", "webhook")
DEFAULT = (
    "A", "B", "C", *WEBHOOKS, "apply", "crd_validation_ratcheting", "crd_validation_rules", "openapiv3", "watchlist",
)  # fmt: skip
LIMIT = 240.0  # seconds; hardly a test takes one minute, but a CronJob that runs twice takes two
LIMIT_OF_SLOW = 900.0
LIMIT_OF_KNOWN = 60.0  # what fails mostly does so by waiting; what has begun to pass needs no longer than that

Cluster = Callable[[], AbstractContextManager[Path]]


def main() -> int:
    first, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="make conformance", description=first, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", nargs="*", default=DEFAULT, metavar="WHAT", help=f"tiers and groups (default: {' '.join(DEFAULT)})"
    )
    parser.add_argument("--server", choices=["embedded", "reference"], default="embedded", help="which to test")
    parser.add_argument("--name", default="", metavar="PART", help="only tests with this in their names")
    parser.add_argument("--logs", type=Path, metavar="DIR", help="keep what each test wrote there")
    parser.add_argument("--parallel", type=int, default=5, metavar="N", help="tests side by side (default: 5)")
    options = parser.parse_args()
    try:
        suite = Suite.find()
        chosen = choose(suite.tests(), read_tiers((HERE / "tiers.txt").read_text()), options.what)
    except (ControlPlaneError, UnknownWord) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    chosen = [found for found in chosen if options.name in found.test.name]
    if not chosen:
        print(f"error: no test that was asked for has {options.name!r} in its name", file=sys.stderr)
        return 2
    if options.logs:
        options.logs.mkdir(parents=True, exist_ok=True)
    print(f"{len(chosen)} tests on the {options.server} server, {options.parallel} side by side.", flush=True)
    try:
        with ExitStack() as stack:
            lanes = [
                Lane(stack.enter_context(cluster()), tests, parallel)
                for cluster, tests, parallel in plan([test for test, _ in chosen], options.server, options.parallel)
            ]
            flags = WITHOUT_CONTROLLERS if options.server == "reference" else ()
            run = Run(suite, options.logs, flags, known_failures(options.server), total=len(chosen))
            results = asyncio.run(run.all(lanes))
    except (ControlPlaneError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("Stopped before the end, so there is no score.", file=sys.stderr)
        return 130
    return conclude(chosen, results, options.server)


def conclude(chosen: list[Chosen], results: list[Result], server: str) -> int:
    """Print what came of it; the exit code."""
    known = known_failures(server)
    print("", *score(chosen, results), "", sep="\n")
    surprising = list(surprises(results, known))
    if surprising:
        print(*surprising, sep="\n")
        return 1
    if any(result.state == "failed" for result in results):
        print("What failed was expected to; tests/e2e/known.txt has the reasons.")
    return 0


def known_failures(server: str) -> dict[str, str]:
    """The reason for each failure that is expected."""
    return read_known((HERE / "known.txt").read_text()) if server == "embedded" else {}


class Lane(NamedTuple):
    """Tests that run on one cluster."""

    kubeconfig: Path
    tests: list[Spec]
    parallel: int


def plan(tests: list[Spec], server: str, parallel: int) -> list[tuple[Cluster, list[Spec], int]]:
    """Which cluster each test runs on, and how many at a time."""
    want_processes = read_names((HERE / "processes.txt").read_text()) if server == "embedded" else set()
    usual = clusters.embedded if server == "embedded" else clusters.reference
    want_webhooks = [test for test in tests if test.group in WEBHOOKS and server == "embedded"]
    simulated = [test for test in tests if test.name not in want_processes and test not in want_webhooks]
    lanes = [
        (usual, sorted((test for test in simulated if not test.serial), key=lambda test: not test.slow), parallel),
        (usual, [test for test in simulated if test.serial], 1),
        (clusters.processes, [test for test in tests if test.name in want_processes], 1),
        (clusters.webhooks, want_webhooks, 1),  # each listens at the same port of all addresses
    ]
    return [lane for lane in lanes if lane[1]]


class Run:
    """One run of many tests: how many are done, and what they said."""

    def __init__(
        self, suite: Suite, logs: Path | None, flags: Sequence[str], known: Collection[str], *, total: int
    ) -> None:
        self._suite = suite
        self._logs = logs
        self._flags = flags
        self._known = known
        self._total = total
        self._results: list[Result] = []

    async def all(self, lanes: list[Lane]) -> list[Result]:
        """Run all tests."""
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)  # else the clusters would stay
        async with asyncio.TaskGroup() as workers:
            for lane in lanes:
                for _ in range(lane.parallel):
                    workers.create_task(self._work(lane))
        return sorted(self._results)

    async def _work(self, lane: Lane) -> None:
        while lane.tests:
            test = lane.tests.pop(0)
            limit = LIMIT_OF_KNOWN if test.name in self._known else LIMIT_OF_SLOW if test.slow else LIMIT
            log = self._logs / f"{_file_name(test.name)}.log" if self._logs else None
            result = await self._suite.run(test, lane.kubeconfig, limit=limit, log=log, flags=self._flags)
            self._results.append(result)
            count = f"{len(self._results):{len(str(self._total))}}/{self._total}"
            print(f"{count}  {result.state:7} {result.seconds:5.1f} s  {test.name}", flush=True)
            if result.state != "passed":
                print(f"    {result.message[:300]}", flush=True)


def _file_name(name: str) -> str:
    return "".join(character if character.isalnum() else "-" for character in name)[:200]


if __name__ == "__main__":
    sys.exit(main())
