"""The session that the live view shows, with real processes: what its keys do to the operator, and what it tells."""

import asyncio
import re
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from integration.dev.desk import OPERATOR, Desk, wanted
from windvane import ambient
from windvane.cli.dev.live_session import LiveSession, SessionOptions
from windvane.cli.dev.session import Session, State
from windvane.cluster.instance import Instance

PATIENCE = 120.0
STARTING = re.compile(r"the operator is starting, with pid (\d+)")


async def until(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await ambient.sleep(0.02)


class Heard:
    """Reads notes and passes of a session."""

    def __init__(self, session: Session) -> None:
        self.notes: list[str] = []
        self.passes: list[str] = []
        self._session = session

    async def notes_of(self) -> None:
        async for note in self._session.notes():
            self.notes.append(note.words)

    async def passes_of(self) -> None:
        async for done in self._session.passes():
            self.passes.append(done.where)

    def cut(self) -> int:
        """How many connections were cut."""
        words = "the operator's connections to the API server were cut: "
        return sum(int(each.removeprefix(words)) for each in self.notes if each.startswith(words))

    @property
    def pids(self) -> list[int]:
        """Of the operator's processes, in their order."""
        return [int(found[1]) for each in self.notes if (found := STARTING.match(each))]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
async def session(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LiveSession]:
    """One that runs, with the sample applied."""
    monkeypatch.setenv("WINDVANE_HOME", str(desk.home))
    files = desk.home / "dev"
    files.mkdir(parents=True)
    session = LiveSession(
        SessionOptions(
            operator="website_operator:operator",
            directory=desk.project,
            samples=[desk.project / "samples"],
            deploy=desk.project / "deploy",
            instance=Instance("dev-test", desk.home / "cluster"),
            cluster_arguments=["--pods", "simulated"],
            files=files,
        )
    )
    try:
        await session.start()
        keeping = asyncio.ensure_future(session.keep())
        try:
            yield session
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping
    finally:
        await session.stop()
    assert session.state == State.STOPPED


async def test_the_operator_is_paused_cut_off_restarted_and_killed(session: LiveSession) -> None:
    heard = Heard(session)
    reading = [asyncio.ensure_future(each) for each in (heard.notes_of(), heard.passes_of())]
    await until(lambda: session.state == State.RUNNING and "default/example" in heard.passes)
    assert session.described is not None
    assert [each.name for each in session.described.primaries] == ["Website"]
    assert [each.name for each in session.described.owned] == ["Deployment", "Service"]

    await session.pause()
    await until(lambda: session.state == State.PAUSED and _stands_still(heard.pids[-1]))
    await session.client.create(wanted("while-paused"))
    await session.resume()
    await until(lambda: session.state == State.RUNNING and "default/while-paused" in heard.passes)

    await session.drop_watches()
    await until(lambda: heard.cut() > 0)
    await session.client.create(wanted("after-the-cut"))
    await until(lambda: "default/after-the-cut" in heard.passes)

    await session.restart()
    await until(lambda: len(heard.pids) == 2 and session.state == State.RUNNING)
    await session.kill()
    await until(lambda: len(heard.pids) == 3 and session.state == State.RUNNING)
    assert not _is_there(heard.pids[0])
    assert not _is_there(heard.pids[1])
    assert [each for each in heard.notes if "has ended" in each] == [], "what was asked for is no crash"

    # Who comes later has everything from the beginning as well.
    late = Heard(session)
    reading += [asyncio.ensure_future(each) for each in (late.notes_of(), late.passes_of())]
    await until(lambda: late.notes == heard.notes and late.passes[:3] == heard.passes[:3] != [])
    for each in reading:
        each.cancel()


async def test_what_is_wrong_is_told_until_it_is_mended(desk: Desk, session: LiveSession) -> None:
    await until(lambda: session.state == State.RUNNING)
    content = desk.edit(OPERATOR, "operator = Operator(", "operator = Operatr(")
    await until(lambda: session.state == State.BROKEN)
    assert session.problem.startswith(f"{OPERATOR}:")
    assert "NameError: name 'Operatr' is not defined" in session.problem.splitlines()[0]
    desk.save(OPERATOR, content)
    await until(lambda: session.state == State.RUNNING)
    assert session.problem == ""


async def test_a_sample_is_applied_when_the_code_that_was_saved_with_it_works(
    desk: Desk, session: LiveSession, tmp_path: Path
) -> None:
    heard = Heard(session)
    reading = asyncio.ensure_future(heard.notes_of())
    await until(lambda: session.state == State.RUNNING)
    extended = shutil.copytree(desk.project, tmp_path / "extended", ignore=shutil.ignore_patterns("__pycache__"))
    adding = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "windvane.cli", "add", "version", "Website", "v1"),
        cwd=extended,
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert await adding.wait() == 0
    code = [
        extended / "src/website_operator" / each
        for each in ("website_v1.py", "website_v1_conversion.py", "__init__.py")
    ]
    for each in (*(extended / "deploy").glob("*.yaml"), *code, extended / "samples/website-v1.yaml"):
        shutil.copy(each, desk.project / each.relative_to(extended))
    await until(lambda: any("Website example-v1 is created" in each for each in heard.notes))
    assert [each for each in heard.notes if "refused" in each] == []
    reading.cancel()


def _stands_still(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
