"""One test is one process: what it reports is told, and whether it hangs or dies, the run goes on.

A script stands in for Kubernetes' program: these tests are about what we do with it.
"""

import json
from pathlib import Path

import pytest

from e2e import suite as under_test
from e2e.suite import Spec, Suite

WANTED = Spec("[sig-api-machinery] Watchers should (not) sleep [Conformance]", "watch")
REPORTS = """#!/bin/sh
for flag; do case "$flag" in --ginkgo.json-report=*) report="${flag#*=}" ;; esac; done
echo "$*"
cat "$(dirname "$0")/report.json" >"$report"
"""


async def test_a_test_that_passes(tmp_path: Path) -> None:
    result = await run(tmp_path, report(entry(State="passed")))
    assert (result.state, result.message) == ("passed", "")


@pytest.mark.parametrize("state", ["failed", "timedout", "panicked", "interrupted"])
async def test_a_test_that_fails_tells_the_first_line(tmp_path: Path, state: str) -> None:
    result = await run(tmp_path, report(entry(State=state, Failure={"Message": "\n  no event\nwithin 5s"})))
    assert (result.state, result.message) == ("failed", "no event")


async def test_others_in_the_report_do_not_count(tmp_path: Path) -> None:
    other = entry(LeafNodeText="should sleep", State="skipped")
    result = await run(
        tmp_path, report(other, entry(State="passed"), entry(LeafNodeType="BeforeSuite", State="failed"))
    )
    assert result.state == "passed"


async def test_only_this_test_is_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "log"
    await run(tmp_path, report(entry(State="passed")), log=log)
    name = r"\[sig\-api\-machinery\]\ Watchers\ should\ \(not\)\ sleep\ \[Conformance\]"
    assert f"--ginkgo.focus= {name}$ " in log.read_text()


async def test_a_test_that_dies_has_failed_with_its_last_words(tmp_path: Path) -> None:
    result = await run(tmp_path, "", script="#!/bin/sh\necho starting\necho out of memory\nexit 3\n")
    assert (result.state, result.message) == ("failed", "it ended without a report; its last words: out of memory")


async def test_a_test_that_hangs_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "SECONDS_TO_GIVE_UP", 0.2)
    result = await run(tmp_path, "", script="#!/bin/sh\necho waiting\nexec tail -f /dev/null\n", limit=5)
    assert (result.state, result.message) == ("failed", "it ended without a report; its last words: waiting")


def test_tests_are_listed_with_the_file_that_they_are_in(tmp_path: Path) -> None:
    serial = entry(LeafNodeText="should be alone")
    found = program(tmp_path, report(entry(), serial)).tests()
    assert found == [WANTED, Spec("[sig-api-machinery] Watchers should be alone", "watch")]


async def run(
    directory: Path, report: str, script: str = REPORTS, limit: float = 60, log: Path | None = None
) -> under_test.Result:
    suite = program(directory, report, script)
    return await suite.run(WANTED, directory / "kubeconfig", limit=limit, log=log)


def program(directory: Path, report: str, script: str = REPORTS) -> Suite:
    file = directory / "e2e.test"
    file.write_text(script)
    file.chmod(0o700)
    (directory / "report.json").write_text(report)
    return Suite(file, directory / "kubectl")


def report(*entries: dict[str, object]) -> str:
    return json.dumps([{"SpecReports": entries}])


def entry(**fields: object) -> dict[str, object]:
    return {
        "ContainerHierarchyTexts": ["[sig-api-machinery] Watchers"],
        "ContainerHierarchyLocations": [{"FileName": "k8s.io/kubernetes/test/e2e/apimachinery/watch.go"}],
        "LeafNodeType": "It",
        "LeafNodeText": "should (not) sleep [Conformance]",
        "LeafNodeLocation": {"FileName": "k8s.io/kubernetes/test/e2e/apimachinery/elsewhere.go"},
    } | fields
