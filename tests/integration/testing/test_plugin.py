"""The pytest plugin, in projects of its own."""

import re
from pathlib import Path

import pytest
import yaml

from unit.test_docs import BLOCK, python_blocks

ROOT = Path(__file__).parents[3]
pytest_plugins = ["pytester"]

OPERATOR = """
import asyncio, time
from windvane import Context, Operator, Resource, ObjectMeta, Spec, Status

class NoteSpec(Spec):
    text: str = ""

class Note(Resource[NoteSpec, Status], group="demo.windvane.dev", version="v1"):
    pass

operator = Operator("notes")

@operator.controller(Note)
async def reconcile(note: Note, ctx: Context) -> None:
    ctx.wait("there is no ink")
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose tests are run by pytest-asyncio, and nothing else."""
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(notes=OPERATOR)
    return pytester


def test_a_test_with_a_cluster_has_virtual_time_and_others_have_their_own(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio, time
        from windvane.sim.time import VirtualLoop

        async def test_with(cluster):
            began = time.perf_counter()
            await asyncio.sleep(3600)
            assert time.perf_counter() - began < 60
            assert isinstance(asyncio.get_running_loop(), VirtualLoop)

        async def test_without():
            assert not isinstance(asyncio.get_running_loop(), VirtualLoop)
            assert time.time() < 1893456000  # which virtual time begins at

        def test_that_is_not_async():
            assert time.time() < 1893456000
        """
    )
    project.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)


def test_another_loop_that_the_project_has_chosen_stays_that_of_its_other_tests(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import asyncio

        class Loop(asyncio.SelectorEventLoop): ...

        def pytest_asyncio_loop_factories(config, item):
            return {"theirs": Loop}
        """
    )
    project.makepyfile(
        """
        import asyncio

        async def test_without():
            assert type(asyncio.get_running_loop()).__name__ == "Loop"

        async def test_with(cluster):
            assert type(asyncio.get_running_loop()).__name__ != "Loop"
        """
    )
    project.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_fixtures_of_the_project_can_use_the_cluster(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        from notes import Note, operator
        from windvane import ObjectMeta

        @pytest.fixture
        async def note(cluster):
            await cluster.run(operator)
            return await cluster.apply(Note(metadata=ObjectMeta(name="a")))

        async def test_it(cluster, note):
            await cluster.settled()
            assert (await cluster.get(Note, "a")).status.conditions[0].message == "there is no ink"
        """
    )
    project.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_test_that_fails_shows_what_the_operators_did(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from notes import Note, operator
        from windvane import ObjectMeta

        async def test_it(cluster):
            await cluster.run(operator)
            await cluster.apply(Note(metadata=ObjectMeta(name="a")))
            await cluster.settled()
            assert (await cluster.get(Note, "a")).status.conditions[0].status == "True"
        """
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*- what the operators did -*", "*notes: Note default/a  because Note a came  → waiting: there is no ink*"]
    )


