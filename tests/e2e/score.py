"""What a run of the end-to-end tests is worth: a score for each tier and group, and what nobody expected.

`tiers.txt` says what a conformance test needs beside an API server; `known.txt` says which tests the embedded server
fails for now, and why. Both directions count: a test in it that begins to pass must be struck from it.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from e2e.suite import Result, Spec

HERE = Path(__file__).parent


class Chosen(NamedTuple):
    """A test that was asked for, and the line of the score in which it counts."""

    test: Spec
    row: str


def read_tiers(text: str) -> dict[str, str]:
    """The tier of each conformance test, by its name."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: tier for tier, _, name in (line.partition(" ") for line in lines)}


def read_known(text: str) -> dict[str, str]:
    """The reason for each failure that is expected, by the test's name. A `# ` line is the reason of all below it."""
    reason, found = "", {}
    for line in text.splitlines():
        if line.startswith("# "):
            reason = line.removeprefix("# ")
        elif line:
            found[line] = reason
    return found


def read_names(text: str) -> set[str]:
    """The names in a list, without comments."""
    return {line for line in text.splitlines() if line and not line.startswith("#")}


def choose(tests: Iterable[Spec], tiers: Mapping[str, str], words: Iterable[str]) -> list[Chosen]:
    """The tests of the tiers (A to D) and groups that the words name; a test counts for its tier first."""
    tests, wanted = list(tests), list(words)
    there = {*tiers.values(), *(test.group for test in tests)}
    if unknown := [word for word in wanted if word not in there]:
        raise UnknownWord(f"no test is in {' or '.join(unknown)}; tiers are A to D, groups are files of test/e2e")
    chosen = []
    for test in tests:
        if (tier := tiers.get(test.name)) in wanted:
            chosen.append(Chosen(test, f"tier {tier}"))
        elif test.group in wanted:
            chosen.append(Chosen(test, test.group))
    return chosen


class UnknownWord(Exception):
    """What was asked for is neither a tier nor a group."""


def score(chosen: Iterable[Chosen], results: Iterable[Result]) -> Iterator[str]:
    """The score as a table, one line for each tier and group."""
    states = {result.test: result.state for result in results}
    rows: dict[str, list[str]] = {}
    for test, row in chosen:
        rows.setdefault(row, []).append(states[test])
    order = [*sorted(row for row in rows if row.startswith("tier ")), *sorted(r for r in rows if r[:5] != "tier ")]
    width = max(len(row) for row in rows)
    yield f"{'':{width}}  passed  failed  skipped  total"
    for name in order:
        yield _line(name.ljust(width), rows[name])
    if len(rows) > 1:
        yield _line("all".ljust(width), [state for found in rows.values() for state in found])


def _line(name: str, states: list[str]) -> str:
    passed, failed, skipped = (states.count(state) for state in ("passed", "failed", "skipped"))
    return f"{name}  {passed:6}  {failed:6}  {skipped:7}  {len(states):5}"


def surprises(results: Iterable[Result], known: Mapping[str, str]) -> Iterator[str]:
    """Each test that didn't do what was expected of it, in a sentence."""
    for result in results:
        expected = known.get(result.test.name)
        if result.state == "failed" and expected is None:
            yield f"failed, and should pass: {result.test.name}\n    {result.message}"
        if result.state != "failed" and expected is not None:
            yield f"{result.state}, so strike it from known.txt: {result.test.name}"
