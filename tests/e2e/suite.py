"""Kubernetes' end-to-end tests as a program: which tests it has, and what one of them says about a server."""

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from reference.controlplane import BUILD, ControlPlaneError, Programs
from windvane import ambient

# JSON, because that is what Python operators speak.
FLAGS = (
    "--provider=skeleton",
    "--kube-api-content-type=application/json",
    "--ginkgo.v",
    "--ginkgo.no-color",
)
# For a server alone: nothing waits for nodes, for the account `default` of a new namespace, or for the end of one.
WITHOUT_CONTROLLERS = (
    "--allowed-not-ready-nodes=-1",
    "--minStartupPods=-1",
    "--num-nodes=1",
    "--e2e-verify-service-account=false",
    "--delete-namespace=false",
)
SECONDS_TO_GIVE_UP = 30  # in which a test that is out of time has to end and to write its report


class Spec(NamedTuple):
    """One test of the suite (Ginkgo says spec), under the name that Ginkgo prints."""

    name: str
    group: str  # the file that it is in, such as `apply` of test/e2e/apimachinery/apply.go

    @property
    def serial(self) -> bool:
        """It wants the cluster for itself."""
        return "[Serial]" in self.name

    @property
    def slow(self) -> bool:
        """It waits, for example, until a server forgets its history."""
        return "[Slow]" in self.name


class Result(NamedTuple):
    """What one test said: passed, failed or skipped."""

    test: Spec
    state: str
    message: str
    seconds: float


class Suite:
    """The program that `python reference/build.py e2e` built."""

    def __init__(self, program: Path, kubectl: Path) -> None:
        self._program = program
        self._kubectl = kubectl

    @classmethod
    def find(cls) -> Self:
        kubectl = Programs.find().directory / "kubectl"
        asked = subprocess.run([sys.executable, BUILD, "e2e", "--where"], capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            raise ControlPlaneError(asked.stderr.strip())
        return cls(Path(asked.stdout.strip()) / "e2e.test", kubectl)

    def tests(self) -> list[Spec]:
        """All tests there are, by name. Asks no server."""
        with tempfile.TemporaryDirectory(prefix="windvane-e2e-") as directory:
            report = Path(directory) / "report.json"
            subprocess.run(
                [self._program, "--ginkgo.dry-run", f"--ginkgo.json-report={report}"], check=True, capture_output=True
            )
            return sorted(_spec(entry) for entry in _entries(report))

    async def run(
        self, test: Spec, kubeconfig: Path, *, limit: float, log: Path | None, flags: Sequence[str] = ()
    ) -> Result:
        """Run one test, in a process of its own, so that it can't take others with it when it hangs."""
        started = ambient.monotonic()
        with tempfile.TemporaryDirectory(prefix="windvane-e2e-") as directory:
            report = Path(directory) / "report.json"
            output = log or Path(directory) / "output"
            await self._run(
                f"--kubeconfig={kubeconfig}",
                f"--kubectl-path={self._kubectl}",
                # Ginkgo matches the suite's own name and a space too.
                f"--ginkgo.focus= {re.escape(test.name)}$",
                f"--ginkgo.timeout={limit:g}s",
                f"--ginkgo.json-report={report}",
                *FLAGS,
                *flags,
                directory=directory,
                output=output,
                limit=limit + SECONDS_TO_GIVE_UP,
            )
            return Result(test, *_verdict(test, report, output), ambient.monotonic() - started)

    async def _run(self, *flags: str, directory: str, output: Path, limit: float) -> None:
        with output.open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                self._program, *flags, cwd=directory, stdin=subprocess.DEVNULL, stdout=file, stderr=file
            )
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limit):
                    await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def _verdict(test: Spec, report: Path, output: Path) -> tuple[str, str]:
    """What became of a test: the state, and the first line of the reason."""
    for entry in _entries(report) if report.is_file() else []:
        if _spec(entry) == test:
            message = (entry.get("Failure") or {}).get("Message", "")
            first = next((line.strip() for line in message.splitlines() if line.strip()), "")
            return entry["State"] if entry["State"] in ("passed", "skipped") else "failed", first
    last = output.read_text(errors="replace").strip().rpartition("\n")[2]
    return "failed", f"it ended without a report; its last words: {last}"


def _entries(report: Path) -> list[dict[str, Any]]:
    return [
        entry
        for suite in json.loads(report.read_bytes())
        for entry in suite["SpecReports"]
        if entry["LeafNodeType"] == "It"
    ]


def _spec(entry: dict[str, Any]) -> Spec:
    name = " ".join([*(entry["ContainerHierarchyTexts"] or []), entry["LeafNodeText"]])
    return Spec(name, _group(entry))


def _group(entry: dict[str, Any]) -> str:
    """The file where the outermost container is: tests themselves may be in a function that several files call."""
    locations = entry["ContainerHierarchyLocations"] or [entry["LeafNodeLocation"]]
    return Path(locations[0]["FileName"]).stem