def test_an_operator_that_fails_unseen_fails_the_test(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import asyncio
        from windvane import Client
        from notes import Note, operator

        @operator.lifespan
        async def queue(client: Client):
            async with asyncio.timeout(60):
                yield
                await asyncio.sleep(0)

        async def test_it(cluster):
            await cluster.run(operator)
            await asyncio.sleep(120)
        """
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*LifespanFailed: the lifespan queue failed while the operator worked: *"])


def test_a_test_that_does_not_wait_is_told_to(project: pytest.Pytester) -> None:
    project.makepyfile("async def test_one_that_does(cluster): ...\ndef test_it(cluster): ...")
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*must be an `async def`*"])


def test_a_test_has_one_kind_of_time_and_waits(project: pytest.Pytester) -> None:
    project.makepyfile("async def test_it(cluster, process_cluster): ...\ndef test_that(process_cluster): ...")
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        ["*or write the test for `any_cluster`, and it is run on each kind", "*must be an `async def`*"]
    )


def test_a_test_that_shares_its_loop_is_told_how_to_have_its_own(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        async def test_as_the_project_says(cluster): ...

        @pytest.mark.asyncio(loop_scope="module")
        async def test_as_it_says(process_cluster): ...

        @pytest.mark.asyncio(loop_scope="function")
        async def test_on_its_own(cluster):
            await cluster.settled()

        async def test_without_a_cluster(): ...
        """
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider", "-o", "asyncio_default_test_loop_scope=session")
    result.assert_outcomes(passed=2, errors=2)
    told = [line for line in result.outlines if line.startswith("a test with a cluster has an event loop of its own")]
    assert len(told) == 2
    assert '@pytest.mark.asyncio(loop_scope="function")' in told[0]


MANUAL = ROOT / "docs" / "testing.md"


def blocks(language: str) -> list[str]:
    return [code for found, code in BLOCK.findall(MANUAL.read_text()) if found == language]


def test_the_tests_of_the_manual_pass(pytester: pytest.Pytester) -> None:
    (settings,) = blocks("ini")
    pytester.makeini(settings)
    pytester.makepyfile(
        website_operator=(ROOT / "examples" / "website_operator.py").read_text(),
        test_manual="".join(python_blocks(MANUAL)),
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rfEs")
    result.assert_outcomes(passed=17, skipped=1)  # of real_cluster: see tests/reference/test_real_cluster.py
    assert python_blocks(MANUAL) == blocks("python")


def test_the_commands_of_the_manual_are_there(project: pytest.Pytester) -> None:
    """What it says to type, and to have CI do."""
    typed = [line.removeprefix("$ ") for code in blocks("console") for line in code.splitlines()]
    (workflow,) = blocks("yaml")
    jobs = yaml.safe_load(workflow)["jobs"].values()
    asked = [line.partition("  #")[0].strip() for line in typed]
    asked += [step.get("run", "") for job in jobs for step in job["steps"]]
    commands = [line.split() for line in asked if line.startswith("pytest")]
    commands += [command[1:-1].split() for command in re.findall(r"`pytest [^`]+`", MANUAL.read_text())]
    assert len(commands) >= 7
    project.makepyfile("async def test_it(any_cluster): ...\nasync def test_that(real_cluster): ...")
    for _, *arguments in commands:
        workers = [] if "-n" in arguments else ["-p", "no:xdist"]
        result = project.runpytest_inprocess("-p", "no:cacheprovider", "--collect-only", "-q", *workers, *arguments)
        assert result.ret == 0, arguments
        if "real_cluster" in arguments:  # which also chooses what has a fixture of that name
            result.stdout.fnmatch_lines(["2/4 tests collected (2 deselected)*"])
    installed = {line for line in asked if line.startswith("pip install")}
    assert installed == {"pip install 'windvane[test]'", "pip install pytest-xdist", "pip install -e '.[test]'"}


def test_what_a_test_that_hangs_is_told_is_as_in_the_manual(project: pytest.Pytester) -> None:
    (told,) = [code for code in blocks("") if "NotSettled" in code]
    project.makepyfile(
        website_operator=(ROOT / "examples" / "website_operator.py").read_text(),
        test_it="""
        import asyncio
        from website_operator import Website, WebsiteSpec
        from windvane import Context, ObjectMeta, Operator

        operator = Operator("website")

        @operator.controller(Website, timeout=86400)
        async def reconcile(site: Website, ctx: Context) -> None:
            await asyncio.sleep(7200)

        async def test_it(cluster):
            await cluster.run(operator)
            await cluster.apply(Website(metadata=ObjectMeta(name="blog"), spec=WebsiteSpec(image="nginx")))
            await cluster.settled()
        """,
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    shown = [line.removeprefix("E").strip() for line in result.outlines if line.startswith("E ")]
    first, second = told.splitlines()
    assert [line for line in shown if first in line]
    assert second.strip() in shown
